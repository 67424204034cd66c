/* SPDX-License-Identifier: MIT */
/** watchdog.h - ends the process after a time limit. */
#ifndef SXS_HARNESS_WATCHDOG_H
#define SXS_HARNESS_WATCHDOG_H

enum { SXS_WATCHDOG_STATUS = 124 }; /* the status of timeout(1) */

/**
 * sxs_watchdog_start - end the process with status 124 after @seconds, whatever it is doing.
 * @report: called on the watchdog's thread, with @arg, before the process ends. It must not
 *          allocate, take locks or use stdio, because a thread that hangs may hold their locks.
 * Returns 0 or -1. The watchdog stays armed while exit handlers run, because they may hang too. */
int sxs_watchdog_start(unsigned seconds, void (*report)(void *), void *arg);

#endif
