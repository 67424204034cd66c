/* SPDX-License-Identifier: MIT */
/*
 * host.c - store the host's actions for routed signals and for the sample signal, and call its
 * handlers.
 *
 * The kernel's action is the router, or the sampler's handler. So the functions here do for a handler of the host what the
 * kernel would do: apply its mask, SA_NODEFER and SA_RESETHAND, and make interrupted system calls
 * fail with EINTR if the action lacks SA_RESTART.
 */
#include "signals/router.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "arch/arch.h"

/* ---- storage --------------------------------------------------------------------------------- */

typedef uint64_t __attribute__((may_alias)) word;

_Static_assert(sizeof(struct sigaction) % sizeof(word) == 0, "copied by words");

SXS_SIGSAFE static void copy_words(struct sigaction *to, const struct sigaction *from)
{
    for (size_t i = 0; i < sizeof(*to) / sizeof(word); i++)
        __atomic_store_n((word *)to + i, __atomic_load_n((const word *)from + i, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
}

SXS_SIGSAFE void host_action(const struct host_action *h, struct sigaction *out)
{
    for (;;) {
        unsigned before = atomic_load_explicit(&h->generation, memory_order_acquire);
        copy_words(out, &h->kept[before % HOST_KEPT]);
        atomic_thread_fence(memory_order_acquire);
        unsigned after = atomic_load_explicit(&h->generation, memory_order_relaxed);
        /* A writer overwrites this copy only when it makes generation before + HOST_KEPT. */
        if (after - before < HOST_KEPT - 1)
            return;
    }
}

SXS_SIGSAFE void host_keep(struct host_action *h, const struct sigaction *act)
{
    unsigned next = atomic_load_explicit(&h->generation, memory_order_relaxed) + 1;
    copy_words(&h->kept[next % HOST_KEPT], act);
    atomic_store_explicit(&h->generation, next, memory_order_release);
}

SXS_SIGSAFE void host_take(struct host_action *h, struct sigaction *out)
{
    sigset_t saved;
    host_action(h, out);
    if (!is_function(out) || !(out->sa_flags & (int)SA_RESETHAND))
        return;
    router_lock(&saved);
    host_action(h, out); /* again, so that only one of two threads gets the handler */
    if (is_function(out) && (out->sa_flags & (int)SA_RESETHAND)) {
        struct sigaction reset = *out;
        reset.sa_handler = SIG_DFL;
        host_keep(h, &reset);
    }
    router_unlock(&saved);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Tells whether the kernel restarts system call @number after a handler with SA_RESTART. Other
 * system calls fail with EINTR in any case. */
SXS_SIGSAFE static int is_restarted(long number)
{
    static const short calls[] = {
        SYS_read,
        SYS_write,
        SYS_readv,
        SYS_writev,
        SYS_pread64,
        SYS_pwrite64,
        SYS_ioctl,
        SYS_openat,
        SYS_wait4,
        SYS_waitid,
        SYS_futex,
        SYS_flock,
        SYS_fcntl,
        SYS_accept,
        SYS_accept4,
        SYS_connect,
        SYS_sendto,
        SYS_recvfrom,
        SYS_sendmsg,
        SYS_recvmsg,
        SYS_recvmmsg,
        SYS_sendmmsg,
        SYS_splice,
        SYS_mq_timedsend,
        SYS_mq_timedreceive,
        SYS_getrandom,
#if defined(SYS_open) /* only some processors have it */
        SYS_open,
#endif
    };
    for (unsigned i = 0; i < ARRAY_LEN(calls); i++)
        if (calls[i] == number)
            return 1;
    return 0;
}

/* Makes an interrupted system call fail with EINTR. The router is installed with SA_RESTART,
 * because the runtimes need it, and so is the sampler's handler; so the kernel is about to restart the call. A handler of the host
 * without that flag expects the call to fail instead. */
SXS_SIGSAFE static void fail_call(ucontext_t *uc)
{
    uintptr_t ip = sxs_context_ip(uc);
    if (!is_restarted(sxs_context_result(uc)) || !sxs_is_system_call((const uint8_t *)ip))
        return;
    sxs_context_set_result(uc, -EINTR);
    sxs_context_set_register(uc, SXS_REG_IP, ip + SXS_SYSTEM_CALL_BYTES);
}

SXS_SIGSAFE static int on_alternate_stack(const ucontext_t *uc)
{
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
    uintptr_t lo = (uintptr_t)uc->uc_stack.ss_sp;
    return !(uc->uc_stack.ss_flags & SS_DISABLE) && sp >= lo && sp - lo < uc->uc_stack.ss_size;
}

/* Computes the signal mask that the kernel would set for the handler @host. Only 64 signals are
 * read from @uc, because a context by the kernel has no more. While a sampler is at work, its
 * signals are blocked too on an alternate stack, which may be too small for the sampler's
 * handler. */
SXS_SIGSAFE static void mask_for(const struct sigaction *host, int sig, const ucontext_t *uc,
                                 sigset_t *out)
{
    uint64_t interrupted, own;
    memcpy(&interrupted, &uc->uc_sigmask, sizeof(interrupted));
    memcpy(&own, &host->sa_mask, sizeof(own));
    interrupted |= own;
    memset(out, 0, sizeof(*out));
    memcpy(out, &interrupted, sizeof(interrupted));
    if (!(host->sa_flags & (int)SA_NODEFER))
        sigaddset(out, sig);
    if (threads_watched() && on_alternate_stack(uc))
        sample_add_signals(out);
}

/* A routed signal that the kernel has raised for an instruction interrupts no system call. */
SXS_SIGSAFE static int interrupts_calls(int sig, const siginfo_t *info)
{
    return info->si_code <= 0 || routed_index(sig) < 0;
}

SXS_SIGSAFE void host_call(const struct sigaction *host, int sig, siginfo_t *info, void *context)
{
    handler_fn with_info = host->sa_sigaction;
    void (*plain)(int) = host->sa_handler;
    sigset_t mask, routers;
    mask_for(host, sig, context, &mask);
    if (interrupts_calls(sig, info) && !(host->sa_flags & SA_RESTART))
        fail_call(context);
    real.mask_signals(SIG_SETMASK, &mask, &routers);
    if (host->sa_flags & SA_SIGINFO)
        with_info(sig, info, context);
    else
        plain(sig);
    real.mask_signals(SIG_SETMASK, &routers, NULL);
}
