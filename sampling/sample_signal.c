/* SPDX-License-Identifier: MIT */
/* sampling/sample_signal.c - chooses, handles and sends the sample signal. Its handler runs on the stack of
 * the interrupted code, which may be a coroutine's of a few KiB. So large data is not on the stack. */
#include "sampling/sample_signal.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/session_state.h"
#include "sampling/restart.h"
#include "sampling/walk.h"
#include "signals/signals.h"
#include "stackwalk/snapshot/walk_request.h"

/* The limit of a requested walk. Higher than that of a sample, because a thread waits for it. */
#define ANSWER_CYCLES (20 * SXS_WALK_CYCLES)

#define MASKS_NS UINT64_C(100000000) /* between two looks at the masks of the host's handlers */

typedef sxs_sample_signal_handler handler_fn;
typedef void serve_fn(const ucontext_t *uc);

static pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(installing);
static _Atomic int               signal_number;
static _Atomic int               is_installed, is_lost;
static _Atomic int               uses_tgkill; /* 1: signals have been sent by tgkill() */
static _Atomic int               has_lost;    /* 1: signals have lost what they carried */
static _Atomic(handler_fn *)     others;  /* handles what is no request of a stack */
static _Atomic(serve_fn *)       server;  /* see sxs_sample_signal_serve() */
static const struct sxs_signals *signals; /* set before the handler is installed */
static _Atomic unsigned          n_inside; /* threads in the handler */
static _Atomic int               is_masked; /* see look_at_masks() */
static uint64_t                  masks_ns;  /* when it looked last */
/* A handler may still run when a session has ended; sxs_sample_signal_end() sets back what must be. */
SXS_SESSION_KEEPS(installing);
SXS_SESSION_KEEPS(signal_number);
SXS_SESSION_KEEPS(is_installed);
SXS_SESSION_KEEPS(is_lost);
SXS_SESSION_KEEPS(uses_tgkill);
SXS_SESSION_KEEPS(has_lost);
SXS_SESSION_KEEPS(others);
SXS_SESSION_KEEPS(server);
SXS_SESSION_KEEPS(signals);
SXS_SESSION_KEEPS(n_inside);
SXS_SESSION_KEEPS(is_masked);
SXS_SESSION_KEEPS(masks_ns);

SXS_SIGSAFE int sxs_sample_signal_number(void)
{
    return atomic_load_explicit(&signal_number, memory_order_relaxed);
}

static int choose_harmless(const struct sxs_signals *all)
{
    return all->size > offsetof(struct sxs_signals, harmless_sample) ? all->harmless_sample()
                                                                     : all->sample_signal();
}

/* Whether a sandbox refuses the call by which sxs_sample_signal_send() sends signals. Signal 0 is not sent. */
static int is_queueing_refused(void)
{
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    info.si_code = SI_TIMER;
    return syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), 0, &info) != 0;
}

/* Whether signals may carry nothing. Then they must be harmless ones; see below. */
static int carries_nothing(void)
{
    return atomic_load(&uses_tgkill) || atomic_load(&has_lost);
}

void sxs_sample_signal_choose(void)
{
    int none = 0;
    if (atomic_load(&signal_number))
        return;
    if (carries_nothing() || is_queueing_refused())
        sxs_sample_signal_choose_harmless();
    else
        atomic_compare_exchange_strong(&signal_number, &none, sxs_signals()->sample_signal());
}

void sxs_sample_signal_choose_harmless(void)
{
    atomic_store(&signal_number, choose_harmless(sxs_signals()));
}

/* ---- sending --------------------------------------------------------------------------------- */

/* A signal carries its weight. When the user's signals that are pending reach RLIMIT_SIGPENDING, the
 * kernel delivers a signal that it has no memory for without what it carries. And where a sandbox
 * refuses rt_tgsigqueueinfo(), the signal is sent by tgkill(), which carries nothing. So the slot of
 * the receiver has the same in `asked`, until the handler of that signal runs: one of another number that
 * carries nothing is the host's, also where it was the sample signal before.
 *
 * A signal that carries nothing stays pending at execve. And one run of the handler may take what two
 * signals ask for; if tgkill() sent the second, it then looks like one of the host's. Both are reasons
 * for a signal whose default action is to do nothing. */
SXS_SIGSAFE static enum sxs_asked kind_of(uint32_t weight_ns)
{
    return weight_ns == SXS_SAMPLE_SIGNAL_WALK   ? SXS_ASKED_WALK
           : weight_ns == SXS_SAMPLE_SIGNAL_COST ? SXS_ASKED_COST
                                                 : SXS_ASKED_SAMPLE;
}

SXS_SIGSAFE static uint64_t bit_of(int sig)
{
    return UINT64_C(1) << sig; /* one of the first 31 */
}

/* Notes that a signal is sent to @t. Returns 1 if that was not noted before. */
SXS_SIGSAFE static int note_asked(struct sxs_thread_slot *t, enum sxs_asked kind, int sig)
{
    return !(atomic_fetch_or(&t->asked[kind], bit_of(sig)) & bit_of(sig));
}

/* Returns 1 if it was noted: then it is no more. */
SXS_SIGSAFE static int take_asked(struct sxs_thread_slot *t, enum sxs_asked kind, int sig)
{
    return (atomic_fetch_and(&t->asked[kind], ~bit_of(sig)) & bit_of(sig)) != 0;
}

SXS_SIGSAFE static int send_without_value(uint32_t tid, int sig)
{
    atomic_store(&uses_tgkill, 1);
    return syscall(SYS_tgkill, getpid(), tid, sig) == 0 ? 0 : -errno;
}

SXS_SIGSAFE int sxs_sample_signal_send(uint32_t tid, uint32_t weight_ns)
{
    struct sxs_thread_slot *t = sxs_threads_find(tid);
    enum sxs_asked          kind = kind_of(weight_ns);
    siginfo_t               info;
    int                     err, is_new;
    if (atomic_load(&is_lost))
        return -ENOTSUP;
    if (!tid)
        return -ESRCH; /* the thread has ended since its slot was looked at */
    memset(&info, 0, sizeof(info));
    info.si_signo = sxs_sample_signal_number();
    info.si_code = SI_TIMER; /* the kernel drops it at execve (signals/sample_signal.c) */
    info.si_pid = getpid();
    info.si_value.sival_ptr = (void *)(SXS_SAMPLE_SIGNAL_VALUE | ((uintptr_t)weight_ns << 32));
    is_new = t && note_asked(t, kind, info.si_signo);
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, info.si_signo, &info) == 0)
        return 0;
    err = -errno;
    if (err != -ESRCH && t)
        err = send_without_value(tid, info.si_signo);
    if (err && is_new && atomic_load(&t->tid) == tid) /* else the slot is another thread's by now */
        take_asked(t, kind, info.si_signo);
    return err;
}

SXS_SIGSAFE void sxs_sample_signal_answered(struct sxs_thread_slot *t, uint64_t weight_ns)
{
    uint64_t asked = atomic_load(&t->requested_ns);
    while (!atomic_compare_exchange_weak(&t->requested_ns, &asked,
                                         asked > weight_ns ? asked - weight_ns : 0))
        continue;
}

/* ---- receiving ------------------------------------------------------------------------------- */

SXS_SIGSAFE int sxs_sample_signal_own(const siginfo_t *info, uint64_t *weight_ns)
{
    uintptr_t value = (uintptr_t)info->si_value.sival_ptr;
    if (info->si_code != SI_TIMER || info->si_pid != getpid() ||
        (value & 0xffffffffu) != SXS_SAMPLE_SIGNAL_VALUE || !(value >> 32))
        return 0;
    *weight_ns = value >> 32;
    return 1;
}

SXS_SIGSAFE int sxs_sample_signal_is_timers(const siginfo_t *info)
{
    return info->si_code == SI_TIMER && info->si_value.sival_ptr == (void *)SXS_SAMPLE_SIGNAL_VALUE;
}

/* Whether @info says no more than that of a signal that has lost what it carried, or that sxs_sample_signal_send()
 * has sent by tgkill(). */
SXS_SIGSAFE static int says_nothing(const siginfo_t *info)
{
    return (info->si_code == SI_USER && !info->si_pid) ||
           (info->si_code == SI_TKILL && info->si_pid == getpid() && atomic_load(&uses_tgkill));
}

/* What one run of the handler is for. */
struct cause {
    uint32_t kinds; /* bit N: kind N of enum sxs_asked was requested from the thread */
    int      is_timers;  /* 1: a timer has sent the signal */
    uint64_t weight_ns;  /* of the sample that is asked for; 1: it was lost; 0: no sample is */
    int      for_sample; /* 1: the signal was sent for a sample (handle_signal()) */
};

/* A signal that is sent while one is pending is lost, whatever that one was sent for. So a run of the
 * handler serves everything that the calling thread, @t, is asked for, but a timer's signal no sample of
 * sxs_sample_signal_send(): it has one of its own. */
SXS_SIGSAFE static struct cause find_cause(struct sxs_thread_slot *t, const siginfo_t *info)
{
    struct cause   c = {.is_timers = sxs_sample_signal_is_timers(info), .for_sample = 1};
    const uint32_t sample = 1u << SXS_ASKED_SAMPLE;
    uint64_t       carried = 0;
    int            carries = sxs_sample_signal_own(info, &carried);
    if (t && (carries || c.is_timers || says_nothing(info)))
        for (int kind = c.is_timers ? SXS_ASKED_SAMPLE + 1 : 0; kind < SXS_ASKED_KINDS; kind++)
            if (take_asked(t, kind, info->si_signo))
                c.kinds |= 1u << kind;
    if (carries) {
        c.for_sample = kind_of((uint32_t)carried) == SXS_ASKED_SAMPLE;
        c.kinds |= 1u << kind_of((uint32_t)carried);
    } else if (c.kinds && !c.is_timers) {
        c.for_sample = c.kinds == sample;
        if (info->si_code == SI_USER)
            atomic_store(&has_lost, 1);
    }
    if (c.kinds & sample)
        c.weight_ns = carries && c.for_sample ? carried : 1;
    return c;
}

/* Answers a request for this thread's stack. No sample is recorded. */
SXS_SIGSAFE static void serve_request(const ucontext_t *uc)
{
    const struct sxs_walk_limits limits = {.cycles = ANSWER_CYCLES, .max = SXS_MAX_STACK};
    uint32_t                     tid = (uint32_t)syscall(SYS_gettid);
    struct sxs_walk_answer      *answer = sxs_walk_request_take(tid);
    if (!answer)
        return; /* the request was withdrawn */
    answer->n = sxs_walk_interrupted(sxs_threads_find(tid), tid, SXS_WALKER_FAST, uc, limits,
                                     answer->ips, answer->sps, &answer->end);
    sxs_walk_request_done(answer);
}

/* Returns 0 if the signal is not the library's. Signals for samples are sent to threads that run, or
 * wait in a call that has no timeout to begin again after a restart; others are sent to any thread. */
static int handle_signal(siginfo_t *info, void *context, int *for_sample)
{
    struct sxs_thread_slot *t = sxs_threads_find((uint32_t)syscall(SYS_gettid));
    const struct cause      cause = find_cause(t, info);
    int                     own = cause.kinds || cause.is_timers;
    serve_fn               *serve = atomic_load(&server);
    handler_fn             *sampler = atomic_load(&others);
    if (!atomic_load(&is_installed)) /* the session has ended */
        return own;
    if (serve)
        serve(context);
    *for_sample = cause.for_sample;
    if (cause.kinds & 1u << SXS_ASKED_WALK)
        serve_request(context);
    if (sampler && (cause.weight_ns || cause.is_timers || !own))
        own = sampler(t, info, cause.weight_ns, context) || own;
    return own;
}

static void on_signal(int sig, siginfo_t *info, void *context);

/* The router has these, with masks of its own. Most are raised for an instruction, which interrupts no
 * system call. A program that expects SIGABRT, or the suspension signal of a runtime, does not wait for EINTR. */
static int is_routed(int sig)
{
    static const int faults[] = {SXS_FAULT_SIGNALS};
    for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        if (faults[i] == sig)
            return 1;
    return sig == SIGRTMIN;
}

/* Finds out whether the host has a handler that blocks the sample signal. A sample that comes
 * meanwhile is delivered when that handler has returned. If it has interrupted a system call, that
 * has failed with EINTR, as the host expects; nothing tells that from a call that the sample has
 * interrupted. So calls are not begun again then. */
static void look_at_masks(void)
{
    int              found = 0, own = sxs_sample_signal_number();
    struct sigaction act;
    masks_ns = sxs_now_ns(CLOCK_MONOTONIC);
    for (int sig = 1; sig < NSIG && !found; sig++)
        found = sig != own && !is_routed(sig) && sigaction(sig, NULL, &act) == 0 &&
                act.sa_handler != SIG_DFL && act.sa_handler != SIG_IGN &&
                act.sa_sigaction != on_signal && sigismember(&act.sa_mask, own) == 1;
    atomic_store(&is_masked, found);
}

/* A handler of the host may leave by a jump, so the thread is not counted as inside then. */
static void on_signal(int sig, siginfo_t *info, void *context)
{
    int saved_errno = errno, own, for_sample = 0;
    atomic_fetch_add(&n_inside, 1);
    own = handle_signal(info, context, &for_sample);
    atomic_fetch_sub(&n_inside, 1);
    if (!own)
        signals->pass_on_sample(sig, info, context);
    else if (!atomic_load_explicit(&is_masked, memory_order_relaxed))
        sxs_restart_interrupted(context, sig, for_sample);
    errno = saved_errno;
}

int sxs_sample_signal_drain(uint64_t limit_ns)
{
    const struct timespec pause = {0, 100000};
    uint64_t              until = sxs_now_ns(CLOCK_MONOTONIC) + limit_ns;
    while (atomic_load(&n_inside)) {
        if (sxs_now_ns(CLOCK_MONOTONIC) >= until)
            return -ETIMEDOUT;
        nanosleep(&pause, NULL);
    }
    return 0;
}

int sxs_sample_signal_end(uint64_t limit_ns)
{
    pthread_mutex_lock(&installing);
    atomic_store(&others, NULL);
    atomic_store(&server, NULL);
    if (atomic_exchange(&is_installed, 0))
        signals->handle_samples(NULL);
    atomic_store(&is_lost, 0);
    atomic_store(&signal_number, 0);
    pthread_mutex_unlock(&installing);
    return sxs_sample_signal_drain(limit_ns);
}

void sxs_sample_signal_handle(sxs_sample_signal_handler *handler)
{
    atomic_store(&others, handler);
}

void sxs_sample_signal_serve(void (*serve)(const ucontext_t *uc))
{
    atomic_store(&server, serve);
}

int sxs_sample_signal_install(void)
{
    int err = 0;
    pthread_mutex_lock(&installing);
    if (!atomic_load(&is_installed)) {
        signals = sxs_signals();
        sxs_walk_prepare();
        sxs_sample_signal_choose();
        look_at_masks();
        atomic_store(&is_installed, 1); /* before the first signal */
        err = signals->handle_samples(on_signal);
        if (err)
            atomic_store(&is_installed, 0);
        else if (signals->off)
            sxs_warn("SXSPROF_SIGNALS=off: threads are interrupted all the same, and one that is "
                     "interrupted while its runtime handles a NullReferenceException may end the "
                     "process");
    }
    pthread_mutex_unlock(&installing);
    return err;
}

enum sxs_sample_signal_state sxs_sample_signal_check(void)
{
    int sig;
    if (!atomic_load(&is_installed) || atomic_load(&is_lost))
        return SXS_SAMPLE_SIGNAL_SAME;
    if (sxs_now_ns(CLOCK_MONOTONIC) - masks_ns > MASKS_NS)
        look_at_masks();
    sig = signals->check_samples();
    if (sig > 0 && carries_nothing())
        sig = choose_harmless(signals);
    if (sig == sxs_sample_signal_number())
        return SXS_SAMPLE_SIGNAL_SAME;
    if (sig > 0) {
        atomic_store(&signal_number, sig);
        return SXS_SAMPLE_SIGNAL_MOVED;
    }
    atomic_store(&is_lost, 1);
    return SXS_SAMPLE_SIGNAL_LOST;
}
