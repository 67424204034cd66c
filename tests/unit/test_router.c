/* SPDX-License-Identifier: MIT */
/*
 * test_router.c - signals of several runtimes in one process, each to its owner.
 *
 * The router is the one linked in here, not preloaded: it takes the simulated runtimes' handlers when
 * they create their profiler. Where a test says "hooked", registrations reach it as they would
 * through the preloaded library.
 */
#include <errno.h>
#include <spawn.h>
#include <sys/time.h>
#include <ucontext.h>

#include "record/session_write.h"
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

/* The thread sanitizer stands between sigaction and the kernel and would hide the runtimes' handlers
 * from anyone who asks the kernel: there the hooks come first. */
static struct fake_host signalling(const char *version)
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

static uint64_t routed_to(unsigned number)
{
    return atomic_load(&sxs_session_row(number)->signals);
}

static uint64_t unwanted_by_all(void)
{
    return atomic_load(&sxs_session_open(NULL)->signals_unwanted);
}

/* A registration as it arrives from a program that is not a runtime, through the preloaded library. */
static int hooked_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    return hook_sigaction((uintptr_t)hooked_sigaction, sig, act, old);
}

/* A fault of this program's own: two bytes long, so that a handler can step over it. */
__attribute__((noinline)) static void fault_here(void)
{
    __asm__ volatile("xor %%eax, %%eax\n\tmov (%%rax), %%eax" ::: "rax", "memory");
}

static _Atomic int       host_calls;
static _Atomic int       host_sig;
static _Atomic uintptr_t host_address;

static void step_over(int sig, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    atomic_fetch_add(&host_calls, 1);
    atomic_store(&host_sig, sig);
    atomic_store(&host_address, (uintptr_t)info->si_addr);
    if (info->si_code > 0)
        uc->uc_mcontext.gregs[REG_RIP] += 2;
}

static void count_only(int sig)
{
    atomic_fetch_add(&host_calls, 1);
    atomic_store(&host_sig, sig);
}

static void host_takes(int sig,
                       int (*registration)(int, const struct sigaction *, struct sigaction *))
{
    struct sigaction act = {.sa_sigaction = step_over, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    CHECK_EQ(registration(sig, &act, NULL), 0);
}

/* ---- to whom --------------------------------------------------------------------------------- */

static void owner_body(void)
{
    static const char *const four[] = {"3.1", "8.0", "9.0", "10.0"};
    struct fake_host         h[4];
    for (int i = 0; i < 4; i++)
        h[i] = signalling(four[i]);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 4; i++)
            fake_run(&h[i], "!signal-faults 40");
    for (int i = 0; i < 4; i++) {
        struct fakeclr_counts n = fake_counts(&h[i]);
        CHECK_EQ(n.faults, 120);
        CHECK_EQ(n.faults_left, 60); /* every second time its handler does not come back */
        CHECK_EQ(n.faults_chained, 0);
        CHECK_EQ(routed_to((unsigned)i + 1), 120);
    }
    CHECK_EQ(unwanted_by_all(), 0);
    for (int i = 0; i < 4; i++)
        fake_end(&h[i]);
}

static void a_fault_goes_to_the_runtime_whose_code_it_is_and_to_no_other(void **state)
{
    (void)state;
    PASSES(owner_body);
}

static void find_body(void)
{
    struct fake_host          h[3] = {signalling("8.0"), signalling("9.0"), signalling("10.0")};
    const struct sxs_signals *s = sxs_signals();
    for (int i = 0; i < 3; i++) {
        ModuleID   module = h[i].c->module_load("/fake/app.dll");
        FunctionID f =
            h[i].c->method_new(h[i].c->class_new(module, "A.B", 0, 0, NULL), "M", NULL, 0, 0, NULL);
        CHECK_EQ(h[i].c->jit(f), S_OK);
        int owner = s->find_ip((uintptr_t)h[i].initialize);
        CHECK(owner >= 0);
        CHECK_EQ(s->find_ip(h[i].c->code(f)), owner);
        CHECK(strcmp(s->path(owner), h[i].path) == 0);
        for (int k = 0; k < i; k++)
            CHECK(s->find_ip((uintptr_t)h[k].initialize) != owner);
    }
    CHECK_EQ(s->find_ip((uintptr_t)find_body), -1);
    CHECK_EQ(s->find_ip((uintptr_t)memcpy), -1);
    CHECK_EQ(s->find_ip(0), -1);
    CHECK_EQ(s->find_ip(UINTPTR_MAX), -1);
    CHECK(strcmp(s->path(-1), "") == 0 && strcmp(s->path(63), "") == 0);
}

static void an_address_is_found_in_the_runtime_that_it_belongs_to(void **state)
{
    (void)state;
    PASSES(find_body);
}

static void *run_scenario(void *arg)
{
    struct fake_host *h = arg;
    CHECK_EQ(fake_run(h, MANY > 100 ? "!thread-faults 200 3; gc 2" : "!thread-faults 30 3; gc 2"),
             0);
    return NULL;
}

static void threads_body(void)
{
    struct fake_host h[3] = {signalling("8.0"), signalling("9.0"), signalling("10.0")};
    pthread_t        threads[3];
    for (int i = 0; i < 3; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, run_scenario, &h[i]), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++) {
        struct fakeclr_counts n = fake_counts(&h[i]);
        CHECK_EQ(n.faults, MANY > 100 ? 600 : 90);
        CHECK_EQ(n.faults_chained, 0);
        CHECK_EQ(n.gc_hangs, 0);
        CHECK_EQ(n.foreign_activations, 0);
    }
}

static void faults_on_many_threads_of_three_runtimes_at_once_are_all_handled(void **state)
{
    (void)state;
    PASSES(threads_body);
}

static void collections_body(void)
{
    struct fake_host h[4] = {signalling("3.1"), signalling("8.0"), signalling("9.0"),
                             signalling("10.0")};
    for (int i = 0; i < 4; i++)
        fake_run(&h[i], "!threads 3; gc 5; join");
    for (int i = 0; i < 4; i++) {
        struct fakeclr_counts n = fake_counts(&h[i]);
        CHECK_EQ(n.gcs, 5);
        CHECK_EQ(n.gc_hangs, 0);
        CHECK_EQ(n.foreign_activations, 0);
        CHECK(n.activations >= 15);
    }
}

static void every_runtime_gets_its_own_suspension_signals(void **state)
{
    (void)state;
    PASSES(collections_body);
}

/* ---- the host's own -------------------------------------------------------------------------- */

__attribute__((unused)) static void host_before_body(void)
{
    host_takes(SIGSEGV, sigaction);
    struct fake_host h[2] = {signalling("8.0"), signalling("9.0")};
    for (int i = 0; i < 10; i++)
        fault_here();
    CHECK_EQ(host_calls, 10);
    fake_run(&h[0], "!signal-faults 20");
    fake_run(&h[1], "!signal-faults 20");
    CHECK_EQ(host_calls, 10);
    CHECK_EQ(unwanted_by_all(), 10);
}

static void a_handler_from_before_the_runtimes_gets_what_no_runtime_wants(void **state)
{
    (void)state;
#ifdef THREAD_SANITIZER
    skip(); /* the handler is the sanitizer's, which calls ours when it thinks fit */
#else
    PASSES(host_before_body);
#endif
}

static void host_after_body(void)
{
    struct fake_host h[2] = {signalling("8.0"), signalling("9.0")};
    struct sigaction was;
    host_takes(SIGSEGV, hooked_sigaction);
    CHECK_EQ(hooked_sigaction(SIGSEGV, NULL, &was), 0);
    CHECK(was.sa_sigaction == step_over);
    for (int i = 0; i < 10; i++)
        fault_here();
    CHECK_EQ(host_calls, 10);
    CHECK_EQ(host_sig, SIGSEGV);
    CHECK_EQ(host_address, 0);
    fake_run(&h[0], "!signal-faults 20");
    fake_run(&h[1], "!signal-faults 20");
    CHECK_EQ(host_calls, 10);
    CHECK_EQ(unwanted_by_all(), 10);
    CHECK_EQ(fake_counts(&h[0]).after_previous, 0);
    CHECK_EQ(fake_counts(&h[1]).after_previous, 0);
    CHECK_EQ(kill(getpid(), SIGSEGV), 0); /* one that was sent comes to it as well */
    CHECK_EQ(host_calls, 11);
}

static void a_handler_from_after_the_runtimes_gets_only_that_too_when_hooked(void **state)
{
    (void)state;
    PASSES(host_after_body);
}

static void plain_body(void)
{
    struct fake_host h = signalling("8.0");
    struct sigaction act = {.sa_handler = count_only};
    CHECK_EQ(hooked_sigaction(SIGFPE, &act, NULL), 0);
    CHECK_EQ(raise(SIGFPE), 0);
    CHECK_EQ(host_calls, 1);
    CHECK_EQ(host_sig, SIGFPE);
    fake_run(&h, "!signal-faults 8"); /* divisions by zero among them */
    CHECK_EQ(host_calls, 1);
}

static void a_handler_without_siginfo_is_called_as_it_wants(void **state)
{
    (void)state;
    PASSES(plain_body);
}

static struct sigaction before_host;
static void             chain_back(int sig, siginfo_t *info, void *context)
{
    if (atomic_fetch_add(&host_calls, 1) > 0)
        _exit(98); /* it came back: a circle */
    if (before_host.sa_flags & SA_SIGINFO)
        before_host.sa_sigaction(sig, info, context);
    else if (before_host.sa_handler == SIG_DFL)
        hooked_sigaction(sig, &before_host, NULL); /* and let it happen again */
}

static void chain_back_body(void)
{
    struct fake_host h = signalling("8.0");
    struct sigaction act = {.sa_sigaction = chain_back, .sa_flags = SA_SIGINFO};
    (void)h;
    CHECK_EQ(hooked_sigaction(SIGSEGV, &act, &before_host), 0);
    fault_here();
}

static void a_handler_that_passes_on_what_was_there_before_makes_no_circle(void **state)
{
    (void)state;
    ENDS_BY(chain_back_body, SIGSEGV);
}

/* ---- nobody's -------------------------------------------------------------------------------- */

static void default_fault_body(void)
{
    signalling("8.0");
    signalling("9.0");
    fault_here();
}

static void default_sent_body(void)
{
    signalling("8.0");
    signalling("9.0");
    kill(getpid(), SIGSEGV);
    pause();
}

static void abort_body(void)
{
    signalling("8.0");
    signalling("9.0");
    abort();
}

static void trap_body(void)
{
    signalling("8.0");
    signalling("9.0");
    __asm__ volatile("int3");
}

static void ill_body(void)
{
    signalling("8.0");
    signalling("9.0");
    __asm__ volatile("ud2");
}

static void a_process_that_wants_to_die_dies_of_that_very_signal(void **state)
{
    (void)state;
    ENDS_BY(default_fault_body, SIGSEGV);
    ENDS_BY(default_sent_body, SIGSEGV);
    ENDS_BY(abort_body, SIGABRT);
    ENDS_BY(trap_body, SIGTRAP);
    ENDS_BY(ill_body, SIGILL);
}

static void ignored_body(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    signalling("8.0");
    signalling("9.0");
    CHECK_EQ(hooked_sigaction(SIGTRAP, &ignore, NULL), 0);
    CHECK_EQ(hooked_sigaction(SIGSEGV, &ignore, NULL), 0);
    raise(SIGTRAP);
    kill(getpid(), SIGSEGV); /* sent: may be ignored */
    raise(SIGSEGV);
    fault_here(); /* this cannot be */
}

static void a_signal_that_is_ignored_is_ignored_unless_it_is_a_fault(void **state)
{
    (void)state;
    ENDS_BY(ignored_body, SIGSEGV);
}

static void default_again_body(void)
{
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    signalling("8.0");
    host_takes(SIGSEGV, hooked_sigaction);
    fault_here();
    CHECK_EQ(host_calls, 1);
    CHECK_EQ(hooked_sigaction(SIGSEGV, &dfl, NULL), 0);
    fault_here();
}

static void a_host_that_restores_the_default_gets_the_default(void **state)
{
    (void)state;
    ENDS_BY(default_again_body, SIGSEGV);
}

/* ---- the alternate stack --------------------------------------------------------------------- */

#define ALT_SIZE (256 * 1024)
static unsigned char alt_stack[ALT_SIZE];

static size_t depth_of_a_declined_fault(void)
{
    size_t untouched = 0;
    memset(alt_stack, 0xA5, sizeof(alt_stack));
    fault_here();
    while (untouched < sizeof(alt_stack) && alt_stack[untouched] == 0xA5)
        untouched++;
    return sizeof(alt_stack) - untouched;
}

static void depth_body(void)
{
    static const char *const versions[] = {"8.0", "9.0", "10.0", "7.0", "6.0", "5.0", "3.1"};
    stack_t                  mine = {.ss_sp = alt_stack, .ss_size = sizeof(alt_stack)};
    struct fake_host         h[ARRAY_LEN(versions)];
    CHECK_EQ(sigaltstack(&mine, NULL), 0);
    h[0] = signalling(versions[0]);
    h[1] = signalling(versions[1]);
    host_takes(SIGSEGV, hooked_sigaction);
    depth_of_a_declined_fault();
    size_t two_deep = depth_of_a_declined_fault();
    CHECK_EQ(fake_counts(&h[1]).faults_chained, 2);
    for (unsigned i = 2; i < ARRAY_LEN(versions); i++)
        h[i] = signalling(versions[i]); /* all of them on this thread: all are asked */
    size_t seven_deep = depth_of_a_declined_fault();
    CHECK_EQ(host_calls, 3);
    for (unsigned i = 2; i < ARRAY_LEN(versions); i++)
        CHECK_EQ(fake_counts(&h[i]).faults_chained, 1);
    if (seven_deep > two_deep + 512)
        check_failed(__FILE__, __LINE__,
                     "bytes of alternate stack with seven runtimes and with two",
                     (long long)seven_deep, (long long)two_deep);
    CHECK(seven_deep < 8 * 1024 || MANY < 100); /* an alternate stack may be that small */
}

static void seven_runtimes_that_decline_use_no_more_stack_than_two(void **state)
{
    (void)state;
    PASSES(depth_body);
}

/* ---- other processes ------------------------------------------------------------------------- */

static void fork_body(void)
{
    struct fake_host h[2] = {signalling("8.0"), signalling("9.0")};
    int              status;
    pid_t            pid = fork();
    if (pid == 0) {
        alarm(60);
        fake_run(&h[0], "!signal-faults 20");
        fake_run(&h[1], "!signal-faults 20");
        fault_here();
        _exit(1);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(WTERMSIG(status), SIGSEGV);
    fake_run(&h[0], "!signal-faults 20");
    fake_run(&h[1], "!signal-faults 20");
    CHECK_EQ(fake_counts(&h[0]).faults, 20);
}

static void a_forked_child_has_its_faults_handled_and_dies_of_those_that_are_not(void **state)
{
    (void)state;
    PASSES(fork_body);
}

static void spawn_body(void)
{
    struct fake_host  h[2] = {signalling("8.0"), signalling("9.0")};
    posix_spawnattr_t attr;
    sigset_t          set;
    pid_t             pid;
    int               status;
    char             *argv[] = {(char[]){"true"}, NULL};
    sigfillset(&set);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigdefault(&attr, &set);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(posix_spawnp(&pid, "true", NULL, &attr, argv, environ), 0);
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
        fake_run(&h[0], "!signal-faults 4; gc 1");
        fake_run(&h[1], "!signal-faults 4; gc 1");
    }
    posix_spawnattr_destroy(&attr);
}

static void a_spawned_child_may_reset_its_signals_without_harm_to_the_parent(void **state)
{
    (void)state;
    PASSES(spawn_body);
}

/* Between vfork and exec the child writes to the parent's memory. */
__attribute__((noinline)) static void reset_in_a_vfork_child(void)
{
    static struct sigaction dfl, was;
    dfl.sa_handler = SIG_DFL;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    pid_t pid = vfork();
#pragma GCC diagnostic pop
    if (pid == 0) {
        hook_sigaction((uintptr_t)hooked_sigaction, SIGSEGV, &dfl, &was);
        hook_sigaction((uintptr_t)hooked_sigaction, SIGFPE, &dfl, &was);
        _exit(7);
    }
    int status;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(WEXITSTATUS(status), 7);
}

__attribute__((unused)) static void vfork_body(void)
{
    struct fake_host h = signalling("8.0");
    struct sigaction was;
    host_takes(SIGSEGV, hooked_sigaction);
    reset_in_a_vfork_child();
    CHECK_EQ(hooked_sigaction(SIGSEGV, NULL, &was), 0);
    CHECK(was.sa_sigaction == step_over);
    fake_run(&h, "!signal-faults 8");
    fault_here();
    CHECK_EQ(host_calls, 1);
}

static void nor_does_a_vfork_child(void **state)
{
    (void)state;
#ifdef THREAD_SANITIZER
    skip(); /* it makes a fork of vfork */
#else
    PASSES(vfork_body);
#endif
}

static void foreign_body(void)
{
    struct fake_host h[2] = {signalling("8.0"), signalling("9.0")};
    int              status;
    uint64_t         before = fake_counts(&h[0]).activations + fake_counts(&h[1]).activations;
    pid_t            parent = getpid(), pid = fork();
    if (pid == 0)
        _exit(kill(parent, SIGRTMIN) != 0);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    usleep(20000);
    CHECK_EQ(fake_counts(&h[0]).activations + fake_counts(&h[1]).activations, before);
    fake_run(&h[0], "!threads 2; gc 3");
    fake_run(&h[1], "!threads 2; gc 3");
}

static void a_suspension_signal_from_another_process_is_ignored(void **state)
{
    (void)state;
    PASSES(foreign_body);
}

/* ---- a NativeAOT library passes on by a jump ------------------------------------------------- */

/* libcmocka plays the module; its "handler" is here. What it jumps to is what it was told. */
static struct sigaction tail_previous[2]; /* SIGSEGV, SIGRTMIN */
static uint64_t         tail_calls;
void (*tail_target)(int, siginfo_t *, void *);
void (*tail_target_activation)(int, siginfo_t *, void *);
void      tail_handler(int, siginfo_t *, void *);
void      tail_handler_activation(int, siginfo_t *, void *);
uint64_t *tail_counter = &tail_calls;
__asm__(".text\n"
        "tail_handler:\n\tmov tail_counter@GOTPCREL(%rip), %rax\n\tmov (%rax), %rax\n"
        "\tlock incq (%rax)\n\tmov tail_target@GOTPCREL(%rip), %rax\n\tjmp *(%rax)\n"
        "tail_handler_activation:\n\tmov tail_counter@GOTPCREL(%rip), %rax\n\tmov (%rax), %rax\n"
        "\tlock incq (%rax)\n\tmov tail_target_activation@GOTPCREL(%rip), %rax\n\tjmp *(%rax)\n");

static void add_tail_chainer(void)
{
    uintptr_t        inside = (uintptr_t)dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests");
    struct sigaction act = {.sa_sigaction = tail_handler,
                            .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    CHECK(inside && sxs_signals()->adopt(inside, NULL) >= 0);
    CHECK_EQ(hook_sigaction(inside, SIGSEGV, &act, &tail_previous[0]), 0);
    act.sa_sigaction = tail_handler_activation;
    CHECK_EQ(hook_sigaction(inside, SIGRTMIN, &act, &tail_previous[1]), 0);
    tail_target = tail_previous[0].sa_sigaction;
    tail_target_activation = tail_previous[1].sa_sigaction;
    CHECK(tail_target == router_entry && tail_target_activation == router_entry);
}

static void tail_body(void)
{
    struct fake_host h = signalling("8.0");
    add_tail_chainer();
    host_takes(SIGSEGV, hooked_sigaction);
    fault_here(); /* its threads nobody reports: it is asked, and declines */
    CHECK_EQ(host_calls, 1);
    CHECK(tail_calls >= 1);
    fake_run(&h, "!signal-faults 20; threads 2; gc 3; join");
    CHECK_EQ(fake_counts(&h).faults, 20);
    uint64_t     before = tail_calls;
    union sigval nobody = {.sival_int = 0};
    CHECK_EQ(sigqueue(getpid(), SIGRTMIN, nobody), 0);
    CHECK_EQ(raise(SIGRTMIN), 0);
    CHECK(tail_calls <= before + 2); /* at most once for each */
}

static void a_handler_that_passes_on_by_a_jump_makes_no_circle(void **state)
{
    (void)state;
    PASSES(tail_body);
}

static void tail_dies_body(void)
{
    signalling("8.0");
    add_tail_chainer();
    fault_here();
}

static void and_an_unwanted_fault_behind_it_still_ends_the_process(void **state)
{
    (void)state;
    ENDS_BY(tail_dies_body, SIGSEGV);
}

/* ---- in between ------------------------------------------------------------------------------ */

static _Atomic unsigned ticks;
static void             tick(int sig)
{
    (void)sig;
    atomic_fetch_add(&ticks, 1);
}

static void storm_body(void)
{
    struct fake_host h[3] = {signalling("8.0"), signalling("9.0"), signalling("10.0")};
    struct sigaction act = {.sa_handler = tick, .sa_flags = SA_RESTART};
    struct itimerval fast = {{0, 1000}, {0, 1000}}, off = {{0, 0}, {0, 0}};
    char             scenario[40];
    snprintf(scenario, sizeof(scenario), "!signal-faults %d", 4 * MANY);
    CHECK_EQ(sigaction(SIGPROF, &act, NULL), 0);
    CHECK_EQ(setitimer(ITIMER_PROF, &fast, NULL), 0);
    for (int round = 0; round < 400 && (round < 4 || atomic_load(&ticks) < 10); round++)
        for (int i = 0; i < 3; i++)
            fake_run(&h[i], scenario);
    CHECK_EQ(setitimer(ITIMER_PROF, &off, NULL), 0);
    CHECK(ticks >= 10);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(fake_counts(&h[i]).faults_chained, 0);
}

static void a_storm_of_sigprof_during_faults_does_no_harm(void **state)
{
    (void)state;
    PASSES(storm_body);
}

/* ---- off ------------------------------------------------------------------------------------- */

static void off_body(void)
{
    static const int routed[] = {SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGTRAP, SIGABRT};
    struct sigaction before[ARRAY_LEN(routed)], after;
    setenv("SXSPROF_SIGNALS", "off", 1);
    setenv("FAKECLR_SIGNALS", "off", 1);
    profile_here(tools, ARRAY_LEN(tools));
    for (unsigned i = 0; i < ARRAY_LEN(routed); i++)
        sigaction(routed[i], NULL, &before[i]);
    struct fake_host h = fake_start("8.0");
    CHECK_EQ(sxs_signals()->adopt((uintptr_t)h.initialize, NULL), -ENOTSUP);
    for (unsigned i = 0; i < ARRAY_LEN(routed); i++) {
        sigaction(routed[i], NULL, &after);
        CHECK(after.sa_sigaction == before[i].sa_sigaction && after.sa_flags == before[i].sa_flags);
    }
    CHECK_EQ(sxs_session_open(NULL)->signals_off, 1);
    fake_end(&h);
}

#ifndef THREAD_SANITIZER /* it shows its own handlers instead */
static void off_keeps_body(void)
{
    struct sigaction now;
    Dl_info          where;
    setenv("SXSPROF_SIGNALS", "off", 1);
    signalling("8.0");
    struct fake_host last = signalling("9.0");
    CHECK_EQ(sigaction(SIGSEGV, NULL, &now), 0);
    CHECK(dladdr((void *)(uintptr_t)now.sa_sigaction, &where) &&
          strcmp(where.dli_fname, last.path) == 0);
    CHECK_EQ(routed_to(1) + routed_to(2), 0);
}
#endif

static void switched_off_it_leaves_every_action_alone(void **state)
{
    (void)state;
    PASSES(off_body);
#ifndef THREAD_SANITIZER
    PASSES(off_keeps_body);
#endif
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_goes_to_the_runtime_whose_code_it_is_and_to_no_other),
        cmocka_unit_test(an_address_is_found_in_the_runtime_that_it_belongs_to),
        cmocka_unit_test(faults_on_many_threads_of_three_runtimes_at_once_are_all_handled),
        cmocka_unit_test(every_runtime_gets_its_own_suspension_signals),
        cmocka_unit_test(a_handler_from_before_the_runtimes_gets_what_no_runtime_wants),
        cmocka_unit_test(a_handler_from_after_the_runtimes_gets_only_that_too_when_hooked),
        cmocka_unit_test(a_handler_without_siginfo_is_called_as_it_wants),
        cmocka_unit_test(a_handler_that_passes_on_what_was_there_before_makes_no_circle),
        cmocka_unit_test(a_process_that_wants_to_die_dies_of_that_very_signal),
        cmocka_unit_test(a_signal_that_is_ignored_is_ignored_unless_it_is_a_fault),
        cmocka_unit_test(a_host_that_restores_the_default_gets_the_default),
        cmocka_unit_test(seven_runtimes_that_decline_use_no_more_stack_than_two),
        cmocka_unit_test(a_forked_child_has_its_faults_handled_and_dies_of_those_that_are_not),
        cmocka_unit_test(a_spawned_child_may_reset_its_signals_without_harm_to_the_parent),
        cmocka_unit_test(nor_does_a_vfork_child),
        cmocka_unit_test(a_suspension_signal_from_another_process_is_ignored),
        cmocka_unit_test(a_handler_that_passes_on_by_a_jump_makes_no_circle),
        cmocka_unit_test(and_an_unwanted_fault_behind_it_still_ends_the_process),
        cmocka_unit_test(a_storm_of_sigprof_during_faults_does_no_harm),
        cmocka_unit_test(switched_off_it_leaves_every_action_alone),
    };
    plain_environment(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
