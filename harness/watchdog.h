/* SPDX-License-Identifier: MIT */
#ifndef SXS_HARNESS_WATCHDOG_H
#define SXS_HARNESS_WATCHDOG_H

enum { SXS_WATCHDOG_STATUS = 124 }; /* as timeout(1) has it */

/**
 * sxs_watchdog_start - end the process with status 124 after @seconds, whatever it does by then.
 * @report: called before on the watchdog's thread, which may share nothing with threads that hang:
 *          it must not allocate, take locks or use stdio.
 * It stays armed through exit handlers, which may hang as well. Returns 0 or -1. */
int sxs_watchdog_start(unsigned seconds, void (*report)(void *), void *arg);

#endif
