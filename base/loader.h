/* SPDX-License-Identifier: MIT */
/**
 * loader.h - call dl_iterate_phdr() and libunwind such that no fork happens meanwhile.
 *
 * dl_iterate_phdr() takes a lock of the C library that fork() does not initialise again in the
 * child (glibc 2.36 resets two of the loader's three locks, but not this one). A child that was
 * forked while another thread held the lock waits for ever when it throws an exception, walks its
 * stack or calls dl_iterate_phdr() itself. libunwind calls dl_iterate_phdr(), and has locks of its
 * own. So the library calls both only under the functions of this header, and a fork waits until
 * these calls are over. The wait takes microseconds, some milliseconds when tables are read for the
 * first time, and one second at most. If one second was not enough, the child makes no such call at
 * all.
 */
#ifndef SXS_BASE_LOADER_H
#define SXS_BASE_LOADER_H

#include <link.h>

/**
 * sxs_loader_each - call dl_iterate_phdr(@visit, @user) while forks are held off.
 * @visit must not fork, and must not wait for a thread that may fork.
 * Returns the result of dl_iterate_phdr(), or 0 without a call if !sxs_loader_is_usable().
 * Any thread; not signal-safe.
 */
int sxs_loader_each(int (*visit)(struct dl_phdr_info *info, size_t size, void *user), void *user);

/** sxs_loader_hold - make forks of other threads wait until sxs_loader_release(). For calls of
 *  libunwind, and for several calls of sxs_loader_each() without a fork in between.
 *  Calls nest. The same thread must call both functions. Not signal-safe. */
void sxs_loader_hold(void);
void sxs_loader_release(void);

/** sxs_loader_try_hold - as sxs_loader_hold(), unless another thread is between the two functions, or
 *  sxs_loader_is_usable() is 0. Returns 1, or 0 if nothing was done. */
int sxs_loader_try_hold(void);

/** sxs_loader_is_usable - tell whether dl_iterate_phdr() and libunwind may be called. Returns 0 in
 *  a forked child in which a lock of the loader or of libunwind may be held for ever, else 1.
 *  Any thread. */
int sxs_loader_is_usable(void);

#endif
