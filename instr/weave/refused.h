/* SPDX-License-Identifier: MIT */
/**
 * refused.h - logs which methods could not get their new IL.
 *
 * Names the first few methods for each reason and then only counts, because a rule can match a
 * whole library. The session file has all of them.
 */
#ifndef SXS_INSTR_WEAVE_REFUSED_H
#define SXS_INSTR_WEAVE_REFUSED_H

#include "include/sxsprof.h"

/** sxs_refused - log that @method keeps its IL, and @why. Any thread. Takes a lock of its own. */
void sxs_refused(const struct sxsprof_method *method, const char *why);

/** sxs_refused_look - log the number of further methods, for each reason that had no new method for
 *  a second. @ended: nonzero at exit: for every reason. Called by the service thread every few
 *  ms. */
void sxs_refused_look(int ended);

/** sxs_refused_forget - in a forked child: forget all methods, so that nothing is logged about
 *  them. */
void sxs_refused_forget(void);

#endif
