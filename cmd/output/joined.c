/* SPDX-License-Identifier: MIT */
/* Joins the sessions of segments to one. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/output/must.h"
#include "cmd/output/segments.h"
#include "session/read/file_read.h"

/* What names a joined process: its pid, and when it began (clock ticks). */
struct identity {
    uint32_t pid;
    uint64_t started;
};

struct joining {
    struct sxs_session *out;
    struct identity    *identities; /* owned; by process of `out` */
};

static void add_part(struct sxs_session_process *to, const struct sxs_segment *segment,
                     const char *folder)
{
    to->parts = sxs_must(reallocarray(to->parts, to->n_parts + 1, sizeof(*to->parts)));
    snprintf(to->parts[to->n_parts++], sizeof(*to->parts), "%s/%.160s", segment->folder, folder);
}

/* The counts of a runtime begin at 0 in each segment. */
static void add_counts(struct sxs_session_runtime *to, const struct sxs_session_runtime *from)
{
    to->modules += from->modules;
    to->methods += from->methods;
    to->threads += from->threads;
    to->gcs += from->gcs;
    to->exceptions += from->exceptions;
    to->signals += from->signals;
    to->errors += from->errors;
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

static void add_runtimes(struct sxs_session_process *to, const struct sxs_session_process *from)
{
    for (size_t i = 0; i < from->n_runtimes; i++) {
        size_t k = 0;
        while (k < to->n_runtimes && to->runtimes[k].number != from->runtimes[i].number)
            k++;
        if (k < to->n_runtimes) {
            add_counts(&to->runtimes[k], &from->runtimes[i]);
            continue;
        }
        to->runtimes = sxs_must(reallocarray(to->runtimes, k + 1, sizeof(*to->runtimes)));
        to->runtimes[to->n_runtimes++] = from->runtimes[i];
    }
    if (to->n_runtimes)
        qsort(to->runtimes, to->n_runtimes, sizeof(*to->runtimes), by_number);
}

/* Gives a process a name that no other one has: "123", "123-2". */
static void name_process(const struct sxs_session *s, struct sxs_session_process *p)
{
    unsigned same = 1;
    for (size_t i = 0; i < s->n_processes; i++)
        same += s->processes[i].pid == p->pid;
    snprintf(p->folder, sizeof(p->folder), same > 1 ? "%u-%u" : "%u", p->pid, same);
}

/* Adds a process of a segment, which is emptied. */
static void take_process(struct joining *j, const struct sxs_segment *segment,
                         struct sxs_session_process *from)
{
    struct sxs_session *out = j->out;
    uint64_t            started = segment->pid == from->pid ? segment->process_started : 0;
    for (size_t i = j->identities ? out->n_processes : 0; i-- > 0;) {
        if (j->identities[i].pid != from->pid || j->identities[i].started != started)
            continue;
        struct sxs_session_process *to = &out->processes[i];
        add_part(to, segment, from->folder);
        add_runtimes(to, from);
        to->signals_unwanted += from->signals_unwanted;
        to->n_unlisted = from->n_unlisted > to->n_unlisted ? from->n_unlisted : to->n_unlisted;
        return;
    }
    size_t n = out->n_processes;
    out->processes = sxs_must(reallocarray(out->processes, n + 1, sizeof(*out->processes)));
    j->identities = sxs_must(reallocarray(j->identities, n + 1, sizeof(*j->identities)));
    j->identities[n] = (struct identity){from->pid, started};
    struct sxs_session_process *to = &out->processes[n];
    *to = *from;
    from->runtimes = NULL; /* it belongs to the other now */
    from->n_runtimes = 0;
    add_part(to, segment, from->folder);
    name_process(out, to);
    out->n_processes++;
}

static void take_unread(struct sxs_session *out, const struct sxs_segment *segment,
                        const struct sxs_session_process *from)
{
    out->unread = sxs_must(reallocarray(out->unread, out->n_unread + 1, sizeof(*out->unread)));
    struct sxs_session_process *to = &out->unread[out->n_unread++];
    *to = (struct sxs_session_process){.pid = from->pid};
    snprintf(to->folder, sizeof(to->folder), "%s/%.160s", segment->folder, from->folder);
}

/* Adds the session of a segment. Returns 0 or an errno value; ENOENT: it is gone. */
static int take_segment(struct joining *j, const char *dir, const struct sxs_segment *segment)
{
    struct sxs_session s;
    char               path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", dir, segment->folder);
    int err = sxs_session_read(path, &s);
    for (size_t i = 0; i < s.n_processes && !err; i++)
        take_process(j, segment, &s.processes[i]);
    for (size_t i = 0; i < s.n_unread && !err; i++)
        take_unread(j->out, segment, &s.unread[i]);
    for (size_t i = 0; i < s.n_problems; i++)
        sxs_lines_add(&j->out->problems, &j->out->n_problems, "%s/%s", segment->folder,
                      s.problems[i]);
    sxs_session_free(&s);
    return err;
}

static void join(const char *dir, const struct sxs_period *period, struct sxs_session *out,
                 struct sxs_segments *segments)
{
    struct joining j = {.out = out};
    size_t         n = 0;
    (void)sxs_segments_list(dir, period, segments);
    for (size_t i = 0; i < segments->n; i++) {
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
    segments->n = n;
    free(j.identities);
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
