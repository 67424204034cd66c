/* SPDX-License-Identifier: MIT */
/*
 * preload.c - libsxsprof-preload.so: interpose the C library's functions for signals, mappings and
 * threads.
 *
 * Interposes sigaction(), signal() and the functions related to it, pthread_kill(),
 * pthread_sigmask(), mmap() and munmap(), so that every registration of a handler in the process
 * goes through the router, from any module and at any time. Interposes pthread_create() for the
 * listener of threads. In a process without a runtime all calls are passed on, and nothing else is
 * done.
 */
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "allocator/allocator.h"
#include "signals/preload/adopt.h"
#include "signals/router.h"

#define CALLER ((uintptr_t)__builtin_return_address(0))

extern int __sigaction(int sig, const struct sigaction *act, struct sigaction *old);

static int (*next_sigaction)(int, const struct sigaction *, struct sigaction *);
static int (*next_pthread_kill)(pthread_t, int);
static sighandler_t (*next_signal)(int, sighandler_t);
static sighandler_t (*next_sysv_signal)(int, sighandler_t);
static sighandler_t (*next_sigset)(int, sighandler_t);
static int (*next_sigignore)(int);
static int (*next_siginterrupt)(int, int);
static int (*next_sigmask)(int, const sigset_t *, sigset_t *);
static int (*next_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* mmap() and munmap() are passed on as system calls, because they may be called before dlsym() can
 * look up the C library's functions. */
static void *kernel_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
}

static int kernel_munmap(void *addr, size_t len)
{
    return (int)syscall(SYS_munmap, addr, len);
}

static int ready;

/* The preloaded allocator, which is informed of mappings: it stands after this library. NULL: it is
 * not preloaded. */
static const struct sxs_allocator *allocator;

static void find_allocator(void)
{
    if (!sxsprof_allocator_v1)
        return;
    allocator = sxsprof_allocator_v1();
    allocator->maps_elsewhere();
}

__attribute__((constructor)) static void start(void)
{
    if (ready)
        return;
    find_allocator();
    *(void **)&next_sigaction = dlsym(RTLD_NEXT, "sigaction");
    *(void **)&next_pthread_kill = dlsym(RTLD_NEXT, "pthread_kill");
    *(void **)&next_signal = dlsym(RTLD_NEXT, "signal");
    *(void **)&next_sysv_signal = dlsym(RTLD_NEXT, "sysv_signal");
    *(void **)&next_sigset = dlsym(RTLD_NEXT, "sigset");
    *(void **)&next_sigignore = dlsym(RTLD_NEXT, "sigignore");
    *(void **)&next_siginterrupt = dlsym(RTLD_NEXT, "siginterrupt");
    *(void **)&next_sigmask = dlsym(RTLD_NEXT, "pthread_sigmask");
    *(void **)&next_create = dlsym(RTLD_NEXT, "pthread_create");
    struct real_calls calls = {next_sigaction ? next_sigaction : __sigaction,
                               next_pthread_kill,
                               kernel_mmap,
                               kernel_munmap,
                               next_sigmask,
                               next_create};
    router_init(1, &calls);
    ready = 1;
}

SXS_EXPORT const struct sxs_signals *sxsprof_signals_v1(void);
const struct sxs_signals            *sxsprof_signals_v1(void)
{
    start();
    return router_operations();
}

SXS_EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    if (!ready)
        start(); /* called by another library's constructor that runs earlier */
    if (adopt_watches)
        adopt_runtime_seen(CALLER);
    return hook_sigaction(CALLER, sig, act, old);
}

/* ---- older ways to register a handler -------------------------------------------------------- */

/* The signals, as bits, for which siginterrupt() has turned interruption on: signal() does not set
 * SA_RESTART for them. */
static _Atomic uint64_t interrupting;

static uint64_t bit_of(int sig)
{
    return UINT64_C(1) << (sig - 1);
}

static int bsd_flags(int sig)
{
    return atomic_load(&interrupting) & bit_of(sig) ? 0 : SA_RESTART;
}

/* Registers @handler as signal() and the like do. The C library's own versions of these functions
 * call its internal sigaction(), which is not interposed, so this file implements them for routed
 * signals.
 * @flags: sa_flags.
 * @blocks: 1 if the signal itself is blocked during the handler. */
static sighandler_t set_handler(uintptr_t caller, int sig, sighandler_t handler, int flags,
                                int blocks)
{
    struct sigaction act, old;
    if (plain_action(handler, flags, &act) != 0)
        return SIG_ERR;
    if (blocks)
        sigaddset(&act.sa_mask, sig);
    return hook_sigaction(caller, sig, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* Tells whether the host's action for @sig is stored by the router: @sig is a routed signal or the
 * sample signal. */
static int is_routed(int sig)
{
    if (!ready)
        start();
    return routed_index(sig) >= 0 || sample_shares(sig);
}

SXS_EXPORT sighandler_t signal(int sig, sighandler_t handler)
{
    return is_routed(sig) ? set_handler(CALLER, sig, handler, bsd_flags(sig), 1)
                          : next_signal(sig, handler);
}

SXS_EXPORT sighandler_t bsd_signal(int sig, sighandler_t handler);
SXS_EXPORT sighandler_t bsd_signal(int sig, sighandler_t handler)
{
    return is_routed(sig) ? set_handler(CALLER, sig, handler, bsd_flags(sig), 1)
                          : next_signal(sig, handler);
}

SXS_EXPORT sighandler_t ssignal(int sig, sighandler_t handler)
{
    return is_routed(sig) ? set_handler(CALLER, sig, handler, bsd_flags(sig), 1)
                          : next_signal(sig, handler);
}

SXS_EXPORT sighandler_t sysv_signal(int sig, sighandler_t handler)
{
    return is_routed(sig) ? set_handler(CALLER, sig, handler, (int)(SA_RESETHAND | SA_NODEFER), 0)
                          : next_sysv_signal(sig, handler);
}

SXS_EXPORT sighandler_t __sysv_signal(int sig, sighandler_t handler)
{
    return is_routed(sig) ? set_handler(CALLER, sig, handler, (int)(SA_RESETHAND | SA_NODEFER), 0)
                          : next_sysv_signal(sig, handler);
}

SXS_EXPORT sighandler_t sigset(int sig, sighandler_t handler)
{
    sighandler_t     before;
    struct sigaction now;
    sigset_t         one, mask;
    if (!is_routed(sig))
        return next_sigset(sig, handler);
    sigemptyset(&one);
    sigaddset(&one, sig);
    if (handler == SIG_HOLD) {
        if (hook_sigaction(CALLER, sig, NULL, &now) != 0 ||
            next_sigmask(SIG_BLOCK, &one, &mask) != 0)
            return SIG_ERR;
        return sigismember(&mask, sig) ? SIG_HOLD : now.sa_handler;
    }
    before = set_handler(CALLER, sig, handler, 0, 0);
    if (before == SIG_ERR || next_sigmask(SIG_UNBLOCK, &one, &mask) != 0)
        return SIG_ERR;
    return sigismember(&mask, sig) ? SIG_HOLD : before;
}

SXS_EXPORT int sigignore(int sig)
{
    if (!is_routed(sig))
        return next_sigignore(sig);
    return set_handler(CALLER, sig, SIG_IGN, 0, 0) == SIG_ERR ? -1 : 0;
}

SXS_EXPORT int siginterrupt(int sig, int interrupt)
{
    struct sigaction now;
    if (!is_routed(sig))
        return next_siginterrupt(sig, interrupt);
    if (hook_sigaction(CALLER, sig, NULL, &now) != 0)
        return -1;
    if (interrupt)
        atomic_fetch_or(&interrupting, bit_of(sig));
    else
        atomic_fetch_and(&interrupting, ~bit_of(sig));
    now.sa_flags = interrupt ? now.sa_flags & ~SA_RESTART : now.sa_flags | SA_RESTART;
    return hook_sigaction(CALLER, sig, &now, NULL);
}

/* ---- the rest -------------------------------------------------------------------------------- */

SXS_EXPORT int pthread_kill(pthread_t thread, int sig)
{
    if (!ready)
        start();
    return hook_pthread_kill(CALLER, thread, sig);
}

SXS_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    if (!ready)
        start();
    return hook_sigmask(CALLER, how, set, old);
}

SXS_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                              void *(*function)(void *), void         *argument)
{
    if (!ready)
        start();
    return hook_pthread_create(thread, attr, function, argument);
}

/* Keeps errno. */
static void *map(uintptr_t caller, void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    void *at = ready ? hook_mmap(caller, addr, len, prot, flags, fd, off)
                     : kernel_mmap(addr, len, prot, flags, fd, off);
    if (allocator)
        allocator->mapped(caller, at, len, prot, flags);
    return at;
}

SXS_EXPORT void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    return map(CALLER, addr, len, prot, flags, fd, off);
}

SXS_EXPORT void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    return map(CALLER, addr, len, prot, flags, fd, off);
}

SXS_EXPORT int munmap(void *addr, size_t len)
{
    if (allocator)
        allocator->unmapping(addr, len);
    return ready ? hook_munmap(CALLER, addr, len) : kernel_munmap(addr, len);
}
