/* SPDX-License-Identifier: MIT */
/**
 * deadline.h - the time limit for all answers of other processes together.
 *
 * One deadline holds for a phase of the command, not for each question: a process that answers nothing
 * at sixteen ports costs no more time than one that answers nothing at one port. A signal can bring
 * the deadline forward. The command has one deadline at a time. Before the first call of
 * sxs_deadline_begin() there is none.
 */
#ifndef SXS_CMD_PROCESSES_DEADLINE_H
#define SXS_CMD_PROCESSES_DEADLINE_H

#include <stdint.h>

/** sxs_deadline_now_ms - return CLOCK_MONOTONIC in milliseconds. Any thread; async-signal-safe. */
int64_t sxs_deadline_now_ms(void);

/**
 * sxs_deadline_stretch - return how long a wait of @time becomes on a machine whose processors are busy.
 * @time: on a machine whose processors are free, in any unit; the result is in the same one. It is
 *   multiplied by up to four as threads wait for processors (/proc/pressure/cpu). Any thread.
 */
uint64_t sxs_deadline_stretch(uint64_t time);

/**
 * sxs_deadline_begin - set the deadline, whatever it was.
 * @ms: time from now on, which is stretched (sxs_deadline_stretch()). 0: no deadline.
 * The main thread only.
 */
void sxs_deadline_begin(unsigned ms);

/** sxs_deadline_hurry - bring the deadline forward to @ms milliseconds from now, if it is later or if
 *  there is none. Any thread; async-signal-safe. */
void sxs_deadline_hurry(unsigned ms);

/** sxs_deadline_left - return the milliseconds up to the deadline, at most @most; 0 when it has
 *  passed. To be asked again every 100 ms while waiting, because a signal can shorten the time. Any
 *  thread; async-signal-safe. */
unsigned sxs_deadline_left(unsigned most);

#endif
