/* SPDX-License-Identifier: MIT */
/* The tables of the model: frames, nodes, threads and lines are found by hash, runtimes by
 * search. */
#include "cmd/report/model.h"

#include "base/index.h"
#include "cmd/output/must.h"
#include "cmd/output/table_hash.h"
#include "cmd/report/costs.h"
#include "session/read/file_read.h"

#include <stdarg.h>
#include <string.h>

struct sxs_model_index {
    struct sxs_index frames, children, threads, lines;
};

static struct sxs_model_index *tables_of(struct sxs_model *m)
{
    if (!m->index)
        m->index = sxs_must_zeroed(1, sizeof(*m->index));
    return m->index;
}

static struct sxs_index *grow_table(struct sxs_index *t)
{
    if (sxs_index_reserve(t) != 0)
        sxs_must(NULL);
    return t;
}

/* Adds the frame that stands for all functions beyond the limit. */
static uint32_t add_rest(struct sxs_model *m)
{
    static const char name[] = "[functions beyond the limit of a report]";
    SXS_GROW(m->frames, m->n_frames, m->cap_frames);
    m->frames[m->n_frames++] =
        (struct sxs_model_frame){.name = sxs_strings_add(&m->strings, name, sizeof(name) - 1)};
    m->rest = (uint32_t)m->n_frames;
    sxs_model_note(m, "more than %u functions or types: the others are counted as one",
                   SXS_MODEL_MAX_FRAMES);
    return m->rest;
}

uint32_t sxs_model_frame(struct sxs_model *m, const struct sxs_model_frame *frame)
{
    struct sxs_index *t = grow_table(&tables_of(m)->frames);
    const uint32_t    key[3] = {frame->name, frame->file, frame->runtime};
    uint32_t          hash = (uint32_t)sxs_table_hash(key, sizeof(key), 2), number;
    size_t            at = hash;
    for (; (number = sxs_index_next(t, hash, &at)) != 0; at++) {
        const struct sxs_model_frame *f = &m->frames[number - 1];
        if (f->name == frame->name && f->file == frame->file && f->runtime == frame->runtime)
            return number - 1;
    }
    if (m->n_frames >= SXS_MODEL_MAX_FRAMES)
        return (m->rest ? m->rest : add_rest(m)) - 1;
    SXS_GROW(m->frames, m->n_frames, m->cap_frames);
    m->frames[m->n_frames] = *frame;
    sxs_index_put(t, at, hash, m->n_frames);
    return (uint32_t)m->n_frames++;
}

struct sxs_model_latency *sxs_model_latency(struct sxs_model *m, uint32_t frame)
{
    if (frame >= m->n_latencies) {
        size_t n = (size_t)frame * 2 + 64;
        m->latencies = sxs_must(reallocarray(m->latencies, n, sizeof(*m->latencies)));
        memset(m->latencies + m->n_latencies, 0, (n - m->n_latencies) * sizeof(*m->latencies));
        m->n_latencies = n;
    }
    return &m->latencies[frame];
}

static uint32_t add_node(struct sxs_model *m, uint32_t parent, uint32_t frame, uint32_t thread)
{
    SXS_GROW(m->nodes, m->n_nodes, m->cap_nodes);
    struct sxs_model_node *n = &m->nodes[m->n_nodes];
    memset(n, 0, sizeof(*n));
    n->parent = parent;
    n->frame = frame;
    n->thread = thread;
    if (parent != SXS_NO_NODE)
        n->flags =
            (uint8_t)(m->nodes[parent].flags |
                      (m->frames[frame].flags & (SXS_FRAME_GC | SXS_FRAME_JIT | SXS_FRAME_OWN)));
    return (uint32_t)m->n_nodes++;
}

uint32_t sxs_model_child(struct sxs_model *m, uint32_t parent, uint32_t frame, uint32_t line,
                         uint8_t tier)
{
    struct sxs_index *t = grow_table(&tables_of(m)->children);
    const uint32_t    key[3] = {parent, frame, line};
    uint32_t          hash = (uint32_t)sxs_table_hash(key, sizeof(key), 3), number;
    size_t            at = hash;
    for (; (number = sxs_index_next(t, hash, &at)) != 0; at++)
        if (m->nodes[number - 1].parent == parent && m->nodes[number - 1].frame == frame &&
            m->nodes[number - 1].line == line)
            break;
    if (!number) {
        if (m->n_nodes >= SXS_MODEL_MAX_NODES)
            return parent;
        number = add_node(m, parent, frame, m->nodes[parent].thread) + 1;
        m->nodes[number - 1].line = line;
        sxs_index_put(t, at, hash, number - 1);
    }
    m->nodes[number - 1].tiers |= (uint8_t)(1u << (tier & 7));
    return number - 1;
}

uint32_t sxs_model_line(struct sxs_model *m, uint32_t frame, uint32_t line)
{
    struct sxs_index *t = grow_table(&tables_of(m)->lines);
    const uint32_t    key[2] = {frame, line};
    uint32_t          hash = (uint32_t)sxs_table_hash(key, sizeof(key), 5), number;
    size_t            at = hash;
    for (; (number = sxs_index_next(t, hash, &at)) != 0; at++)
        if (m->lines[number - 1].frame == frame && m->lines[number - 1].line == line)
            return number - 1;
    SXS_GROW(m->lines, m->n_lines, m->cap_lines);
    m->lines[m->n_lines] = (struct sxs_model_line){frame, line, 0, 0};
    sxs_index_put(t, at, hash, m->n_lines);
    return (uint32_t)m->n_lines++;
}

uint32_t sxs_model_thread(struct sxs_model *m, uint32_t process, uint32_t tid)
{
    struct sxs_index *t = grow_table(&tables_of(m)->threads);
    const uint32_t    key[2] = {process, tid};
    uint32_t          hash = (uint32_t)sxs_table_hash(key, sizeof(key), 4), number;
    size_t            at = hash;
    for (; (number = sxs_index_next(t, hash, &at)) != 0; at++)
        if (m->threads[number - 1].process == process && m->threads[number - 1].tid == tid)
            return number - 1;
    SXS_GROW(m->threads, m->n_threads, m->cap_threads);
    struct sxs_model_thread *v = &m->threads[m->n_threads];
    memset(v, 0, sizeof(*v));
    v->process = process;
    v->tid = tid;
    v->root = add_node(m, SXS_NO_NODE, 0, (uint32_t)m->n_threads);
    sxs_index_put(t, at, hash, m->n_threads);
    sxs_model_name_thread(m, (uint32_t)m->n_threads);
    return (uint32_t)m->n_threads++;
}

uint32_t sxs_model_runtime(struct sxs_model *m, uint32_t number, uint32_t version, uint32_t path)
{
    for (size_t i = 0; i < m->n_runtimes; i++) {
        const struct sxs_model_runtime *r = &m->runtimes[i];
        if (r->number == number && r->version == version && r->path == path)
            return (uint32_t)i;
    }
    if (m->n_runtimes >= SXS_MODEL_MAX_RUNTIMES)
        return (uint32_t)m->n_runtimes - 1;
    SXS_GROW(m->runtimes, m->n_runtimes, m->cap_runtimes);
    m->runtimes[m->n_runtimes] = (struct sxs_model_runtime){number, version, path, 0, 0};
    return (uint32_t)m->n_runtimes++;
}

/* Adds the line that vprintf() would print. */
static void add_line(struct sxs_model *m, const char *fmt, va_list ap)
{
    char *line = NULL;
    if (m->n_problems > SXS_LINES_MAX)
        return;
    if (vasprintf(&line, fmt, ap) < 0)
        sxs_must(NULL);
    sxs_strings_clean(line, strlen(line)); /* it may contain a path from a damaged file */
    sxs_lines_add(&m->problems, &m->n_problems, "%s", line);
    free(line);
}

void sxs_model_problem(struct sxs_model *m, const char *fmt, ...)
{
    va_list ap;
    m->n_damage++;
    va_start(ap, fmt);
    add_line(m, fmt, ap);
    va_end(ap);
}

void sxs_model_note(struct sxs_model *m, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add_line(m, fmt, ap);
    va_end(ap);
}

void sxs_model_free_gaps(struct sxs_model *m)
{
    for (size_t i = 0; i < m->n_gaps; i++) {
        struct sxs_model_gaps *g = &m->gaps[i];
        for (size_t k = 0; k < g->n; k++) {
            free(g->rows[k].name);
            free(g->rows[k].detail);
        }
        free(g->rows);
        free(g->version);
    }
    free(m->gaps);
    m->gaps = NULL;
    m->n_gaps = m->cap_gaps = 0;
}

void sxs_model_free(struct sxs_model *m)
{
    sxs_lines_free(m->problems, m->n_problems);
    for (size_t i = 0; i < m->n_processes; i++) {
        free(m->processes[i].folder);
        sxs_events_free(m->processes[i].events);
        free(m->processes[i].runtimes);
        sxs_thread_names_free(&m->processes[i].thread_names);
    }
    if (m->index) {
        sxs_index_free(&m->index->frames);
        sxs_index_free(&m->index->children);
        sxs_index_free(&m->index->threads);
        sxs_index_free(&m->index->lines);
    }
    free(m->index);
    free(m->processes);
    free(m->runtimes);
    free(m->frames);
    free(m->nodes);
    free(m->threads);
    free(m->samples);
    free(m->pauses);
    free(m->pools);
    free(m->lines);
    for (size_t i = 0; i < m->n_differences; i++)
        free(m->differences[i].frames);
    free(m->differences);
    for (size_t i = 0; i < m->n_latencies; i++)
        free(m->latencies[i].all);
    free(m->latencies);
    free(m->events);
    sxs_model_costs_free(m->costs);
    sxs_strings_free(&m->strings);
    sxs_strings_free(&m->values);
    sxs_model_free_gaps(m);
    memset(m, 0, sizeof(*m));
}
