/* SPDX-License-Identifier: MIT */
/* Loads the samples of a session folder into a model: first the names, then every sample into the
 * tree. */
#include "cmd/output/must.h"
#include "cmd/output/processes.h"
#include "cmd/output/shown.h"
#include "cmd/report/addresses.h"
#include "cmd/report/own.h"
#include "cmd/report/pauses.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A cache of stacks: most samples have a stack that occurred before, and then cost one hash and one
 * lookup. */
#define STACK_SLOTS (1u << 20)

struct cached_stack {
    uint64_t hash[2]; /* 128-bit hash of the stack; both 0: free */
    uint32_t node;    /* SXS_NO_NODE: filtered out */
    uint32_t leaf;    /* frame of the youngest; for counts by tier */
    uint32_t line;    /* index of its line + 1; 0: not known */
    uint8_t  tier;
};

struct loader {
    struct sxs_model                *m;
    const struct sxs_report_options *o;
    const char                      *dir;
    unsigned                         detail;
    uint32_t                         process;
    bool                             starts_sessions; /* see cmd/report/own.h */
    struct sxs_addresses            *names;
    struct sxs_collections          *collections;
    struct cached_stack             *stacks;
    uint8_t                         *thread_state; /* by thread index: UNASKED, YES or NO */
    size_t                           n_states;
};

/* Returns true when the thread is selected. The answer is kept, because the thread's name is known
 * since the first pass. */
static bool thread_wanted(struct loader *l, uint32_t thread)
{
    enum { UNASKED, YES, NO };
    const struct sxs_model_thread *t = &l->m->threads[thread];
    if (thread >= l->n_states) {
        size_t n = thread * 2 + 64;
        l->thread_state = sxs_must(realloc(l->thread_state, n));
        memset(l->thread_state + l->n_states, UNASKED, n - l->n_states);
        l->n_states = n;
    }
    if (l->thread_state[thread] == UNASKED)
        l->thread_state[thread] = sxs_thread_wanted(l->o, t->tid, sxs_model_text(l->m, t->name))
                                      ? YES : NO;
    return l->thread_state[thread] == YES;
}

static bool frame_wanted(const struct loader *l, const struct sxs_model_frame *f)
{
    if (f->flags & SXS_FRAME_OWN)
        return true;
    if (l->o->only == SXS_ONLY_NATIVE)
        return f->runtime == 0;
    return l->o->only != SXS_ONLY_MANAGED || f->runtime != 0;
}

/* Returns the frame that stands for the collection of a runtime, because the runtime's own code has
 * no names. */
static uint32_t collection_frame(struct sxs_model *m, uint16_t runtime)
{
    static const char      name[] = "garbage collection";
    struct sxs_model_frame f = {
        .name = sxs_strings_add(&m->strings, name, sizeof(name) - 1),
        .file = m->runtimes[runtime - 1].path,
        .home = runtime,
        .flags = SXS_FRAME_GC,
    };
    return sxs_model_frame(m, &f);
}

/* Returns how many of the youngest frames are native: the collection begins there. */
static size_t youngest_native(const struct loader *l, const struct sxs_named *frame, size_t n)
{
    size_t i = 0;
    while (i < n && l->m->frames[frame[i].frame].runtime == 0)
        i++;
    return i;
}

/* True for frames of a stripped file: several of them in a row give no more information than
 * one. */
static bool is_nameless(const struct sxs_model *m, const struct sxs_model_frame *f)
{
    return f->runtime == 0 && strcmp(sxs_model_text(m, f->name), "?") == 0;
}

static void add_frame(struct loader *l, struct cached_stack *at, const struct sxs_named *frame)
{
    const struct sxs_model_frame *f = &l->m->frames[frame->frame];
    uint32_t                      line = l->detail & SXS_DETAIL_LINES ? frame->line : 0, child;
    if (!frame_wanted(l, f) || (at->leaf == frame->frame && is_nameless(l->m, f)))
        return;
    at->line = frame->line && f->source ? sxs_model_line(l->m, frame->frame, frame->line) + 1 : 0;
    child = sxs_model_child(l->m, at->node, frame->frame, line, frame->tier);
    if (child == at->node)
        l->m->merged++;
    at->node = child;
    at->leaf = frame->frame;
    at->tier = frame->tier;
}

/* Adds the stack to the tree. Returns false when one of its addresses can have another name at
 * another time. */
static bool add_stack(struct loader *l, const struct sxs_record_sample *v, uint32_t root,
                      uint16_t collecting, struct cached_stack *out)
{
    struct sxs_named frame[SXS_MAX_STACK];
    bool             steady = true, found = l->o->runtime == 0;
    for (size_t i = 0; i < v->n; i++) {
        /* a return address may already belong to the next function */
        frame[i] = sxs_addresses_name(l->names, v->ips[i] - (i > 0), v->time_ns);
        uint16_t runtime = l->m->frames[frame[i].frame].runtime;
        found |= runtime && l->m->runtimes[runtime - 1].number == l->o->runtime;
        steady &= !frame[i].varies;
    }
    out->node = found ? root : SXS_NO_NODE;
    out->leaf = UINT32_MAX;
    size_t own = sxs_own_frames(l->m, frame, v->n, l->starts_sessions);
    if (l->m->nodes[root].flags & SXS_FRAME_OWN)
        own = v->n;
    size_t native = collecting && !own ? youngest_native(l, frame, v->n) : 0;
    if (own && found) {
        struct sxs_named profiler = {.frame = sxs_own_frame(l->m)};
        add_frame(l, out, &profiler);
    }
    for (size_t i = own ? own : v->n; found && i-- > 0;) {
        if (i + 1 == native) {
            struct sxs_named collection = {.frame = collection_frame(l->m, collecting)};
            add_frame(l, out, &collection);
        }
        add_frame(l, out, &frame[i]);
    }
    return steady;
}

static const struct cached_stack *find_stack(struct loader *l, const struct sxs_record_sample *v,
                                             uint32_t thread, struct cached_stack *fresh)
{
    size_t   size = v->n * sizeof(v->ips[0]);
    uint16_t collecting = sxs_collections_at(l->collections, v->tid, v->time_ns);
    if (l->m->nodes[l->m->threads[thread].root].flags & SXS_FRAME_GC)
        collecting = 0; /* in a collector's own thread, everything is collection */
    uint64_t seed = thread | (uint64_t)collecting << 32;
    uint64_t h0 = sxs_hash_bytes(v->ips, size, seed), h1 = sxs_hash_bytes(v->ips, size, ~h0) | 1;
    struct cached_stack *slot = &l->stacks[(h0 ^ (h0 >> 40)) & (STACK_SLOTS - 1)];
    if (slot->hash[0] == h0 && slot->hash[1] == h1)
        return slot;
    bool steady = add_stack(l, v, l->m->threads[thread].root, collecting, fresh);
    if (!steady)
        return fresh;
    fresh->hash[0] = h0;
    fresh->hash[1] = h1;
    *slot = *fresh;
    return slot;
}

static void keep_on_timeline(struct loader *l, const struct sxs_record_sample *v, uint32_t node,
                             uint64_t weight)
{
    struct sxs_model *m = l->m;
    if (m->n_samples >= SXS_MODEL_MAX_SAMPLES) {
        m->off_timeline++;
        return;
    }
    SXS_GROW(m->samples, m->n_samples, m->cap_samples);
    weight /= m->sample_unit_ns;
    if (weight > SXS_MODEL_SAMPLE_WEIGHT_MAX)
        weight = SXS_MODEL_SAMPLE_WEIGHT_MAX;
    m->samples[m->n_samples++] =
        (struct sxs_model_sample){.time_ns = v->time_ns,
                                  .node = node,
                                  .weight = (uint32_t)weight & SXS_MODEL_SAMPLE_WEIGHT_MAX,
                                  .waiting = v->waiting != 0};
}

static void extend_period(uint64_t *first, uint64_t *last, uint64_t time)
{
    if (!*first || time < *first)
        *first = time;
    if (time > *last)
        *last = time;
}

static void take_sample(struct loader *l, const struct sxs_record_sample *v)
{
    struct sxs_model         *m = l->m;
    struct sxs_model_process *p = &m->processes[l->process];
    uint32_t                  thread = sxs_model_thread(m, l->process, v->tid);
    struct cached_stack       fresh = {0};
    uint64_t                  hz = p->head.asked_hz ? p->head.asked_hz : 1000;
    /* The limit of one day bounds the effect of a damaged weight on the sums. */
    uint64_t weight = v->weight_ns && v->weight_ns < 86400000000000u ? v->weight_ns
                                                                     : 1000000000u / hz;
    if (!thread_wanted(l, thread)) {
        m->filtered_out++;
        return;
    }
    const struct cached_stack *k = find_stack(l, v, thread, &fresh);
    if (k->node == SXS_NO_NODE) {
        m->filtered_out++;
        return;
    }
    struct sxs_model_thread *t = &m->threads[thread];
    m->nodes[k->node].self++;
    m->nodes[k->node].self_ns += weight;
    if (k->leaf != UINT32_MAX && !(m->nodes[k->node].flags & SXS_FRAME_OWN))
        m->frames[k->leaf].tier_self[k->tier & 7]++;
    if (k->line) {
        m->lines[k->line - 1].self++;
        m->lines[k->line - 1].self_ns += weight;
    }
    t->samples++;
    t->weight_ns += weight;
    m->total++;
    m->total_ns += weight;
    if (v->waiting) {
        t->waiting++;
        t->waiting_ns += weight;
        m->waiting++;
        m->waiting_ns += weight;
    }
    m->ends[v->end]++;
    extend_period(&m->first_ns, &m->last_ns, v->time_ns);
    extend_period(&p->first_ns, &p->last_ns, v->time_ns);
    if (l->detail & SXS_DETAIL_TIMELINE)
        keep_on_timeline(l, v, k->node, weight);
}

static void take_difference(struct loader *l, const struct sxs_record_difference *v)
{
    struct sxs_model *m = l->m;
    if (m->n_differences >= SXS_MODEL_MAX_DIFFERENCES)
        return;
    SXS_GROW(m->differences, m->n_differences, m->cap_differences);
    struct sxs_model_difference *d = &m->differences[m->n_differences++];
    *d = (struct sxs_model_difference){.time_ns = v->time_ns,
                                       .process = l->process,
                                       .tid = v->tid,
                                       .n = v->n,
                                       .kind = v->kind,
                                       .end = v->end,
                                       .frames = sxs_must_zeroed(v->n + 1u, sizeof(*d->frames))};
    for (unsigned i = 0; i < v->n; i++) {
        const struct sxs_compared_frame *f = &v->frames[i];
        struct sxs_named named = sxs_addresses_name(l->names, f->ip - (i > 0), v->time_ns);
        d->frames[i] = (struct sxs_model_compared){f->sp, f->ip, named.frame, f->verdict};
    }
}

static void take_process(struct loader *l, struct sxs_samples *reader,
                         const struct sxs_session_process *census, struct sxs_natives *natives,
                         struct sxs_sources *sources)
{
    struct sxs_model         *m = l->m;
    struct sxs_samples_record r;
    struct sxs_model_process *p = sxs_model_process(m, census);
    memcpy(&p->head, sxs_samples_head(reader), sizeof(p->head));
    sxs_strings_clean(p->head.command, strlen(p->head.command));
    l->process = (uint32_t)m->n_processes - 1;
    l->names = sxs_addresses_read(m, l->process, reader, census, natives, sources);
    l->collections = sxs_collections_new(m, l->process);
    l->stacks = sxs_must_zeroed(STACK_SLOTS, sizeof(*l->stacks)); /* pages use memory when used */
    while (sxs_samples_next(reader, &r))
        if (r.type == SXS_RECORD_SAMPLE)
            take_sample(l, r.sample);
        else if (r.type == SXS_RECORD_DIFFERENCE)
            take_difference(l, r.difference);
    const char *line;
    for (size_t i = 0; (line = sxs_samples_problem(reader, i)) != NULL; i++)
        sxs_model_problem(m, "%s/%s/" SXS_SAMPLES_FILE ": %s", sxs_shown(l->dir), census->folder,
                          line);
    sxs_addresses_free(l->names);
    sxs_collections_free(l->collections);
    free(l->stacks);
    l->names = NULL;
}

/* Returns true when the tool "events" was on: only this tool lets a runtime report compilations
 * from its start. */
static bool has_events(int fd)
{
    struct stat st;
    return fstatat(fd, SXS_EVENTS_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void open_process(struct loader *l, int dir_fd, const struct sxs_session_process *census,
                         struct sxs_natives *natives, struct sxs_sources *sources)
{
    char                why[256];
    struct sxs_samples *reader = NULL;
    int fd = openat(dir_fd, census->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        sxs_model_problem(l->m, "%s/%s: %s", sxs_shown(l->dir), census->folder, strerror(errno));
        return;
    }
    int err = sxs_samples_open(fd, &reader, why, sizeof(why));
    if (err && err != ENOENT) /* ENOENT is no problem: the process was not sampled */
        sxs_model_problem(l->m, "%s/%s/" SXS_SAMPLES_FILE ": %s", sxs_shown(l->dir), census->folder,
                          why);
    l->starts_sessions = has_events(fd);
    if (!err)
        take_process(l, reader, census, natives, sources);
    sxs_samples_close(reader);
    if (l->detail & SXS_DETAIL_EVENTS)
        sxs_model_events(l->m, l->dir, fd, census);
    close(fd);
}

static int by_time(const void *a, const void *b)
{
    const struct sxs_model_sample *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Notes ELF files that gave no names, if a sample needed them. */
static void note_natives(struct sxs_model *m, const struct sxs_natives *natives)
{
    bool end = false;
    for (uint32_t i = 0; !end; i++) {
        const char *why = sxs_natives_problem(natives, i, &end);
        if (!why)
            continue;
        sxs_model_problem(m, "%s: %s: its functions have no names", sxs_natives_path(natives, i),
                          why);
        m->n_notes++;
    }
}

static void note_sources(struct sxs_model *m, const struct sxs_sources *sources)
{
    bool end = false;
    for (uint32_t i = 0; !end; i++) {
        const char *why = sxs_sources_problem(sources, i, &end);
        if (!why)
            continue;
        sxs_model_problem(m, "%s: its methods have no lines", why);
        m->n_notes++;
    }
}

/* Returns where names are looked up: in the session's own table of names, if it has one, which the
 * caller owns. */
static struct sxs_names *read_table(struct sxs_model *m, const char *dir, int dir_fd)
{
    const char       *why;
    struct sxs_names *table = sxs_names_read(dir_fd, &why);
    if (why)
        sxs_model_problem(m, "%s/" SXS_NAMES_FILE ": %s", sxs_shown(dir), why);
    return table;
}

int sxs_model_load(const char *dir, const struct sxs_report_options *options, unsigned detail,
                   struct sxs_model *out)
{
    memset(out, 0, sizeof(*out));
    out->data = SXS_DATA_SAMPLES;
    out->sample_unit_ns = 1000;
    out->timed = true;
    sxs_strings_add(&out->strings, "", 0);
    struct sxs_session session;
    int                err = sxs_session_read(dir, &session);
    int dir_fd = err ? -1 : open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!err && dir_fd < 0)
        err = errno;
    if (err) {
        sxs_session_free(&session);
        return err;
    }
    struct loader l = {.m = out, .o = options, .dir = dir, .detail = detail};
    struct sxs_names   *table = read_table(out, dir, dir_fd);
    struct sxs_lookup   lookup = {options->symbols, table, options->record};
    struct sxs_natives *natives = sxs_natives_new(&lookup);
    struct sxs_sources *sources = sxs_sources_new(&lookup);
    for (size_t i = 0; i < session.n_problems; i++)
        sxs_model_problem(out, "%s/%s", sxs_shown(dir), session.problems[i]);
    for (size_t i = 0; i < session.n_processes; i++)
        if (sxs_process_wanted(&session.processes[i], options->process))
            open_process(&l, dir_fd, &session.processes[i], natives, sources);
    for (size_t i = 0; i < session.n_unread; i++)
        if (sxs_process_wanted(&session.unread[i], options->process))
            open_process(&l, dir_fd, &session.unread[i], natives, sources);
    note_natives(out, natives);
    note_sources(out, sources);
    if (out->n_samples)
        qsort(out->samples, out->n_samples, sizeof(*out->samples), by_time);
    sxs_model_sum(out);
    sxs_natives_free(natives);
    sxs_sources_free(sources);
    sxs_names_free(table);
    sxs_session_free(&session);
    free(l.thread_state);
    close(dir_fd);
    return 0;
}
