/* SPDX-License-Identifier: MIT */
/* samples.c - follows the file "samples": names, threads, pauses at once; samples when their names
 * are there; costs in costs.c. */
#include "cmd/live/internal.h"

#include "cmd/costs/costs.h"
#include "cmd/output/must.h"
#include "cmd/output/shown.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define WAIT_NS      1000000000u /* how long every sample waits for names and pauses */
#define NAMELESS_NS  3000000000u /* how long one waits that has an address without a name */
#define QUEUE_MAX    (64u << 20) /* bytes of samples that wait */
#define CACHE_STACKS (1u << 16)
#define PAUSES_MAX   4096u

/* COR_PRF_SUSPEND_REASON */
enum { FOR_GC = 1, FOR_GC_PREP = 7 };

static bool open_file(struct sxs_live *l)
{
    char                     why[256];
    struct sxs_live_samples *s = &l->samples;
    int err = sxs_chunk_follow_open(&s->file, SXS_FILES_OF(l->fd), &sxs_samples_kind, &s->head, why,
                                    sizeof(why));
    if (sxs_live_is_damage(l, err) && !l->n_problems)
        sxs_lines_add(&l->problems, &l->n_problems, "%s/" SXS_SAMPLES_FILE ": %s", l->folder, why);
    return err == 0;
}

static bool has_file(const struct sxs_live *l, const char *name)
{
    struct stat st;
    return fstatat(l->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

void sxs_live_samples_open(struct sxs_live *l)
{
    struct sxs_live_samples               *s = &l->samples;
    static const struct sxs_report_options everything;
    const struct sxs_lookup                lookup = {l->symbols, l->names, NULL};
    if (s->open || !l->census.n_processes || !open_file(l))
        return;
    s->open = true;
    s->natives = sxs_natives_new(&lookup);
    s->sources = sxs_sources_new(&lookup);
    struct sxs_file_owner owner;
    sxs_session_owner(l->dir_fd, l->fd, &owner);
    sxs_natives_owner(s->natives, &owner);
    sxs_sources_owner(s->sources, &owner);
    sxs_model_process(&l->model, &l->census.processes[0]);
    s->loader = (struct sxs_loader){.m = &l->model, .o = &everything, .n_stacks = CACHE_STACKS};
    s->loader.names = sxs_addresses_new(&l->model, 0, s->natives, s->sources, true);
    sxs_loader_begin(&s->loader);
}

/* ---- samples that wait ---- */

static void enqueue(struct sxs_live_samples *s, const struct sxs_record_sample *v)
{
    size_t size = sizeof(*v) + 8 * (size_t)v->n;
    if (s->queue_end + size > s->queue_cap && s->queue_at) {
        memmove(s->queue, s->queue + s->queue_at, s->queue_end - s->queue_at);
        s->queue_end -= s->queue_at;
        s->queue_at = 0;
    }
    if (s->queue_end + size > s->queue_cap) {
        s->queue_cap = (s->queue_end + size) * 2 + 65536;
        s->queue = sxs_must(realloc(s->queue, s->queue_cap));
    }
    struct sxs_record_sample *to = (void *)(s->queue + s->queue_end);
    memcpy(to, v, size);
    to->head.size = (uint32_t)size;
    atomic_store(&to->head.type, SXS_RECORD_SAMPLE);
    s->queue_end += size;
    s->n_queued++;
}

/* Returns index + 1 of the runtime that the thread had stopped for a collection; 0: none. */
static uint16_t collecting(const struct sxs_live_samples *s, const struct sxs_record_sample *v)
{
    const struct sxs_live_pause *last = NULL;
    for (size_t i = 0; i < s->n_pauses; i++) {
        const struct sxs_live_pause *p = &s->pauses[i];
        if (p->tid == v->tid && p->from_ns <= v->time_ns && (!last || p->from_ns >= last->from_ns))
            last = p;
    }
    return last && v->time_ns < last->to_ns ? last->runtime : 0;
}

static bool has_names(struct sxs_live *l, const struct sxs_record_sample *v)
{
    for (size_t i = 0; i < v->n; i++) {
        struct sxs_named named =
            sxs_addresses_name(l->samples.loader.names, v->ips[i] - (i > 0), v->time_ns);
        if (l->model.frames[named.frame].flags & SXS_FRAME_UNKNOWN)
            return false;
    }
    return true;
}

/* Adds samples that have waited long enough at the time @now. @all: all of them. */
static void drain(struct sxs_live *l, uint64_t now, bool all)
{
    struct sxs_live_samples *s = &l->samples;
    bool                     first = true;
    if (sxs_addresses_seal(s->loader.names))
        sxs_loader_forget(&s->loader);
    all |= s->queue_end - s->queue_at > QUEUE_MAX;
    s->drained_ns = now;
    for (size_t at = s->queue_at, size; at < s->queue_end; at += size) {
        struct sxs_record_sample *v = (void *)(s->queue + at);
        uint64_t                  age = now > v->time_ns ? now - v->time_ns : 0;
        bool                      waits = atomic_load(&v->head.type) == SXS_RECORD_SAMPLE;
        size = v->head.size;
        if (waits && (all || (age >= WAIT_NS && (age >= NAMELESS_NS || has_names(l, v))))) {
            sxs_live_samples_add(l, v, collecting(s, v));
            atomic_store(&v->head.type, SXS_RECORD_NONE);
            s->n_queued--;
            waits = false;
        }
        first &= !waits;
        if (first)
            s->queue_at = at + size;
    }
    if (s->queue_at == s->queue_end)
        s->queue_at = s->queue_end = 0;
}

/* ---- records ---- */

static void prune_pauses(struct sxs_live_samples *s)
{
    size_t kept = 0;
    for (size_t i = s->n_pauses == PAUSES_MAX; i < s->n_pauses; i++)
        if (s->pauses[i].to_ns + 2 * (uint64_t)NAMELESS_NS > s->seen_ns)
            s->pauses[kept++] = s->pauses[i];
    s->n_pauses = kept;
}

static void take_pause(struct sxs_live *l, const struct sxs_record_pause *v)
{
    struct sxs_live_samples      *s = &l->samples;
    const struct sxs_model_pause *p = &l->model.pauses[l->model.n_pauses - 1];
    uint64_t                      end =
        v->duration_ns > UINT64_MAX - v->time_ns ? UINT64_MAX : v->time_ns + v->duration_ns;
    s->has_pauses = true;
    sxs_live_add_pause(l, v->runtime, v->time_ns, (double)v->duration_ns);
    if (!p->tid || !p->runtime || (v->reason != FOR_GC && v->reason != FOR_GC_PREP))
        return;
    if (s->n_pauses % 64 == 63 || s->n_pauses == PAUSES_MAX)
        prune_pauses(s);
    SXS_GROW(s->pauses, s->n_pauses, s->cap_pauses);
    s->pauses[s->n_pauses++] = (struct sxs_live_pause){v->time_ns, end, v->tid, p->runtime};
}

static void take_record(struct sxs_live *l, const struct sxs_samples_record *r)
{
    struct sxs_live_samples *s = &l->samples;
    switch (r->type) {
    case SXS_RECORD_SAMPLE:
        sxs_live_see_time(l, s->head.started_ns, &s->seen_ns, r->sample->time_ns);
        enqueue(s, r->sample);
        break;
    case SXS_RECORD_COST:
        sxs_live_see_time(l, s->head.started_ns, &s->seen_ns, r->cost->time_ns);
        sxs_live_take_cost(l, r->cost, s->file.offset);
        break;
    case SXS_RECORD_NAME:
        sxs_live_name_add(l, &s->names, r->name->number, r->text[0], r->text_size[0]);
        break;
    case SXS_RECORD_TOTAL: sxs_live_take_total(l, r->total, s->file.offset); break;
    case SXS_RECORD_PAUSE:
        sxs_addresses_take(s->loader.names, r);
        take_pause(l, r->pause);
        break;
    case SXS_RECORD_THREAD:
        l->changes |= SXS_LIVE_THREADS;
        sxs_addresses_take(s->loader.names, r);
        break;
    default: sxs_addresses_take(s->loader.names, r); break;
    }
}

/* Returns true when a tool let the runtimes start sessions of events (cmd/report/own.h). */
static bool starts_sessions(const struct sxs_live *l)
{
    const struct sxs_samples_header *h = &l->samples.head;
    return has_file(l, SXS_EVENTS_FILE) || sxs_costs_on(h, SXS_COST_ALLOCATION) ||
           sxs_costs_on(h, SXS_COST_LOCK);
}

static void look_at_names(struct sxs_live *l)
{
    struct sxs_live_samples       *s = &l->samples;
    struct sxs_thread_names_header head;
    char                           why[256];
    if (!s->has_thread_names)
        s->has_thread_names =
            sxs_chunk_follow_open(&s->thread_names, SXS_FILES_OF(l->fd), &sxs_thread_names_kind,
                                  &head, why, sizeof(why)) == 0;
    if (!s->has_thread_names)
        return;
    long n = sxs_thread_names_follow(&s->thread_names, l->max_bytes,
                                     &l->model.processes[0].thread_names);
    if (n < 0)
        sxs_must(NULL);
    if (n) {
        sxs_model_name_threads(&l->model, 0);
        l->changes |= SXS_LIVE_THREADS;
    }
}

void sxs_live_samples_look(struct sxs_live *l)
{
    struct sxs_live_samples  *s = &l->samples;
    struct sxs_samples_record r;
    if (!s->open)
        return;
    if (sxs_chunk_follow_head(&s->file, &s->head)) {
        s->head.command[sizeof(s->head.command) - 1] = '\0';
        memcpy(&l->model.processes[0].head, &s->head, sizeof(s->head));
        sxs_strings_clean(l->model.processes[0].head.command, strlen(s->head.command));
    }
    look_at_names(l);
    s->loader.starts_sessions = starts_sessions(l);
    sxs_addresses_census(s->loader.names, l->census.n_processes ? &l->census.processes[0] : NULL);
    sxs_chunk_follow_look(&s->file, l->max_bytes);
    while (sxs_chunk_follow_next(&s->file, SXS_RECORD_POOL, sxs_samples_take, &r)) {
        take_record(l, &r);
        /* A look that reads much adds samples while it reads, as several looks would. */
        if (s->seen_ns > s->drained_ns + WAIT_NS || s->queue_end - s->queue_at > QUEUE_MAX)
            drain(l, s->seen_ns, false);
    }
    l->behind |= sxs_chunk_follow_left(&s->file) > 0;
}

void sxs_live_samples_add_due(struct sxs_live *l, bool all)
{
    if (l->samples.open)
        sxs_live_costs_named(l, all);
    if (l->samples.open)
        drain(l, l->behind ? l->samples.seen_ns : l->clock_ns, all);
}

void sxs_live_samples_close(struct sxs_live *l)
{
    struct sxs_live_samples *s = &l->samples;
    if (s->has_thread_names)
        sxs_chunk_follow_close(&s->thread_names);
    if (s->open) {
        sxs_chunk_follow_close(&s->file);
        sxs_loader_end(&s->loader);
        sxs_addresses_free(s->loader.names);
        sxs_natives_free(s->natives);
        sxs_sources_free(s->sources);
        free(s->loader.thread_state);
    }
    for (size_t i = 0; i < s->n_texts; i++)
        free(s->texts[i]);
    free(s->texts);
    free(s->queue);
    free(s->ring);
    free(s->frames);
    free(s->threads);
    free(s->frame_seen);
    free(s->pauses);
    sxs_live_names_free(&s->names);
    free(s->totals.all);
    free(s->open_waits.all);
    free(s->unnamed);
}
