/* SPDX-License-Identifier: MIT */
/* owners.c - which modules are runtimes, what belongs to them, and how their handlers are taken over. */
#include <errno.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "base/loader.h"
#include "base/log.h"
#include "signals/progress.h"
#include "signals/router.h"

#define MAX_TRIES 10000 /* of a millisecond: against a machine that stands still */

SXS_SIGSAFE int owner_of_code(uintptr_t addr)
{
    struct sxs_range found;
    return sxs_ranges_find(&router.ranges, addr, &found) ? found.owner : -1;
}

SXS_SIGSAFE int owner_of_module(uintptr_t addr)
{
    struct sxs_range found;
    if (!sxs_ranges_find(&router.ranges, addr, &found) || found.kind != SXS_RANGE_MODULE)
        return -1;
    return found.owner;
}

/* ---- registration ---------------------------------------------------------------------------- */

static int add_locked(const struct module *m, uintptr_t addr)
{
    int           n = atomic_load(&router.n_owners);
    struct owner *o = &router.owners[n];
    if (n >= SXS_MAX_OWNERS)
        return -ENOSPC;
    o->text = addr;
    memcpy(o->path, m->path, sizeof(o->path));
    sxs_ranges_add(&router.ranges, m->lo, m->hi, n, SXS_RANGE_MODULE);
    reserved_give(m, n);
    atomic_store_explicit(&router.n_owners, n + 1, memory_order_release);
    return n;
}

int owner_register(uintptr_t addr, int force)
{
    struct module m;
    sigset_t      saved;
    int           owner = owner_of_module(addr);
    if (owner >= 0)
        return owner;
    if (!module_find(addr, &m) || (!force && !module_is_runtime(&m)))
        return -ENOENT;
    router_lock(&saved);
    owner = owner_of_module(addr); /* another thread may have been faster */
    if (owner < 0)
        owner = add_locked(&m, addr);
    router_unlock(&saved);
    if (owner >= 0 && !atomic_load(&router.owners[owner].hooked))
        atomic_store(&router.owners[owner].hooked, router.preloaded || imports_patch(addr) > 0);
    return owner;
}

/* Runtimes that are loaded but have not registered yet are hooked in good time: with their imports
 * patched, it does not matter when they do. */
struct loaded {
    uintptr_t text[SXS_MAX_OWNERS];
    int       n;
};

static int loaded_visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct loaded *all = arg;
    const char    *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    (void)size;
    if (!name || strcmp(name, "/libcoreclr.so") != 0 || all->n >= SXS_MAX_OWNERS)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X)) {
            all->text[all->n++] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            break;
        }
    return 0;
}

static void register_loaded(void)
{
    struct loaded all = {.n = 0};
    sxs_loader_each(loaded_visit, &all);
    for (int i = 0; i < all.n; i++)
        owner_register(all.text[i], 0);
}

/* ---- taking over ----------------------------------------------------------------------------- */

static void know_handler(int owner, int idx, const struct sigaction *act)
{
    struct owner *o = &router.owners[owner];
    atomic_store_explicit(&o->handler[idx], act->sa_sigaction, memory_order_release);
    atomic_fetch_or(&o->registered, 1u << idx);
}

static void keep_host(int idx, const struct sigaction *act)
{
    sigset_t saved;
    router_lock(&saved);
    host_keep(idx, act);
    router_unlock(&saved);
}

/* The runtime at the bottom may have registered over a handler of the host's. Its keeping is ours from now
 * on, and the runtime chains to the router instead. It looks at the flags first. */
static int take_hosts(int idx, int owner, handler_fn handler)
{
    struct sigaction *previous = chain_host(owner, handler);
    if (!previous)
        return 0;
    keep_host(idx, previous);
    __atomic_or_fetch(&previous->sa_flags, SA_SIGINFO, __ATOMIC_RELEASE);
    __atomic_store_n(&previous->sa_sigaction, router_entry, __ATOMIC_RELEASE);
    return 1;
}

/* The kernel's action belongs to a runtime. Behind it may lie others that registered before: each
 * keeps the one before it in a variable, which its handler's code names. Follow them down, and put
 * the router in place of what they would chain to. */
static void take_chain(int idx, const struct sigaction *now, int first)
{
    struct sigaction act = *now;
    int              last = -1;
    for (int depth = 0; depth < SXS_MAX_OWNERS; depth++) {
        uintptr_t         fn = (uintptr_t)act.sa_sigaction;
        int               owner = is_function(&act) ? owner_register(fn, 0) : -1;
        struct sigaction *previous;
        if (act.sa_sigaction == router_entry || owner < 0)
            break; /* the router itself, the default, or a handler of the host's */
        know_handler(owner, idx, &act);
        last = owner;
        previous = chain_previous(owner, act.sa_sigaction);
        if (!previous) {
            if (take_hosts(idx, owner, act.sa_sigaction))
                return;
            break;
        }
        act = *previous;
        if (is_function(&act) && act.sa_sigaction != router_entry)
            __atomic_store_n(&previous->sa_sigaction, router_entry, __ATOMIC_RELEASE);
    }
    if (first && last >= 0) /* what it has as its previous cannot be told from anything else */
        atomic_store(&router.bottom[idx], last);
}

/* A hooked runtime registered, and what the kernel named as there before it is another runtime, which
 * registered unseen and is not here yet to be taken over. */
void owner_take_host(int idx)
{
    static const struct sigaction none;
    struct sigaction              was;
    host_action(idx, &was);
    if (router.preloaded || !is_function(&was) || was.sa_sigaction == router_entry ||
        owner_register((uintptr_t)was.sa_sigaction, 0) < 0)
        return;
    keep_host(idx, &none); /* take_chain() may put another there */
    take_chain(idx, &was, 1);
}

/* Handlers first, router second: no moment in which a known runtime's fault finds no handler. */
static void take_over(int idx, int may_be_first)
{
    struct sigaction now, old;
    sigset_t         saved;
    if (real.sigaction(routed_signal(idx), NULL, &now) != 0)
        return;
    for (int tries = 0; tries < SXS_MAX_OWNERS; tries++) {
        if (!is_function(&now) || now.sa_sigaction == router_entry ||
            owner_register((uintptr_t)now.sa_sigaction, 0) < 0)
            return;
        take_chain(idx, &now, may_be_first && !(atomic_load(&router.installed) >> idx & 1));
        router_lock(&saved);
        old = now;
        atomic_fetch_and(&router.installed, ~(1u << idx)); /* it was registered over: install anew */
        router_install(idx, &now, &old);
        router_unlock(&saved);
        if (old.sa_sigaction == now.sa_sigaction)
            return;
        now = old; /* one more registered in between */
    }
}

/* The host registered in front of the router for suspension signals, unseen. It would get those of the runtimes,
 * whose collections would never end: its handler becomes the host's action, and the router is in front again. */
static void retake_from_host(const struct sigaction *now)
{
    struct sigaction like = {.sa_flags = SA_RESTART};
    sigset_t         saved;
    sigemptyset(&like.sa_mask);
    router_lock(&saved);
    host_keep(IDX_ACTIVATION, now);
    atomic_fetch_and(&router.installed, ~(1u << IDX_ACTIVATION));
    router_install(IDX_ACTIVATION, &like, NULL);
    router_unlock(&saved);
}

/* A runtime that nobody profiles, loaded later, is unseen until now: a NativeAOT library, say. Its handler would
 * run first, on threads of others, and touch thread-local storage of its own there: the first time it
 * allocates, perhaps in the middle of malloc. One thread at a time; others' signals go by as before. */
void owner_retake(void)
{
    static atomic_flag busy = ATOMIC_FLAG_INIT;
    struct sigaction   now;
    if (router.preloaded || real.sigaction(SIGRTMIN, NULL, &now) != 0 || !is_function(&now) ||
        now.sa_sigaction == router_entry || atomic_flag_test_and_set(&busy))
        return;
    if (owner_register((uintptr_t)now.sa_sigaction, 0) < 0)
        retake_from_host(&now);
    for (int i = 0; i < N_ROUTED; i++)
        take_over(i, 0);
    atomic_flag_clear(&busy);
}

/* A runtime that was interrupted between its registration and the note it makes of the action before
 * could not be followed down. By the time the one it hides gets here, the note has been made: look at
 * every runtime's notes again, and put the router in place of every runtime in them. */
static void take_hidden(int idx)
{
    int n = atomic_load(&router.n_owners);
    for (int i = 0; i < n; i++) {
        handler_fn        fn = atomic_load(&router.owners[i].handler[idx]);
        struct sigaction *previous = fn ? chain_previous(i, fn) : NULL;
        int               hidden;
        if (!previous)
            continue;
        struct sigaction act = *previous;
        hidden = owner_register((uintptr_t)act.sa_sigaction, 0);
        if (hidden < 0 || act.sa_sigaction == router_entry)
            continue;
        if (!atomic_load(&router.owners[hidden].handler[idx]))
            know_handler(hidden, idx, &act);
        __atomic_store_n(&previous->sa_sigaction, router_entry, __ATOMIC_RELEASE);
        if (atomic_load(&router.bottom[idx]) == i)
            atomic_store(&router.bottom[idx], hidden); /* one step further down */
        i = -1; /* what lay below it can be followed now */
        n = atomic_load(&router.n_owners);
    }
}

static unsigned unknown_handlers(const struct owner *o)
{
    unsigned unknown = 0;
    for (int i = 0; i < N_ROUTED; i++)
        if (!atomic_load(&o->handler[i]) && (atomic_load(&router.installed) >> i & 1))
            unknown |= 1u << i;
    return unknown;
}

/* The runtime that hides @owner may be off the processor in the middle of its registration. It is waited for until every
 * thread has come further: a handler that is not known then was not registered. */
static void find_hidden(int owner)
{
    struct sxs_progress progress;
    int                 over = 0;
    sxs_progress_begin(&progress);
    for (int tries = 0; tries < MAX_TRIES; tries++) {
        for (int i = 0; i < N_ROUTED; i++)
            take_hidden(i);
        if (!unknown_handlers(&router.owners[owner]) || over)
            break;
        over = sxs_progress_over(&progress); /* one more look after that */
        if (!over)
            usleep(1000);
    }
}

int owner_adopt(uintptr_t addr, struct sxs_adoption *out)
{
    int owner = owner_register(addr, 1);
    if (owner < 0)
        return owner;
    if (!router.preloaded) {
        register_loaded();
        for (int i = 0; i < N_ROUTED; i++)
            take_over(i, 1);
        find_hidden(owner);
    }
    if (!router.preloaded || reserved_lost())
        maps_scan();
    if (out) {
        struct owner *o = &router.owners[owner];
        out->hooked = o->hooked;
        out->taken = atomic_load(&o->registered);
        out->hidden = unknown_handlers(o);
    }
    return owner;
}
