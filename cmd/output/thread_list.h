/* SPDX-License-Identifier: MIT */
/** thread_list.h - collects the threads whose numbers (tid) a printed list contains, and prints their names below
 *  the list. */
#ifndef SXS_CMD_OUTPUT_THREAD_LIST_H
#define SXS_CMD_OUTPUT_THREAD_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SXS_THREAD_LIST_MAX 40u /* threads that are named; further ones are counted */

/** The threads. Empty when it is zeroed. */
struct sxs_thread_list {
    struct {
        uint32_t    tid;
        const char *name; /* borrowed */
    } all[SXS_THREAD_LIST_MAX];
    size_t n, n_left_out; /* n_left_out: rows of threads that are not among those */
};

/** sxs_thread_list_add - add a thread, unless it is in the list with the same name.
 *  @name: borrowed until the list is printed. */
void sxs_thread_list_add(struct sxs_thread_list *list, uint32_t tid, const char *name);

/** sxs_thread_list_print - print "thread 4243 is Order-Processor" for each. */
void sxs_thread_list_print(FILE *to, const struct sxs_thread_list *list);

#endif
