/* SPDX-License-Identifier: MIT */
/** sampling/wait_reason.h - asks the kernel what a thread waits in. */
#ifndef SXS_SAMPLING_WAIT_REASON_H
#define SXS_SAMPLING_WAIT_REASON_H

#include <stdint.h>

#include "session/format/samples.h"

/** sxs_wait_reason - read /proc/self/task/TID/syscall, and if that says nothing, .../stat. Returns
 *  what thread @tid of this process waits in; SXS_WAITS when that cannot be read. Any thread; not
 *  signal-safe. */
enum sxs_waiting sxs_wait_reason(uint32_t tid);

/** sxs_wait_reason_of_syscall - what the text of the file "syscall" says; SXS_WAITS: nothing. Pure. */
enum sxs_waiting sxs_wait_reason_of_syscall(const char *text);

/** sxs_wait_reason_of_stat - what the text of the file "stat" says, likewise. */
enum sxs_waiting sxs_wait_reason_of_stat(const char *text);

#endif
