/* SPDX-License-Identifier: MIT */
/* Follows a session, or a folder to which sessions come. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/segments.h"
#include "cmd/push/job.h"

#define SECOND_NS UINT64_C(1000000000)
#define FINAL     ((uint64_t)INT64_MAX) /* position of a source of which nothing more can come */
#define HIGHEST   "segments/highest"    /* a source whose position is a segment's number */

/* A process of a session that was looked at. */
struct seen {
    char    *source;    /* owned */
    uint64_t looked_ns; /* up to this time; UINT64_MAX: to its end */
    bool     here;      /* it was found in the last round */
    bool     reported;  /* its problems were printed */
    bool     is_final;  /* nothing more can come */
};

struct follower {
    struct sxs_push_job *job;
    struct seen         *seen; /* owned */
    size_t               n, cap;
    const char          *source;     /* of the process that is cut */
    bool                 found;      /* a session was there in this round */
    struct sxs_segments  segments;   /* of this round */
    uint64_t             waiting_ns; /* CLOCK_MONOTONIC: since when a batch waits; 0: none does */
};

static struct seen *seen_of(struct follower *f, const char *source)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->seen[i].source, source) == 0)
            return &f->seen[i];
    SXS_GROW(f->seen, f->n, f->cap);
    f->seen[f->n] = (struct seen){.source = sxs_must(strdup(source))};
    return &f->seen[f->n++];
}

static void forget_gone(struct follower *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->seen[i].here)
            f->seen[kept++] = f->seen[i];
        else
            free(f->seen[i].source);
    f->n = kept;
}

static bool is_here(void *arg, const char *source)
{
    const struct follower *f = arg;
    if (strcmp(source, HIGHEST) == 0)
        return true;
    for (size_t i = 0; i < f->n; i++)
        if (f->seen[i].here && strcmp(f->seen[i].source, source) == 0)
            return true;
    return false;
}

static int take_batch(void *arg, const struct sxs_push_batch *b, uint64_t next_ns)
{
    struct follower *f = arg;
    return sxs_push_queue_batch(f->job, b, f->source, next_ns);
}

static uint64_t real_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* Returns true when the folder of a process was not deleted meanwhile. */
static bool is_there(const char *dir, const struct sxs_session_process *p)
{
    char        path[PATH_MAX];
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", dir, p->folder);
    return lstat(path, &st) == 0;
}

/* Puts what is complete of a process into the queue. */
static void look_at_process(struct follower *f, const struct sxs_session_process *p)
{
    struct sxs_push_job  *job = f->job;
    char                  source[SXS_PUSH_SOURCE_MAX];
    struct sxs_push_clock clock = sxs_push_clock_of(job->cut.session->dir, p);
    uint64_t              width = job->cut.width_ns;
    if (!clock.began_ns)
        return;
    sxs_push_source(job->cut.name, p, clock.began_ns, source, sizeof(source));
    struct seen *s = seen_of(f, source);
    s->here = true;
    if (sxs_push_queue_position(job->sender.queue, source) == FINAL) {
        s->looked_ns = UINT64_MAX;
        s->is_final = true;
    }
    uint64_t until = clock.ended ? UINT64_MAX : (real_ns() - SXS_PUSH_GRACE_NS) / width * width;
    if (until <= s->looked_ns || until <= clock.began_ns)
        return;
    struct sxs_push_span span = {.from_ns = sxs_push_queue_position(job->sender.queue, source),
                                 .to_ns = clock.ended ? 0 : until};
    f->source = source;
    job->cut.quiet = s->reported;
    int err = sxs_push_cut(&job->cut, &job->settings, p, &span, take_batch, f, &job->damaged);
    s->reported = true;
    if (!err &&
        is_there(job->cut.session->dir, p)) /* otherwise, as on a full disk, it is tried again */
        s->looked_ns = until;
}

/* Returns false when the folder @dir has no session. */
static bool look_at_session(struct follower *f, const char *dir)
{
    struct sxs_opened         v;
    const struct sxs_session *s = &v.session;
    char                      path[PATH_MAX];
    const char               *slash;
    bool                      found = false;
    if (sxs_opened_open_one(dir, &v) == 0 && realpath(dir, path)) {
        slash = strrchr(path, '/');
        f->job->cut.session = &v;
        f->job->cut.name = slash && slash[1] ? slash + 1 : "session";
        found = s->n_processes + s->n_unread > 0;
        for (size_t i = 0; i < s->n_processes; i++)
            look_at_process(f, &s->processes[i]);
    }
    sxs_opened_close(&v);
    return found;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- segments -------------------------------------------------------------------------------- */

static bool is_of(const char *source, const char *session)
{
    size_t n = strlen(session);
    return strncmp(source, session, n) == 0 && source[n] == '/';
}

/* Returns true when all of a segment is in the queue, and it needs no look. */
static bool is_done(struct follower *f, const char *name)
{
    bool done = false;
    for (size_t i = 0; i < f->n; i++)
        if (f->seen[i].is_final && is_of(f->seen[i].source, name))
            done = f->seen[i].here = true;
    return done;
}

/* Notes for the time after this command that all of a complete segment is in the queue. */
static void mark_complete_segments(struct follower *f)
{
    uint64_t newest = 0;
    for (size_t i = 0; i < f->segments.n; i++)
        if (f->segments.all[i].number > newest)
            newest = f->segments.all[i].number;
    for (size_t i = 0; i < f->segments.n; i++) {
        const struct sxs_segment *s = &f->segments.all[i];
        const char               *slash = strrchr(s->folder, '/');
        /* A process that was killed ends no segment; but there is a newer one when it is back. */
        if (!s->ended_ns && s->number == newest)
            continue;
        for (size_t k = 0; k < f->n; k++) {
            struct seen *v = &f->seen[k];
            if (v->is_final || v->looked_ns != UINT64_MAX ||
                !is_of(v->source, slash ? slash + 1 : s->folder))
                continue;
            v->is_final = true;
            sxs_push_queue_finish(f->job->sender.queue, v->source, FINAL);
        }
    }
}

/* Tells of a segment that was deleted before its end was pushed. */
static void tell_lost(void *arg, const char *source, uint64_t next_ns)
{
    struct follower *f = arg;
    char             name[80], at[32] = "";
    size_t           n = strcspn(source, "/");
    time_t           seconds = (time_t)(next_ns / SECOND_NS);
    struct tm        t;
    snprintf(name, sizeof(name), "%.*s", (int)(n < 70 ? n : 70), source);
    if (next_ns == FINAL || is_here(f, source) || !sxs_segment_name(name, NULL, NULL))
        return;
    for (size_t i = 0; i < f->n; i++) /* all of it was pushed by this command */
        if (strcmp(f->seen[i].source, source) == 0 && f->seen[i].looked_ns == UINT64_MAX)
            return;
    strftime(at, sizeof(at), "%H:%M:%S", localtime_r(&seconds, &t));
    sxs_print_to(
        stderr,
        "sxsprof: push: segment %s was deleted before its end was pushed: what it had%s%s is "
        "lost\n",
        name, next_ns ? " after " : "", next_ns ? at : "");
    f->job->lost++;
}

/* Tells of all that were deleted since the last look, or since the last command. */
static void tell_all_lost(struct follower *f)
{
    struct sxs_push_queue *q = f->job->sender.queue;
    sxs_push_queue_each(q, tell_lost, f);
    for (size_t i = 0; i < f->n; i++) /* and of those of which nothing was pushed */
        if (!sxs_push_queue_position(q, f->seen[i].source))
            tell_lost(f, f->seen[i].source, 0);
}

static bool has_number(const struct follower *f, uint64_t number)
{
    for (size_t i = 0; i < f->segments.n; i++)
        if (f->segments.all[i].number == number)
            return true;
    return false;
}

/* Counts the segments that came and went between two looks: their numbers are missing. */
static void count_missing(struct follower *f)
{
    struct sxs_push_queue *q = f->job->sender.queue;
    uint64_t               before = sxs_push_queue_position(q, HIGHEST), highest = 0, lost = 0;
    for (size_t i = 0; i < f->segments.n; i++)
        if (f->segments.all[i].number > highest)
            highest = f->segments.all[i].number;
    if (highest <= before)
        return;
    for (uint64_t n = before + 1; before && n < highest && lost < 1000000; n++)
        lost += !has_number(f, n);
    if (lost)
        sxs_print_to(stderr,
                     "sxsprof: push: segments %" PRIu64 " to %" PRIu64 ": %" PRIu64
                     " of them were deleted before they were pushed\n",
                     before + 1, highest - 1, lost);
    f->job->lost += lost;
    sxs_push_queue_finish(q, HIGHEST, highest);
}

/* ---- looks ----------------------------------------------------------------------------------- */

/* Looks at the segments in the folder @dir, in the order of time. */
static void look_at_segments(struct follower *f, const char *dir)
{
    static const struct sxs_period always = {.from_ns = 1}; /* the kept segments, too */
    sxs_segments_free(&f->segments);
    (void)sxs_segments_list(dir, &always, &f->segments);
    for (size_t i = 0; i < f->segments.n && !sxs_push_must_stop(f->job); i++) {
        char        path[PATH_MAX];
        const char *folder = f->segments.all[i].folder, *slash = strrchr(folder, '/');
        snprintf(path, sizeof(path), "%s/%s", dir, folder);
        f->found |= is_done(f, slash ? slash + 1 : folder) || look_at_session(f, path);
    }
    mark_complete_segments(f);
    if (f->segments.n)
        count_missing(f);
}

/* Looks at the other sessions in the folder @dir, in the order of their names. */
static void look_into_folder(struct follower *f, const char *dir)
{
    char **names = NULL;
    size_t n = 0, cap = 0;
    DIR   *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat st;
        char        path[PATH_MAX];
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        if (e->d_name[0] == '.' || sxs_segment_name(e->d_name, NULL, NULL) ||
            lstat(path, &st) != 0 || !S_ISDIR(st.st_mode))
            continue;
        SXS_GROW(names, n, cap);
        names[n++] = sxs_must(strdup(path));
    }
    if (d)
        closedir(d);
    if (n)
        qsort(names, n, sizeof(*names), by_name);
    for (size_t i = 0; i < n; i++) {
        if (!sxs_push_must_stop(f->job))
            f->found |= look_at_session(f, names[i]);
        free(names[i]);
    }
    free(names);
}

/* Looks at everything once. */
static void look(struct follower *f, const char *dir)
{
    for (size_t i = 0; i < f->n; i++)
        f->seen[i].here = false;
    f->found = false; /* then nothing is forgotten: the disk may only be away */
    if (look_at_session(f, dir)) {
        f->found = true;
    } else {
        look_at_segments(f, dir);
        look_into_folder(f, dir);
    }
    if (sxs_push_must_stop(f->job))
        return; /* not everything was looked at */
    if (f->found)
        tell_all_lost(f);
    forget_gone(f);
    if (f->found)
        sxs_push_queue_forget(f->job->sender.queue, is_here, f);
}

/* Returns true when what waits is to be sent: there is as much of it as is sent as one, or it has
 * waited long enough. */
static bool is_time_to_send(struct follower *f)
{
    const struct sxs_push_job *job = f->job;
    size_t                     n = sxs_push_queue_length(job->sender.queue);
    uint64_t                   now = sxs_push_now_ns();
    f->waiting_ns = !n ? 0 : f->waiting_ns ? f->waiting_ns : now;
    return n && now >= job->sender.next_ns &&
           (n >= SXS_PUSH_GROUP || now - f->waiting_ns >= job->gather_ns);
}

int sxs_push_follow(struct sxs_push_job *job, const char *dir)
{
    struct follower       f = {.job = job};
    const struct timespec second = {.tv_sec = 1};
    while (!sxs_push_signalled()) {
        look(&f, dir);
        if (is_time_to_send(&f))
            sxs_push_send(&job->sender);
        if (!sxs_push_signalled())
            nanosleep(&second, NULL); /* a signal ends it */
    }
    look(&f, dir);
    job->retry_ns = UINT64_C(3600) * SECOND_NS; /* the time after a signal is shorter */
    job->sender.stopped = false;
    if (sxs_push_queue_length(job->sender.queue))
        sxs_push_drain(job);
    for (size_t i = 0; i < f.n; i++)
        free(f.seen[i].source);
    free(f.seen);
    sxs_segments_free(&f.segments);
    return job->damaged ? 1 : 0;
}
