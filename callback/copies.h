/* SPDX-License-Identifier: MIT */
/**
 * copies.h - make sure that one copy of the library is at work in a process.
 *
 * Two copies would be two signal routers, two control sockets, and two profilers of which neither knows
 * the other's runtimes. The loader cannot prevent a second one: it takes two files, such as those before and
 * after an upgrade, for two libraries. Each copy exports the variable sxsprof_is_at_work. A copy finds the others
 * among the libraries that the loader has loaded, wherever their files are, and of whatever version.
 */
#ifndef SXS_CALLBACK_COPIES_H
#define SXS_CALLBACK_COPIES_H

#include <stddef.h>

/**
 * sxs_copies_claim - make this copy the one that is at work, if there is none.
 * @other: receives the path of the copy that is at work, if it is another one; @size bytes, cut.
 * Returns 1 when this copy is at work, now or already; else 0.
 * Any thread; several may call at once, also in several copies. Not signal-safe.
 */
int sxs_copies_claim(char *other, size_t size);

/** sxs_copies_give_up - let another copy be the one at work: this one could not begin. */
void sxs_copies_give_up(void);

#endif
