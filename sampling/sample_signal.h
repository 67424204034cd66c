/* SPDX-License-Identifier: MIT */
/**
 * sampling/sample_signal.h - the sample signal: its number, its handler, and sending it to a thread.
 *
 * The signal has two uses. Code of the library sends it to request the stack of the thread that receives
 * it (stackwalk/snapshot/walk_request.h); the handler here answers such requests. And the clocks of the
 * tool sample send it; all signals that are no requests are passed to that tool's handler. */
#ifndef SXS_SAMPLING_SAMPLE_SIGNAL_H
#define SXS_SAMPLING_SAMPLE_SIGNAL_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/base.h"
#include "sampling/threads.h"

/** The value that our signals carry in si_value; sxs_sample_signal_send() puts its weight into the upper half. */
#define SXS_SAMPLE_SIGNAL_VALUE ((uintptr_t)0x53585354u)

/** A special weight: the signal requests the thread's stack (stackwalk/snapshot/walk_request.h). */
#define SXS_SAMPLE_SIGNAL_WALK UINT32_MAX

/** Another one: the signal requests costs of the thread (sampling/cost_request.c). */
#define SXS_SAMPLE_SIGNAL_COST (UINT32_MAX - 1)

/** sxs_sample_signal_choose - choose the signal, which is the router's (sxs_signals.sample_signal). Later
 *  calls have no effect. Any thread; not signal-safe.
 *  sxs_sample_signal_choose_harmless - choose one that may stay pending across execve, or change to one
 *  (sxs_signals.harmless_sample). Before any clock is started; one thread at a time. */
void sxs_sample_signal_choose(void);
void sxs_sample_signal_choose_harmless(void);

/** sxs_sample_signal_number - the number of the signal; 0 before sxs_sample_signal_choose(). Any thread;
 *  signal-safe. */
SXS_SIGSAFE int sxs_sample_signal_number(void);

/** sxs_sample_signal_serve - call @serve in each run of the handler, for each reason of the signal.
 *  @serve: static code; signal-safe. @uc: what the signal has interrupted. Once. Any thread. */
void sxs_sample_signal_serve(void (*serve)(const ucontext_t *uc));

/**
 * sxs_sample_signal_install - install the handler, unless it is installed. Chooses the signal.
 * Returns 0 or -errno. Any thread; takes a lock; not signal-safe. */
int sxs_sample_signal_install(void);

/** A handler of signals that are no requests of a stack. @t: the calling thread, or NULL. @weight_ns:
 *  the weight given to sxs_sample_signal_send(); 0: that function has not sent the signal. Returns 0 for a signal
 *  that it does not know. */
typedef int sxs_sample_signal_handler(struct sxs_thread_slot *t, siginfo_t *info,
                                      uint64_t weight_ns, void *context);

/**
 * sxs_sample_signal_handle - pass signals that are no requests of a stack to @handler. Signals that it does
 * not know are passed on to the host. Without a handler, all of them are passed on, except those of
 * sxs_sample_signal_send(), which are ignored.
 * @handler: static code; signal-safe. Once in a session, before sxs_sample_signal_install(). */
void sxs_sample_signal_handle(sxs_sample_signal_handler *handler);

/** What sxs_sample_signal_check() found. */
enum sxs_sample_signal_state {
    SXS_SAMPLE_SIGNAL_SAME,  /* nothing has changed, or the handler is not installed */
    SXS_SAMPLE_SIGNAL_MOVED, /* the signal is another one from now on */
    SXS_SAMPLE_SIGNAL_LOST,  /* the host uses all possible signals: none is sent any more */
};

/**
 * sxs_sample_signal_check - check if the host has registered other handlers. If the library is not
 * preloaded, the host may replace this handler, and those of the router, by which a walk recovers
 * from faults. LOST is returned once. One thread calls this. Not signal-safe. */
enum sxs_sample_signal_state sxs_sample_signal_check(void);

/**
 * sxs_sample_signal_send - send one signal to thread @tid of this process. @weight_ns: at least 1; see
 * sxs_sample_signal_own(). It may arrive without its weight at a thread that is in the table of threads.
 * Returns 0 or -errno. Any thread; signal-safe. */
SXS_SIGSAFE int sxs_sample_signal_send(uint32_t tid, uint32_t weight_ns);

/** sxs_sample_signal_answered - subtract @weight_ns from the requested weight of @t (requested_ns): this part
 *  has been recorded or dropped, or no signal could be sent. Signal-safe. */
SXS_SIGSAFE void sxs_sample_signal_answered(struct sxs_thread_slot *t, uint64_t weight_ns);

/** sxs_sample_signal_own - return 1 if sxs_sample_signal_send() has sent the signal. @weight_ns: receives its
 *  weight then. Signal-safe.
 *  sxs_sample_signal_is_timers - whether a timer sent it whose value is SXS_SAMPLE_SIGNAL_VALUE. Signal-safe. */
SXS_SIGSAFE int sxs_sample_signal_own(const siginfo_t *info, uint64_t *weight_ns);
SXS_SIGSAFE int sxs_sample_signal_is_timers(const siginfo_t *info);

/** sxs_sample_signal_drain - wait until no thread is inside of the handler. Returns 0, or -ETIMEDOUT after
 *  @limit_ns. Any thread; not signal-safe. */
int sxs_sample_signal_drain(uint64_t limit_ns);

/** sxs_sample_signal_end - give the signal back to the host, and wait as sxs_sample_signal_drain() does.
 *  No signal is to be sent any more; one that is still on its way is ignored, or is the host's. */
int sxs_sample_signal_end(uint64_t limit_ns);

#endif
