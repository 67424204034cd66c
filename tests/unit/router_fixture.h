/* SPDX-License-Identifier: MIT */
/* router_fixture.h - runtimes with signal handlers, and a host with one.
 *
 * The router is linked into the test program, not preloaded. It takes the handlers of the simulated
 * runtimes when they create their profiler. In functions named "hooked", registrations reach the
 * router as they do through the preloaded library.
 */
#ifndef SXS_TESTS_ROUTER_FIXTURE_H
#define SXS_TESTS_ROUTER_FIXTURE_H

#include <errno.h>
#include <spawn.h>
#include <sys/time.h>
#include <ucontext.h>

#include "session/write/session_write.h"
#include "signals/router.h"
#include "tests/unit/fake_host.h"
#include "tools/tools.h"

extern char **environ;

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER 1
#endif
#endif

#ifdef SXS_SANITIZED
#define MANY 50
#else
#define MANY 500
#endif

static const struct sxs_tool *const tools[] = {&sxs_guard_tool, &sxs_census_tool};

/* Starts a runtime with signal handlers. The thread sanitizer intercepts sigaction, so the kernel
 * does not have the handlers of the runtime; with it, the runtime is adopted before it starts. */
static inline struct fake_host signalling(const char *version)
{
    setenv("FAKECLR_STRICT", "1", 1);
    profile_here(tools, ARRAY_LEN(tools));
    struct fake_host h = fake_load(version);
#ifdef THREAD_SANITIZER
    CHECK(sxs_signals()->adopt((uintptr_t)h.initialize, NULL) >= 0);
#endif
    CHECK_EQ(fake_initialize(&h), S_OK);
    CHECK_EQ(h.c->load_state(), FAKECLR_ACTIVE);
    return h;
}

static inline uint64_t routed_to(unsigned number)
{
    return atomic_load(&sxs_session_row(number)->signals);
}

static inline uint64_t unwanted_by_all(void)
{
    return atomic_load(&sxs_session_open(NULL)->signals_unwanted);
}

/* Registers a handler as a program that is not a runtime does, through the preloaded library. */
static inline int hooked_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    return hook_sigaction((uintptr_t)hooked_sigaction, sig, act, old);
}

/* Causes a fault in this program. The instruction has two bytes, so a handler can skip it. */
__attribute__((noinline, unused)) static void fault_here(void)
{
    __asm__ volatile("xor %%eax, %%eax\n\tmov (%%rax), %%eax" ::: "rax", "memory");
}

/* Causes a fault in code that belongs to no module. It might be code of a runtime, so the router
 * offers the signal to the runtimes. */
__attribute__((noinline, unused)) static void fault_elsewhere(void)
{
    static const unsigned char code[] = {0x31, 0xc0, 0x8b, 0x00, 0xc3}; /* xor, mov, ret */
    static void (*run)(void);
    if (!run) {
        void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);
        CHECK(at != MAP_FAILED);
        memcpy(at, code, sizeof(code));
        memcpy(&run, &at, sizeof(run));
    }
    run();
}

static _Atomic int       host_calls;
static _Atomic int       host_sig;
static _Atomic uintptr_t host_address;

static inline void step_over(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    atomic_fetch_add(&host_calls, 1);
    atomic_store(&host_sig, sig);
    atomic_store(&host_address, (uintptr_t)info->si_addr);
    if (info->si_code > 0)
        uc->uc_mcontext.gregs[REG_RIP] += 2;
}

static inline void count_only(int sig)
{
    atomic_fetch_add(&host_calls, 1);
    atomic_store(&host_sig, sig);
}

static inline void host_takes(int sig,
                       int (*registration)(int, const struct sigaction *, struct sigaction *))
{
    struct sigaction act = {.sa_sigaction = step_over, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    CHECK_EQ(registration(sig, &act, NULL), 0);
}

#endif
