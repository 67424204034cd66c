/* SPDX-License-Identifier: MIT */
/* owners.c - register the modules that are runtimes as owners, and take over their handlers. */
#include <errno.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "base/loader.h"
#include "base/log.h"
#include "signals/progress.h"
#include "signals/router.h"

/* Limit of find_hidden()'s rounds, which take a millisecond each. Ends the wait if threads make no
 * progress at all. */
#define MAX_TRIES 10000

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

/* Makes @m a new owner. Returns its number or -ENOSPC. */
static int add_locked(const struct loaded_module *m, uintptr_t addr)
{
    int                  n = atomic_load(&router.n_owners);
    struct signal_owner *o = &router.owners[n];
    if (n >= SXS_MAX_OWNERS)
        return -ENOSPC;
    o->text = addr;
    memcpy(o->path, m->path, sizeof(o->path));
    if (sxs_ranges_add(&router.ranges, m->lo, m->hi, n, SXS_RANGE_MODULE) != 0)
        return -ENOSPC;
    reserved_give(m, n);
    atomic_store_explicit(&router.n_owners, n + 1, memory_order_release);
    return n;
}

int owner_register(uintptr_t addr, int force)
{
    struct loaded_module m;
    sigset_t             saved;
    int                  owner = owner_of_module(addr);
    if (owner >= 0)
        return owner;
    if (!module_find(addr, &m) || (!force && !module_is_runtime(&m)))
        return -ENOENT;
    router_lock(&saved);
    owner = owner_of_module(addr); /* again: another thread may have registered the module */
    if (owner < 0)
        owner = add_locked(&m, addr);
    router_unlock(&saved);
    if (owner >= 0 && !atomic_load(&router.owners[owner].hooked)) {
        lookups_patch(addr);
        atomic_store(&router.owners[owner].hooked, router.preloaded || imports_patch(addr) > 0);
    }
    return owner;
}

/* The loaded libcoreclr.so modules. All of them become owners and get their imports patched, also
 * those that have not registered handlers yet. The router then sees their registrations, whenever
 * these happen. */
struct loaded_runtimes {
    uintptr_t text[SXS_MAX_OWNERS]; /* an address in each module */
    int       n;
};

static int loaded_visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct loaded_runtimes *all = arg;
    const char             *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
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
    struct loaded_runtimes all = {.n = 0};
    sxs_loader_each(loaded_visit, &all);
    for (int i = 0; i < all.n; i++)
        owner_register(all.text[i], 0);
}

/* ---- taking over ----------------------------------------------------------------------------- */

static void know_handler(int owner, int idx, const struct sigaction *act)
{
    struct signal_owner *o = &router.owners[owner];
    atomic_store_explicit(&o->handler[idx], act->sa_sigaction, memory_order_release);
    atomic_fetch_or(&o->registered, 1u << idx);
}

static void keep_host(int idx, const struct sigaction *act)
{
    sigset_t saved;
    router_lock(&saved);
    host_keep(&router.host[idx], act);
    router_unlock(&saved);
}

/* Takes over the host's handler, if the runtime @owner replaced one when it registered @handler:
 * the handler becomes the host's action, and in the runtime's variable the router takes its place.
 * The flags are changed first, because the runtime reads them before it calls the function.
 * Returns 1 if there was such a handler, else 0. */
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

/* Takes over the chain of runtimes that starts at the action @now. Each runtime keeps the action
 * that it replaced in a variable, which chain_previous() finds. Follows these actions down to the
 * runtime that registered first, records each handler, and replaces each kept action by the router.
 * @first: 1 if the router has not been installed for @idx before. */
static void take_chain(int idx, const struct sigaction *now, int first)
{
    struct sigaction act = *now;
    int              last = -1;
    for (int depth = 0; depth < SXS_MAX_OWNERS; depth++) {
        uintptr_t         fn = (uintptr_t)act.sa_sigaction;
        int               owner = is_function(&act) ? owner_register(fn, 0) : -1;
        struct sigaction *previous;
        if (act.sa_sigaction == router_entry || owner < 0)
            break; /* the router itself, the default, or a handler of the host */
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
    if (first && last >= 0) /* the variable in which `last` keeps the host's action was not found */
        atomic_store(&router.bottom[idx], last);
}

/* A hooked runtime has registered a handler, and the action that the router replaced may belong to
 * another runtime, which registered before the router could see it. If so, that runtime is taken
 * over; its action is not the host's. */
void owner_take_host(int idx)
{
    static const struct sigaction none;
    struct sigaction              was;
    host_action(&router.host[idx], &was);
    if (router.preloaded || !is_function(&was) || was.sa_sigaction == router_entry ||
        owner_register((uintptr_t)was.sa_sigaction, 0) < 0)
        return;
    keep_host(idx, &none); /* take_chain() may find the host's real action and store it */
    take_chain(idx, &was, 1);
}

/* If the kernel's action for @idx belongs to a runtime, takes over the chain of runtimes and
 * installs the router. The handlers are recorded first, so that there is no moment in which the
 * router is installed and does not know the handler of one of these runtimes.
 * @may_be_first: 1 if the host's action may be known only to the runtime that registered first. */
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
        atomic_fetch_and(&router.installed, ~(1u << idx)); /* replaced, so it is installed again */
        router_install(idx, &now, &old);
        router_unlock(&saved);
        if (old.sa_sigaction == now.sa_sigaction)
            return;
        now = old; /* another action was registered meanwhile */
    }
}

/* Called if the host has replaced the router by a handler of its own for suspension signals. The
 * host's handler would get the suspension signals of the runtimes, and their collections would
 * never end. Makes that handler the host's action and installs the router again. */
static void retake_from_host(const struct sigaction *now)
{
    struct sigaction like = {.sa_flags = SA_RESTART};
    sigset_t         saved;
    sigemptyset(&like.sa_mask);
    router_lock(&saved);
    host_keep(&router.host[IDX_ACTIVATION], now);
    atomic_fetch_and(&router.installed, ~(1u << IDX_ACTIVATION));
    router_install(IDX_ACTIVATION, &like, NULL);
    router_unlock(&saved);
}

/* If another handler has replaced the router as the kernel's action for SIGRTMIN, takes over all
 * handlers that were registered without the router's knowledge. They belong to the host
 * (retake_from_host()) or to a runtime that is not profiled and was loaded later, for example a
 * NativeAOT library. The handler of such a runtime would run first, also on threads of other
 * runtimes, and access its thread-local storage there. The first access allocates, perhaps while
 * the thread is interrupted in malloc(). Only one thread does this at a time; other threads return
 * at once and send their signals as before. */
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

/* Finds handlers that take_chain() could not find. A chain ends too early at a runtime that was
 * interrupted after its registration and before it stored the action that it replaced. By the time
 * the hidden runtime is adopted, the action has usually been stored. So this function reads the
 * variable of every known handler again, records each runtime's handler that it finds there, and
 * replaces it by the router in the variable. */
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
            atomic_store(&router.bottom[idx], hidden); /* the hidden runtime registered earlier */
        i = -1; /* start again: the hidden runtime's own variable can be read now */
        n = atomic_load(&router.n_owners);
    }
}

/* Returns the signals, as bits, that are routed and for which no handler of @o is known. */
static unsigned unknown_handlers(const struct signal_owner *o)
{
    unsigned unknown = 0;
    for (int i = 0; i < N_ROUTED; i++)
        if (!atomic_load(&o->handler[i]) && (atomic_load(&router.installed) >> i & 1))
            unknown |= 1u << i;
    return unknown;
}

/* Looks for hidden handlers of @owner. The runtime that hides @owner may have been preempted in the
 * middle of its registration, so this function waits until every thread has made progress
 * (signals/progress.h). A handler that is not known then was not registered. */
static void find_hidden(int owner)
{
    struct sxs_unserved_threads progress;
    int                         over = 0;
    sxs_progress_begin(&progress);
    for (int tries = 0; tries < MAX_TRIES; tries++) {
        for (int i = 0; i < N_ROUTED; i++)
            take_hidden(i);
        if (!unknown_handlers(&router.owners[owner]) || over)
            break;
        over = sxs_progress_over(&progress); /* if it is over, one more round follows */
        if (!over)
            usleep(1000);
    }
}

/* Says once that some code has no owner: faults in it go to the host's handlers. */
static void warn_of_overflow(void)
{
    static _Atomic int said;
    sigset_t           saved;
    unsigned           n;
    router_lock(&saved);
    n = router.ranges.overflow;
    router_unlock(&saved);
    if (n && !atomic_exchange(&said, 1))
        sxs_warn(
            "signals: the code of the runtimes is in more than %d pieces of memory: faults and "
            "suspension signals in %u of them may not reach their runtime",
            SXS_RANGES_MAX, n);
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
    warn_of_overflow();
    if (out) {
        struct signal_owner *o = &router.owners[owner];
        out->hooked = o->hooked;
        out->taken = atomic_load(&o->registered);
        out->hidden = unknown_handlers(o);
    }
    return owner;
}
