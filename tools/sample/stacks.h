/* SPDX-License-Identifier: MIT */
/**
 * stacks.h - where the stack of an interrupted thread ends, found from within the handler.
 *
 * A thread's own stack is known from its start (threads.h). Any other place a stack pointer may be
 * (a coroutine's stack, that of a thread nobody saw start) is looked up in a list of the process's
 * writable mappings, made now and then: what it says may no longer be true.
 */
#ifndef SXS_SAMPLER_STACKS_H
#define SXS_SAMPLER_STACKS_H

#include <stdint.h>

#include "base/base.h"
#include "tools/sample/threads.h"

/** Publishes the writable mappings of the process. One thread calls this: when threads came, or a
 *  stack was missed. Not signal-safe. */
void sxs_stacks_refresh(void);

/** When the list in use was begun (CLOCK_MONOTONIC): stacks of threads older than this are in it. */
uint64_t sxs_stacks_ns(void);

/** Nonzero once after a stack pointer that lay in no mapping of the list. */
int sxs_stacks_missed(void);

/** What is known of the memory between a stack pointer and the end of its stack. */
enum sxs_stack_kind {
    SXS_STACK_UNKNOWN, /* nothing */
    SXS_STACK_OWN,     /* the thread's own stack: all of it can be read */
    SXS_STACK_LISTED,  /* a mapping of the list: parts may be gone by now */
};

/**
 * sxs_stacks_find - sets *@hi to the end of the stack at @sp, the calling thread's stack pointer.
 * @t: the calling thread, or NULL. @is_first: it is the process's first thread.
 * Signal-safe: no lock, no system call.
 */
SXS_SIGSAFE enum sxs_stack_kind sxs_stacks_find(const struct sxs_sampled_thread *t, int is_first,
                                                uintptr_t sp, uintptr_t *hi);

#endif
