/* SPDX-License-Identifier: MIT */
/*
 * sample_signal.c - choose the sample signal, which interrupts threads for samples, and share it
 * with the host.
 *
 * The first candidate is SIGSTKFLT, which the kernel never sends and no program has a use for. The
 * default action of the others is to do nothing, but programs and libraries do have handlers for
 * them. That default action is needed where a signal may still be pending at execve, because such a
 * signal stays pending for the new program and must not end it. The kernel drops the signals of
 * timers at execve, and the sampler sends its own signals as if they came from a timer. It does not
 * drop those of perf events, nor signals without siginfo; where there may be such signals,
 * sample_harmless() leaves SIGSTKFLT out.
 *
 * The first candidate that the host has no handler for is chosen. If the host has a handler for
 * each, the last candidate is chosen (SIGWINCH), which terminals send and programs hardly ever do.
 *
 * The sampler recognises its own signals by the value they carry, and passes other signals on to
 * the host's action, which is stored here (struct host_action). If the router is preloaded, later
 * registrations of the host change only the stored action. Otherwise they replace the sampler's
 * handler. In both cases sample_check() detects this and moves to another candidate, if one is free:
 * a signal that the host sends to a thread is lost while the same signal is pending there.
 */
#include "signals/router.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N_CANDIDATES   3
#define FIRST_HARMLESS 1 /* from here on, the default action is to do nothing */
static const int candidates[N_CANDIDATES] = {SIGSTKFLT, SIGURG, SIGWINCH};

/* One candidate. */
struct kept_signal {
    _Atomic int        ours; /* 1: the sampler's handler has been installed */
    struct host_action host; /* the host's action, if ours */
};

static struct {
    _Atomic int        chosen;      /* signal number; 0: not chosen yet */
    _Atomic int        is_harmless; /* 1: sample_harmless() was called */
    _Atomic(handler_fn) handler;    /* the sampler's; NULL: sample_handle() has not been called */
    _Atomic int         on_stack;   /* 1: the handler is installed with SA_ONSTACK */
    struct kept_signal  kept[N_CANDIDATES];
} sample;

SXS_SIGSAFE static struct kept_signal *kept_for(int sig)
{
    for (int i = 0; i < N_CANDIDATES; i++)
        if (candidates[i] == sig)
            return &sample.kept[i];
    return NULL;
}

/* Tells whether the kernel's action for @sig is not a handler. */
SXS_SIGSAFE static int is_free(int sig)
{
    struct sigaction now;
    return real.sigaction(sig, NULL, &now) == 0 && !is_function(&now);
}

/* Returns the first free candidate other than @not_this, or the last candidate if none is free. */
SXS_SIGSAFE static int choose_signal(int not_this)
{
    for (int i = atomic_load(&sample.is_harmless) ? FIRST_HARMLESS : 0; i < N_CANDIDATES; i++)
        if (candidates[i] != not_this && is_free(candidates[i]))
            return candidates[i];
    return candidates[N_CANDIDATES - 1];
}

SXS_SIGSAFE int sample_signal(void)
{
    int now = atomic_load(&sample.chosen);
    int none = 0;
    if (!now) {
        now = choose_signal(0);
        if (!atomic_compare_exchange_strong(&sample.chosen, &none, now))
            now = none;
    }
    return now;
}

SXS_SIGSAFE void sample_add_signals(sigset_t *set)
{
    for (int i = 0; i < N_CANDIDATES; i++)
        sigaddset(set, candidates[i]);
}

SXS_SIGSAFE int sample_shares(int sig)
{
    struct kept_signal *k = kept_for(sig);
    return k && atomic_load_explicit(&k->ours, memory_order_acquire);
}

SXS_SIGSAFE int sample_on_stack(void)
{
    return atomic_load_explicit(&sample.on_stack, memory_order_relaxed);
}

/* ---- the alternate stack --------------------------------------------------------------------- */

/* Tells whether the host has a handler for a candidate or for SIGPROF that runs on the alternate
 * stack. If so, the sampler's handler must run there, too. A Go program is such a host: the stacks
 * of its goroutines have no room for a signal frame, and its handlers refuse to run on them. It has
 * handlers for all these signals. */
static int host_wants_stack(void)
{
    static const int signs[] = {SIGSTKFLT, SIGURG, SIGWINCH, SIGPROF};
    for (unsigned i = 0; i < ARRAY_LEN(signs); i++) {
        struct sigaction    now;
        struct kept_signal *k = kept_for(signs[i]);
        if (k && atomic_load(&k->ours))
            host_action(&k->host, &now);
        else if (real.sigaction(signs[i], NULL, &now) != 0)
            continue;
        if (is_function(&now) && (now.sa_flags & SA_ONSTACK))
            return 1;
    }
    return 0;
}

/* Fills in the action of the sampler's handler. All signals are blocked during the handler except
 * those that an instruction raises, because a handler of the host that leaves by siglongjmp() must
 * not leave the sampler's handler, too. The mask is set by memset(), because sigfillset() leaves
 * out the C library's own signals. */
static void make_action(handler_fn handler, struct sigaction *act)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    memset(act, 0, sizeof(*act));
    memset(&act->sa_mask, 0xff, sizeof(act->sa_mask));
    for (unsigned i = 0; i < ARRAY_LEN(faults); i++)
        sigdelset(&act->sa_mask, faults[i]);
    act->sa_sigaction = handler;
    act->sa_flags = SA_SIGINFO | SA_RESTART | (sample_on_stack() ? SA_ONSTACK : 0);
}

/* ---- calls of the sampler -------------------------------------------------------------------- */

static int install_locked(int sig, handler_fn handler)
{
    struct kept_signal *k = kept_for(sig);
    struct sigaction    act, was;
    if (!handler || atomic_load(&sample.handler) != handler)
        return -ESRCH; /* the session has ended meanwhile */
    atomic_store(&sample.on_stack, host_wants_stack());
    make_action(handler, &act);
    if (real.sigaction(sig, &act, &was) != 0)
        return -errno;
    if (was.sa_sigaction != handler) {
        host_keep(&k->host, &was);
        atomic_store_explicit(&k->ours, 1, memory_order_release);
    }
    return 0;
}

static int install_handler(int sig, handler_fn handler)
{
    sigset_t saved;
    int      err;
    router_lock(&saved);
    err = install_locked(sig, handler);
    router_unlock(&saved);
    return err;
}

/* Installs @host in place of the sampler's handler. A signal of the sampler may be pending on a
 * thread that blocks it. It must not end the process, so it is dropped: the kernel drops pending
 * signals when they become ignored. */
static int put_back(int sig, const struct sigaction *host)
{
    static const struct sigaction ignored = {.sa_handler = SIG_IGN};
    real.sigaction(sig, &ignored, NULL);
    return real.sigaction(sig, host, NULL) ? -errno : 0;
}

/* Gives @sig back to the host. @handler: the sampler's. */
static int give_back(int sig, handler_fn handler)
{
    struct kept_signal *k = kept_for(sig);
    struct sigaction    now, host;
    sigset_t            saved;
    int                 err = 0;
    if (!atomic_load(&k->ours))
        return 0;
    router_lock(&saved);
    host_action(&k->host, &host);
    if (real.sigaction(sig, NULL, &now) == 0 && now.sa_sigaction == handler)
        err = put_back(sig, &host);
    atomic_store_explicit(&k->ours, 0, memory_order_release);
    router_unlock(&saved);
    return err;
}

static int give_back_all(void)
{
    handler_fn handler = atomic_exchange(&sample.handler, NULL); /* none is installed any more */
    int        err = 0;
    for (int i = 0; i < N_CANDIDATES; i++) {
        int failed = give_back(candidates[i], handler);
        err = failed ? failed : err;
    }
    atomic_store(&sample.is_harmless, 0);
    atomic_store(&sample.chosen, 0);
    return err;
}

int sample_harmless(void)
{
    handler_fn handler = atomic_load(&sample.handler);
    int        now = sample_signal(), other;
    atomic_store(&sample.is_harmless, 1);
    if (now != candidates[0])
        return now;
    other = choose_signal(now);
    if (handler && install_handler(other, handler) != 0)
        return now;
    atomic_store(&sample.chosen, other);
    return other;
}

int sample_handle(handler_fn handler)
{
    if (!handler)
        return give_back_all();
    atomic_store(&sample.handler, handler);
    return install_handler(sample_signal(), handler);
}

/* Tells whether the host has a handler for @sig, which the sampler uses. A signal of the host that is
 * sent to a thread while one of the sampler's is pending there would be lost. */
static int host_shares(int sig)
{
    struct sigaction host;
    host_action(&kept_for(sig)->host, &host);
    return is_function(&host);
}

int sample_check(void)
{
    handler_fn       handler = atomic_load(&sample.handler);
    int              sig = sample_signal(), other, stack;
    struct sigaction now;
    if (!handler || real.sigaction(sig, NULL, &now) != 0)
        return sig;
    other = choose_signal(sig);
    if (other == sig || !is_free(other))
        other = 0;
    if (now.sa_sigaction == handler && !(host_shares(sig) && other)) {
        stack = host_wants_stack();
        return stack == sample_on_stack() ? sig : install_handler(sig, handler) ? -EBUSY : sig;
    }
    /* The host has a handler for `sig`, which is left to it. */
    if (!other || install_handler(other, handler) != 0)
        return -EBUSY;
    atomic_store(&sample.chosen, other);
    return other;
}

/* ---- in handlers ----------------------------------------------------------------------------- */

/* Ends the process by @sig as soon as the handler has returned, if @sig has that effect and was
 * sent by a process. A signal without a sender is one of the sampler's that came too late. */
SXS_SIGSAFE static void take_default(int sig, siginfo_t *info)
{
    struct sigaction dfl;
    if (sig != SIGSTKFLT || !info->si_pid)
        return;
    memset(&dfl, 0, sizeof(dfl));
    dfl.sa_handler = SIG_DFL;
    real.sigaction(sig, &dfl, NULL);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sig);
}

SXS_SIGSAFE void sample_pass_on(int sig, siginfo_t *info, void *context)
{
    struct kept_signal *k = kept_for(sig);
    struct sigaction    host;
    if (!k || !atomic_load_explicit(&k->ours, memory_order_acquire))
        return;
    host_take(&k->host, &host);
    if (is_function(&host))
        host_call(&host, sig, info, context);
    else if (host.sa_handler == SIG_DFL)
        take_default(sig, info);
}

/* ---- registrations of the host that reach the hook ------------------------------------------- */

int sample_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    struct kept_signal *k = kept_for(sig);
    struct sigaction    fresh, was;
    sigset_t            saved;
    if (act)
        fresh = *act; /* read before the lock is taken, because a bad pointer faults here */
    router_lock(&saved);
    if (!atomic_load(&k->ours)) { /* given back since the caller has looked */
        router_unlock(&saved);
        return real.sigaction(sig, act ? &fresh : NULL, old);
    }
    host_action(&k->host, &was);
    if (act)
        host_keep(&k->host, &fresh);
    if (act && host_wants_stack() != sample_on_stack())
        install_locked(sig, atomic_load(&sample.handler));
    router_unlock(&saved);
    if (old)
        *old = was;
    return 0;
}
