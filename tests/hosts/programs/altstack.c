/* SPDX-License-Identifier: MIT */
/* altstack - a host whose threads have their own small alternate stacks, with a guard page below,
 * and handle SIGUSR1 on them while they call managed code.
 *
 * altstack SIZE: size of the alternate stacks in bytes. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/hosts/hosting.h"

enum { THREADS = 4, SIGNALS = 30, PAGE = 4096 };

static size_t     size;
static atomic_int n_on_stack, n_off_stack;

static _Thread_local char *stack_start;

static void on_signal(int sig)
{
    char here;

    (void)sig;
    if (&here > stack_start && &here < stack_start + size)
        atomic_fetch_add(&n_on_stack, 1);
    else
        atomic_fetch_add(&n_off_stack, 1);
}

/* Installs an alternate stack above a guard page. Returns the mapping, which the caller unmaps. */
static char *use_own_stack(void)
{
    char *map = mmap(NULL, PAGE + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = map + PAGE, .ss_size = size};

    mprotect(map, PAGE, PROT_NONE);
    sigaltstack(&stack, NULL);
    stack_start = map + PAGE;
    return map;
}

static void leave_own_stack(char *map)
{
    stack_t none = {.ss_flags = SS_DISABLE};

    sigaltstack(&none, NULL);
    munmap(map, PAGE + size);
}

static void *live(void *argument)
{
    const struct hosting_guest *guest = hosting_guest((int)(intptr_t)argument % hosting_len());
    char                       *map = use_own_stack();
    stack_t                     seen;
    intptr_t                    good = 0;

    for (int i = 0; i < SIGNALS; i++) {
        raise(SIGUSR1);
        guest->compute(20000);
    }
    good += guest->faults(5) == 5;
    sigaltstack(NULL, &seen);
    good += seen.ss_sp == map + PAGE && seen.ss_size == size;
    leave_own_stack(map);
    good += guest->compute(1000) == 499500;
    return (void *)good;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
    pthread_t        threads[THREADS];
    int              good = 0;

    size = argc > 1 ? strtoul(argv[1], NULL, 10) : 16384;
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    hosting_start();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, live, (void *)(intptr_t)i);
        for (int i = 0; i < THREADS; i++) {
            void *result;
            pthread_join(threads[i], &result);
            good += (intptr_t)result == 3;
        }
    }
    hosting_claim(good == 2 * THREADS, "%d threads kept their alternate stacks", good);
    hosting_claim(n_on_stack == 2 * THREADS * SIGNALS && !n_off_stack, "%d handlers ran on them",
                  atomic_load(&n_on_stack));
    hosting_claim(hosting_work(1) == 0, "work");
    return hosting_end();
}
