/* SPDX-License-Identifier: MIT */
/*
 * terminate.c - SIGTERM, which a runtime that has ended must not take.
 *
 * A CLR registers a handler for SIGTERM, too. The router is not installed for this signal: it goes to
 * the handler that was registered last, as without the router. But the handler stays when the host
 * shuts the runtime down. That of .NET 8 and 9 then asks a runtime that has ended to end the process,
 * and nothing happens: SIGTERM is lost. The handler of .NET 10 restores the action that it replaced,
 * which may be that of a runtime that has ended, and sends the signal again.
 *
 * So the action that a runtime replaced is recorded when it registers its handler. From its end on,
 * that action takes the place of the runtime's own wherever the latter is in force or is to be
 * installed. In a process with one runtime nothing is changed: there the host decides what follows
 * the runtime's end.
 */
#include "signals/router.h"

/* The registrations of the runtimes, by owner. Read and written under the router's lock. */
static struct {
    handler_fn       handler; /* NULL: none was seen */
    struct sigaction replaced;
    int              ended;
} runtimes[SXS_MAX_OWNERS];

/* Returns the owner whose handler for SIGTERM is the one of @act and which has ended; -1: none. */
SXS_SIGSAFE static int ended_owner(const struct sigaction *act)
{
    int n = atomic_load(&router.n_owners);
    for (int i = 0; n > 1 && i < n; i++)
        if (runtimes[i].ended && runtimes[i].handler && act->sa_sigaction == runtimes[i].handler)
            return i;
    return -1;
}

/* Returns the action that is to be in force where @act would be: the first in the chain of replaced
 * actions that is not the handler of a runtime that has ended. */
SXS_SIGSAFE static const struct sigaction *first_in_force(const struct sigaction *act)
{
    for (int i = 0; i < SXS_MAX_OWNERS; i++) {
        int owner = ended_owner(act);
        if (owner < 0)
            break;
        act = &runtimes[owner].replaced;
    }
    return act;
}

SXS_SIGSAFE int terminate_sigaction(uintptr_t caller, const struct sigaction *act,
                                    struct sigaction *old)
{
    struct sigaction fresh, was;
    sigset_t         saved;
    int              owner = owner_of_module(caller), result;
    if (act)
        fresh = *act; /* read before the lock is taken, because a bad pointer faults here */
    router_lock(&saved);
    result = real.sigaction(SIGTERM, act ? first_in_force(&fresh) : NULL, &was);
    if (result == 0 && owner >= 0 && act && is_function(&fresh) &&
        owner_of_module((uintptr_t)fresh.sa_sigaction) == owner &&
        was.sa_sigaction != fresh.sa_sigaction) {
        runtimes[owner].handler = fresh.sa_sigaction;
        runtimes[owner].replaced = was;
    }
    router_unlock(&saved);
    if (result == 0 && old)
        *old = was;
    return result;
}

/* Without preload, registrations before the runtime's profiler was created are not seen. If the
 * handler of @owner is in force, finds the action that it replaced, unless that is the default. */
static void find_replaced(int owner)
{
    struct sigaction  now;
    struct sigaction *replaced = NULL;
    sigset_t          saved;
    int               seen;
    router_lock(&saved);
    seen = runtimes[owner].handler != NULL;
    router_unlock(&saved);
    if (!seen && real.sigaction(SIGTERM, NULL, &now) == 0 && is_function(&now) &&
        owner_of_module((uintptr_t)now.sa_sigaction) == owner) {
        replaced = chain_previous(owner, now.sa_sigaction);
        if (!replaced)
            replaced = chain_host(owner, now.sa_sigaction);
    }
    if (!replaced)
        return;
    router_lock(&saved);
    runtimes[owner].handler = now.sa_sigaction;
    runtimes[owner].replaced = *replaced;
    router_unlock(&saved);
}

void terminate_ended(int owner)
{
    struct sigaction        now;
    const struct sigaction *next;
    sigset_t                saved;
    if (router.off || owner < 0 || owner >= atomic_load(&router.n_owners))
        return;
    if (!router.preloaded)
        find_replaced(owner);
    router_lock(&saved);
    runtimes[owner].ended = 1;
    if (real.sigaction(SIGTERM, NULL, &now) == 0 && (next = first_in_force(&now)) != &now)
        real.sigaction(SIGTERM, next, NULL);
    router_unlock(&saved);
}
