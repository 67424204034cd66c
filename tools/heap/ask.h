/* SPDX-License-Identifier: MIT */
/** tools/heap/ask.h - requests for values of objects and static fields (session/format/heap.h). */
#ifndef SXS_TOOLS_HEAP_ASK_H
#define SXS_TOOLS_HEAP_ASK_H

#include <stddef.h>
#include <stdint.h>

#include "session/format/heap.h"

struct sxs_heap_question {
    unsigned runtime;                 /* its number; 0: all runtimes */
    uint64_t address;                 /* of an object; 0: a static field */
    char     text[SXS_HEAP_ASK_TEXT]; /* TYPE.FIELD */
};

struct sxs_heap_request {
    size_t                   n;
    struct sxs_heap_question all[SXS_HEAP_ASK_LINES];
};

/** sxs_heap_request_parse - parse the @size bytes of a request. Lines that are damaged are left
 *  out.
 *  Returns 0, or -1 when it is no request. Pure. */
int sxs_heap_request_parse(const char *bytes, size_t size, struct sxs_heap_request *out);

/** sxs_heap_request_take - read and remove the request in this process's session folder. Without
 *  one
 *  @out is empty. Not signal-safe; waits for system calls on another thread. */
void sxs_heap_request_take(struct sxs_heap_request *out);

#endif
