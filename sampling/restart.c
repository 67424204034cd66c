/* SPDX-License-Identifier: MIT */
#include "sampling/restart.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/proc.h"
#include "base/safe_read.h"

/* Where the timeout of a call is. */
enum timeout {
    NONE,      /* there is none, the kernel updates it, or it is a time of day */
    MS,        /* argument `at` is a number of ms; negative: none */
    POINTER,   /* argument `at` points to it; NULL: none */
    CLOCK,     /* as POINTER, unless argument 1 is TIMER_ABSTIME */
    FUTEX,     /* as POINTER, unless the operation has a time of day */
    RECEIVING, /* the socket has it: SO_RCVTIMEO of the descriptor, argument 0 */
    SENDING,   /* likewise: SO_SNDTIMEO */
};

/* The calls that are begun again. Not connect(), which has begun to connect. */
static const struct timed {
    uint16_t     number;
    uint8_t      at;
    enum timeout kind;
} calls[] = {
    {SYS_poll, 2, MS},
    {SYS_epoll_wait, 3, MS},
    {SYS_epoll_pwait, 3, MS},
    {441 /* epoll_pwait2 */, 3, POINTER},
    {SYS_ppoll, 0, NONE},
    {SYS_select, 0, NONE},
    {SYS_pselect6, 0, NONE},
    {SYS_nanosleep, 0, POINTER},
    {SYS_clock_nanosleep, 2, CLOCK},
    {SYS_futex, 3, FUTEX},
    {SYS_rt_sigtimedwait, 2, POINTER},
    {SYS_rt_sigsuspend, 0, NONE},
    {SYS_pause, 0, NONE},
    {SYS_read, 0, RECEIVING},
    {SYS_readv, 0, RECEIVING},
    {SYS_recvfrom, 0, RECEIVING},
    {SYS_recvmsg, 0, RECEIVING},
    {SYS_recvmmsg, 0, RECEIVING},
    {SYS_accept, 0, RECEIVING},
    {SYS_accept4, 0, RECEIVING},
    {SYS_write, 0, SENDING},
    {SYS_writev, 0, SENDING},
    {SYS_sendto, 0, SENDING},
    {SYS_sendmsg, 0, SENDING},
    {SYS_semop, 0, NONE},
    {SYS_semtimedop, 3, POINTER},
    {SYS_msgrcv, 0, NONE},
    {SYS_msgsnd, 0, NONE},
    {SYS_io_getevents, 4, POINTER},
};

SXS_SIGSAFE static const struct timed *find_call(long number)
{
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}

/* Returns 1 if a restart of the call would begin its timeout again. @fails: the call has failed with EINTR; a call on
 * a socket fails so only if the socket has a timeout. */
SXS_SIGSAFE static int restarts_timeout(const struct timed *c, const uint64_t *args, int fails)
{
    switch (c->kind) {
    case NONE: return 0;
    case MS: return (int32_t)args[c->at] >= 0;
    case POINTER: return args[c->at] != 0;
    case CLOCK: return args[c->at] != 0 && !(args[1] & TIMER_ABSTIME);
    case FUTEX:
        return args[c->at] != 0 && (args[1] & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET &&
               (args[1] & FUTEX_CMD_MASK) != FUTEX_LOCK_PI;
    case RECEIVING:
    case SENDING: return fails;
    }
    return 1;
}

/* ---- of another thread ----------------------------------------------------------------------- */

int sxs_waiting_call_parse(const char *text, struct sxs_waiting_call *out)
{
    uint64_t values[8];
    char    *end;
    out->number = strtol(text, &end, 10);
    if (end == text || *end != ' ' || out->number < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        const char *at = end;
        values[i] = strtoull(at, &end, 16);
        if (end == at)
            return -1;
    }
    memcpy(out->args, values, sizeof(out->args));
    out->sp = (uintptr_t)values[6];
    out->ip = (uintptr_t)values[7];
    return 0;
}

int sxs_waiting_call_read(uint32_t tid, struct sxs_waiting_call *out)
{
    char    path[64], text[512];
    ssize_t n;
    snprintf(path, sizeof(path), "/proc/self/task/%u/syscall", tid);
    n = sxs_proc_read(path, text, sizeof(text) - 1);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    return sxs_waiting_call_parse(text, out);
}

static int socket_has_timeout(int fd, int option)
{
    struct timeval time = {0, 0};
    socklen_t      size = sizeof(time);
    return getsockopt(fd, SOL_SOCKET, option, &time, &size) == 0 && (time.tv_sec || time.tv_usec);
}

int sxs_waiting_call_is_timed(const struct sxs_waiting_call *call)
{
    const struct timed *c = find_call(call->number);
    if (!c)
        return 0;
    if (c->kind == RECEIVING || c->kind == SENDING)
        return socket_has_timeout((int)call->args[0],
                                  c->kind == RECEIVING ? SO_RCVTIMEO : SO_SNDTIMEO);
    return restarts_timeout(c, call->args, 0);
}

/* ---- in the handler -------------------------------------------------------------------------- */

/* Reads the code before @next: at the end of @code, after zeros where a page cannot be read. */
SXS_SIGSAFE static void read_code(uint8_t *code, uintptr_t next)
{
    size_t own = next & 0xfff; /* bytes in the page of the call; the page before may have no code */
    if (sxs_safe_read(code, next - SXS_SYSTEM_CALL_CODE, SXS_SYSTEM_CALL_CODE) ==
        SXS_SYSTEM_CALL_CODE)
        return;
    own = own < SXS_SYSTEM_CALL_CODE ? own : SXS_SYSTEM_CALL_CODE;
    memset(code, 0, SXS_SYSTEM_CALL_CODE);
    if (sxs_safe_read(code + SXS_SYSTEM_CALL_CODE - own, next - own, own) != own)
        memset(code, 0, SXS_SYSTEM_CALL_CODE);
}

/* Returns the number of the system call whose instruction ends at @next, or -1 if the code does not load it
 * directly before the instruction. */
SXS_SIGSAFE static long number_of_call(uintptr_t next)
{
    uint8_t code[SXS_SYSTEM_CALL_CODE];
    read_code(code, next);
    return sxs_system_call_number(code);
}

/* The action of a signal as the kernel has it. */
struct action {
    void    *handler;
    uint64_t flags;
    void    *restorer;
    uint64_t mask;
};

/* Asks the kernel: sigaction() may be interposed, and then tells what the host has asked for. */
SXS_SIGSAFE static void *handler_of(int sig)
{
    struct action now;
    return syscall(SYS_rt_sigaction, sig, NULL, &now, sizeof(now.mask)) == 0 ? now.handler : NULL;
}

/* Whether another handler than that of signal @sig runs as soon as this one has returned, before the
 * thread goes on: its signal came meanwhile. The call must fail then, as without the profiler. */
SXS_SIGSAFE static int another_follows(const ucontext_t *uc, int sig)
{
    uint64_t pending = 0, blocked;
    memcpy(&blocked, &uc->uc_sigmask, sizeof(blocked));
    if (syscall(SYS_rt_sigpending, &pending, sizeof(pending)) != 0)
        return 0;
    pending &= ~blocked;
    if (!pending)
        return 0;
    void *own = handler_of(sig);
    for (int other = 1; pending; other++, pending >>= 1) {
        void *handler = pending & 1 ? handler_of(other) : own;
        if (handler != own && handler != (void *)SIG_DFL && handler != (void *)SIG_IGN)
            return 1;
    }
    return 0;
}

SXS_SIGSAFE void sxs_restart_interrupted(ucontext_t *uc, int sig, int has_just_begun)
{
    const struct timed *c;
    uint64_t            args[6];
    if (sxs_context_result(uc) != -EINTR)
        return;
    sxs_system_call_arguments(uc, args);
    c = find_call(number_of_call(sxs_context_ip(uc)));
    if (!c || (!has_just_begun && restarts_timeout(c, args, 1)) || another_follows(uc, sig))
        return;
    sxs_system_call_again(uc, c->number);
}
