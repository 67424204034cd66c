/* SPDX-License-Identifier: MIT */
/* crash.c - crashes in native code. */
#include "harness/bridge/bridge.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Null, but unknown to the compiler, which would otherwise replace the write by a trap
 * instruction. */
static int *volatile nowhere;

static void *burn_time(void *arg)
{
    for (;;)
        sxsbridge_burn(1000000);
    return arg;
}

/* Calls exec while other threads are busy, because signals for them may be pending. */
static void replace_program(void)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, burn_time, NULL);
    sxsbridge_burn(200000000);
    execl("/bin/true", "true", (char *)NULL);
}

int sxsbridge_crash(const char *kind)
{
    if (!strcmp(kind, "segv")) {
        *nowhere = 1;
    } else if (!strcmp(kind, "abort")) {
        abort();
    } else if (!strcmp(kind, "kill-abrt")) {
        /* Any thread may receive the signal, some time later. */
        kill(getpid(), SIGABRT);
        sleep(1);
        return 0;
    } else if (!strcmp(kind, "exec")) {
        replace_program();
    }
    return -1;
}
