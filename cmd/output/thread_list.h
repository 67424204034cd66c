/* SPDX-License-Identifier: MIT */
/** thread_list.h - which threads a list with thread numbers (tid) in its columns has, and what they
 *  are called: printed below it. */
#ifndef SXS_CMD_OUTPUT_THREAD_LIST_H
#define SXS_CMD_OUTPUT_THREAD_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SXS_THREAD_LIST_MAX 40u /* threads that are named; further ones are counted */

/** Zeroed it is empty. */
struct sxs_thread_list {
    struct {
        uint32_t    tid;
        const char *name; /* borrowed */
    } all[SXS_THREAD_LIST_MAX];
    size_t n, n_left_out; /* n_left_out: rows of threads that are not among those */
};

/** sxs_thread_list_add - note a thread; again, and with the same name, that changes nothing.
 *  @name: borrowed until the list is printed. */
void sxs_thread_list_add(struct sxs_thread_list *list, uint32_t tid, const char *name);

/** sxs_thread_list_print - print "thread 4243 is Order-Processor" for each. */
void sxs_thread_list_print(FILE *to, const struct sxs_thread_list *list);

#endif
