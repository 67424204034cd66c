/* SPDX-License-Identifier: MIT */
/**
 * loader.h - looking at what is loaded, so that a fork of another thread meanwhile does no harm.
 *
 * dl_iterate_phdr() holds a lock of the C library's that fork() does not make anew in the child (glibc
 * 2.36: of the loader's three it forgets this one): forked in such a moment, a child that throws an
 * exception, walks its stack or looks itself waits for ever. So all looking of ours is done in here, and
 * a fork waits until it is over: microseconds, some milliseconds when tables are read for the first time,
 * a second at most.
 */
#ifndef SXS_LOADER_H
#define SXS_LOADER_H

#include <link.h>

/**
 * sxs_loader_each - dl_iterate_phdr(@visit, @user), and its result. @visit must not fork, nor wait for a thread that may.
 * Any thread; not signal-safe.
 */
int sxs_loader_each(int (*visit)(struct dl_phdr_info *info, size_t size, void *user), void *user);

/** No fork between the two, for what holds several looks together. They nest; the same thread. */
void sxs_loader_hold(void);
void sxs_loader_release(void);

#endif
