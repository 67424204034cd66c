/* SPDX-License-Identifier: MIT */
#include "cmd/push/job.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/shown.h"

enum { EXIT_PROBLEM = 1 };

#define FLUSH_NS UINT64_C(10000000000) /* how long to go on sending after a signal */

static volatile sig_atomic_t n_signals;

static void on_signal(int number)
{
    (void)number;
    n_signals++;
}

void sxs_push_watch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool sxs_push_signalled(void)
{
    return n_signals > 0;
}

bool sxs_push_must_stop(void *arg)
{
    struct sxs_push_job *job = arg;
    if (!n_signals)
        return false;
    if (!job->flush_until)
        job->flush_until = sxs_push_now_ns() + FLUSH_NS;
    return n_signals > 1 || sxs_push_now_ns() >= job->flush_until; /* twice: at once */
}

void sxs_push_source(const char *session, const struct sxs_session_process *p, uint64_t began_ns,
                     char *buf, size_t size)
{
    snprintf(buf, size, "%s/%s/%" PRIu64, session, p->folder, began_ns);
}

int sxs_push_queue_batch(struct sxs_push_job *job, const struct sxs_push_batch *b,
                         const char *source, uint64_t next_ns)
{
    struct sxs_push_out    out = {0};
    struct sxs_push_queue *q = job->sender.queue;
    uint64_t               dropped = sxs_push_queue_counts(q).dropped;
    int                    err = job->sender.target->encode(&job->settings, b, &out);
    if (!err)
        err = sxs_push_queue_add(q, &out, b->id, source, next_ns);
    sxs_push_out_free(&out);
    char line[sizeof(job->reported)] = "";
    if (err)
        snprintf(line, sizeof(line), "a batch cannot be put into the queue: %s", strerror(-err));
    else if (sxs_push_queue_counts(q).dropped > dropped)
        snprintf(line, sizeof(line), "the queue is full: the oldest batches are dropped");
    if (*line && strcmp(line, job->reported) != 0)
        sxs_print_to(stderr, "sxsprof: push: %s\n", line);
    memcpy(job->reported, line, sizeof(line));
    return err;
}

static void wait_until(uint64_t at_ns)
{
    uint64_t now = sxs_push_now_ns();
    if (at_ns <= now)
        return;
    uint64_t        ns = at_ns - now;
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    nanosleep(&t, NULL); /* a signal ends it */
}

bool sxs_push_drain(struct sxs_push_job *job)
{
    while (!sxs_push_must_stop(job)) {
        if (sxs_push_send(&job->sender))
            return true;
        uint64_t end = job->sender.failing_ns + job->retry_ns;
        if (job->sender.stopped || job->sender.next_ns > end)
            return false;
        if (sxs_push_signalled() && job->sender.next_ns > job->flush_until)
            return false;
        wait_until(job->sender.next_ns);
    }
    return false;
}

struct once {
    struct sxs_push_job *job;
    char                 source[SXS_PUSH_SOURCE_MAX];
};

static int take_once(void *arg, const struct sxs_push_batch *b, uint64_t next_ns)
{
    struct once         *o = arg;
    struct sxs_push_job *job = o->job;
    if (sxs_push_signalled())
        return -EINTR;
    int err = sxs_push_queue_batch(job, b, o->source, next_ns);
    if (err)
        return err;
    bool more = job->sender.joining &&
                sxs_push_queue_length(job->sender.queue) < SXS_PUSH_GROUP; /* sent together */
    if (!job->gave_up && !more)
        job->gave_up = !sxs_push_drain(job);
    return job->gave_up && !job->kept ? -EHOSTUNREACH : 0;
}

static uint64_t real_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int push_process(struct sxs_push_job *job, const struct sxs_session_process *p)
{
    struct once           o = {.job = job};
    struct sxs_push_clock clock = sxs_push_clock_of(job->cut.session->dir, p);
    if (!clock.began_ns)
        return 0;
    sxs_push_source(job->cut.name, p, clock.began_ns, o.source, sizeof(o.source));
    struct sxs_push_span span = {.to_ns = clock.ended ? 0 : real_ns() - SXS_PUSH_GRACE_NS};
    if (job->kept)
        span.from_ns = sxs_push_queue_position(job->sender.queue, o.source);
    return sxs_push_cut(&job->cut, &job->settings, p, &span, take_once, &o, &job->damaged);
}

int sxs_push_once(struct sxs_push_job *job, const char *name, const struct sxs_opened *v)
{
    const struct sxs_session *session = &v->session;
    int                       err = 0;
    job->cut.session = v;
    job->cut.name = name;
    for (size_t i = 0; i < session->n_processes + session->n_unread && !err; i++)
        err = push_process(job, i < session->n_processes
                                    ? &session->processes[i]
                                    : &session->unread[i - session->n_processes]);
    if (!job->gave_up)
        job->gave_up = !sxs_push_drain(job);
    if (err && err != -EHOSTUNREACH && err != -EINTR)
        sxs_print_to(stderr, "sxsprof: push: %s: %s\n", sxs_shown(v->dir), strerror(-err));
    return err ? EXIT_PROBLEM : 0;
}

int sxs_push_segments(struct sxs_push_job *job, const char *dir,
                      const struct sxs_segments *segments)
{
    int status = 0;
    for (size_t i = 0; i < segments->n && !sxs_push_signalled(); i++) {
        struct sxs_opened         v;
        const struct sxs_session *s = &v.session;
        char                      path[PATH_MAX];
        const char               *folder = segments->all[i].folder, *slash = strrchr(folder, '/');
        snprintf(path, sizeof(path), "%s/%s", dir, folder);
        int err = sxs_opened_open_one(path, &v);
        if (err == ENOENT)
            sxs_print_to(stderr, "sxsprof: push: %s: deleted while it was read: left out\n",
                         sxs_shown(path));
        else if (err)
            sxs_print_to(stderr, "sxsprof: push: %s: %s\n", sxs_shown(path), strerror(err));
        for (size_t k = 0; k < s->n_problems; k++)
            sxs_print_to(stderr, "sxsprof: %s/%s\n", sxs_shown(path), s->problems[k]);
        job->damaged |= s->n_problems > 0 || (err && err != ENOENT);
        if (!err)
            status |= sxs_push_once(job, slash ? slash + 1 : folder, &v);
        sxs_opened_close(&v);
    }
    return status;
}
