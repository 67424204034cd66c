/* SPDX-License-Identifier: MIT */
/*
 * router.c - the signal handler that is installed for all runtimes together.
 *
 * A runtime declines a signal by calling the action that it believes it replaced, which is the
 * router. The router must tell such a call from a fresh signal. It answers the call by a jump back
 * into route(), which leaves the runtime's handler, so that handlers do not nest on the small
 * alternate stack.
 *
 * The signal's context shows which of the two it is. The kernel writes NULL into uc_link of every
 * context that it passes to a handler, and the kernel, the C library and the runtimes never read
 * that field there. route() stores the address of its struct route in the field (the stamp) and
 * clears the field when it returns. So a context without a stamp belongs to a fresh signal. The
 * router keeps no such pointer per thread, because the pointer would be stale after a handler was
 * left by siglongjmp(), or after an alternate stack was unmapped.
 */
#include "signals/router.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/log.h"

/* Sanitizers track the frames of each function. A jump out of a runtime's handler skips the ends of
 * some frames, so the functions concerned are not instrumented. leave_frames() tells the address
 * sanitizer about the jump. */
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

/* ---- which runtimes are asked --------------------------------------------------------------- */

SXS_SIGSAFE static void count_signal(_Atomic(_Atomic uint64_t *) *where, _Atomic uint64_t *own)
{
    _Atomic uint64_t *counter = atomic_load_explicit(where, memory_order_acquire);
    atomic_fetch_add_explicit(counter ? counter : own, 1, memory_order_relaxed);
}

/* The owners to ask about a fault, in this order. No owner appears twice. */
struct owner_order {
    int      at[SXS_MAX_OWNERS];
    int      n;
    uint64_t seen; /* bit i: owner i is in the list, or must not be added */
};

SXS_SIGSAFE static void order_add(struct owner_order *o, int owner, int idx)
{
    if (owner < 0 || (o->seen >> owner & 1))
        return;
    if (!atomic_load_explicit(&router.owners[owner].handler[idx], memory_order_acquire))
        return;
    o->seen |= UINT64_C(1) << owner;
    o->at[o->n++] = owner;
}

/* Fills @o: first the runtime whose code faulted; then the runtimes that this thread belongs to,
 * newest first, because a runtime may handle a fault in native code that it called; then the
 * runtimes that do not report their threads. Other runtimes cannot handle the fault and are not
 * asked, because their handlers would access their thread-local storage for the first time on this
 * thread, which allocates. The bottom owner, if there is one, is left out unless its code faulted:
 * it restores the default action instead of declining, so apply_default() asks it last.
 * @not_this: an owner that has declined already, or -1. */
SXS_SIGSAFE static void order_for_fault(struct owner_order *o, int idx, uintptr_t ip, int not_this)
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

/* Tells whether the fault is in the module that contains the host's handler, and not in code of a
 * runtime. No runtime handles such a fault, and none may be asked: .NET 8.0 examines a fault on the
 * interrupted stack, and a stack of a Go program is too small for that. */
SXS_SIGSAFE static int fault_is_hosts(int idx, uintptr_t ip)
{
    struct sigaction host;
    uintptr_t        lo, hi;
    host_action(&router.host[idx], &host);
    return is_function(&host) && owner_of_code(ip) < 0 && module_bounds(ip, &lo, &hi) &&
           (uintptr_t)host.sa_sigaction >= lo && (uintptr_t)host.sa_sigaction < hi;
}

/* ---- calls of handlers ---------------------------------------------------------------------- */

enum route_answer { TOOK_IT, DECLINED };

/* This bit is set in uc_link together with the address of a route. A pointer that a program stores
 * in uc_link is aligned and does not have the bit. */
#define STAMP ((uintptr_t)1)

NOT_SANITIZED __attribute__((noinline)) static void call_handler(handler_fn          fn,
                                                                 const struct route *r)
{
    fn(r->sig, r->info, r->context);
    __asm__ volatile("" ::: "memory"); /* prevents a tail call */
}

/* Calls @owner's handler. If the handler calls the router to decline, decline() returns here by
 * __builtin_longjmp. */
NOT_SANITIZED __attribute__((noinline)) static enum route_answer ask(struct route *r, int owner,
                                                                     int idx)
{
    struct signal_owner *o = &router.owners[owner];
    handler_fn           fn = atomic_load_explicit(&o->handler[idx], memory_order_acquire);
    if (!fn)
        return DECLINED;
    /* A handler that never returns leaves a value in gave_up; the next ask() overwrites it. */
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
    return info->si_code > 0; /* raised by the kernel for this instruction, not sent by a process */
}

/* Restores the default action, so that the process ends by this signal: the instruction faults
 * again after the handler has returned. If the instruction would not fault again, sends the same
 * signal once more; it is delivered when the handler returns. */
SXS_SIGSAFE static void die_of_signal(int sig, siginfo_t *info)
{
    struct sigaction dfl;
    memset(&dfl, 0, sizeof(dfl));
    dfl.sa_handler = SIG_DFL;
    real.sigaction(sig, &dfl, NULL);
    if (!is_fault(info) || sig == SIGTRAP)
        syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), sig, info);
}

/* Crash notification: calls the handler of one runtime before the process ends, so that the runtime
 * can flush its traces and write its crash dump, as it would if it were alone. */
static void note_crash(struct route *r, int idx)
{
    int n = atomic_load_explicit(&router.n_owners, memory_order_acquire);
    int owner = owner_of_code(sxs_context_ip(r->context));
    for (int i = 0; i < n && owner < 0; i++)
        if (sxs_thread_state.owners >> i & 1)
            owner = i;
    for (int i = 0; i < n && owner < 0; i++)
        if (atomic_load_explicit(&router.owners[i].handler[idx], memory_order_relaxed))
            owner = i;
    if (owner >= 0) {
        r->crash_notification = 1;
        ask(r, owner, idx);
    }
}

/*
 * Calls the functions that want to know of crashes, for the first thread that crashes. Another
 * thread that crashes meanwhile waits until that call is over, for it would end the process before
 * the call has said anything; it waits 1 s at most, for a call that itself crashes is never over.
 */
static void tell_crash(const struct route *r)
{
    static _Atomic int reported; /* 0: no crash so far; 1: in the call; 2: after it */
    int not_yet = 0;
    if (!atomic_load_explicit(&router.crashed[0], memory_order_acquire))
        return;
    if (atomic_compare_exchange_strong(&reported, &not_yet, 1)) {
        for (size_t i = 0; i < SXS_CRASH_WATCHERS; i++) {
            sxs_crash_watcher *crashed =
                atomic_load_explicit(&router.crashed[i], memory_order_acquire);
            if (crashed)
                crashed(r->sig, sxs_context_ip(r->context), sxs_context_sp(r->context));
        }
        atomic_store(&reported, 2);
    }
    for (int ms = 0; atomic_load(&reported) != 2 && ms < 1000; ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Takes the default action for @r, which neither a runtime nor the host handles. */
static void apply_default(struct route *r, int idx)
{
    int bottom = atomic_load_explicit(&router.bottom[idx], memory_order_relaxed);
    if (idx == IDX_ACTIVATION)
        return; /* ignored, as a CLR ignores an activation from another process */
    struct sigaction host;
    host_action(&router.host[idx], &host);
    if (host.sa_handler == SIG_IGN && !is_fault(r->info))
        return;
    if (bottom >= 0) { /* only this runtime knows the host's action; without one it declines */
        if (ask(r, bottom, idx) == DECLINED) {
            tell_crash(r);
            die_of_signal(r->sig, r->info);
        }
        return;
    }
    tell_crash(r);
    note_crash(r, idx);
    die_of_signal(r->sig, r->info);
}

/* Sends a signal that was sent to the process to it again, so that another thread handles it: this
 * one is the library's. The kernel accepts the siginfo_t of kill() from the main thread only, so
 * such a signal is sent by kill() again. Returns 1, or 0 if the signal was sent to this thread. */
SXS_SIGSAFE static int pass_to_other_thread(const struct route *r)
{
    ucontext_t *uc = r->context;
    if (is_fault(r->info) || r->info->si_code == SI_TKILL)
        return 0;
    sigaddset(&uc->uc_sigmask, r->sig);
    if (r->info->si_code == SI_USER ||
        syscall(SYS_rt_sigqueueinfo, getpid(), r->sig, r->info) != 0)
        kill(getpid(), r->sig);
    return 1;
}

/* Passes a signal that no runtime handles to the host, or takes the default action. */
static void handle_unwanted(struct route *r, int idx)
{
    struct sigaction host;
    count_signal(&router.unwanted, &router.own_unwanted);
    host_take(&router.host[idx], &host);
    if (!is_function(&host)) {
        apply_default(r, idx);
        return;
    }
    if (sxs_thread_state.is_library && pass_to_other_thread(r))
        return;
    r->in_host = 1;
    host_call(&host, r->sig, r->info, r->context);
    r->in_host = 0;
}

/* Tells whether the suspension signals of all runtimes carry their sender. */
SXS_SIGSAFE static int all_are_tagged(int n)
{
    if (atomic_load_explicit(&router.untagged, memory_order_relaxed))
        return 0;
    for (int i = 0; i < n; i++)
        if (!atomic_load_explicit(&router.owners[i].hooked, memory_order_relaxed))
            return 0;
    return 1;
}

/* Returns the owners that the suspension signal of @r may be for, as bits; 0 if it is for the host.
 * A runtime sends such signals by pthread_kill() only (si_code SI_TKILL). If its call goes through
 * the hook, the signal carries the sender's number instead. */
SXS_SIGSAFE static uint64_t activation_owners(const struct route *r, int n)
{
    int              sender = activation_sender(r->info);
    int              by_ip;
    struct sigaction host;
    if (sender >= 0 && sender < n) {
        /* A runtime suspends only its own threads, so this thread belongs to the sender. */
        sxs_thread_state.owners |= UINT64_C(1) << sender;
        return UINT64_C(1) << sender;
    }
    if (r->info->si_code != SI_TKILL || r->info->si_pid != getpid())
        return 0;
    host_action(&router.host[IDX_ACTIVATION], &host);
    if (is_function(&host) && all_are_tagged(n))
        return 0;
    if (sxs_thread_state.owners)
        return sxs_thread_state.owners;
    by_ip = owner_of_code(sxs_context_ip(r->context));
    if (by_ip >= 0)
        return UINT64_C(1) << by_ip;
    return n == 1 ? 1 : 0;
}

/* Routes a suspension signal. Returns 1 if a runtime's handler was called, else 0. These handlers
 * always return. A CLR's handler never passes the signal on; a NativeAOT library's handler always
 * does. */
static int activate_route(struct route *r)
{
    int      n = atomic_load_explicit(&router.n_owners, memory_order_acquire);
    uint64_t owners = activation_owners(r, n);
    int      any = 0;
    for (int i = 0; i < n; i++) {
        struct signal_owner *o = &router.owners[i];
        handler_fn           fn;
        if (!(owners >> i & 1))
            continue;
        fn = atomic_load_explicit(&o->handler[IDX_ACTIVATION], memory_order_acquire);
        if (!fn)
            continue;
        any = 1;
        count_signal(&o->counter, &o->own_counter);
        r->asking = i;
        call_handler(fn, r);
        r->asking = -1;
    }
    return any;
}

/* Routes one fresh signal. The frame of this function holds the struct route, which must outlive
 * every ask().
 * @not_this: the owner that called the router and so has handled its turn already, or -1. */
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
        if (!activate_route(&r))
            handle_unwanted(&r, idx);
    } else if (idx == IDX_ABRT || !is_fault(info) || fault_is_hosts(idx, sxs_context_ip(context))) {
        handle_unwanted(&r, idx); /* no runtime handles these; one may get a crash notification */
    } else {
        struct owner_order o;
        int volatile at = 0;
        order_for_fault(&o, idx, sxs_context_ip(context), not_this);
        for (; at < o.n; at++) {
            struct signal_owner *owner = &router.owners[o.at[at]];
            /* Counted before the call, because a runtime that handles the fault may not return. */
            count_signal(&owner->counter, &owner->own_counter);
            if (ask(&r, o.at[at], idx) == TOOK_IT)
                break;
        }
        if (at == o.n)
            handle_unwanted(&r, idx);
    }
    uc->uc_link = NULL;
    mask_returned(&mask);
    errno = saved_errno;
}

/* Returns the route of the signal that @context belongs to, or NULL if the signal is fresh.
 * A stamp outlives its route in one case only: a handler in front of the router left route() by a
 * jump, and then calls the router again with the same context. The stack pointer of that call lies
 * between the former route and the context, so the route is no longer live. */
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

/* Handles a call of the router by the runtime that ask() has called. Does not return if the runtime
 * declines. */
NOT_SANITIZED static void decline(struct route *r)
{
    if (r->asking < 0 || r->crash_notification || r->sig == SIGRTMIN)
        return; /* the runtime's handler continues */
    leave_frames();
    __builtin_longjmp(r->declined, 1);
}

NOT_SANITIZED __attribute__((noinline)) void router_entry(int sig, siginfo_t *info, void *context)
{
    uintptr_t     from = (uintptr_t)__builtin_return_address(0);
    struct route *r;
    if (guard_recovers(sig, info, context)) /* one of the library's guarded loads faulted */
        return;
    r = route_under_way(sig, info, context);
    if (!r) {
        /* If a runtime is the caller, its handler was installed over the router without the
         * router's knowledge. The runtime has declined the signal, so it is not asked again. */
        route(sig, info, context, owner_of_module(from));
    } else if (r->in_host) {
        r->in_host = 0; /* the host's handler passes the signal on to the action that it replaced */
        apply_default(r, routed_index(sig));
    } else {
        decline(r);
    }
    /* Prevents tail calls above, because return addresses show which code called a function. */
    __asm__ volatile("" ::: "memory");
}
