/* SPDX-License-Identifier: MIT */
#include "session/read/samples_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/read/chunks_read.h"

struct sxs_samples {
    struct sxs_chunk_reader   chunks;
    struct sxs_samples_header head;
};

const struct sxs_chunk_file sxs_samples_kind = {
    .name = SXS_SAMPLES_FILE,
    .magic = SXS_SAMPLES_MAGIC,
    .version = SXS_SAMPLES_VERSION,
    .head_size = sizeof(struct sxs_samples_header),
    .n_chunks_at = offsetof(struct sxs_samples_header, n_chunks),
    .max_chunks_at = offsetof(struct sxs_samples_header, max_chunks),
};

int sxs_samples_open(const struct sxs_files *folder, struct sxs_samples **out, char *why,
                     size_t why_size)
{
    struct sxs_samples *s = calloc(1, sizeof(*s));
    int                 err;
    *out = NULL;
    if (!s) {
        snprintf(why, why_size, "out of memory");
        return ENOMEM;
    }
    err = sxs_chunk_reader_open(&s->chunks, folder, &sxs_samples_kind, &s->head, why, why_size);
    if (err) {
        free(s);
        return err;
    }
    s->head.command[sizeof(s->head.command) - 1] = '\0';
    *out = s;
    return 0;
}

const struct sxs_samples_header *sxs_samples_head(const struct sxs_samples *s)
{
    return &s->head;
}

bool sxs_costs_on(const struct sxs_samples_header *head, enum sxs_cost_kind kind)
{
    return head->cost_interval[kind] ||
           atomic_load_explicit(&head->n_costs[kind], memory_order_relaxed);
}

static size_t align8(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

/* Return true when a record has at least @need bytes. 64 bits, because @need is a sum of lengths
 * from the file. */
static bool record_fits(const struct sxs_record *r, uint64_t need)
{
    return need <= r->size;
}

static bool take_sample(const struct sxs_record *r, struct sxs_samples_record *out)
{
    const struct sxs_record_sample *v = out->sample;
    return record_fits(r, sizeof(*v)) && v->n <= SXS_MAX_STACK && v->end < SXS_N_SAMPLE_ENDS &&
           record_fits(r, sizeof(*v) + 8 * (uint64_t)v->n);
}

static bool take_module(const struct sxs_record *r, struct sxs_samples_record *out)
{
    const struct sxs_record_module *v = out->module;
    if (!record_fits(r, sizeof(*v)) ||
        !record_fits(r, offsetof(struct sxs_record_module, path) + v->path_size) ||
        v->build_id_size > sizeof(v->build_id) || v->lo >= v->hi)
        return false;
    out->text[0] = v->path;
    out->text_size[0] = v->path_size;
    return true;
}

static bool take_code(const struct sxs_record *r, struct sxs_samples_record *out)
{
    const struct sxs_record_code *v = out->code;
    if (!record_fits(r, sizeof(*v)) || v->lo >= v->hi)
        return false;
    uint64_t text_end = offsetof(struct sxs_record_code, text) + (uint64_t)v->name_size +
                        v->file_size;
    uint64_t lines_at = align8(text_end);
    if (!record_fits(r, text_end) ||
        (v->n_lines &&
         !record_fits(r, lines_at + (uint64_t)v->n_lines * sizeof(struct sxs_code_line))))
        return false;
    out->text[0] = v->text;
    out->text_size[0] = v->name_size;
    out->text[1] = v->text + v->name_size;
    out->text_size[1] = v->file_size;
    out->lines = v->n_lines ? (const void *)((const char *)v + lines_at) : NULL;
    out->n_lines = v->n_lines;
    return true;
}

static bool take_runtime(const struct sxs_record *r, struct sxs_samples_record *out)
{
    const struct sxs_record_runtime *v = out->runtime;
    if (!record_fits(r, sizeof(*v)) ||
        !record_fits(r, offsetof(struct sxs_record_runtime, text) + (uint64_t)v->version_size +
                            v->path_size))
        return false;
    out->text[0] = v->text;
    out->text_size[0] = v->version_size;
    out->text[1] = v->text + v->version_size;
    out->text_size[1] = v->path_size;
    return true;
}

/* A cost stands for less than this many costs, and for less than this many bytes or ns together.
 * Larger numbers are damage, and sums of them would overflow. */
#define MAX_COSTS 0x1p53
#define MAX_SUM   0x1p63

static bool is_cost_kind(unsigned n)
{
    return n >= SXS_COST_ALLOCATION && n < SXS_N_COST_KINDS;
}

static bool take_cost(const struct sxs_record *r, struct sxs_samples_record *out)
{
    const struct sxs_record_cost *v = out->cost;
    return record_fits(r, sizeof(*v)) && v->n_ips <= SXS_MAX_STACK &&
           record_fits(r, sizeof(*v) + 8 * (uint64_t)v->n_ips) && is_cost_kind(v->kind) &&
           v->end < SXS_N_SAMPLE_ENDS && v->n > 0 && v->n < MAX_COSTS && /* false if not a number */
           v->n * (double)v->value < MAX_SUM;
}

static bool take_name(const struct sxs_record *r, struct sxs_samples_record *out)
{
    const struct sxs_record_name *v = out->name;
    if (!record_fits(r, sizeof(*v)) || !record_fits(r, sizeof(*v) + (uint64_t)v->size) ||
        !v->number)
        return false;
    out->text[0] = v->text;
    out->text_size[0] = v->size;
    return true;
}

static bool take_total(const struct sxs_record *r, struct sxs_samples_record *out)
{
    return record_fits(r, sizeof(*out->total)) && is_cost_kind(out->total->kind);
}

static bool take_pool(const struct sxs_record *r, struct sxs_samples_record *out)
{
    const struct sxs_record_pool *v = out->pool;
    return record_fits(r, sizeof(*v)) && v->change >= SXS_POOL_STARTED &&
           v->change < SXS_N_POOL_CHANGES;
}

static bool take_difference(const struct sxs_record *r, struct sxs_samples_record *out)
{
    const struct sxs_record_difference *v = out->difference;
    return record_fits(r, sizeof(*v)) &&
           record_fits(r, sizeof(*v) + (uint64_t)v->n * sizeof(v->frames[0]));
}

bool sxs_samples_take(const struct sxs_record *r, uint16_t type, void *to)
{
    struct sxs_samples_record *out = to;
    memset(out, 0, sizeof(*out));
    out->head = r;
    out->type = (enum sxs_record_type)type;
    switch (type) {
    case SXS_RECORD_SAMPLE: return take_sample(r, out);
    case SXS_RECORD_THREAD: return record_fits(r, SXS_RECORD_THREAD_MIN);
    case SXS_RECORD_MODULE: return take_module(r, out);
    case SXS_RECORD_CODE: return take_code(r, out);
    case SXS_RECORD_RUNTIME: return take_runtime(r, out);
    case SXS_RECORD_PAUSE: return record_fits(r, sizeof(struct sxs_record_pause));
    case SXS_RECORD_DIFFERENCE: return take_difference(r, out);
    case SXS_RECORD_COST: return take_cost(r, out);
    case SXS_RECORD_NAME: return take_name(r, out);
    case SXS_RECORD_RELEASED: return record_fits(r, sizeof(struct sxs_record_released));
    case SXS_RECORD_LIVE: return record_fits(r, sizeof(struct sxs_record_live));
    case SXS_RECORD_TOTAL: return take_total(r, out);
    case SXS_RECORD_POOL: return take_pool(r, out);
    default: return false;
    }
}

bool sxs_samples_next(struct sxs_samples *s, struct sxs_samples_record *out)
{
    return sxs_chunk_reader_next(&s->chunks, SXS_RECORD_POOL, sxs_samples_take, out);
}

void sxs_samples_rewind(struct sxs_samples *s)
{
    sxs_chunk_reader_rewind(&s->chunks);
}

const char *sxs_samples_problem(struct sxs_samples *s, size_t index)
{
    return sxs_chunk_reader_problem(&s->chunks, index);
}

void sxs_samples_close(struct sxs_samples *s)
{
    if (!s)
        return;
    sxs_chunk_reader_close(&s->chunks);
    free(s);
}
