/* SPDX-License-Identifier: MIT */
#include "harness/bridge/bridge.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An address the compiler cannot know, or it would replace the write by a trap instruction. */
static int *volatile nowhere;

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
    }
    return -1;
}
