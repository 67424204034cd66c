/* SPDX-License-Identifier: MIT */
/**
 * refused.h - says in the log which methods could not get their new IL: the first few of one reason, then how many more,
 * for a rule may be about a whole library. The session has them all.
 */
#ifndef SXS_REWRITE_REFUSED_H
#define SXS_REWRITE_REFUSED_H

#include "include/sxsprof.h"

/** sxs_refused - @method stays as it was: @why. Any thread; takes a lock of its own. */
void sxs_refused(const struct sxsprof_method *method, const char *why);

/** sxs_refused_look - says how many more there were, of reasons that none was added to for a second; of all when
 *  @ended. The service thread, every few ms. */
void sxs_refused_look(int ended);

/** In a forked child: nothing is to be said. */
void sxs_refused_forget(void);

#endif
