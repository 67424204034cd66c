/* SPDX-License-Identifier: MIT */
/*
 * router.c - the handler that stands in front of all runtimes.
 *
 * A runtime that does not want a signal calls what it was told had been there before: the router
 * again. That call is recognised by its return address, which lies in the runtime's module, and
 * leaves the runtime's handler by a jump back into route(): nothing ever nests on the small alternate
 * stack. A runtime that takes a fault may never return (it unwinds past); whatever is left in
 * thread_state.top is then stale, and is overwritten by the next fresh signal before anyone looks.
 */
#include "signals/router.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "manager/base/log.h"

struct router              router;
struct real_calls          real;
SXS_TLS struct thread_state sxs_thread_state;

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

static const int routed[N_ROUTED] = {SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGTRAP, SIGABRT, 0};

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

/* ---- handing over --------------------------------------------------------------------------- */

enum answer { TOOK_IT, DECLINED };

/* Every handler is called from here, in a section of its own: a runtime that passes a signal on by a
 * tail jump (NativeAOT does) leaves this as the return address. */
extern const char __start_sxs_call_text[] __attribute__((visibility("hidden")));
extern const char __stop_sxs_call_text[] __attribute__((visibility("hidden")));

NOT_SANITIZED __attribute__((noinline, section("sxs_call_text"))) static void
call_handler(handler_fn fn, const struct route *r)
{
    fn(r->sig, r->info, r->context);
    __asm__ volatile("" ::: "memory"); /* no tail call here either */
}

SXS_SIGSAFE static int called_from_here(uintptr_t from)
{
    return from > (uintptr_t)__start_sxs_call_text && from <= (uintptr_t)__stop_sxs_call_text;
}

/* Runs @owner's handler. A decline comes back by __builtin_longjmp from chained(). */
NOT_SANITIZED __attribute__((noinline)) static enum answer ask(struct route *r, int owner, int idx)
{
    struct owner *o = &router.owners[owner];
    handler_fn    fn = atomic_load_explicit(&o->handler[idx], memory_order_acquire);
    if (!fn)
        return DECLINED;
    r->asking = owner;
    r->restored = 0;
    sxs_thread_state.top = r;
    if (__builtin_setjmp(r->declined) == 0) {
        call_handler(fn, r);
        return r->restored ? DECLINED : TOOK_IT;
    }
    return DECLINED;
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
    if (router.host[idx].sa_handler == SIG_IGN && !is_fault(r->info))
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
    struct sigaction host = router.host[idx];
    count(&router.unwanted, &router.own_unwanted);
    if (!is_function(&host)) {
        defaulted(r, idx);
        return;
    }
    r->in_host = 1;
    r->asking = -1;
    sxs_thread_state.top = r;
    if (host.sa_flags & SA_SIGINFO)
        call_handler(host.sa_sigaction, r);
    else
        host.sa_handler(r->sig);
    r->in_host = 0;
}

/* The host uses the signal itself, and this one came from no runtime. */
SXS_SIGSAFE static int activation_is_hosts(int n)
{
    if (!is_function(&router.host[IDX_ACTIVATION]))
        return 0;
    for (int i = 0; i < n; i++)
        if (!router.owners[i].hooked)
            return 0;
    return 1;
}

/* The runtimes an activation may be meant for. The sender is known when its pthread_kill came through
 * the hook; otherwise every runtime the thread belongs to looks for itself. */
SXS_SIGSAFE static uint64_t activation_owners(const struct route *r, int n)
{
    int sender = activation_sender(r->info);
    int by_ip;
    if (r->info->si_pid != getpid())
        return 0;
    if (sender >= 0 && sender < n) {
        sxs_thread_state.owners |= UINT64_C(1) << sender; /* it activates none but its own threads */
        return UINT64_C(1) << sender;
    }
    if (activation_is_hosts(n))
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
        sxs_thread_state.top = r;
        call_handler(fn, r);
    }
    return any;
}

/* The caller's frame holds the route: it must outlive every ask(). */
NOT_SANITIZED __attribute__((noinline)) static void route(int sig, siginfo_t *info, void *context, int not_this)
{
    int          idx = routed_index(sig);
    int          saved_errno = errno;
    struct route r = {.outer = sxs_thread_state.top, .info = info, .context = context, .sig = sig,
                      .asking = -1};
    if (idx == IDX_ACTIVATION) {
        if (!activate(&r))
            unwanted(&r, idx);
    } else if (idx == IDX_ABRT || !is_fault(info)) {
        unwanted(&r, idx); /* no runtime handles these; they only make their last notes */
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
    sxs_thread_state.top = r.outer;
    errno = saved_errno;
}

/* A runtime calls what it believes was there before it. */
NOT_SANITIZED static void chained(int by, int sig, siginfo_t *info, void *context)
{
    struct route *r = sxs_thread_state.top;
    if (r && r->asking == by && r->sig == sig && r->context == context && r->info == info) {
        if (r->last_rites || sig == SIGRTMIN)
            return; /* it goes on with its own business */
        leave_frames();
        __builtin_longjmp(r->declined, 1);
    }
    /* The kernel called that runtime's handler itself: it registered over the router and has not
     * been seen yet. It has had its turn. */
    route(sig, info, context, by);
}

NOT_SANITIZED __attribute__((noinline)) void router_entry(int sig, siginfo_t *info, void *context)
{
    if (guard_recovers(sig, info, context))
        return;
    uintptr_t     from = (uintptr_t)__builtin_return_address(0);
    struct route *r = sxs_thread_state.top;
    int           by = called_from_here(from) && r ? r->asking : owner_of_module(from);
    if (by >= 0) {
        chained(by, sig, info, context);
    } else if (r && r->in_host && r->sig == sig && r->context == context) {
        r->in_host = 0; /* the host's handler passes it on to whoever was there before it */
        defaulted(r, routed_index(sig));
    } else {
        route(sig, info, context, -1);
    }
    __asm__ volatile("" ::: "memory"); /* no tail call: the return address tells who called */
}

/* ---- installation --------------------------------------------------------------------------- */

void router_action(int idx, struct sigaction *out)
{
    memset(out, 0, sizeof(*out));
    out->sa_sigaction = router_entry;
    out->sa_flags = SA_SIGINFO | SA_RESTART | (router.flags[idx] & SA_ONSTACK);
}

int router_install(int idx, const struct sigaction *like)
{
    int              sig = routed_signal(idx);
    int              flags = SA_SIGINFO | SA_RESTART | (like->sa_flags & SA_ONSTACK);
    unsigned         bit = 1u << idx;
    struct sigaction act;
    int              have = atomic_load(&router.installed) & bit;
    if (have && (router.flags[idx] | flags) == router.flags[idx])
        return 0;
    /* The mask of the handlers it stands for, no more: a runtime that unwinds past its handler
     * unblocks just what it knows of, and the rest would stay blocked for ever. */
    act = *like;
    act.sa_sigaction = router_entry;
    if (flags & SA_ONSTACK) { /* hook_sigmask() unblocks them when the stack is left */
        sigaddset(&act.sa_mask, sample_signal());
        sigaddset(&act.sa_mask, SIGPROF); /* of other profilers */
    }
    act.sa_flags = flags | (have ? router.flags[idx] : 0);
    if (real.sigaction(sig, &act, have ? NULL : &router.host[idx]) != 0)
        return -errno;
    router.flags[idx] = act.sa_flags;
    atomic_fetch_or(&router.installed, bit);
    return 0;
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
    static int             done;
    pthread_mutex_lock(&once);
    if (!done) {
        const char *text = getenv("SXSPROF_SIGNALS");
        real = *calls;
        router.preloaded = preloaded;
        router.off = text && strcmp(text, "off") == 0;
        if (text && *text && !router.off && strcmp(text, "on") != 0)
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
