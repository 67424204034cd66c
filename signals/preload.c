/* SPDX-License-Identifier: MIT */
/*
 * preload.c - libsxsprof-preload.so: interposes sigaction (and signal, pthread_kill,
 * pthread_sigmask, mmap, munmap), so that every registration of the process passes through the router,
 * whoever makes it and when; and pthread_create, for whoever wants to know of threads.
 * In a process without a runtime it passes everything on and does nothing else.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "signals/router.h"

#define CALLER ((uintptr_t)__builtin_return_address(0))

extern int __sigaction(int sig, const struct sigaction *act, struct sigaction *old);

static int (*next_sigaction)(int, const struct sigaction *, struct sigaction *);
static int (*next_pthread_kill)(pthread_t, int);
static sighandler_t (*next_signal)(int, sighandler_t);
static int (*next_sigmask)(int, const sigset_t *, sigset_t *);
static int (*next_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* Memory calls go to the kernel: they may come before anything can be looked up. */
static void *kernel_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
}

static int kernel_munmap(void *addr, size_t len)
{
    return (int)syscall(SYS_munmap, addr, len);
}

static int ready;

__attribute__((constructor)) static void start(void)
{
    if (ready)
        return;
    *(void **)&next_sigaction = dlsym(RTLD_NEXT, "sigaction");
    *(void **)&next_pthread_kill = dlsym(RTLD_NEXT, "pthread_kill");
    *(void **)&next_signal = dlsym(RTLD_NEXT, "signal");
    *(void **)&next_sigmask = dlsym(RTLD_NEXT, "pthread_sigmask");
    *(void **)&next_create = dlsym(RTLD_NEXT, "pthread_create");
    struct real_calls calls = {next_sigaction ? next_sigaction : __sigaction, next_pthread_kill,
                               kernel_mmap, kernel_munmap, next_sigmask, next_create};
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
        start(); /* another library's constructor was faster */
    return hook_sigaction(CALLER, sig, act, old);
}

SXS_EXPORT sighandler_t signal(int sig, sighandler_t handler)
{
    struct sigaction act, old;
    if (!ready)
        start();
    if (routed_index(sig) < 0 && !sample_shares(sig) && next_signal)
        return next_signal(sig, handler);
    memset(&act, 0, sizeof(act));
    act.sa_handler = handler;
    act.sa_flags = SA_RESTART;
    sigaddset(&act.sa_mask, sig);
    return hook_sigaction(CALLER, sig, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
}

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
                              void *(*function)(void *), void *argument)
{
    if (!ready)
        start();
    return hook_pthread_create(thread, attr, function, argument);
}

SXS_EXPORT void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    return ready ? hook_mmap(CALLER, addr, len, prot, flags, fd, off)
                 : kernel_mmap(addr, len, prot, flags, fd, off);
}

SXS_EXPORT void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    return ready ? hook_mmap(CALLER, addr, len, prot, flags, fd, off)
                 : kernel_mmap(addr, len, prot, flags, fd, off);
}

SXS_EXPORT int munmap(void *addr, size_t len)
{
    return ready ? hook_munmap(CALLER, addr, len) : kernel_munmap(addr, len);
}
