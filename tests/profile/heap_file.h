/* SPDX-License-Identifier: MIT */
/** heap_file.h - writes heap snapshots for tests, in the order of the calls. session/format/heap.h has the format. */
#ifndef SXS_TESTS_PROFILE_HEAP_FILE_H
#define SXS_TESTS_PROFILE_HEAP_FILE_H

#include "session/format/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct heap_file {
    FILE                  *f;
    struct sxs_heap_header head;
    uint8_t                bytes[SXS_HEAP_BLOCK_MAX];
    size_t                 len; /* of the payload */
    uint16_t               kind, runtime;
    uint32_t               count;
    uint64_t               previous;
};

static inline void heap_write(struct heap_file *h, const void *bytes, size_t size)
{
    if (size && fwrite(bytes, size, 1, h->f) != 1)
        exit(1);
    h->head.used += size;
}

static inline void heap_open(struct heap_file *h, FILE *f, uint32_t pid, uint32_t number)
{
    static const char zeros[SXS_HEAP_HEADER_SIZE];
    memset(h, 0, sizeof(*h));
    h->f = f;
    memcpy(h->head.magic, SXS_HEAP_MAGIC, sizeof(h->head.magic));
    h->head.version = SXS_HEAP_VERSION;
    h->head.pid = pid;
    h->head.number = number;
    h->head.trigger = SXS_HEAP_ON_SIGNAL;
    h->head.started_realtime_ns = UINT64_C(1790000000000000000) + number * UINT64_C(1000000000);
    h->head.started_ns = number;
    h->head.ended_ns = number + 1;
    strcpy(h->head.command, "dotnet app.dll");
    heap_write(h, zeros, sizeof(zeros));
}

/* Ends the block that was begun last. */
static inline void heap_flush(struct heap_file *h)
{
    struct sxs_heap_block b = {.magic = SXS_HEAP_BLOCK_MAGIC, .kind = h->kind, .runtime = h->runtime, .count = h->count};
    if (!h->kind)
        return;
    while (h->len % 8)
        h->bytes[h->len++] = 0;
    b.size = (uint32_t)(sizeof(b) + h->len);
    heap_write(h, &b, sizeof(b));
    heap_write(h, h->bytes, h->len);
    h->kind = 0;
}

static inline void heap_block(struct heap_file *h, uint16_t runtime, uint16_t kind)
{
    heap_flush(h);
    h->kind = kind;
    h->runtime = runtime;
    h->count = 0;
    h->len = 0;
    h->previous = 0;
}

static inline void heap_number(struct heap_file *h, uint64_t v)
{
    for (; v > 127; v >>= 7)
        h->bytes[h->len++] = (uint8_t)(v | 128);
    h->bytes[h->len++] = (uint8_t)v;
}

static inline void heap_text(struct heap_file *h, const char *text)
{
    size_t size = strlen(text);
    heap_number(h, size);
    memcpy(h->bytes + h->len, text, size);
    h->len += size;
}

static inline void heap_delta(struct heap_file *h, uint64_t from, uint64_t to)
{
    int64_t n = ((int64_t)to - (int64_t)from) / 8;
    heap_number(h, ((uint64_t)n << 1) ^ (0 - (uint64_t)(n < 0)));
}

/* Begins an item of @kind; in a new block when the present one is another or almost full. */
static inline void heap_item(struct heap_file *h, uint16_t runtime, uint16_t kind)
{
    if (h->kind != kind || h->runtime != runtime || h->len > SXS_HEAP_BLOCK_MAX - 4096)
        heap_block(h, runtime, kind);
    h->count++;
}

static inline void heap_runtime(struct heap_file *h, uint16_t runtime, uint64_t how, const char *version)
{
    heap_item(h, runtime, SXS_HEAP_RUNTIME);
    heap_number(h, how);
    heap_number(h, 0);
    heap_number(h, 1000);
    heap_text(h, version);
    heap_text(h, "/net/libcoreclr.so");
}

static inline void heap_type(struct heap_file *h, uint16_t runtime, uint32_t number, uint32_t flags, uint64_t size,
                             const char *name)
{
    heap_item(h, runtime, SXS_HEAP_TYPES);
    heap_number(h, number);
    heap_number(h, flags);
    heap_number(h, size);
    heap_number(h, 0);
    heap_text(h, name);
    heap_text(h, "/app/app.dll");
}

/* @size: 0: that of the type. @to: @n addresses. */
static inline void heap_object(struct heap_file *h, uint16_t runtime, uint64_t address, uint32_t type, uint64_t size,
                               const uint64_t *to, size_t n)
{
    heap_item(h, runtime, SXS_HEAP_OBJECTS);
    heap_delta(h, h->previous, address);
    h->previous = address;
    heap_number(h, type * 2 + (size != 0));
    if (size)
        heap_number(h, size);
    heap_number(h, n);
    for (size_t i = 0; i < n; i++)
        heap_delta(h, address, to[i]);
}

static inline void heap_root(struct heap_file *h, uint16_t runtime, uint32_t kind, uint32_t flags, uint64_t object,
                             uint32_t name)
{
    heap_item(h, runtime, SXS_HEAP_ROOTS);
    heap_number(h, kind);
    heap_number(h, flags);
    heap_delta(h, h->previous, object);
    h->previous = object;
    heap_number(h, 0);
    heap_number(h, name);
}

static inline void heap_name(struct heap_file *h, uint16_t runtime, uint32_t number, const char *text)
{
    heap_item(h, runtime, SXS_HEAP_NAMES);
    heap_number(h, number);
    heap_text(h, text);
}

/* @base, @step: of arrays. @names: of @n slots, with a NULL after them. */
static inline void heap_fields(struct heap_file *h, uint16_t runtime, uint32_t type, uint32_t base,
                               uint32_t step, const char *const *names)
{
    uint32_t n = 0;
    while (names[n])
        n++;
    heap_item(h, runtime, SXS_HEAP_FIELDS);
    heap_number(h, type);
    heap_number(h, base);
    heap_number(h, step);
    heap_number(h, 0);
    heap_number(h, n);
    for (uint32_t i = 0; i < n; i++)
        heap_text(h, names[i]);
}

static inline void heap_variant(struct heap_file *h, uint16_t runtime, uint32_t number,
                                uint32_t type, uint64_t mask)
{
    heap_item(h, runtime, SXS_HEAP_VARIANTS);
    heap_number(h, number);
    heap_number(h, type);
    heap_number(h, mask);
}

static inline void heap_places(struct heap_file *h, uint16_t runtime, uint64_t address,
                               const uint32_t *runs, size_t n)
{
    heap_item(h, runtime, SXS_HEAP_PLACES);
    heap_delta(h, h->previous, address);
    h->previous = address;
    heap_number(h, n);
    for (size_t i = 0; i < n; i++)
        heap_number(h, runs[i]);
}

static inline void heap_dependent(struct heap_file *h, uint16_t runtime, uint64_t primary, uint64_t secondary)
{
    heap_item(h, runtime, SXS_HEAP_DEPENDENT);
    heap_delta(h, h->previous, primary);
    h->previous = primary;
    heap_delta(h, primary, secondary);
    heap_number(h, 0);
}

static inline void heap_bounds(struct heap_file *h, uint16_t runtime, uint32_t generation, uint64_t start, uint64_t size)
{
    heap_item(h, runtime, SXS_HEAP_BOUNDS);
    heap_number(h, generation);
    heap_number(h, start);
    heap_number(h, size);
}

static inline void heap_end(struct heap_file *h, uint16_t runtime, uint64_t lacking)
{
    heap_item(h, runtime, SXS_HEAP_END);
    for (int i = 0; i < 6; i++)
        heap_number(h, 0);
    heap_number(h, lacking);
    heap_number(h, 12300000);
    heap_number(h, 300000);
    heap_number(h, 0);
    heap_flush(h);
}

static inline void heap_close(struct heap_file *h)
{
    heap_flush(h);
    if (fflush(h->f) != 0 || fseek(h->f, 0, SEEK_SET) != 0 || fwrite(&h->head, sizeof(h->head), 1, h->f) != 1 ||
        fclose(h->f) != 0)
        exit(1);
}

#endif
