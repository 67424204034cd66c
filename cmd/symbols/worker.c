/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/worker.h"

#include "base/clock.h"
#include "cmd/confined/confined.h"
#include "cmd/confined/descriptors.h"
#include "cmd/output/must.h"
#include "cmd/symbols/worker_limits.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIMITED_NS 5000000000 /* time for all files of others together, of all workers */
#define MAX_STARTS 64u /* a session whose files end more workers than this gets no further names */

enum { EXIT_NO_MEMORY = 3 };

/* The first byte of a message. A request has one of the last two. */
enum tell { TELL_ANSWER, TELL_LIMITED, TELL_FREE };

struct sxs_symbol_worker {
    sxs_symbol_worker_answer *answer;
    void                     *arg;
    pid_t                     pid; /* 0: none */
    int                       fd;
    unsigned                  starts;
};

struct message {
    uint8_t tell;
    uint8_t zero[7];
    uint8_t bytes[SXS_SYMBOL_WORKER_MESSAGE] __attribute__((aligned(8)));
};

#define HEAD offsetof(struct message, bytes)

/* What is left of LIMITED_NS. */
static int64_t left_ns = LIMITED_NS;

/* ---- in the worker ---------------------------------------------------------------------------- */

static int  to_master = -1; /* -1: this process is no worker */
static bool is_limited;

bool sxs_symbol_worker_limited(bool limited)
{
    const uint8_t tell = limited ? TELL_LIMITED : TELL_FREE;
    bool          was = is_limited;
    if (to_master < 0 || limited == was)
        return was;
    is_limited = limited;
    sxs_symbol_worker_limit_memory(limited);
    if (sxs_confined_send(to_master, &tell, 1, -1) != 0)
        _exit(0);
    return was;
}

/* sxs_must() calls exit(): nothing that this process has in common with its parent is done then. */
static void end_at_once(void)
{
    _exit(EXIT_NO_MEMORY);
}

/* Answers requests until there are no more. @arg: the worker, whose `fd` is this side of the
 * connection. */
static int serve(void *arg)
{
    static struct message           request, answer;
    const struct sxs_symbol_worker *w = arg;
    to_master = w->fd;
    if (atexit(end_at_once) != 0)
        return 1;
    sxs_symbol_worker_prepare();
    for (;;) {
        int     passed;
        ssize_t n = sxs_confined_receive(to_master, &request, sizeof(request), &passed);
        if (n < (ssize_t)HEAD)
            return 0;
        is_limited = request.tell == TELL_LIMITED;
        sxs_symbol_worker_limit_memory(is_limited);
        size_t size = w->answer(w->arg, request.bytes, (size_t)n - HEAD, answer.bytes, &passed);
        sxs_symbol_worker_limit_memory(false);
        answer.tell = TELL_ANSWER;
        if (sxs_confined_send(to_master, &answer, HEAD + size, passed) != 0)
            return 0;
        if (passed >= 0)
            close(passed);
    }
}

/* ---- in this process -------------------------------------------------------------------------- */

struct sxs_symbol_worker *sxs_symbol_worker_new(sxs_symbol_worker_answer *answer, void *arg)
{
    struct sxs_symbol_worker *w = sxs_must_zeroed(1, sizeof(*w));
    *w = (struct sxs_symbol_worker){.answer = answer, .arg = arg, .fd = -1};
    return w;
}

unsigned sxs_symbol_worker_starts(const struct sxs_symbol_worker *w)
{
    return w->starts + !w->pid;
}

static int64_t now_ns(void)
{
    return (int64_t)sxs_now_ns(CLOCK_MONOTONIC);
}

/* Ends the process and returns its status; -1: it has not ended, because it waits in the kernel for
 * a file system that does not answer. It ends when that does, and nothing waits for it. */
static int end(struct sxs_symbol_worker *w)
{
    int status = -1;
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    if (!w->pid)
        return -1;
    for (int i = 0; i < 100 && waitpid(w->pid, &status, WNOHANG) == 0; i++) {
        struct timespec pause = {0, i ? 1000000 : 0};
        status = -1;
        kill(w->pid, SIGKILL);
        nanosleep(&pause, NULL);
    }
    w->pid = 0;
    return status;
}

static bool start(struct sxs_symbol_worker *w)
{
    static const int room = 2 * (int)sizeof(struct message);
    int              pair[2];
    if (w->starts >= MAX_STARTS || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
    /* Root keeps what opens its own files, and what takes the rights of others. */
    const struct sxs_confinement c = {.calls = SXS_CONFINED_READ,
                                      .keep = &pair[1],
                                      .n_keep = 1,
                                      .capabilities = 1u << CAP_DAC_OVERRIDE |
                                                      1u << CAP_DAC_READ_SEARCH | 1u << CAP_SETUID |
                                                      1u << CAP_SETGID};
    w->fd = pair[1];
    pid_t pid = sxs_confined_start(&c, serve, w);
    close(pair[1]);
    w->fd = pair[0];
    w->pid = pid > 0 ? pid : 0;
    w->starts += pid > 0;
    if (pid < 0)
        end(w);
    return pid > 0;
}

/* Takes the time since @began from what is left. @whole: all of it; else half: it was needed to find
 * that the file is nobody else's. */
static void spend(int64_t began, bool whole)
{
    int64_t used = now_ns() - began;
    left_ns -= whole ? used : used / 2;
}

/* Waits for the answer. Returns its size; 0: the process has ended; -1: time is over. */
static ssize_t await(const struct sxs_symbol_worker *w, bool limited, struct message *m,
                     int *passed)
{
    int64_t began = now_ns();
    for (;;) {
        struct pollfd p = {.fd = w->fd, .events = POLLIN};
        int           ms = limited ? (int)((left_ns - (now_ns() - began)) / 1000000) : -1;
        int           got = limited && ms <= 0 ? 0 : poll(&p, 1, ms);
        if (got < 0 && errno == EINTR)
            continue;
        ssize_t n = got > 0 ? sxs_confined_receive(w->fd, m, sizeof(*m), passed) : -1;
        bool    is_free = n >= 1 && m->tell == TELL_FREE;
        if (limited)
            spend(began, !is_free);
        if (n < 1 || m->tell == TELL_ANSWER)
            return n >= 1 && n < (ssize_t)HEAD ? 0 : n;
        limited = !is_free;
        began = now_ns();
    }
}

static const char *why_ended(int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_MEMORY)
        return "more memory is needed to read it than a file of others may take";
    return "it could not be read: its contents are damaged or hostile";
}

const void *sxs_symbol_worker_ask(struct sxs_symbol_worker *w, const void *request, size_t size,
                                  bool limited, int *fd, size_t *answer_size, const char **why)
{
    static struct message m;
    int                   with = *fd;
    *fd = -1;
    if (limited && left_ns < 1000000) {
        *why = "left out: files of others have taken too much time";
        return NULL;
    }
    if (size > sizeof(m.bytes) || (!w->pid && !start(w))) {
        *why = "no process can be started that reads it";
        return NULL;
    }
    m.tell = limited ? TELL_LIMITED : TELL_FREE;
    memcpy(m.bytes, request, size);
    ssize_t n = 0;
    if (sxs_confined_send(w->fd, &m, HEAD + size, with) == 0)
        n = await(w, limited, &m, fd);
    if (n > 0) {
        *answer_size = (size_t)n - HEAD;
        return m.bytes;
    }
    int status = end(w);
    *why = n < 0 ? "it could not be read in time" : why_ended(status);
    return NULL;
}

void sxs_symbol_worker_free(struct sxs_symbol_worker *w)
{
    if (!w)
        return;
    end(w);
    free(w);
}
