/* SPDX-License-Identifier: MIT */
/* look.c - opens a session, looks at it, and keeps the sums of the process and of its runtimes. */
#include "cmd/live/internal.h"

#include "cmd/costs/costs.h"
#include "cmd/output/must.h"
#include "cmd/output/processes.h"
#include "cmd/processes/written.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WINDOW_S  5.0
#define MAX_BYTES (16u << 20)

static uint64_t system_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- opening ---- */

/* Chooses a process of the session: the newest that runs, else the newest. */
static const struct sxs_session_process *choose(const char *dir, const struct sxs_session *s,
                                                const char *process)
{
    const struct sxs_session_process *best = NULL;
    bool                              best_runs = false;
    for (size_t i = 0; i < s->n_processes; i++) {
        const struct sxs_session_process *p = &s->processes[i];
        if (!sxs_process_wanted(p, process))
            continue;
        bool runs = sxs_session_written(dir, p) != SXS_WRITTEN_NO;
        if (best_runs && !runs)
            continue;
        best = p;
        best_runs = runs;
    }
    return best;
}

/* If @dir is the folder of one process, makes it the session's folder and returns the process's name,
 * owned. Otherwise returns NULL. */
static char *split_process(char *dir)
{
    struct stat st;
    char       *census = NULL, *slash, *name;
    size_t      len = strlen(dir);
    while (len > 1 && dir[len - 1] == '/')
        dir[--len] = '\0';
    slash = strrchr(dir, '/');
    name = slash ? slash + 1 : dir;
    if (!sxs_session_names_process(name) || asprintf(&census, "%s/" SXS_CENSUS_FILE, dir) < 0)
        return NULL;
    bool is_process = lstat(census, &st) == 0 && S_ISREG(st.st_mode);
    free(census);
    if (!is_process)
        return NULL;
    name = sxs_must(strdup(name));
    if (!slash)
        strcpy(dir, ".");
    else if (slash == dir)
        dir[1] = '\0';
    else
        *slash = '\0';
    return name;
}

static int open_process(struct sxs_live *l, const char *process, char *why, size_t why_size)
{
    struct sxs_session                session;
    const struct sxs_session_process *p;
    char                             *named = split_process(l->dir);
    int                               err = sxs_session_read(l->dir, &session);
    if (err) {
        snprintf(why, why_size, "%s", strerror(err));
        goto done;
    }
    p = choose(l->dir, &session, named ? named : process);
    err = ENOENT;
    if (p) {
        l->folder = sxs_must(strdup(p->folder));
        l->dir_fd = open(l->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        l->fd = l->dir_fd < 0
                    ? -1
                    : openat(l->dir_fd, l->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        err = l->fd < 0 ? errno : 0;
        snprintf(why, why_size, "%s", err ? strerror(err) : "");
    } else if (process && session.n_processes) {
        snprintf(why, why_size, "no process %s is in this session", process);
    } else {
        snprintf(why, why_size, "no session: no process has a readable census in it");
    }
done:
    sxs_session_free(&session);
    free(named);
    return err;
}

static void begin_model(struct sxs_model *m)
{
    m->data = SXS_DATA_SAMPLES;
    m->unit = SXS_UNIT_NS;
    sxs_strings_add(&m->strings, "", 0);
}

int sxs_live_open(const char *dir, const struct sxs_live_options *options, struct sxs_live **out,
                  char *why, size_t why_size)
{
    struct sxs_live *l = sxs_must_zeroed(1, sizeof(*l));
    const char      *problem;
    int              err;
    *out = NULL;
    l->dir = sxs_must(strdup(dir));
    l->fd = l->dir_fd = -1;
    l->window_s = options->window_s > 0 ? options->window_s : WINDOW_S;
    l->bucket_ns = (uint64_t)(l->window_s * 1e9) / (SXS_LIVE_BUCKETS - 1) + 1;
    l->max_bytes = options->max_bytes ? options->max_bytes : MAX_BYTES;
    l->symbols = options->symbols;
    l->of_runtime = sxs_must_zeroed(SXS_LIVE_RUNTIMES, sizeof(*l->of_runtime));
    l->running = true;
    sxs_strings_add(&l->strings, "", 0);
    begin_model(&l->model);
    err = open_process(l, options->process, why, why_size);
    if (err) {
        sxs_live_close(l);
        return err;
    }
    l->names = sxs_names_read(l->dir_fd, &problem);
    if (problem)
        sxs_lines_add(&l->problems, &l->n_problems, SXS_NAMES_FILE ": %s", problem);
    l->now_ns = options->now_ns ? options->now_ns : system_now;
    l->opened_ns = l->now_ns();
    *out = l;
    return 0;
}

void sxs_live_close(struct sxs_live *l)
{
    if (!l)
        return;
    sxs_live_samples_close(l);
    sxs_live_events_close(l);
    for (unsigned i = 0; i < SXS_LIVE_N_LISTS; i++)
        sxs_live_table_free(&l->tables[i]);
    sxs_model_free(&l->model);
    sxs_strings_free(&l->strings);
    sxs_session_free(&l->census);
    sxs_names_free(l->names);
    sxs_lines_free(l->problems, l->n_problems);
    if (l->fd >= 0)
        close(l->fd);
    if (l->dir_fd >= 0)
        close(l->dir_fd);
    free(l->rows);
    free(l->shown_collections);
    free(l->shown_compilations);
    free(l->of_runtime);
    free(l->runtimes);
    free(l->folder);
    free(l->dir);
    free(l);
}

/* ---- counts of the runtimes ---- */

void sxs_live_add_pause(struct sxs_live *l, uint32_t runtime, uint64_t end_ns, double duration_ns)
{
    struct sxs_live_of_runtime *of = sxs_live_of(l, runtime);
    uint64_t                    bucket = sxs_live_bucket(l, end_ns);
    if (duration_ns > 1e15) /* damage */
        return;
    sxs_live_track_add(&l->pause, bucket, duration_ns / 1e9);
    if (of)
        sxs_live_track_add(&of->pause, bucket, duration_ns / 1e9);
}

static uint64_t sum_sizes(const struct sxs_events_collection *c, bool before)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < SXS_GC_GENERATIONS; i++)
        sum += before ? c->generations[i].before : c->generations[i].size;
    return sum < 1ull << 62 ? sum : 0;
}

void sxs_live_take_collection(struct sxs_live *l, const struct sxs_events_collection *was,
                              const struct sxs_events_collection *now)
{
    struct sxs_live_of_runtime *of = sxs_live_of(l, now->runtime);
    bool                        fresh = !was || was->known != now->known;
    bool                        detail =
        fresh && (now->known & SXS_GC_KNOWS_DETAIL) && !(was && (was->known & SXS_GC_KNOWS_DETAIL));
    uint64_t before = sum_sizes(now, true), after = sum_sizes(now, false);
    l->changes |= SXS_LIVE_COLLECTIONS;
    if (!l->samples.head.mode && now->pause_ns > (was ? was->pause_ns : 0))
        sxs_live_add_pause(l, now->runtime, now->end_ns ? now->end_ns : now->time_ns,
                           (double)(now->pause_ns - (was ? was->pause_ns : 0)));
    if (of && (now->known & SXS_GC_KNOWS_HEAP) && after)
        of->heap_bytes = after;
    if (!of || !detail)
        return;
    /* Without the tool alloc: what the heap has grown since the end of the collection before. */
    if (of->left_bytes && before > of->left_bytes &&
        !sxs_costs_on(&l->samples.head, SXS_COST_ALLOCATION)) {
        uint64_t bucket = sxs_live_bucket(l, now->time_ns);
        sxs_live_track_add(&of->allocated, bucket, (double)(before - of->left_bytes));
        sxs_live_track_add(&l->allocated, bucket, (double)(before - of->left_bytes));
    }
    of->left_bytes = after;
}

static void count(struct sxs_live *l, struct sxs_live_track *all, struct sxs_live_track *of,
                  uint64_t now, uint64_t was, bool known)
{
    uint64_t more = now > was ? now - was : 0;
    if (!more)
        return;
    sxs_live_track_add(all, known ? l->bucket : 0, (double)more);
    if (of)
        sxs_live_track_add(of, known ? l->bucket : 0, (double)more);
    l->changes |= SXS_LIVE_COUNTS;
}

static void count_runtime(struct sxs_live *l, const struct sxs_session_runtime *r)
{
    struct sxs_live_of_runtime *of = sxs_live_of(l, r->number);
    if (!of)
        return;
    bool known = of->known || l->first_look_done;
    count(l, &l->gcs, &of->gcs, r->gcs, of->was[0], known);
    count(l, &l->exceptions, &of->exceptions, r->exceptions, of->was[1], known);
    count(l, &l->methods, &of->methods, r->methods, of->was[2], known);
    of->was[0] = r->gcs;
    of->was[1] = r->exceptions;
    of->was[2] = r->methods;
    of->known = true;
}

static void look_at_census(struct sxs_live *l)
{
    struct sxs_session fresh;
    if (sxs_session_read_one(l->dir_fd, l->folder, &fresh) != 0 || !fresh.n_processes) {
        sxs_session_free(&fresh); /* it was damaged or removed: what was known stays */
        return;
    }
    sxs_session_free(&l->census);
    l->census = fresh;
    const struct sxs_session_process *p = &l->census.processes[0];
    for (size_t i = 0; i < p->n_runtimes; i++)
        count_runtime(l, &p->runtimes[i]);
}

/* ---- a look ---- */

/* Returns true when the tools have ended the files. */
static bool files_ended(const struct sxs_live *l)
{
    bool samples = l->samples.open && atomic_load(&l->samples.head.ended_ns);
    bool events = l->events.open && atomic_load(&l->events.head.ended_ns);
    return (samples || events) && (samples || !l->samples.open) && (events || !l->events.open);
}

/* Sets the clock: the present, or the latest time that was recorded. */
static void set_clock(struct sxs_live *l)
{
    uint64_t seen = l->samples.seen_ns > l->events.seen_ns ? l->samples.seen_ns : l->events.seen_ns;
    uint64_t now = l->running && !l->behind ? l->now_ns() : seen;
    if (!l->began_ns || (l->samples.open && l->samples.head.started_ns < l->began_ns))
        l->began_ns = l->samples.open  ? l->samples.head.started_ns
                      : l->events.open ? l->events.head.started_ns
                                       : 0;
    if (now > l->clock_ns)
        l->clock_ns = now;
    uint64_t bucket = sxs_live_bucket(l, l->clock_ns);
    if (bucket > l->bucket)
        l->bucket = bucket;
}

static double covered(const struct sxs_live *l, uint64_t since_ns)
{
    uint64_t first = (l->bucket + 1 - SXS_LIVE_BUCKETS) * l->bucket_ns;
    if (l->bucket + 1 < SXS_LIVE_BUCKETS)
        first = 0;
    first = first > since_ns ? first : since_ns;
    return l->clock_ns > first ? (double)(l->clock_ns - first) / 1e9 : 0;
}

static unsigned recorded(struct sxs_live *l)
{
    const struct sxs_samples_header *h = &l->samples.head;
    unsigned                         tools = l->events.open ? l->events.head.tools : 0, has = 0;
    if (l->samples.open && (h->mode || atomic_load(&h->n_samples)))
        has |= SXS_LIVE_HAS_SAMPLES | SXS_LIVE_HAS_PAUSES;
    if (l->samples.open && sxs_costs_on(h, SXS_COST_ALLOCATION))
        has |= SXS_LIVE_HAS_ALLOCATIONS;
    if (l->samples.open && sxs_costs_on(h, SXS_COST_NATIVE))
        has |= SXS_LIVE_HAS_NATIVE;
    if (l->samples.open && sxs_costs_on(h, SXS_COST_LOCK))
        has |= SXS_LIVE_HAS_LOCKS;
    if (tools & SXS_EVENTS_OF_EXCEPTIONS)
        has |= SXS_LIVE_HAS_EXCEPTIONS;
    if (tools & SXS_EVENTS_OF_RUNTIMES)
        has |= SXS_LIVE_HAS_COMPILATIONS | SXS_LIVE_HAS_COLLECTIONS | SXS_LIVE_HAS_PAUSES;
    if (tools & SXS_EVENTS_OF_COLLECTIONS)
        has |= SXS_LIVE_HAS_COLLECTIONS | SXS_LIVE_HAS_HEAP | SXS_LIVE_HAS_PAUSES;
    return has;
}

static void fill_runtimes(struct sxs_live *l)
{
    const struct sxs_session_process *p = l->census.n_processes ? &l->census.processes[0] : NULL;
    l->n_runtimes = p ? p->n_runtimes : 0;
    free(l->runtimes);
    l->runtimes = sxs_must_zeroed(l->n_runtimes, sizeof(*l->runtimes));
    l->process.heap_bytes = 0;
    for (size_t i = 0; i < l->n_runtimes; i++) {
        const struct sxs_session_runtime *r = &p->runtimes[i];
        struct sxs_live_runtime          *to = &l->runtimes[i];
        struct sxs_live_of_runtime       *of = sxs_live_of(l, r->number);
        *to = (struct sxs_live_runtime){
            .number = r->number,
            .version = sxs_strings_text(
                &l->strings, sxs_strings_add(&l->strings, r->version, strlen(r->version))),
            .state = r->state,
            .ended = r->ended_ns != 0,
            .threads = r->threads,
            .modules = r->modules};
        if (!of)
            continue;
        to->gcs = sxs_live_track_sum(&of->gcs, l->bucket);
        to->exceptions = sxs_live_track_sum(&of->exceptions, l->bucket);
        to->methods = sxs_live_track_sum(&of->methods, l->bucket);
        to->pause_s = sxs_live_track_sum(&of->pause, l->bucket);
        to->allocated = sxs_live_track_sum(&of->allocated, l->bucket);
        to->heap_bytes = of->heap_bytes;
        to->cpu_s.window = (double)of->own_ns / 1e9;
        for (size_t k = 0; k < l->model.n_runtimes; k++)
            if (l->model.runtimes[k].number == r->number)
                to->cpu_s.all += (double)l->model.runtimes[k].self_ns / 1e9;
        l->process.heap_bytes += of->heap_bytes;
    }
}

static uint64_t lost(const struct sxs_live *l)
{
    const struct sxs_chunk_reader *s = &l->samples.file.file, *e = &l->events.file.file;
    uint64_t                       n = 0;
    if (l->samples.open)
        n += atomic_load(&l->samples.head.n_dropped) + s->n_garbled + s->n_bad_chunks + s->n_cut;
    if (l->events.open)
        n += atomic_load(&l->events.head.lost) + e->n_garbled + e->n_bad_chunks + e->n_cut;
    return n;
}

static void fill_process(struct sxs_live *l)
{
    struct sxs_live_process *p = &l->process;
    fill_runtimes(l);
    p->dir = l->dir;
    p->folder = l->folder;
    p->command = l->command;
    if (l->census.n_processes) {
        p->pid = l->census.processes[0].pid;
        snprintf(l->command, sizeof(l->command), "%s", l->census.processes[0].command);
        sxs_strings_clean(l->command, strlen(l->command));
    }
    p->recorded = recorded(l);
    p->running = l->running;
    p->wall = l->samples.head.mode == SXS_MODE_WALL;
    p->hz = l->samples.head.asked_hz;
    p->window_s = l->window_s;
    p->covered_s = covered(l, l->began_ns);
    p->counted_s =
        covered(l, l->began_ns > l->opened_ns || !l->running ? l->began_ns : l->opened_ns);
    p->seconds =
        l->began_ns && l->clock_ns > l->began_ns ? (double)(l->clock_ns - l->began_ns) / 1e9 : 0;
    p->bytes_read = l->samples.file.n_bytes + l->events.file.n_bytes;
    p->bytes_left = (l->samples.open ? sxs_chunk_follow_left(&l->samples.file) : 0) +
                    (l->events.open ? sxs_chunk_follow_left(&l->events.file) : 0);
    p->lost = lost(l);
    p->n_unsampled = l->samples.open ? atomic_load(&l->samples.head.n_unsampled) : 0;
    p->unsampled_s = l->samples.open ? (double)atomic_load(&l->samples.head.unsampled_ns) / 1e9 : 0;
    p->n_waiting = l->samples.n_queued;
    p->cpu_s.all = (double)l->model.total_ns / 1e9;
    p->cpu_s.window = (double)l->samples.window_ns / 1e9;
    p->pause_s = sxs_live_track_sum(&l->pause, l->bucket);
    p->gcs = sxs_live_track_sum(&l->gcs, l->bucket);
    p->exceptions = sxs_live_track_sum(&l->exceptions, l->bucket);
    p->methods = sxs_live_track_sum(&l->methods, l->bucket);
    p->allocated = sxs_live_track_sum(&l->allocated, l->bucket);
}

/* Returns true when nothing will be written any more. */
static bool has_ended(const struct sxs_live *l)
{
    const struct sxs_session_process *p = l->census.processes;
    if (!l->census.n_processes)
        return false;
    return files_ended(l) || sxs_process_written(l->fd, p) == SXS_WRITTEN_NO;
}

unsigned sxs_live_look(struct sxs_live *l)
{
    /* What was written before the end is complete only when it is read after the end was seen. */
    bool last = !l->running;
    l->changes = 0;
    l->behind = false;
    look_at_census(l);
    sxs_live_samples_open(l);
    sxs_live_events_open(l);
    l->running = !last && !has_ended(l);
    sxs_live_samples_look(l);
    if (l->samples.open)
        sxs_live_costs_again(l, last);
    sxs_live_events_look(l, last);
    set_clock(l);
    sxs_live_samples_add_due(l, last && !l->behind);
    sxs_live_samples_expire(l);
    fill_process(l);
    if (l->behind)
        return l->changes | SXS_LIVE_BEHIND;
    l->first_look_done = true;
    if (last)
        return l->changes | SXS_LIVE_ENDED;
    return l->changes | (l->running ? 0 : SXS_LIVE_BEHIND);
}

bool sxs_live_is_of(const struct sxs_live *l, pid_t pid)
{
    return sxs_process_writes(pid, l->fd);
}

const struct sxs_live_process *sxs_live_process(const struct sxs_live *l)
{
    return &l->process;
}

const struct sxs_live_runtime *sxs_live_runtimes(const struct sxs_live *l, size_t *n)
{
    *n = l->n_runtimes;
    return l->runtimes;
}

const struct sxs_model *sxs_live_model(const struct sxs_live *l)
{
    return &l->model;
}

const char *sxs_live_problem(struct sxs_live *l, size_t index)
{
    const char *line;
    if (index < l->n_problems)
        return l->problems[index];
    index -= l->n_problems;
    for (size_t i = 0;
         l->samples.open && (line = sxs_chunk_reader_problem(&l->samples.file.file, i)); i++)
        if (index-- == 0) {
            snprintf(l->line, sizeof(l->line), "%s/" SXS_SAMPLES_FILE ": %s", l->folder, line);
            return l->line;
        }
    for (size_t i = 0; l->events.open && (line = sxs_chunk_reader_problem(&l->events.file.file, i));
         i++)
        if (index-- == 0) {
            snprintf(l->line, sizeof(l->line), "%s/" SXS_EVENTS_FILE ": %s", l->folder, line);
            return l->line;
        }
    return NULL;
}
