/* SPDX-License-Identifier: MIT */
/**
 * loader.h - holds forks off while the library looks at what is loaded.
 *
 * dl_iterate_phdr() takes a lock of the C library that fork() does not make anew in the child (glibc 2.36 resets two of
 * the loader's three locks, not this one). A child forked while another thread holds it waits for ever when it throws an
 * exception, walks its stack or calls dl_iterate_phdr() itself. libunwind calls dl_iterate_phdr(), and has locks of its
 * own. So the library makes both kinds of call in here only, and a fork waits until they are over: microseconds, some
 * milliseconds when tables are read for the first time, a second at most. If a second was not enough, the child makes no
 * such call at all.
 */
#ifndef SXS_LOADER_H
#define SXS_LOADER_H

#include <link.h>

/**
 * sxs_loader_each - dl_iterate_phdr(@visit, @user), and its result; 0 without a call when !sxs_loader_is_usable().
 * @visit must not fork, nor wait for a thread that may.
 * Any thread; not signal-safe.
 */
int sxs_loader_each(int (*visit)(struct dl_phdr_info *info, size_t size, void *user), void *user);

/** No fork between the two, for what holds several looks together. They nest; the same thread. */
void sxs_loader_hold(void);
void sxs_loader_release(void);

/** 0 in a forked child that may find the loader's lock or libunwind's held for ever, else 1. Any thread. */
int sxs_loader_is_usable(void);

#endif
