/* SPDX-License-Identifier: MIT */
/*
 * sample_signal.c - choose the sample signal, which interrupts threads for samples, and share it
 * with the host.
 *
 * The default action of each candidate is to do nothing. This is necessary because a signal that is
 * pending at execve stays pending for the new program and must not end it. The first candidate that
 * the host has no handler for is chosen. If the host has a handler for each, the last candidate is
 * chosen (SIGWINCH), which terminals send and programs hardly ever do.
 *
 * The sampler recognises its own signals by the value they carry, and passes other signals on to
 * the host's action, which is stored here. If the router is preloaded, later registrations of the
 * host change only the stored action. Otherwise they replace the sampler's handler; sample_check()
 * detects this and moves to another candidate.
 */
#include "signals/router.h"

#include <errno.h>
#include <string.h>

static const int candidates[] = {SIGURG, SIGWINCH};

#define N_CANDIDATES 2
/* Number of the latest actions that are kept for each candidate. A reader starts again if nearly as
 * many registrations happen while it reads. */
#define N_ACTIONS \
    16u

/* The host's action for one candidate. Written under the router's lock; read without it, in
 * handlers. */
struct kept {
    _Atomic int      ours; /* 1: the sampler's handler has been installed */
    _Atomic unsigned now;  /* the host's present action is host[now % N_ACTIONS] */
    struct sigaction host[N_ACTIONS];
};

static struct {
    _Atomic int         chosen;   /* signal number; 0: not chosen yet */
    _Atomic(handler_fn) handler;  /* the sampler's; NULL: sample_handle() has not been called */
    _Atomic int         on_stack; /* 1: the handler is installed with SA_ONSTACK */
    struct kept         kept[N_CANDIDATES];
} sample;

SXS_SIGSAFE static struct kept *kept_for(int sig)
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
    struct kept *k = kept_for(sig);
    return k && atomic_load_explicit(&k->ours, memory_order_acquire);
}

SXS_SIGSAFE int sample_on_stack(void)
{
    return atomic_load_explicit(&sample.on_stack, memory_order_relaxed);
}

/* Copies the host's present action to @out. Reads again if so many registrations happened meanwhile
 * that the entry may have been overwritten. */
SXS_SIGSAFE static void read_host(const struct kept *k, struct sigaction *out)
{
    unsigned seen;
    do {
        seen = atomic_load_explicit(&k->now, memory_order_acquire);
        memcpy(out, &k->host[seen % N_ACTIONS], sizeof(*out));
        atomic_thread_fence(memory_order_acquire);
    } while (atomic_load_explicit(&k->now, memory_order_relaxed) - seen >= N_ACTIONS - 1);
}

/* ---- the alternate stack --------------------------------------------------------------------- */

/* Tells whether the host has a handler for SIGURG, SIGWINCH or SIGPROF that runs on the alternate
 * stack. If so, the sampler's handler must run there, too. A Go program is such a host: the stacks
 * of its goroutines have no room for a signal frame, and its handlers refuse to run on them. It has
 * handlers for all three signals. */
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

SXS_SIGSAFE static void keep_locked(struct kept *k, const struct sigaction *act)
{
    unsigned next = atomic_load_explicit(&k->now, memory_order_relaxed) + 1;
    k->host[next % N_ACTIONS] = *act;
    atomic_store_explicit(&k->now, next, memory_order_release);
}

/* ---- calls of the sampler -------------------------------------------------------------------- */

static int install_handler(int sig, handler_fn handler)
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

/* Install the host's present action in place of the sampler's handler. */
static int give_back(int sig)
{
    struct kept     *k = kept_for(sig);
    struct sigaction now, host;
    sigset_t         saved;
    int              err = 0;
    if (!atomic_load(&k->ours))
        return 0;
    router_lock(&saved);
    read_host(k, &host);
    if (real.sigaction(sig, NULL, &now) == 0 && now.sa_sigaction == atomic_load(&sample.handler))
        err = real.sigaction(sig, &host, NULL) ? -errno : 0;
    atomic_store_explicit(&k->ours, 0, memory_order_release);
    router_unlock(&saved);
    return err;
}

static int give_back_all(void)
{
    int err = 0;
    for (int i = 0; i < N_CANDIDATES; i++) {
        int failed = give_back(candidates[i]);
        err = failed ? failed : err;
    }
    atomic_store(&sample.handler, NULL);
    atomic_store(&sample.chosen, 0);
    return err;
}

int sample_handle(handler_fn handler)
{
    if (!handler)
        return give_back_all();
    atomic_store(&sample.handler, handler);
    return install_handler(sample_signal(), handler);
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
        return stack == sample_on_stack() ? sig : install_handler(sig, handler) ? -EBUSY : sig;
    }
    other =
        choose_signal(sig); /* the host has registered a handler for `sig`, which is left to it */
    if (other == sig || !is_free(other) || install_handler(other, handler) != 0)
        return -EBUSY;
    atomic_store(&sample.chosen, other);
    return other;
}

/* ---- in handlers ----------------------------------------------------------------------------- */

/* Sets the mask that the kernel would have set for the host's handler @act: the interrupted
 * thread's mask, the mask of the action, and the signal itself unless SA_NODEFER is set. The kernel
 * restores the thread's own mask when the sampler's handler returns. */
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
        return; /* the default action of these signals is to do nothing */
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

/* ---- registrations of the host that reach the hook ------------------------------------------- */

int sample_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    struct kept     *k = kept_for(sig);
    struct sigaction fresh, was;
    sigset_t         saved;
    if (act)
        fresh = *act; /* read before the lock is taken, because a bad pointer faults here */
    router_lock(&saved);
    was = k->host[atomic_load(&k->now) % N_ACTIONS];
    if (act)
        keep_locked(k, &fresh);
    router_unlock(&saved);
    if (old)
        *old = was;
    if (act && host_wants_stack() != sample_on_stack())
        install_handler(sig, atomic_load(&sample.handler));
    return 0;
}
