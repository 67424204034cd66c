/* SPDX-License-Identifier: MIT */
/** heap_wanted.h - objects and static fields whose values are wanted: --object and --static. */
#ifndef SXS_CMD_HEAP_WANTED_H
#define SXS_CMD_HEAP_WANTED_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd/heap/values.h"

struct sxs_heap_wanted_list {
    struct sxs_heap_wanted all[SXS_HEAP_ASK_LINES];
    size_t                 n;
};

/** sxs_heap_wanted_add - add an object, or else a static field. @text: borrowed. Returns 0, or -1 with
 *  the reason in @why. */
int sxs_heap_wanted_add(struct sxs_heap_wanted_list *list, bool object, const char *text, char *why,
                        size_t why_size);

/** sxs_heap_wanted_request - return the request (session/format/heap.h) for @runtime (0: all);
 *  owned;
 *  NULL: nothing is wanted. */
char *sxs_heap_wanted_request(const struct sxs_heap_wanted_list *list, uint32_t runtime);

/** sxs_heap_write_wanted - write the values that were read for a snapshot, as text or JSON, and print
 *  why others were not. @folder_fd, @number, @runtime: the snapshot. Returns an exit status. */
int sxs_heap_write_wanted(FILE *to, const struct sxs_heap_wanted_list *list, int folder_fd,
                          uint32_t number, uint32_t runtime, bool json);

#endif
