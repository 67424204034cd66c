/* SPDX-License-Identifier: MIT */
#include "sampling/wait_reason.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/base.h"
#include "base/proc.h"
#include "base/stat_field.h"

static const struct {
    uint16_t         number;
    enum sxs_waiting reason;
} syscalls[] = {
    {SYS_futex, SXS_WAITS_LOCK},
    {SYS_nanosleep, SXS_WAITS_SLEEP},
    {SYS_clock_nanosleep, SXS_WAITS_SLEEP},
    {SYS_poll, SXS_WAITS_POLL},
    {SYS_ppoll, SXS_WAITS_POLL},
    {SYS_select, SXS_WAITS_POLL},
    {SYS_pselect6, SXS_WAITS_POLL},
    {SYS_epoll_wait, SXS_WAITS_POLL},
    {SYS_epoll_pwait, SXS_WAITS_POLL},
    {441 /* epoll_pwait2 */, SXS_WAITS_POLL},
    {SYS_read, SXS_WAITS_IO},
    {SYS_readv, SXS_WAITS_IO},
    {SYS_pread64, SXS_WAITS_IO},
    {SYS_preadv, SXS_WAITS_IO},
    {SYS_write, SXS_WAITS_IO},
    {SYS_writev, SXS_WAITS_IO},
    {SYS_pwrite64, SXS_WAITS_IO},
    {SYS_pwritev, SXS_WAITS_IO},
    {SYS_accept, SXS_WAITS_IO},
    {SYS_accept4, SXS_WAITS_IO},
    {SYS_connect, SXS_WAITS_IO},
    {SYS_recvfrom, SXS_WAITS_IO},
    {SYS_recvmsg, SXS_WAITS_IO},
    {SYS_recvmmsg, SXS_WAITS_IO},
    {SYS_sendto, SXS_WAITS_IO},
    {SYS_sendmsg, SXS_WAITS_IO},
    {SYS_sendfile, SXS_WAITS_IO},
    {SYS_fsync, SXS_WAITS_IO},
    {SYS_fdatasync, SXS_WAITS_IO},
    {SYS_flock, SXS_WAITS_IO},
    {SYS_fcntl, SXS_WAITS_IO},
    {426 /* io_uring_enter */, SXS_WAITS_IO},
    {SYS_wait4, SXS_WAITS_PROCESS},
    {SYS_waitid, SXS_WAITS_PROCESS},
    {SYS_pause, SXS_WAITS_SIGNAL},
    {SYS_rt_sigsuspend, SXS_WAITS_SIGNAL},
    {SYS_rt_sigtimedwait, SXS_WAITS_SIGNAL},
};

enum sxs_waiting sxs_wait_reason_of_syscall(const char *text)
{
    char *end;
    long  number = strtol(text, &end, 10);
    if (strncmp(text, "running", 7) == 0)
        return SXS_WAITS_PROCESSOR;
    if (end == text || *end != ' ')
        return SXS_WAITS;
    if (number < 0) /* stopped, but not in a system call */
        return SXS_WAITS;
    for (size_t i = 0; i < ARRAY_LEN(syscalls); i++)
        if (syscalls[i].number == number)
            return syscalls[i].reason;
    return SXS_WAITS_OTHER;
}

enum sxs_waiting sxs_wait_reason_of_stat(const char *text)
{
    switch (sxs_stat_state(text)) {
    case 'R': return SXS_WAITS_PROCESSOR;
    case 'D': return SXS_WAITS_DISK;
    case 'T':
    case 't': return SXS_WAITS_STOPPED;
    default: return SXS_WAITS;
    }
}

static enum sxs_waiting read_reason(uint32_t tid, const char *file,
                                    enum sxs_waiting (*of)(const char *text))
{
    char    path[64], text[512];
    ssize_t n;
    snprintf(path, sizeof(path), "/proc/self/task/%u/%s", tid, file);
    n = sxs_proc_read(path, text, sizeof(text) - 1);
    if (n <= 0)
        return SXS_WAITS;
    text[n] = '\0';
    return of(text);
}

enum sxs_waiting sxs_wait_reason(uint32_t tid)
{
    enum sxs_waiting reason = read_reason(tid, "syscall", sxs_wait_reason_of_syscall);
    return reason == SXS_WAITS ? read_reason(tid, "stat", sxs_wait_reason_of_stat) : reason;
}
