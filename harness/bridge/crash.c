/* SPDX-License-Identifier: MIT */
#include "harness/bridge/bridge.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An address the compiler cannot know, or it would replace the write by a trap instruction. */
static int *volatile nowhere;

static void *burn(void *arg)
{
    for (;;)
        sxsbridge_burn(1000000);
    return arg;
}

/* Busy threads all around, as signals for them may be under way. */
static void replace_program(void)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, burn, NULL);
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
        /* Any thread may get it, a moment later. */
        kill(getpid(), SIGABRT);
        sleep(1);
        return 0;
    } else if (!strcmp(kind, "exec")) {
        replace_program();
    }
    return -1;
}
