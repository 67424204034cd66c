/* SPDX-License-Identifier: MIT */
/* segv - a host with its own SIGSEGV handler, with which it probes memory.
 *
 * segv WHEN HOW: the handler is installed before, between (after the first) or after the start of
 * the runtimes. HOW is
 *   jump       SA_ONSTACK; the handler leaves by siglongjmp
 *   jump-plain the same without SA_ONSTACK (before only: a runtime needs the alternate stack)
 *   nodefer    as jump, with SA_NODEFER, so that siglongjmp need not restore the mask
 *   step       the handler makes the address readable and returns
 *   resethand  SA_RESETHAND: installed before each probe; the earlier action is restored after it
 *   chained    two handlers; the later one calls the earlier one, which leaves by siglongjmp
 * The probes are made on two threads, at the same stack pointer, between faults of the runtimes. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/hosts/hosting.h"

enum { PROBES = 50, PAGE = 4096 };

static const char                         *how;
static struct sigaction                    earlier; /* the action before this host's handler */
static _Thread_local sigjmp_buf            back;
static _Thread_local volatile sig_atomic_t probing;
static _Thread_local char                 *probed;
static atomic_int                          n_handled, n_foreign, n_links;

/* Handles a fault that no probe caused as if this handler did not exist. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
    if (earlier.sa_flags & SA_SIGINFO) {
        earlier.sa_sigaction(sig, info, context);
    } else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN) {
        earlier.sa_handler(sig);
    } else {
        atomic_fetch_add(&n_foreign, 1);
        signal(sig, SIG_DFL);
    }
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    if (!probing || info->si_addr != probed) {
        pass_on(sig, info, context);
        return;
    }
    probing = 0;
    atomic_fetch_add(&n_handled, 1);
    if (strcmp(how, "step") != 0 && strcmp(how, "resethand") != 0)
        siglongjmp(back, 1);
    mprotect(probed, PAGE, PROT_READ);
}

static struct sigaction link_below;

static void on_fault_link(int sig, siginfo_t *info, void *context)
{
    if (probing && info->si_addr == probed) {
        atomic_fetch_add(&n_links, 1);
        link_below.sa_sigaction(sig, info, context); /* on_fault(), which does not return */
        return;
    }
    pass_on(sig, info, context);
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    sigemptyset(&action.sa_mask);
    if (strcmp(how, "jump-plain") != 0)
        action.sa_flags |= SA_ONSTACK;
    if (!strcmp(how, "nodefer"))
        action.sa_flags |= SA_NODEFER;
    if (!strcmp(how, "resethand"))
        action.sa_flags |= (int)SA_RESETHAND;
    sigaction(SIGSEGV, &action, &earlier);
    if (!strcmp(how, "chained")) {
        action.sa_sigaction = on_fault_link;
        sigaction(SIGSEGV, &action, &link_below);
    }
}

/* Installs the handler, except with resethand: then it is installed only during a probe. */
static void install_for_good(void)
{
    if (strcmp(how, "resethand") != 0)
        install();
}

/* Reads @at. Returns 1 when the read faulted and the handler handled it. */
static __attribute__((noinline)) int probe(char *at)
{
    int before = atomic_load(&n_handled);

    probed = at;
    probing = 1;
    if (!sigsetjmp(back, strcmp(how, "nodefer") != 0))
        (void)*(volatile char *)at;
    probing = 0;
    if (!strcmp(how, "step") || !strcmp(how, "resethand"))
        mprotect(at, PAGE, PROT_NONE);
    return atomic_load(&n_handled) > before;
}

/* Makes probes between faults of the runtimes. Returns the number of faults that were handled. */
static int rounds(void)
{
    char *page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int   survived = 0;

    for (int i = 0; i < PROBES; i++) {
        if (!strcmp(how, "resethand"))
            install();
        survived += probe(page);
        if (!strcmp(how, "resethand"))
            sigaction(SIGSEGV, &earlier, NULL);
        if (i % 10 == 9)
            for (int k = 0; k < hosting_len(); k++)
                if (hosting_guest(k)->faults && hosting_guest(k)->faults(3) != 3)
                    survived = -1000;
    }
    munmap(page, PAGE);
    return survived;
}

static void *other_thread(void *argument)
{
    (void)argument;
    return (void *)(intptr_t)rounds();
}

int main(int argc, char **argv)
{
    const char *when = argc > 2 ? argv[1] : "before";
    pthread_t   thread;
    void       *survived = NULL;

    how = argc > 2 ? argv[2] : "jump";
    if (!strcmp(when, "before")) {
        install_for_good();
        hosting_claim(rounds() == PROBES, "probes before the runtimes");
        hosting_start();
    } else if (!strcmp(when, "between")) {
        hosting_start_one(0);
        install_for_good();
        hosting_claim(rounds() == PROBES, "probes between the runtimes");
        hosting_start();
    } else {
        hosting_start();
        install_for_good();
    }
    hosting_claim(rounds() == PROBES, "probes on the main thread");
    hosting_claim(hosting_work(1) == 0, "work of the runtimes");
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, &survived);
    hosting_claim((intptr_t)survived == PROBES, "probes on another thread");
    hosting_claim(rounds() == PROBES, "probes on the main thread again");
    hosting_claim(strcmp(how, "chained") != 0 || n_links > 0, "the later handler was called first");
    hosting_claim(n_foreign == 0, "no fault that nobody wanted");
    return hosting_end();
}
