/* SPDX-License-Identifier: MIT */
/*
 * install.c - the router's state, its lock, and its installation as the kernel's action.
 */
#include "base/env.h"
#include "signals/router.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"

struct router               router;
struct real_calls           real;
SXS_TLS struct thread_state sxs_thread_state;

static const int routed[N_ROUTED] = {SXS_FAULT_SIGNALS, 0};

SXS_SIGSAFE int routed_signal(int idx)
{
    return idx == IDX_ACTIVATION ? SIGRTMIN : routed[idx];
}

SXS_SIGSAFE int routed_index(int sig)
{
    if (sig == SIGRTMIN)
        return IDX_ACTIVATION;
    for (int i = 0; i < IDX_ACTIVATION; i++)
        if (routed[i] == sig)
            return i;
    return -1;
}

void router_lock(sigset_t *saved)
{
    sigset_t all;
    sigfillset(&all);
    real.mask_signals(SIG_SETMASK, &all, saved);
    pthread_spin_lock(&router.lock);
}

void router_unlock(const sigset_t *saved)
{
    pthread_spin_unlock(&router.lock);
    real.mask_signals(SIG_SETMASK, saved, NULL);
}

void router_action(int idx, struct sigaction *out)
{
    memset(out, 0, sizeof(*out));
    out->sa_sigaction = router_entry;
    out->sa_flags = SA_SIGINFO | SA_RESTART | (router.flags[idx] & SA_ONSTACK);
}

int router_install(int idx, const struct sigaction *like, struct sigaction *was)
{
    int              sig = routed_signal(idx);
    int              flags = SA_SIGINFO | SA_RESTART | (like->sa_flags & SA_ONSTACK);
    unsigned         bit = 1u << idx;
    struct sigaction act;
    int              have = atomic_load(&router.installed) & bit;
    if (have && (router.flags[idx] | flags) == router.flags[idx])
        return 0;
    /* Uses the mask of the handlers that the router stands for, and adds the signals of profilers
     * only. A runtime that unwinds past its handler unblocks only the signals that it has blocked
     * itself, so any other signal would stay blocked for ever. (signals/masks.c unblocks those of
     * profilers.) */
    act = *like;
    act.sa_sigaction = router_entry;
    if (flags & SA_ONSTACK)
        mask_add_profilers(&act.sa_mask);
    act.sa_flags = flags | (have ? router.flags[idx] : 0);
    if (real.sigaction(sig, &act, was) != 0)
        return -errno;
    router.flags[idx] = act.sa_flags;
    atomic_fetch_or(&router.installed, bit);
    return 0;
}

/* Stores the present action as the host's before it installs the router, because the router may be
 * called as soon as it is installed. */
int router_install_first(int idx, const struct sigaction *like)
{
    struct sigaction peek, was;
    int              err;
    memset(&peek, 0, sizeof(peek));
    if (atomic_load(&router.installed) >> idx & 1)
        return router_install(idx, like, NULL);
    if (real.sigaction(routed_signal(idx), NULL, &peek) == 0)
        host_keep(&router.host[idx], &peek);
    was = peek;
    err = router_install(idx, like, &was);
    if (!err && was.sa_sigaction != peek.sa_sigaction) /* another action was registered meanwhile */
        host_keep(&router.host[idx], &was);
    return err;
}

static void child_forked(void)
{
    atomic_store(&router.pid, getpid());
    pthread_spin_init(&router.lock, PTHREAD_PROCESS_PRIVATE);
    threads_forked();
}

void router_init(int preloaded, const struct real_calls *calls)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    SXS_FORK_RESETS(once);
    static int             done;
    pthread_mutex_lock(&once);
    if (!done) {
        const char *text = sxs_env_get(SXS_ENV_SIGNALS);
        real = *calls;
        router.preloaded = preloaded;
        router.off = text && strcmp(text, "off") == 0;
        if (text && !router.off && strcmp(text, "on") != 0)
            sxs_error("SXSPROF_SIGNALS=%s: expected on or off; going on with on", text);
        pthread_spin_init(&router.lock, PTHREAD_PROCESS_PRIVATE);
        atomic_store(&router.pid, getpid());
        for (int i = 0; i < N_ROUTED; i++)
            atomic_store(&router.bottom[i], -1);
        pthread_atfork(NULL, NULL, child_forked);
        done = 1;
    }
    pthread_mutex_unlock(&once);
}
