/* SPDX-License-Identifier: MIT */
/**
 * sampling/stacks.h - finds the end of an interrupted thread's stack, within the signal
 * handler.
 *
 * The range of a thread's own stack is known if its start was seen (sampling/threads.h). Any
 * other stack (a coroutine's stack, or that of a thread whose start was not seen) is looked up
 * in a list of the process's writable mappings. The list is made from time to time, so it may be
 * out of date. */
#ifndef SXS_SAMPLING_STACKS_H
#define SXS_SAMPLING_STACKS_H

#include <stdint.h>

#include "base/base.h"
#include "sampling/threads.h"

/**
 * sxs_stacks_refresh - publish a new list of the writable mappings. One thread calls this when
 * threads were started, or a stack was not found. Not signal-safe. */
void sxs_stacks_refresh(void);

/**
 * sxs_stacks_ns - when the current list was begun (CLOCK_MONOTONIC). It has the stacks of all
 * threads that are older. */
uint64_t sxs_stacks_ns(void);

/** sxs_stacks_missed - nonzero if a stack pointer was not found in the list since the last call. */
int sxs_stacks_missed(void);

/** How much is known of the memory between a stack pointer and the end of its stack. */
enum sxs_stack_kind {
    SXS_STACK_UNKNOWN, /* nothing */
    SXS_STACK_OWN,     /* the thread's own stack; all of it is readable */
    SXS_STACK_LISTED,  /* a mapping in the list; parts may be unmapped by now */
};

/**
 * sxs_stacks_find - find the end of the stack that contains @sp, the calling thread's stack
 * pointer.
 * @t: the calling thread, or NULL.
 * @is_first: 1 if it is the process's first thread.
 * @hi: receives the end of the stack, unless the result is SXS_STACK_UNKNOWN.
 * Signal-safe: no lock, no system call. */
SXS_SIGSAFE enum sxs_stack_kind sxs_stacks_find(const struct sxs_thread_slot *t, int is_first,
                                                uintptr_t sp, uintptr_t *hi);

#endif
