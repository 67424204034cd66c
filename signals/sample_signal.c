/* SPDX-License-Identifier: MIT */
/*
 * sample_signal.c - the signal that interrupts threads for samples, shared with the host.
 *
 * Candidates do nothing by default: one that is pending when a thread replaces the program (execve) stays
 * pending for the new one, and must not end it. The first that the host has no handler for is chosen; if
 * it has one for each, the last, which terminals send and programs hardly ever.
 *
 * The sampler tells its own signals by what they carry and passes the others on to the host's action,
 * which is kept here. Preloaded, the host's later registrations change that action alone. Not preloaded,
 * they replace the sampler's handler; sample_check() finds out and moves to another candidate.
 */
#include "signals/router.h"

#include <errno.h>
#include <string.h>

static const int candidates[] = {SIGURG, SIGWINCH};

#define N_CANDIDATES 2
#define N_ACTIONS \
    16u /* kept at once: a reader is safe unless that many registrations overtake it */

/* The host's action for one candidate. Written under the router's lock, read in handlers. */
struct kept {
    _Atomic int      ours; /* the sampler's handler is installed */
    _Atomic unsigned now;  /* the action in force is host[now % N_ACTIONS] */
    struct sigaction host[N_ACTIONS];
};

static struct {
    _Atomic int         chosen; /* signal number; 0: not yet */
    _Atomic(handler_fn) handler;
    _Atomic int         on_stack; /* installed with SA_ONSTACK */
    struct kept         kept[N_CANDIDATES];
} sample;

SXS_SIGSAFE static struct kept *kept_for(int sig)
{
    for (int i = 0; i < N_CANDIDATES; i++)
        if (candidates[i] == sig)
            return &sample.kept[i];
    return NULL;
}

SXS_SIGSAFE static int is_free(int sig)
{
    struct sigaction now;
    return real.sigaction(sig, NULL, &now) == 0 && !is_function(&now);
}

/* The first candidate that is free, but for @not_this; the last when none is. */
SXS_SIGSAFE static int choose(int not_this)
{
    for (int i = 0; i < N_CANDIDATES; i++)
        if (candidates[i] != not_this && is_free(candidates[i]))
            return candidates[i];
    return candidates[N_CANDIDATES - 1];
}

SXS_SIGSAFE int sample_signal(void)
{
    int now = atomic_load(&sample.chosen);
    int none = 0;
    if (!now) {
        now = choose(0);
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
    struct kept *k = kept_for(sig);
    return k && atomic_load_explicit(&k->ours, memory_order_acquire);
}

SXS_SIGSAFE int sample_on_stack(void)
{
    return atomic_load_explicit(&sample.on_stack, memory_order_relaxed);
}

/* The host's action in force. Read again when registrations overtook it. */
SXS_SIGSAFE static void read_host(const struct kept *k, struct sigaction *out)
{
    unsigned seen;
    do {
        seen = atomic_load_explicit(&k->now, memory_order_acquire);
        memcpy(out, &k->host[seen % N_ACTIONS], sizeof(*out));
        atomic_thread_fence(memory_order_acquire);
    } while (atomic_load_explicit(&k->now, memory_order_relaxed) - seen >= N_ACTIONS - 1);
}

/* ---- the alternate stack ---------------------------------------------------------------------- */

/* Does the host expect signals on the alternate stack? A Go program does: its goroutines' own stacks
 * have no room for a signal frame, and its handlers refuse to run there. It has handlers for all of these. */
static int host_wants_stack(void)
{
    static const int signs[] = {SIGURG, SIGWINCH, SIGPROF};
    for (unsigned i = 0; i < ARRAY_LEN(signs); i++) {
        struct sigaction now;
        struct kept     *k = kept_for(signs[i]);
        if (k && atomic_load(&k->ours))
            read_host(k, &now);
        else if (real.sigaction(signs[i], NULL, &now) != 0)
            continue;
        if (is_function(&now) && (now.sa_flags & SA_ONSTACK))
            return 1;
    }
    return 0;
}

/* All signals but those that an instruction raises wait until the handler is done: a host's handler that
 * leaves by siglongjmp must not leave the sampler's with it. The C library's own are among them, which
 * sigfillset() leaves out. */
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

SXS_SIGSAFE static void keep_locked(struct kept *k, const struct sigaction *act)
{
    unsigned next = atomic_load_explicit(&k->now, memory_order_relaxed) + 1;
    k->host[next % N_ACTIONS] = *act;
    atomic_store_explicit(&k->now, next, memory_order_release);
}

/* ---- what the sampler asks for ---------------------------------------------------------------- */

static int install(int sig, handler_fn handler)
{
    struct kept     *k = kept_for(sig);
    struct sigaction act, was;
    sigset_t         saved;
    int              err = 0;
    atomic_store(&sample.on_stack, host_wants_stack());
    make_action(handler, &act);
    router_lock(&saved);
    if (real.sigaction(sig, &act, &was) != 0) {
        err = -errno;
    } else if (was.sa_sigaction != handler) {
        keep_locked(k, &was);
        atomic_store_explicit(&k->ours, 1, memory_order_release);
    }
    router_unlock(&saved);
    return err;
}

int sample_handle(handler_fn handler)
{
    atomic_store(&sample.handler, handler);
    return install(sample_signal(), handler);
}

int sample_check(void)
{
    handler_fn       handler = atomic_load(&sample.handler);
    int              sig = sample_signal(), other, stack;
    struct sigaction now;
    if (!handler || real.sigaction(sig, NULL, &now) != 0)
        return sig;
    if (now.sa_sigaction == handler) {
        stack = host_wants_stack();
        return stack == sample_on_stack() ? sig : install(sig, handler) ? -EBUSY : sig;
    }
    other = choose(sig); /* somebody registered unseen: that signal is theirs now */
    if (other == sig || !is_free(other) || install(other, handler) != 0)
        return -EBUSY;
    atomic_store(&sample.chosen, other);
    return other;
}

/* ---- in handlers ------------------------------------------------------------------------------ */

/* As the kernel would have called it: with the interrupted thread's mask, that of the action, and the
 * signal itself blocked. The kernel puts the thread's own mask back. */
SXS_SIGSAFE static void set_mask(int sig, const struct sigaction *act, const ucontext_t *uc)
{
    sigset_t mask = act->sa_mask;
    for (int i = 1; i < NSIG; i++)
        if (sigismember(&uc->uc_sigmask, i) == 1)
            sigaddset(&mask, i);
    if (!(act->sa_flags & SA_NODEFER))
        sigaddset(&mask, sig);
    real.mask_signals(SIG_SETMASK, &mask, NULL);
}

SXS_SIGSAFE void sample_pass_on(int sig, siginfo_t *info, void *context)
{
    struct kept     *k = kept_for(sig);
    struct sigaction host;
    if (!k || !atomic_load_explicit(&k->ours, memory_order_acquire))
        return;
    read_host(k, &host);
    if (!is_function(&host))
        return; /* these signals do nothing by default */
    if (host.sa_flags & SA_RESETHAND) {
        struct sigaction none = {.sa_handler = SIG_DFL};
        sigset_t         saved;
        router_lock(&saved);
        keep_locked(k, &none);
        router_unlock(&saved);
    }
    set_mask(sig, &host, context);
    if (host.sa_flags & SA_SIGINFO)
        host.sa_sigaction(sig, info, context);
    else
        host.sa_handler(sig);
}

/* ---- the host's registrations, when they are seen ---------------------------------------------- */

int sample_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    struct kept     *k = kept_for(sig);
    struct sigaction fresh, was;
    sigset_t         saved;
    if (act)
        fresh = *act; /* read before the lock: it may be a bad pointer */
    router_lock(&saved);
    was = k->host[atomic_load(&k->now) % N_ACTIONS];
    if (act)
        keep_locked(k, &fresh);
    router_unlock(&saved);
    if (old)
        *old = was;
    if (act && host_wants_stack() != sample_on_stack())
        install(sig, atomic_load(&sample.handler));
    return 0;
}
