/* SPDX-License-Identifier: MIT */
/* Joins the sessions of segments to one. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/sum.h"
#include "cmd/output/must.h"
#include "cmd/output/segments.h"
#include "cmd/output/table_hash.h"
#include "session/read/file_read.h"

/* What names a joined process: its pid, and when it began (clock ticks). */
struct identity {
    uint32_t pid;
    uint64_t started;
    unsigned same; /* of the first process with this pid: how many have it */
};

struct session_joining {
    struct sxs_session *out;
    struct identity    *identities;          /* owned; by process of `out` */
    struct sxs_index    by_identity, by_pid; /* numbers of processes; of each pid the first */
    size_t              n_read;              /* folders of processes, in all segments so far */
};

/* Folders of processes that are read: a ring has one or a few in each segment. */
#define MAX_READ (2 * SXS_SEGMENTS_MAX)

static void add_part(struct sxs_session_process *to, const struct sxs_segment *segment,
                     const char *folder)
{
    to->parts = sxs_must(reallocarray(to->parts, to->n_parts + 1, sizeof(*to->parts)));
    snprintf(to->parts[to->n_parts++], sizeof(*to->parts), "%s/%.160s", segment->folder, folder);
}

/* The counts of a runtime begin at 0 in each segment. */
static void add_counts(struct sxs_session_runtime *to, const struct sxs_session_runtime *from)
{
    sxs_sum_add(&to->modules, from->modules);
    sxs_sum_add(&to->methods, from->methods);
    sxs_sum_add(&to->threads, from->threads);
    sxs_sum_add(&to->gcs, from->gcs);
    sxs_sum_add(&to->exceptions, from->exceptions);
    sxs_sum_add(&to->signals, from->signals);
    sxs_sum_add(&to->errors, from->errors);
    to->state = from->state;
    to->ended_ns = from->ended_ns;
    if (!to->version[0])
        memcpy(to->version, from->version, sizeof(to->version));
}

static int by_number(const void *a, const void *b)
{
    const struct sxs_session_runtime *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static void add_runtimes(struct sxs_session *out, struct sxs_session_process *to,
                         const struct sxs_session_process *from)
{
    for (size_t i = 0; i < from->n_runtimes; i++) {
        size_t k = 0;
        while (k < to->n_runtimes && to->runtimes[k].number != from->runtimes[i].number)
            k++;
        if (k < to->n_runtimes) {
            add_counts(&to->runtimes[k], &from->runtimes[i]);
            continue;
        }
        if (out->n_runtimes >= SXS_SESSION_MAX_RUNTIMES) {
            to->n_unlisted++;
            continue;
        }
        out->n_runtimes++;
        to->runtimes = sxs_must(reallocarray(to->runtimes, k + 1, sizeof(*to->runtimes)));
        to->runtimes[to->n_runtimes++] = from->runtimes[i];
    }
    if (to->n_runtimes)
        qsort(to->runtimes, to->n_runtimes, sizeof(*to->runtimes), by_number);
}

/* Finds a process: with this pid that began at *@started, or the first with this pid if @started is NULL.
 * Returns its number + 1; 0: there is none, and *@at is the place for it. */
static uint32_t find_process(const struct session_joining *j, struct sxs_index *index, uint32_t pid,
                             const uint64_t *started, uint32_t *hash, size_t *at)
{
    uint32_t       number;
    const uint64_t key[2] = {pid, started ? *started : 0};
    *hash = (uint32_t)sxs_table_hash(key, sizeof(key), 15);
    *at = *hash;
    if (sxs_index_reserve(index) != 0)
        sxs_must(NULL);
    for (; (number = sxs_index_next(index, *hash, at)) != 0; (*at)++) {
        const struct identity *v = &j->identities[number - 1];
        if (v->pid == pid && (!started || v->started == *started))
            break;
    }
    return number;
}

/* Gives the process @number a name that no other one has: "123", "123-2". */
static void name_process(struct session_joining *j, size_t number)
{
    struct sxs_session_process *p = &j->out->processes[number];
    uint32_t                    hash;
    size_t                      at;
    uint32_t                    first = find_process(j, &j->by_pid, p->pid, NULL, &hash, &at);
    if (!first)
        sxs_index_put(&j->by_pid, at, hash, number);
    unsigned same = ++j->identities[first ? first - 1 : number].same;
    snprintf(p->folder, sizeof(p->folder), same > 1 ? "%u-%u" : "%u", p->pid, same);
}

/* Adds what a further segment has of a process. */
static void add_to_process(struct sxs_session *out, struct sxs_session_process *to,
                           const struct sxs_segment         *segment,
                           const struct sxs_session_process *from)
{
    add_part(to, segment, from->folder);
    to->n_unlisted = from->n_unlisted > to->n_unlisted ? from->n_unlisted : to->n_unlisted;
    to->has_children |= from->has_children;
    add_runtimes(out, to, from);
    to->signals_unwanted += from->signals_unwanted;
}

/* Adds a process of a segment, which is emptied. */
static void take_process(struct session_joining *j, const struct sxs_segment *segment,
                         struct sxs_session_process *from)
{
    struct sxs_session *out = j->out;
    uint64_t            started = segment->pid == from->pid ? segment->process_started : 0;
    uint32_t            hash;
    size_t              at, n = out->n_processes;
    uint32_t            found = find_process(j, &j->by_identity, from->pid, &started, &hash, &at);
    if (found) {
        add_to_process(out, &out->processes[found - 1], segment, from);
        return;
    }
    if (n + out->n_unread >= SXS_SESSION_MAX_PROCESSES ||
        out->n_runtimes + from->n_runtimes > SXS_SESSION_MAX_RUNTIMES) {
        out->n_left_out++;
        return;
    }
    sxs_index_put(&j->by_identity, at, hash, n);
    out->processes = sxs_must(reallocarray(out->processes, n + 1, sizeof(*out->processes)));
    j->identities = sxs_must(reallocarray(j->identities, n + 1, sizeof(*j->identities)));
    j->identities[n] = (struct identity){from->pid, started, 0};
    struct sxs_session_process *to = &out->processes[n];
    *to = *from;
    out->n_runtimes += from->n_runtimes;
    from->runtimes = NULL; /* it belongs to the other now */
    from->n_runtimes = 0;
    add_part(to, segment, from->folder);
    name_process(j, n);
    out->n_processes++;
}

static void take_unread(struct sxs_session *out, const struct sxs_segment *segment,
                        const struct sxs_session_process *from)
{
    if (out->n_processes + out->n_unread >= SXS_SESSION_MAX_PROCESSES) {
        out->n_left_out++;
        return;
    }
    out->unread = sxs_must(reallocarray(out->unread, out->n_unread + 1, sizeof(*out->unread)));
    struct sxs_session_process *to = &out->unread[out->n_unread++];
    *to = (struct sxs_session_process){.pid = from->pid};
    snprintf(to->folder, sizeof(to->folder), "%s/%.160s", segment->folder, from->folder);
}

/* Adds the session of a segment. Returns 0 or an errno value; ENOENT: it is gone. */
static int take_segment(struct session_joining *j, const char *dir,
                        const struct sxs_segment *segment)
{
    struct sxs_session s;
    char               path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", dir, segment->folder);
    int err = sxs_session_read(path, &s);
    j->n_read += s.n_processes + s.n_unread;
    for (size_t i = 0; i < s.n_processes && !err; i++)
        take_process(j, segment, &s.processes[i]);
    for (size_t i = 0; i < s.n_unread && !err; i++)
        take_unread(j->out, segment, &s.unread[i]);
    for (size_t i = 0; i < s.n_problems; i++)
        sxs_lines_add(&j->out->problems, &j->out->n_problems, "%s/%s", segment->folder,
                      s.problems[i]);
    for (size_t i = 0; i < s.n_notes; i++)
        sxs_lines_add(&j->out->notes, &j->out->n_notes, "%s/%s", segment->folder, s.notes[i]);
    sxs_session_free(&s);
    return err;
}

static void join(const char *dir, const struct sxs_period *period, struct sxs_session *out,
                 struct sxs_segments *segments)
{
    struct session_joining j = {.out = out};
    size_t                 n = 0, i;
    char                   why[200];
    (void)sxs_segments_list(dir, period, segments);
    for (i = 0; i < segments->n && j.n_read < MAX_READ; i++) {
        int err = take_segment(&j, dir, &segments->all[i]);
        if (!err && segments->all[i].is_damaged)
            sxs_lines_add(&out->problems, &out->n_problems,
                          "%s/segment.json: damaged: its process is shown as one of its own",
                          segments->all[i].folder);
        if (err == ENOENT)
            segments->n_gone++;
        else if (err)
            sxs_lines_add(&out->problems, &out->n_problems, "%s: %s", segments->all[i].folder,
                          strerror(err));
        if (!err)
            segments->all[n++] = segments->all[i];
    }
    segments->n_left_out += segments->n - i;
    segments->n = n;
    if (sxs_session_left_out(out, why, sizeof(why)))
        sxs_lines_add(&out->problems, &out->n_problems, "*/*/" SXS_CENSUS_FILE ": %s", why);
    if (segments->n_left_out)
        sxs_lines_add(
            &out->problems, &out->n_problems,
            "*/segment.json: %zu segments are left out: at most %u are read, with at most %u "
            "folders of processes",
            segments->n_left_out, SXS_SEGMENTS_MAX, MAX_READ);
    free(j.identities);
    sxs_index_free(&j.by_identity);
    sxs_index_free(&j.by_pid);
}

int sxs_session_read_joined(const char *dir, const struct sxs_period *period,
                            struct sxs_session *out, struct sxs_segments *segments)
{
    static const struct sxs_period all;
    struct sxs_segments            spare = {0}, *to = segments ? segments : &spare;
    *to = (struct sxs_segments){0};
    int err = sxs_session_read(dir, out);
    if (!err && out->n_processes + out->n_unread == 0)
        join(dir, period ? period : &all, out, to);
    out->period = period ? *period : all;
    if (!segments)
        sxs_segments_free(&spare);
    return err;
}
