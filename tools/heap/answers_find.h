/* SPDX-License-Identifier: MIT */
/** tools/heap/answers_find.h - finds static fields by their names. */
#ifndef SXS_TOOLS_HEAP_ANSWERS_FIND_H
#define SXS_TOOLS_HEAP_ANSWERS_FIND_H

#include "tools/heap/answers.h"

/** sxs_heap_answers_find - find the static fields of all questions of @a, and set the reasons of
 *  those that have none. Threads: as sxs_heap_answers_begin(). */
void sxs_heap_answers_find(struct sxs_heap_answers *a, struct sxs_heap_classes *classes);

#endif
