/* SPDX-License-Identifier: MIT */
/*
 * router.c - the signal handler that is installed for all runtimes together.
 *
 * A runtime that does not want a signal calls the action that it was told had been installed before its
 * own: the router. Such a call must be told from a fresh signal, and it leaves the runtime's handler by a
 * jump back into route(), so that nothing nests on the small alternate stack.
 *
 * The signal frame itself tells them apart. The kernel writes NULL into uc_link of every context that it
 * hands to a handler, and nobody reads that field there. route() stores the address of its struct route in
 * it (the stamp) and clears it on return. A context without a stamp is a fresh signal. Nothing is kept
 * per thread that a handler left by siglongjmp, or an alternate stack that was unmapped, could make stale.
 */
#include "signals/router.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

/* Sanitizers keep books of frames; a jump out of a runtime's handler leaves some unclosed. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
#define NOT_SANITIZED __attribute__((no_sanitize("address", "thread")))
extern void __asan_handle_no_return(void) __attribute__((weak));
#define leave_frames() (__asan_handle_no_return ? __asan_handle_no_return() : (void)0)
#else
#define NOT_SANITIZED
#define leave_frames() ((void)0)
#endif

/* ---- who gets it ---------------------------------------------------------------------------- */

SXS_SIGSAFE static void count(_Atomic(_Atomic uint64_t *) *where, _Atomic uint64_t *own)
{
    _Atomic uint64_t *counter = atomic_load_explicit(where, memory_order_acquire);
    atomic_fetch_add_explicit(counter ? counter : own, 1, memory_order_relaxed);
}

/* The owners to ask about a fault, in order, each at most once. */
struct order {
    int      at[SXS_MAX_OWNERS];
    int      n;
    uint64_t seen;
};

SXS_SIGSAFE static void order_add(struct order *o, int owner, int idx)
{
    if (owner < 0 || (o->seen >> owner & 1))
        return;
    if (!atomic_load_explicit(&router.owners[owner].handler[idx], memory_order_acquire))
        return;
    o->seen |= UINT64_C(1) << owner;
    o->at[o->n++] = owner;
}

/* First the runtime whose code faulted; then, newest first, the runtimes this thread belongs to (a
 * fault in native code that a runtime called may be its to handle); then those that do not report
 * their threads. Others cannot want it, and asking costs a first touch of their thread-local storage,
 * which allocates. The bottom owner, if any, does not decline but gives up: it is asked last. */
SXS_SIGSAFE static void order_for_fault(struct order *o, int idx, uintptr_t ip, int not_this)
{
    int n = atomic_load_explicit(&router.n_owners, memory_order_acquire);
    int bottom = atomic_load_explicit(&router.bottom[idx], memory_order_relaxed);
    int by_ip = owner_of_code(ip);
    o->n = 0;
    o->seen = not_this >= 0 ? UINT64_C(1) << not_this : 0;
    order_add(o, by_ip, idx);
    if (bottom >= 0 && bottom != by_ip)
        o->seen |= UINT64_C(1) << bottom;
    for (int i = n - 1; i >= 0; i--)
        if (sxs_thread_state.owners >> i & 1)
            order_add(o, i, idx);
    for (int i = n - 1; i >= 0; i--)
        if (!atomic_load_explicit(&router.owners[i].announced, memory_order_relaxed))
            order_add(o, i, idx);
}

SXS_SIGSAFE static uintptr_t context_ip(const void *context)
{
    const ucontext_t *uc = context;
#if defined(__x86_64__)
    return (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)uc->uc_mcontext.pc;
#else
#error "which register is the instruction pointer?"
#endif
}

/* A fault in the module that the host's handler lies in, which is no runtime's: no runtime handles it, and a
 * runtime may not even be asked. A Go program runs on small stacks, and 8.0 looks at a fault on the stack that
 * was interrupted. */
SXS_SIGSAFE static int fault_is_hosts(int idx, uintptr_t ip)
{
    struct sigaction host;
    uintptr_t        lo, hi;
    host_action(idx, &host);
    return is_function(&host) && owner_of_code(ip) < 0 && module_bounds(ip, &lo, &hi) &&
           (uintptr_t)host.sa_sigaction >= lo && (uintptr_t)host.sa_sigaction < hi;
}

/* ---- handing over --------------------------------------------------------------------------- */

enum answer { TOOK_IT, DECLINED };

/* Set in uc_link beside the address of a route: no pointer that a program keeps there has it. */
#define STAMP ((uintptr_t)1)

NOT_SANITIZED __attribute__((noinline)) static void call_handler(handler_fn          fn,
                                                                 const struct route *r)
{
    fn(r->sig, r->info, r->context);
    __asm__ volatile("" ::: "memory"); /* no tail call here either */
}

/* Runs @owner's handler. A decline comes back by __builtin_longjmp from decline(). */
NOT_SANITIZED __attribute__((noinline)) static enum answer ask(struct route *r, int owner, int idx)
{
    struct owner *o = &router.owners[owner];
    handler_fn    fn = atomic_load_explicit(&o->handler[idx], memory_order_acquire);
    if (!fn)
        return DECLINED;
    /* A handler that is left for good leaves a value behind; the next ask() overwrites it. */
    int outer = sxs_thread_state.gave_up;
    int gave_up = 1;
    r->asking = owner;
    sxs_thread_state.gave_up = 0;
    if (__builtin_setjmp(r->declined) == 0) {
        call_handler(fn, r);
        gave_up = sxs_thread_state.gave_up == gave_up_mark(owner, idx);
    }
    r->asking = -1;
    sxs_thread_state.gave_up = outer;
    return gave_up ? DECLINED : TOOK_IT;
}

SXS_SIGSAFE static int is_fault(const siginfo_t *info)
{
    return info->si_code > 0; /* raised by the kernel for this instruction, not sent by anyone */
}

/* The default action, for good: by letting the instruction fault again where that works, else by
 * sending the very same signal once more; it arrives when the handler returns. */
SXS_SIGSAFE static void die(int sig, siginfo_t *info)
{
    struct sigaction dfl;
    memset(&dfl, 0, sizeof(dfl));
    dfl.sa_handler = SIG_DFL;
    real.sigaction(sig, &dfl, NULL);
    if (!is_fault(info) || sig == SIGTRAP)
        syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), sig, info);
}

/* One runtime may flush its traces and write its crash dump, as it would if it were alone. */
static void last_rites(struct route *r, int idx)
{
    int n = atomic_load_explicit(&router.n_owners, memory_order_acquire);
    int owner = owner_of_code(context_ip(r->context));
    for (int i = 0; i < n && owner < 0; i++)
        if (sxs_thread_state.owners >> i & 1)
            owner = i;
    for (int i = 0; i < n && owner < 0; i++)
        if (atomic_load_explicit(&router.owners[i].handler[idx], memory_order_relaxed))
            owner = i;
    if (owner >= 0) {
        r->last_rites = 1;
        ask(r, owner, idx);
    }
}

/* Nobody is left: the default action. */
static void defaulted(struct route *r, int idx)
{
    int bottom = atomic_load_explicit(&router.bottom[idx], memory_order_relaxed);
    if (idx == IDX_ACTIVATION)
        return; /* as a CLR does with an activation from another process */
    struct sigaction host;
    host_action(idx, &host);
    if (host.sa_handler == SIG_IGN && !is_fault(r->info))
        return;
    if (bottom >= 0) { /* it alone knows who was there before; if that is nobody, it gives up */
        if (ask(r, bottom, idx) == DECLINED)
            die(r->sig, r->info);
        return;
    }
    last_rites(r, idx);
    die(r->sig, r->info);
}

static void unwanted(struct route *r, int idx)
{
    struct sigaction host;
    count(&router.unwanted, &router.own_unwanted);
    host_take(idx, &host);
    if (!is_function(&host)) {
        defaulted(r, idx);
        return;
    }
    r->in_host = 1;
    host_call(&host, r);
    r->in_host = 0;
}

/* Do all suspension signals of all runtimes say who sent them? */
SXS_SIGSAFE static int all_are_tagged(int n)
{
    if (atomic_load_explicit(&router.untagged, memory_order_relaxed))
        return 0;
    for (int i = 0; i < n; i++)
        if (!atomic_load_explicit(&router.owners[i].hooked, memory_order_relaxed))
            return 0;
    return 1;
}

/* The runtimes an activation may be meant for; 0: it is the host's. A runtime sends by pthread_kill only
 * (SI_TKILL), or, when its call came through the hook, with a value that names it. */
SXS_SIGSAFE static uint64_t activation_owners(const struct route *r, int n)
{
    int              sender = activation_sender(r->info);
    int              by_ip;
    struct sigaction host;
    if (sender >= 0 && sender < n) {
        sxs_thread_state.owners |= UINT64_C(1)
                                   << sender; /* it activates none but its own threads */
        return UINT64_C(1) << sender;
    }
    if (r->info->si_code != SI_TKILL || r->info->si_pid != getpid())
        return 0;
    host_action(IDX_ACTIVATION, &host);
    if (is_function(&host) && all_are_tagged(n))
        return 0;
    if (sxs_thread_state.owners)
        return sxs_thread_state.owners;
    by_ip = owner_of_code(context_ip(r->context));
    if (by_ip >= 0)
        return UINT64_C(1) << by_ip;
    return n == 1 ? 1 : 0;
}

/* GC suspension. These handlers come back; a CLR's never passes on, a NativeAOT library's always. */
static int activate(struct route *r)
{
    int      n = atomic_load_explicit(&router.n_owners, memory_order_acquire);
    uint64_t owners = activation_owners(r, n);
    int      any = 0;
    for (int i = 0; i < n; i++) {
        struct owner *o = &router.owners[i];
        handler_fn    fn;
        if (!(owners >> i & 1))
            continue;
        fn = atomic_load_explicit(&o->handler[IDX_ACTIVATION], memory_order_acquire);
        if (!fn)
            continue;
        any = 1;
        count(&o->counter, &o->own_counter);
        r->asking = i;
        call_handler(fn, r);
        r->asking = -1;
    }
    return any;
}

/* The caller's frame holds the route: it must outlive every ask(). */
NOT_SANITIZED __attribute__((noinline)) static void route(int sig, siginfo_t *info, void *context,
                                                          int not_this)
{
    int          idx = routed_index(sig);
    int          saved_errno = errno;
    ucontext_t  *uc = context;
    struct mask_entry mask;
    struct route r = {.info = info, .context = context, .sig = sig, .asking = -1};
    mask_entered(idx, context, &mask);
    uc->uc_link = (void *)((uintptr_t)&r | STAMP);
    if (idx == IDX_ACTIVATION) {
        if (!activate(&r))
            unwanted(&r, idx);
    } else if (idx == IDX_ABRT || !is_fault(info) || fault_is_hosts(idx, context_ip(context))) {
        unwanted(&r, idx); /* no runtime handles these; of some they make their last notes */
    } else {
        struct order o;
        int volatile at = 0;
        order_for_fault(&o, idx, context_ip(context), not_this);
        for (; at < o.n; at++) {
            struct owner *who = &router.owners[o.at[at]];
            /* Counted before: a runtime that takes it may never return. */
            count(&who->counter, &who->own_counter);
            if (ask(&r, o.at[at], idx) == TOOK_IT)
                break;
        }
        if (at == o.n)
            unwanted(&r, idx);
    }
    uc->uc_link = NULL;
    mask_returned(&mask);
    errno = saved_errno;
}

/* The route of the signal that @context belongs to; NULL when the signal is a fresh one. A stamp outlives
 * its route only when a handler between the kernel's and the router left route() by a jump and then calls
 * the router again with the same context; that call comes from above where the route was. */
NOT_SANITIZED SXS_SIGSAFE static struct route *route_under_way(int sig, const siginfo_t *info,
                                                               const void *context)
{
    uintptr_t     sp = (uintptr_t)__builtin_frame_address(0);
    uintptr_t     stamp = (uintptr_t)((const ucontext_t *)context)->uc_link;
    struct route *r = (struct route *)(stamp & ~STAMP);
    if (!(stamp & STAMP) || ((uintptr_t)r <= sp && sp < (uintptr_t)context))
        return NULL;
    return r->context == context && r->info == info && r->sig == sig ? r : NULL;
}

/* The runtime that was asked calls what it believes was there before it. */
NOT_SANITIZED static void decline(struct route *r)
{
    if (r->asking < 0 || r->last_rites || r->sig == SIGRTMIN)
        return; /* it goes on with its own business */
    leave_frames();
    __builtin_longjmp(r->declined, 1);
}

NOT_SANITIZED __attribute__((noinline)) void router_entry(int sig, siginfo_t *info, void *context)
{
    uintptr_t     from = (uintptr_t)__builtin_return_address(0);
    struct route *r;
    if (guard_recovers(sig, info, context)) /* a guarded read of the library's own faulted */
        return;
    r = route_under_way(sig, info, context);
    if (!r) {
        /* Called by a runtime, it has registered over the router unseen, and has had its turn. */
        route(sig, info, context, owner_of_module(from));
    } else if (r->in_host) {
        r->in_host = 0; /* the host's handler passes it on to whoever was there before it */
        defaulted(r, routed_index(sig));
    } else {
        decline(r);
    }
    __asm__ volatile("" ::: "memory"); /* no tail call: the return address tells who called */
}
