/* SPDX-License-Identifier: MIT */
/** tools/heap/answers_find.h - begins answers: finds static fields by their names. */
#ifndef SXS_TOOLS_HEAP_ANSWERS_FIND_H
#define SXS_TOOLS_HEAP_ANSWERS_FIND_H

#include "tools/heap/answers.h"

/** sxs_heap_answers_begin - take the questions of @request that are for @rt, and find static
 *  fields.
 *  On a thread that no runtime knows, holding the lock that unloads wait for. Returns the new
 *  answers, owned; NULL: nothing is asked, or no memory. */
struct sxs_heap_answers *sxs_heap_answers_begin(const struct sxs_heap_request *request,
                                                struct sxs_heap_classes       *classes,
                                                struct sxs_runtime            *rt);

#endif
