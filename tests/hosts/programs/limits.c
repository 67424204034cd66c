/* SPDX-License-Identifier: MIT */
/* limits - a host with resource limits.
 *
 * limits RESOURCE VALUE before|after: RESOURCE is fsize, as, nofile or stack; the limit is set
 * before or after the runtimes start. SIGXFSZ has its default action, which ends the process. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/hosts/hosting.h"

static unsigned resource_of(const char *name)
{
    return !strcmp(name, "fsize")    ? RLIMIT_FSIZE
           : !strcmp(name, "as")     ? RLIMIT_AS
           : !strcmp(name, "nofile") ? RLIMIT_NOFILE
                                     : RLIMIT_STACK;
}

static void *one_round(void *argument)
{
    (void)argument;
    return (void *)(intptr_t)hosting_work(1);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fputs("usage: limits RESOURCE VALUE before|after\n", stderr);
        return 2;
    }
    rlim_t        value = strtoull(argv[2], NULL, 10);
    struct rlimit limit = {value, value};
    bool          before = !strcmp(argv[3], "before");
    int           wrong = 0;

    if (before)
        setrlimit(resource_of(argv[1]), &limit);
    hosting_start();
    hosting_claim(hosting_work(1) == 0, "work before");
    if (!before)
        setrlimit(resource_of(argv[1]), &limit);
    hosting_claim(hosting_work(2) == 0, "work under the limit");
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        void     *result = (void *)1;
        if (!pthread_create(&thread, NULL, one_round, NULL))
            pthread_join(thread, &result);
        wrong += result != NULL;
    }
    hosting_claim(!wrong, "work on 20 more threads");
    return hosting_end();
}
