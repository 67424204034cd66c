/* SPDX-License-Identifier: MIT */
/*
 * hooks.c - the hooks for sigaction, pthread_kill, pthread_sigmask, mmap and munmap.
 *
 * When a runtime registers a handler for a routed signal, the kernel's action stays the router, and
 * the runtime gets the router as the action that it replaced. When other code registers a handler
 * for a routed signal, that becomes the host's action, which gets the signals that no runtime
 * handles. A runtime's suspension signals are tagged with their sender. Memory that a runtime maps
 * for code is recorded as its code.
 */
#include "signals/router.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Tells whether the caller is a child between vfork() and exec. Such a child runs in this process's
 * memory but has signal actions of its own, so its calls are passed on unchanged. */
static int other_process(void)
{
    return (pid_t)syscall(SYS_getpid) != atomic_load_explicit(&router.pid, memory_order_relaxed);
}

/* ---- sigaction ------------------------------------------------------------------------------- */

static int runtime_registers(int owner, int idx, const struct sigaction *act, struct sigaction *old)
{
    struct signal_owner *o = &router.owners[owner];
    sigset_t             saved;
    int                  err = 0, fresh = 0;
    router_lock(&saved);
    if (act && is_function(act) && act->sa_sigaction != router_entry) {
        /* The handler is stored first, because signals may arrive as soon as the router is
         * installed. */
        atomic_store_explicit(&o->handler[idx], act->sa_sigaction, memory_order_release);
        atomic_fetch_or(&o->registered, 1u << idx);
        fresh = !(atomic_load(&router.installed) >> idx & 1);
        err = router_install_first(idx, act);
    } else if (act) {
        /* The runtime restores the action that it replaced, or the default: it declines. If ask()
         * has called the runtime's handler, ask() reads gave_up. */
        sxs_thread_state.gave_up = gave_up_mark(owner, idx);
        if (act->sa_sigaction == router_entry || idx == IDX_ABRT)
            atomic_store_explicit(&o->handler[idx], NULL, memory_order_release);
    }
    if (old)
        router_action(idx, old);
    router_unlock(&saved);
    if (fresh)
        owner_take_host(idx);
    if (err) {
        errno = -err;
        return -1;
    }
    return 0;
}

static int host_registers(int idx, const struct sigaction *act, struct sigaction *old)
{
    sigset_t         saved;
    struct sigaction fresh, was;
    if (act)
        fresh = *act; /* read before the lock is taken, because a bad pointer faults here */
    router_lock(&saved);
    host_action(&router.host[idx], &was);
    int bottom = atomic_load(&router.bottom[idx]);
    if (act)
        host_keep(&router.host[idx], &fresh);
    router_unlock(&saved);
    if (old) {
        if (bottom >= 0 && !is_function(&was)) /* only a runtime knows the host's action */
            router_action(idx, old);
        else
            *old = was;
    }
    return 0;
}

int hook_sigaction(uintptr_t caller, int sig, const struct sigaction *act, struct sigaction *old)
{
    int idx = routed_index(sig);
    int owner;
    if (router.off || (idx < 0 && sig != SIGTERM && !sample_shares(sig)) || other_process())
        return real.sigaction(sig, act, old);
    if (sig == SIGTERM)
        return terminate_sigaction(caller, act, old);
    if (idx < 0)
        return sample_sigaction(sig, act, old);
    owner = owner_of_module(caller);
    if (owner < 0 && act && is_function(act))
        owner = owner_register(caller, 0);
    if (owner >= 0 && (act || (atomic_load(&router.installed) >> idx & 1)))
        return runtime_registers(owner, idx, act, old);
    if (atomic_load(&router.installed) >> idx & 1)
        return host_registers(idx, act, old);
    return real.sigaction(sig, act, old);
}

/* ---- suspension signals ---------------------------------------------------------------------- */

/* The upper bytes, "SXS", of the value that a tagged suspension signal carries. The lowest two
 * bytes are the owner's number. */
#define SENDER_MAGIC UINT64_C(0x5358530000000000)

SXS_SIGSAFE int activation_sender(const siginfo_t *info)
{
    uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
    if (info->si_code != SI_QUEUE || (value & ~UINT64_C(0xffff)) != SENDER_MAGIC)
        return -1;
    return (int)(value & 0xffff);
}

int hook_pthread_kill(uintptr_t caller, pthread_t thread, int sig)
{
    int owner;
    if (router.off || sig != SIGRTMIN || (owner = owner_of_module(caller)) < 0)
        return real.pthread_kill(thread, sig);
    owner_retake();
    union sigval tag = {.sival_ptr = (void *)(uintptr_t)(SENDER_MAGIC | (unsigned)owner)};
    int          err = pthread_sigqueue(thread, sig, tag);
    if (err == EAGAIN)
        return err; /* the signal queue is full; a runtime tries again later */
    if (err == ESRCH)
        return EAGAIN; /* the thread has ended; .NET 8.0 aborts on any other error than EAGAIN */
    if (!err)
        return 0;
    atomic_store(&router.untagged, 1); /* a sandbox forbids pthread_sigqueue() */
    return real.pthread_kill(thread, sig);
}

/* A runtime that leaves the alternate stack unblocks SIGRTMIN, the one signal that it has blocked
 * there, and blocks the signal again when it returns to that stack. The signals of profilers are
 * unblocked and blocked with it (signals/masks.c). */
int hook_sigmask(uintptr_t caller, int how, const sigset_t *set, sigset_t *old)
{
    if (router.off || !set || how == SIG_SETMASK || !sigismember(set, SIGRTMIN) ||
        owner_of_module(caller) < 0)
        return real.mask_signals(how, set, old);
    return how == SIG_BLOCK ? mask_runtimes_block(set, old) : mask_runtimes_unblock(set, old);
}

/* ---- code ------------------------------------------------------------------------------------ */

/* Tells whether a call of mmap() may reserve the address space for a CLR's code. A CLR reserves up
 * to 2 GiB near its module and puts nearly all its code there. */
static int is_code_reservation(size_t len, int prot, int flags, int fd)
{
    return prot == PROT_NONE && fd < 0 && (flags & MAP_ANONYMOUS) && len >= (size_t)32 << 20 &&
           len <= (size_t)2 << 30 && len % 4096 == 0;
}

/* Tells whether a call of mmap() by a runtime maps code. A CLR maps parts of its memory file
 * without access and makes them executable by mprotect() later. Readable mappings do not count:
 * they are whole assemblies, and there may be hundreds of them. */
static int is_code(int prot, int flags, int fd)
{
    return (prot & PROT_EXEC) || (prot == PROT_NONE && (flags & MAP_SHARED) && fd >= 0);
}

void *hook_mmap(uintptr_t caller, void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    void *at = real.mmap(addr, len, prot, flags, fd, off);
    int   saved_errno = errno;
    int   owner;
    if (at == MAP_FAILED || router.off ||
        !(is_code(prot, flags, fd) || is_code_reservation(len, prot, flags, fd)) || other_process())
        return at;
    owner = owner_of_module(caller);
    if (owner >= 0) {
        sigset_t saved;
        router_lock(&saved);
        sxs_ranges_add(&router.ranges, (uintptr_t)at, (uintptr_t)at + len, owner, SXS_RANGE_CODE);
        router_unlock(&saved);
    } else if (router.preloaded && is_code_reservation(len, prot, flags, fd)) {
        /* The caller may be a runtime, which reserves address space before it registers handlers.
         * It may also be an allocator that holds its lock, so no function that allocates or locks
         * may be called here. */
        reserved_note(caller, (uintptr_t)at, (uintptr_t)at + len);
    }
    errno = saved_errno;
    return at;
}

int hook_munmap(uintptr_t caller, void *addr, size_t len)
{
    int owner = router.off ? -1 : owner_of_module(caller);
    if (owner >= 0 && owner_of_code((uintptr_t)addr) == owner && !other_process()) {
        sigset_t saved;
        router_lock(&saved);
        sxs_ranges_remove(&router.ranges, (uintptr_t)addr, (uintptr_t)addr + len, owner);
        router_unlock(&saved);
    } else if (owner < 0 && !router.off && reserved_any() && !other_process()) {
        reserved_forget((uintptr_t)addr, (uintptr_t)addr + len);
    }
    return real.munmap(addr, len);
}
