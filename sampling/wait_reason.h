/* SPDX-License-Identifier: MIT */
/** sampling/wait_reason.h - asks the kernel in which system call a thread waits. */
#ifndef SXS_SAMPLING_WAIT_REASON_H
#define SXS_SAMPLING_WAIT_REASON_H

#include <stdint.h>

#include "session/format/samples.h"

/** sxs_wait_reason - read /proc/self/task/TID/syscall, and if that says nothing, .../stat. Returns
 *  the reason for which thread @tid of this process waits; SXS_WAITS when that cannot be read. Any thread; not
 *  signal-safe. */
enum sxs_waiting sxs_wait_reason(uint32_t tid);

/** sxs_wait_reason_of_syscall - return the reason in the text of the file "syscall"; SXS_WAITS: none. Pure. */
enum sxs_waiting sxs_wait_reason_of_syscall(const char *text);

/** sxs_wait_reason_of_stat - return the reason in the text of the file "stat"; SXS_WAITS: none. Pure. */
enum sxs_waiting sxs_wait_reason_of_stat(const char *text);

#endif
