/* SPDX-License-Identifier: MIT */
/**
 * sampling/restart.h - restarts system calls. Some system calls fail with EINTR when a signal interrupts
 * them, even if its handler has SA_RESTART. The handler of the sample signal restarts these calls, so
 * that the program does not notice the signal. */
#ifndef SXS_SAMPLING_RESTART_H
#define SXS_SAMPLING_RESTART_H

#include <stdint.h>
#include <ucontext.h>

#include "base/base.h"

/** A system call in which a thread waits. */
struct sxs_waiting_call {
    long      number;
    uint64_t  args[6];
    uintptr_t sp, ip; /* of the thread, after the call */
};

/** sxs_waiting_call_parse - read the text of a file /proc/PID/task/TID/syscall. Returns 0, or -1 if the
 *  thread does not wait in a system call. Pure. */
int sxs_waiting_call_parse(const char *text, struct sxs_waiting_call *out);

/** sxs_waiting_call_read - the same for thread @tid of this process; -1 also if the file cannot be
 *  read. Any thread; not signal-safe. */
int sxs_waiting_call_read(uint32_t tid, struct sxs_waiting_call *out);

/** sxs_waiting_call_is_timed - whether @call would wait for longer than the program asked for, or fail
 *  with EINTR, if a signal interrupted it now: a restart of the call begins its timeout again. Any
 *  thread; not signal-safe (getsockopt). */
int sxs_waiting_call_is_timed(const struct sxs_waiting_call *call);

/** sxs_restart_interrupted - if @uc, the context of signal @sig, is that of a system call that fails with EINTR,
 *  make the thread begin the call again when the handler returns. Not if a signal with another handler has come
 *  meanwhile: that handler runs next, and the call fails, as without this signal. Call it at the end of the handler.
 *  @has_just_begun: 1 if the call cannot have waited for long, because the signal was sent while the
 *  thread ran. 0: the call may have waited for long, so it is restarted only if no timeout would begin again.
 *  Signal-safe; may change errno. */
SXS_SIGSAFE void sxs_restart_interrupted(ucontext_t *uc, int sig, int has_just_begun);

#endif
