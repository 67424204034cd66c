/* SPDX-License-Identifier: MIT */
/* seccomp - a host under a seccomp filter that refuses system calls with EPERM, as container runtimes do.
 *
 * seccomp before|after: the filter is installed before or after the runtimes start. It refuses
 * perf_event_open, timer_create, process_vm_readv and memfd_create. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/hosts/hosting.h"

#define REFUSE(number)                                   \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

static bool filter(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(SYS_perf_event_open),
        REFUSE(SYS_timer_create),
        REFUSE(SYS_process_vm_readv),
        REFUSE(SYS_memfd_create),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};

    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static void *one_round(void *argument)
{
    (void)argument;
    return (void *)(intptr_t)hosting_work(1);
}

int main(int argc, char **argv)
{
    bool      before = argc > 1 && !strcmp(argv[1], "before");
    pthread_t thread;
    void     *wrong = NULL;

    if (before)
        hosting_claim(filter(), "the filter is in force");
    hosting_start();
    hosting_claim(hosting_work(1) == 0, "work");
    if (!before)
        hosting_claim(filter(), "the filter is in force");
    hosting_claim(syscall(SYS_memfd_create, "x", 0) < 0 && errno == EPERM, "it refuses");
    hosting_claim(hosting_work(1) == 0, "work under the filter");
    pthread_create(&thread, NULL, one_round, NULL);
    pthread_join(thread, &wrong);
    hosting_claim(!wrong, "work on another thread");
    return hosting_end();
}
