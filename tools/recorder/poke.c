/* SPDX-License-Identifier: MIT */
/* tools/recorder/poke.c - the handler of the sample signal runs on the stack of the interrupted
 * code, which may be a coroutine's of a few KiB. So large data is not on the stack. */
#include "tools/recorder/poke.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/guarded.h"
#include "signals/signals.h"
#include "stackwalk/snapshot/walk_request.h"
#include "tools/recorder/walk.h"

/* The limit of a requested walk. Higher than that of a sample, because a thread waits for it. */
#define ANSWER_CYCLES (20 * SXS_WALK_CYCLES)

typedef void handler_fn(int sig, siginfo_t *info, void *context);
typedef void serve_fn(const ucontext_t *uc);

static pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(installing);
static _Atomic int               signal_number;
static _Atomic int               is_installed, is_lost;
static _Atomic(handler_fn *)     others;  /* handles what is no request of a stack */
static _Atomic(serve_fn *)       server; /* see sxs_poke_serve() */
static const struct sxs_signals *signals; /* set before the handler is installed */

SXS_SIGSAFE int sxs_poke_signal(void)
{
    return atomic_load_explicit(&signal_number, memory_order_relaxed);
}

void sxs_poke_choose(void)
{
    int none = 0;
    atomic_compare_exchange_strong(&signal_number, &none, sxs_signals()->sample_signal());
}

SXS_SIGSAFE int sxs_poke(uint32_t tid, uint32_t weight_ns)
{
    siginfo_t info;
    if (atomic_load(&is_lost))
        return -ENOTSUP;
    memset(&info, 0, sizeof(info));
    info.si_signo = sxs_poke_signal();
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_value.sival_ptr = (void *)(SXS_POKE_VALUE | ((uintptr_t)weight_ns << 32));
    return syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, info.si_signo, &info) == 0 ? 0 : -errno;
}

SXS_SIGSAFE int sxs_poke_own(const siginfo_t *info, uint64_t *weight_ns)
{
    uintptr_t value = (uintptr_t)info->si_value.sival_ptr;
    if (info->si_code != SI_QUEUE || info->si_pid != getpid() ||
        (value & 0xffffffffu) != SXS_POKE_VALUE)
        return 0;
    *weight_ns = value >> 32;
    return 1;
}

/* Answers a request for this thread's stack. No sample is recorded. */
SXS_SIGSAFE static void serve_request(const ucontext_t *uc)
{
    const struct sxs_walk_limits limits = {.cycles = ANSWER_CYCLES, .max = SXS_MAX_STACK};
    uint32_t                     tid = (uint32_t)syscall(SYS_gettid);
    struct sxs_walk_answer      *answer = sxs_walk_request_take(tid);
    if (!answer)
        return; /* the request was withdrawn */
    answer->n = sxs_walk_interrupted(sxs_threads_find(tid), tid, SXS_WALKER_FAST, uc, limits,
                                     answer->ips, answer->sps, &answer->end);
    sxs_walk_request_done(answer);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    int         saved_errno = errno;
    uint64_t    weight = 0;
    int         own = sxs_poke_own(info, &weight);
    serve_fn   *serve = atomic_load_explicit(&server, memory_order_acquire);
    handler_fn *sampler = atomic_load_explicit(&others, memory_order_acquire);
    if (serve)
        serve(context);
    if (own && weight == SXS_POKE_WALK)
        serve_request(context);
    else if (sampler && !(own && weight == SXS_POKE_COST))
        sampler(sig, info, context);
    else if (!own)
        signals->pass_on_sample(sig, info, context);
    errno = saved_errno;
}

void sxs_poke_handle(void (*handler)(int sig, siginfo_t *info, void *context))
{
    atomic_store(&others, handler);
}

void sxs_poke_serve(void (*serve)(const ucontext_t *uc))
{
    atomic_store(&server, serve);
}

int sxs_poke_install(void)
{
    int err = 0;
    pthread_mutex_lock(&installing);
    if (!atomic_load(&is_installed)) {
        signals = sxs_signals();
        sxs_walk_prepare();
        sxs_poke_choose();
        err = signals->handle_samples(on_signal);
        atomic_store(&is_installed, err == 0);
    }
    pthread_mutex_unlock(&installing);
    return err;
}

enum sxs_poke_state sxs_poke_check(void)
{
    int sig;
    if (!atomic_load(&is_installed) || atomic_load(&is_lost))
        return SXS_POKE_SAME;
    sig = signals->check_samples();
    if (sig == sxs_poke_signal())
        return SXS_POKE_SAME;
    if (sig > 0) {
        atomic_store(&signal_number, sig);
        return SXS_POKE_MOVED;
    }
    atomic_store(&is_lost, 1);
    return SXS_POKE_LOST;
}
