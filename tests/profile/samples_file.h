/* SPDX-License-Identifier: MIT */
/* samples_file.h - writes a file "samples" for tests, by chunks. session/format/samples.h has the format. */
#ifndef SXS_TESTS_PROFILE_SAMPLES_FILE_H
#define SXS_TESTS_PROFILE_SAMPLES_FILE_H

#include "session/format/samples.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct samples_file {
    FILE                     *to;
    struct sxs_samples_header head;
    char                      chunk[SXS_CHUNK_SIZE] __attribute__((aligned(8)));
    uint32_t                  used, index;
};

static inline void samples_flush(struct samples_file *f)
{
    struct sxs_chunk_header *c = (void *)f->chunk;
    if (f->used <= sizeof(*c))
        return;
    c->magic = SXS_CHUNK_MAGIC;
    c->index = f->index++;
    c->used = f->used;
    if (fwrite(f->chunk, sizeof(f->chunk), 1, f->to) != 1)
        exit(1);
    memset(f->chunk, 0, sizeof(f->chunk));
    f->used = sizeof(*c);
}

static inline void samples_begin(struct samples_file *f, FILE *to, uint32_t pid, const char *command)
{
    static const char page[SXS_HEADER_SIZE];
    memset(f, 0, sizeof(*f));
    f->to = to;
    f->used = sizeof(struct sxs_chunk_header);
    memcpy(f->head.magic, SXS_SAMPLES_MAGIC, sizeof(f->head.magic));
    f->head.version = SXS_SAMPLES_VERSION;
    f->head.chunk_size = SXS_CHUNK_SIZE;
    f->head.pid = pid;
    f->head.mode = SXS_MODE_CPU;
    f->head.walker = SXS_WALKER_FAST;
    f->head.clock = SXS_CLOCK_CPU_TIMER;
    f->head.asked_hz = 200;
    f->head.started_realtime_ns = 1700000000000000000u;
    f->head.started_ns = 1000000000u;
    snprintf(f->head.command, sizeof(f->head.command), "%s", command);
    if (fwrite(page, sizeof(page), 1, to) != 1)
        exit(1);
}

/* Returns a new record, zeroed except for its head. */
static inline void *samples_add(struct samples_file *f, enum sxs_record_type type, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    if (f->used + size > sizeof(f->chunk))
        samples_flush(f);
    struct sxs_record *r = (void *)(f->chunk + f->used);
    f->used += (uint32_t)size;
    r->size = (uint32_t)size;
    r->mark = SXS_RECORD_MARK;
    r->type = (uint16_t)type;
    return r;
}

static inline void samples_end(struct samples_file *f)
{
    samples_flush(f);
    f->head.n_chunks = f->index;
    f->head.max_chunks = f->index;
    if (fseek(f->to, 0, SEEK_SET) != 0 || fwrite(&f->head, sizeof(f->head), 1, f->to) != 1 ||
        fseek(f->to, (long)(SXS_HEADER_SIZE + f->index * sizeof(f->chunk)), SEEK_SET) != 0 ||
        fflush(f->to) != 0)
        exit(1); /* the position is at the end again, because it is the size of a memory stream */
}

static inline void add_runtime(struct samples_file *f, uint32_t number, const char *version,
                               const char *path)
{
    size_t v = strlen(version), p = strlen(path);
    struct sxs_record_runtime *r = samples_add(f, SXS_RECORD_RUNTIME, sizeof(*r) + v + p);
    r->number = number;
    r->version_size = (uint16_t)v;
    r->path_size = (uint16_t)p;
    memcpy(r->text, version, v);
    memcpy(r->text + v, path, p);
}

static inline void add_thread(struct samples_file *f, uint32_t tid, const char *name,
                              uint64_t runtimes)
{
    struct sxs_record_thread *r = samples_add(f, SXS_RECORD_THREAD, sizeof(*r));
    r->tid = tid;
    r->runtimes = runtimes;
    for (size_t i = 0; i + 1 < sizeof(r->name) && name[i]; i++)
        r->name[i] = name[i];
}

static inline void add_module(struct samples_file *f, uint64_t time, uint64_t base, uint64_t lo,
                              uint64_t hi, const char *path, int unloaded)
{
    size_t p = strlen(path);
    struct sxs_record_module *r = samples_add(f, SXS_RECORD_MODULE, sizeof(*r) + p);
    r->time_ns = time;
    r->base = base;
    r->lo = lo;
    r->hi = hi;
    r->unloaded = (uint8_t)unloaded;
    r->path_size = (uint16_t)p;
    memcpy(r->path, path, p);
}

static inline void add_code(struct samples_file *f, uint64_t time, uint64_t lo, uint64_t hi,
                            uint16_t runtime, enum sxs_code_tier tier, const char *name)
{
    size_t n = strlen(name), text = offsetof(struct sxs_record_code, text);
    size_t lines = (text + n + 8 + 7) & ~(size_t)7;
    struct sxs_record_code *r = samples_add(f, SXS_RECORD_CODE, lines + sizeof(struct sxs_code_line));
    r->time_ns = time;
    r->lo = lo;
    r->hi = hi;
    r->function = lo ^ runtime;
    r->runtime = runtime;
    r->tier = (uint8_t)tier;
    r->name_size = (uint16_t)n;
    r->file_size = 8;
    r->n_lines = 1;
    memcpy(r->text, name, n);
    memcpy(r->text + n, "/app.dll", 8);
}

static inline void add_sample(struct samples_file *f, uint64_t time, uint32_t tid, uint16_t n,
                              const uint64_t *ips, enum sxs_sample_end end, int waiting)
{
    struct sxs_record_sample *r = samples_add(f, SXS_RECORD_SAMPLE, sizeof(*r) + 8u * n);
    r->time_ns = time;
    r->weight_ns = 5000000;
    r->tid = tid;
    r->end = (uint8_t)end;
    r->waiting = (uint8_t)waiting;
    r->n = n;
    memcpy(r->ips, ips, 8u * n);
    f->head.n_samples++;
    f->head.n_ends[end]++;
}

static inline void add_pause(struct samples_file *f, uint64_t time, uint64_t duration,
                             uint16_t runtime)
{
    struct sxs_record_pause *r = samples_add(f, SXS_RECORD_PAUSE, sizeof(*r));
    r->time_ns = time;
    r->duration_ns = duration;
    r->runtime = runtime;
    r->reason = 1;
}

static inline void add_name(struct samples_file *f, uint32_t number, uint16_t runtime,
                            const char *text)
{
    size_t                  n = strlen(text);
    struct sxs_record_name *r = samples_add(f, SXS_RECORD_NAME, sizeof(*r) + n);
    r->number = number;
    r->runtime = runtime;
    r->size = (uint16_t)n;
    memcpy(r->text, text, n);
}

/* Adds a copy of @cost, whose n_ips IPs are @ips. */
static inline void add_cost(struct samples_file *f, const struct sxs_record_cost *cost,
                            const uint64_t *ips)
{
    size_t                  size = sizeof(*cost) + 8u * cost->n_ips;
    struct sxs_record_cost *r = samples_add(f, SXS_RECORD_COST, size);
    memcpy((char *)r + sizeof(r->head), (const char *)cost + sizeof(r->head),
           sizeof(*r) - sizeof(r->head));
    memcpy(r->ips, ips, 8u * cost->n_ips);
    f->head.n_costs[cost->kind & 7]++;
}

static inline void add_released(struct samples_file *f, uint64_t time, uint64_t id)
{
    struct sxs_record_released *r = samples_add(f, SXS_RECORD_RELEASED, sizeof(*r));
    r->time_ns = time;
    r->id = id;
}

static inline void add_live(struct samples_file *f, uint64_t time, uint64_t id, uint8_t generation,
                            uint32_t collections)
{
    struct sxs_record_live *r = samples_add(f, SXS_RECORD_LIVE, sizeof(*r));
    r->time_ns = time;
    r->id = id;
    r->generation = generation;
    r->collections = collections;
}

static inline void add_total(struct samples_file *f, uint8_t kind, uint16_t runtime, uint32_t name,
                             uint64_t n, uint64_t value)
{
    struct sxs_record_total *r = samples_add(f, SXS_RECORD_TOTAL, sizeof(*r));
    r->kind = kind;
    r->runtime = runtime;
    r->name = name;
    r->n = n;
    r->value = value;
}

static inline void add_pool(struct samples_file *f, uint64_t time, uint8_t change, uint32_t value,
                            uint8_t reason)
{
    struct sxs_record_pool *r = samples_add(f, SXS_RECORD_POOL, sizeof(*r));
    r->time_ns = time;
    r->value = value;
    r->runtime = 1;
    r->change = change;
    r->reason = reason;
}

/* Adds costs of every kind, for programs that damage files: 20 allocations, of which 10 are released
 * and 10 are alive, native memory, a wait and its owner, a total, and
 * changes of a thread pool. */
static inline void add_costs(struct samples_file *f, uint64_t time, const uint64_t *ips,
                             uint16_t n_ips)
{
    struct sxs_record_cost c = {.time_ns = time, .tid = 100, .n_ips = n_ips, .runtime = 1};
    add_name(f, 1, 1, "System.Collections.Generic.List<System.String>");
    add_name(f, 2, 1, "");
    c.kind = SXS_COST_ALLOCATION;
    for (uint64_t id = 1; id <= 20; id++) {
        c.id = id;
        c.n = 3.5;
        c.value = 24 * id;
        c.name = 1 + id % 2;
        c.flags = id % 5 ? 0 : SXS_COST_LARGE;
        add_cost(f, &c, ips);
        if (id % 2)
            add_released(f, time + id, id);
        else
            add_live(f, time + id, id, (uint8_t)(id % 6), (uint32_t)id);
    }
    c = (struct sxs_record_cost){.time_ns = time, .tid = 100, .n_ips = n_ips, .n = 1, .value = 4096};
    c.kind = SXS_COST_NATIVE;
    c.flags = SXS_COST_MAPPED;
    add_cost(f, &c, ips);
    c.kind = SXS_COST_LOCK;
    c.flags = SXS_COST_OPEN;
    c.id = 21;
    c.related = 101;
    add_cost(f, &c, ips);
    c.kind = SXS_COST_LOCK_OWNER;
    c.tid = 101;
    c.related = 21;
    c.n_ips = 0;
    add_cost(f, &c, ips);
    add_total(f, SXS_COST_ALLOCATION, 1, 1, 1000, 24000);
    for (unsigned change = SXS_POOL_STARTED; change < SXS_N_POOL_CHANGES; change++)
        add_pool(f, time + change, (uint8_t)change, change, SXS_POOL_REASON_STARVATION);
    f->head.cost_interval[SXS_COST_ALLOCATION] = 100000;
    f->head.cost_live[SXS_COST_ALLOCATION] = 1;
    f->head.cost_interval[SXS_COST_NATIVE] = f->head.cost_interval[SXS_COST_LOCK] = 1;
}

#endif
