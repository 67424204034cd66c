/* SPDX-License-Identifier: MIT */
/*
 * hooks.c - what a runtime's calls to sigaction, pthread_kill, mmap and munmap come to.
 *
 * A runtime that registers a routed signal is told that the router was there before it; the kernel
 * keeps the router. Anybody else's registration for a routed signal becomes the action that gets what
 * no runtime wants. A runtime's suspension signals carry their sender, and what a runtime maps to run
 * is noted as its code.
 */
#include "signals/router.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Between vfork and exec the child runs in our memory: its signal actions are its own business. */
static int other_process(void)
{
    return (pid_t)syscall(SYS_getpid) != atomic_load_explicit(&router.pid, memory_order_relaxed);
}

/* ---- sigaction ------------------------------------------------------------------------------- */

static int runtime_registers(int owner, int idx, const struct sigaction *act, struct sigaction *old)
{
    struct owner *o = &router.owners[owner];
    sigset_t      saved;
    int           err = 0, fresh = 0;
    router_lock(&saved);
    if (act && is_function(act) && act->sa_sigaction != router_entry) {
        /* Known before the kernel can send: the handler first. */
        atomic_store_explicit(&o->handler[idx], act->sa_sigaction, memory_order_release);
        atomic_fetch_or(&o->registered, 1u << idx);
        fresh = !(atomic_load(&router.installed) >> idx & 1);
        err = router_install_first(idx, act);
    } else if (
        act) { /* it puts back what it was told had been there, or the default: it gives up */
        sxs_thread_state.gave_up =
            gave_up_mark(owner, idx); /* ask() looks, if that is who called it */
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
        fresh = *act; /* read before the lock: it may be a bad pointer */
    router_lock(&saved);
    host_action(idx, &was);
    int bottom = atomic_load(&router.bottom[idx]);
    if (act)
        host_keep(idx, &fresh);
    router_unlock(&saved);
    if (old) {
        if (bottom >= 0 && !is_function(&was)) /* known to a runtime only: chaining leads there */
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
    if (router.off || (idx < 0 && !sample_shares(sig)) || other_process())
        return real.sigaction(sig, act, old);
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

#define SENDER_MAGIC UINT64_C(0x5358530000000000) /* "SXS": the value an activation carries */

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
        return err; /* the queue is full: a runtime takes that as "try again" */
    if (err == ESRCH)
        return EAGAIN; /* gone already; 8.0 aborts on any other answer than this one */
    if (!err)
        return 0;
    atomic_store(&router.untagged, 1); /* a sandbox forbids it */
    return real.pthread_kill(thread, sig);
}

/* A runtime that leaves the alternate stack unblocks the one signal it knows it had blocked there, and
 * blocks it again when it comes back. The signals of profilers go with it (masks.c). */
int hook_sigmask(uintptr_t caller, int how, const sigset_t *set, sigset_t *old)
{
    if (router.off || !set || how == SIG_SETMASK || !sigismember(set, SIGRTMIN) ||
        owner_of_module(caller) < 0)
        return real.mask_signals(how, set, old);
    return how == SIG_BLOCK ? mask_runtimes_block(set, old) : mask_runtimes_unblock(set, old);
}

/* ---- code ------------------------------------------------------------------------------------ */

/* A CLR reserves up to 2 GiB near itself and puts nearly all it will ever run there. */
static int is_code_reservation(size_t len, int prot, int flags, int fd)
{
    return prot == PROT_NONE && fd < 0 && (flags & MAP_ANONYMOUS) && len >= (size_t)32 << 20 &&
           len <= (size_t)2 << 30 && len % 4096 == 0;
}

/* Pieces of its memory file come without access and are made executable by mprotect; what is mapped to
 * be read are whole assemblies, of which there may be hundreds. */
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
        /* Perhaps a runtime's, which reserves before it registers handlers; perhaps an allocator's, which
         * holds its lock. Nothing may be asked here. */
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
