/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/worker.h"

#include "base/clock.h"
#include "cmd/confined/descriptors.h"
#include "cmd/output/must.h"
#include "cmd/symbols/worker_message.h"
#include "cmd/symbols/worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMITED_NS 5000000000 /* time for all files of others together, of all workers */
/* Time for all requests to all workers, whatever they tell; a command that runs for long gets more. */
#define ALL_NS     ((int64_t)SXS_SYMBOL_WORKER_S * 1000000000)
#define ALL_SHARE  4          /* a quarter of the time for which it runs */
#define LEAST_NS   1000000000 /* with less left of it, nothing is asked */
#define MAX_STARTS 64u /* a session whose files end more workers than this gets no further names */

struct sxs_symbol_worker {
    struct sxs_symbol_job job;
    pid_t                 pid; /* 0: none */
    int                   fd;
    unsigned              starts;
};

static int64_t left_ns = LIMITED_NS; /* what is left of it */
static int64_t spent_ns;             /* of ALL_NS */
static int64_t first_ns;             /* when the first request began; 0: none yet */

struct sxs_symbol_worker *sxs_symbol_worker_new(sxs_symbol_worker_answer *answer, void *arg)
{
    struct sxs_symbol_worker *w = sxs_must_zeroed(1, sizeof(*w));
    *w = (struct sxs_symbol_worker){.job = {answer, arg}, .fd = -1};
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

/* Ends the process and returns its status; -1: see sxs_symbol_process_end(). */
static int end(struct sxs_symbol_worker *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    int status = w->pid ? sxs_symbol_process_end(w->pid) : -1;
    w->pid = 0;
    return status;
}

/* Its requests never wait for room: a worker reads each one before it answers, unless a file has taken
 * it over. */
static bool start(struct sxs_symbol_worker *w)
{
    static const int room = 2 * (int)sizeof(struct sxs_symbol_message);
    int              pair[2];
    if (w->starts >= MAX_STARTS || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    w->pid = sxs_symbol_process_start(&w->job, pair[1]);
    close(pair[1]);
    w->fd = pair[0];
    if (w->pid <= 0) {
        w->pid = 0;
        end(w);
        return false;
    }
    w->starts++;
    return true;
}

/* Returns how long a request that is @limited may take from now on. */
static int64_t time_left(bool limited)
{
    int64_t all = ALL_NS + (now_ns() - first_ns) / ALL_SHARE - spent_ns;
    if (all > ALL_NS)
        all = ALL_NS;
    return limited && left_ns < all ? left_ns : all;
}

/* Takes the time since @began from what is left. @limited: also from that for files of others: all of it or,
 * when the file @is_free, half: it was needed to find that the file is nobody else's. */
static void spend(int64_t began, bool limited, bool is_free)
{
    int64_t used = now_ns() - began;
    spent_ns += used;
    if (limited)
        left_ns -= is_free ? used / 2 : used;
}

/* Receives one message. Returns its size; 0: the process has ended, or sends what no worker does; -1: time
 * is over; -2: none has come yet. @passed: receives the descriptor of an answer, or -1. */
static ssize_t receive(const struct sxs_symbol_worker *w, bool limited,
                       struct sxs_symbol_message *m, int *passed)
{
    int64_t       ms = time_left(limited) / 1000000;
    struct pollfd p = {.fd = w->fd, .events = POLLIN};
    *passed = -1;
    if (ms <= 0)
        return -1;
    int     got = poll(&p, 1, (int)ms);
    ssize_t n = got > 0 ? sxs_confined_receive(w->fd, m, sizeof(*m), passed) : -2;
    if (n == -1)
        n = errno == EAGAIN ? -2 : 0;
    bool is_answer = n >= (ssize_t)SXS_SYMBOL_HEAD && m->tell == SXS_TELL_ANSWER;
    bool is_tell = n == 1 && (m->tell == SXS_TELL_LIMITED || m->tell == SXS_TELL_FREE);
    if (n > 0 && !is_answer && (!is_tell || *passed >= 0))
        n = 0;
    if (!is_answer && *passed >= 0) {
        close(*passed);
        *passed = -1;
    }
    return n;
}

/* Waits for the answer. Returns its size; 0: the process has ended; -1: time is over. */
static ssize_t await(const struct sxs_symbol_worker *w, bool limited, struct sxs_symbol_message *m,
                     int *passed)
{
    for (;;) {
        int64_t began = now_ns();
        ssize_t n = receive(w, limited, m, passed);
        bool    is_free = n == 1 && m->tell == SXS_TELL_FREE;
        spend(began, limited, is_free);
        if (n == 1)
            limited = !is_free;
        else if (n != -2)
            return n;
    }
}

static const char damaged[] = "it could not be read: its contents are damaged or hostile";
static const char late[] = "it could not be read in time";

static const char *why_ended(int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == SXS_SYMBOL_NO_MEMORY)
        return "more memory is needed to read it than a file of others may take";
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU ? late : damaged;
}

const char *sxs_symbol_worker_refuse(struct sxs_symbol_worker *w)
{
    end(w);
    return damaged;
}

const void *sxs_symbol_worker_ask(struct sxs_symbol_worker *w, const void *request, size_t size,
                                  bool limited, int *fd, size_t *answer_size, const char **why)
{
    static struct sxs_symbol_message m;
    int                              with = *fd;
    *fd = -1;
    first_ns = first_ns ? first_ns : now_ns();
    bool is_spent = time_left(false) < LEAST_NS;
    if (is_spent || time_left(limited) < 1000000) {
        *why = is_spent ? "left out: all files together have taken too much time"
                        : "left out: files of others have taken too much time";
        return NULL;
    }
    if (size > sizeof(m.bytes) || (!w->pid && !start(w))) {
        *why = "no process can be started that reads it";
        return NULL;
    }
    m.tell = limited ? SXS_TELL_LIMITED : SXS_TELL_FREE;
    m.left_ms = left_ns > 0 ? (uint32_t)(left_ns / 1000000) : 0;
    memcpy(m.bytes, request, size);
    ssize_t n = 0;
    if (sxs_confined_send(w->fd, &m, SXS_SYMBOL_HEAD + size, with) == 0)
        n = await(w, limited, &m, fd);
    if (n > 0) {
        *answer_size = (size_t)n - SXS_SYMBOL_HEAD;
        return m.bytes;
    }
    int status = end(w);
    *why = n < 0 ? late : why_ended(status);
    return NULL;
}

void sxs_symbol_worker_free(struct sxs_symbol_worker *w)
{
    if (!w)
        return;
    end(w);
    free(w);
}
