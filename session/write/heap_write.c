/* SPDX-License-Identifier: MIT */
#include "session/write/heap_write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"

#define SMALL      (64u << 10) /* bytes of a block that does not hold objects */
#define VARINT_MAX 10u         /* bytes */
#define PART       (32u << 10) /* references of one part of an object */
#define TEXT_MAX   (16u << 10) /* bytes of a text; the rest is cut */
#define VALUE_MAX  (8u << 10)  /* bytes of a text in VALUES */
#define MEMORY     (SXS_HEAP_BLOCK_MAX + SXS_HEAP_N_KINDS * SMALL)
#define TRIES      1000u /* numbers of snapshots that are tried until one is free */

_Static_assert(PART *VARINT_MAX + 8 * VARINT_MAX < SXS_HEAP_BLOCK_MAX / 2, "a part fits");
_Static_assert(2 * TEXT_MAX + 8 * VARINT_MAX < SMALL, "two texts fit");
_Static_assert((SXS_HEAP_PLACES_MAX + 2) * 5 + VARINT_MAX < SMALL, "numbers of 32 bits fit");
_Static_assert(4 * VALUE_MAX + 10 * VARINT_MAX < SMALL, "four short texts fit");

/* ---- payload --------------------------------------------------------------------------------- */

static void put(struct sxs_heap_filling *b, uint64_t value)
{
    unsigned char *at = b->bytes + b->size;
    for (; value > 0x7f; value >>= 7)
        *at++ = (unsigned char)(value | 0x80);
    *at++ = (unsigned char)value;
    b->size = (size_t)(at - b->bytes);
}

/* Stores the difference of two addresses. */
static void put_delta(struct sxs_heap_filling *b, uint64_t to, uint64_t from)
{
    int64_t n = (int64_t)(to - from) / 8;
    put(b, ((uint64_t)n << 1) ^ (0 - (uint64_t)(n < 0)));
}

static void put_short(struct sxs_heap_filling *b, const char *text, size_t max)
{
    size_t size = strlen(text);
    if (size > max)
        size = max;
    put(b, size);
    memcpy(b->bytes + b->size, text, size);
    b->size += size;
}

static void put_text(struct sxs_heap_filling *b, const char *text)
{
    put_short(b, text, TEXT_MAX);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void keep_error(struct sxs_heap_file *f, int err)
{
    f->error = err;
    atomic_store(&f->header->error, (uint32_t)err);
}

static void empty_block(struct sxs_heap_filling *b)
{
    b->size = sizeof(struct sxs_heap_block);
    b->count = 0;
    b->last = 0;
}

static void write_block(struct sxs_heap_file *f, enum sxs_heap_block_kind kind)
{
    struct sxs_heap_filling *b = &f->blocks[kind];
    size_t                   size = (b->size + 7) & ~(size_t)7;
    struct sxs_heap_block    head = {.magic = SXS_HEAP_BLOCK_MAGIC,
                                     .size = (uint32_t)size,
                                     .kind = (uint16_t)kind,
                                     .runtime = f->runtime,
                                     .count = b->count};
    int                      err;
    if (b->count && !f->error) {
        memset(b->bytes + b->size, 0, size - b->size);
        memcpy(b->bytes, &head, sizeof(head));
        err = sxs_file_write(&f->file, f->used, b->bytes, size);
        if (err) {
            keep_error(f, -err);
        } else {
            f->used += size;
            atomic_store_explicit(&f->header->used, f->used, memory_order_release);
        }
    }
    empty_block(b);
}

/* Returns the block of a kind with room for @size more bytes, which begin a new item. */
static struct sxs_heap_filling *begin_item(struct sxs_heap_file *f, enum sxs_heap_block_kind kind,
                                           size_t size)
{
    struct sxs_heap_filling *b = &f->blocks[kind];
    if (b->size + size + 8 > b->max)
        write_block(f, kind);
    b->count++;
    return b;
}

/* ---- items ----------------------------------------------------------------------------------- */

void sxs_heap_begin(struct sxs_heap_file *f, unsigned runtime, enum sxs_heap_how how,
                    unsigned server, const char *version, const char *path)
{
    struct sxs_heap_filling *b;
    f->runtime = (uint16_t)runtime;
    atomic_store(&f->header->ended_ns, 0);
    b = begin_item(f, SXS_HEAP_RUNTIME, 2 * (TEXT_MAX + VARINT_MAX) + 3 * VARINT_MAX);
    put(b, how);
    put(b, server);
    put(b, sxs_now_ns(CLOCK_MONOTONIC));
    put_text(b, version);
    put_text(b, path);
    write_block(f, SXS_HEAP_RUNTIME);
}

static void put_part(struct sxs_heap_file *f, uint64_t address, uint32_t type, uint64_t size,
                     const uint64_t *refs, size_t n)
{
    struct sxs_heap_filling *b = begin_item(f, SXS_HEAP_OBJECTS, (4 + n) * VARINT_MAX);
    put_delta(b, address, b->last);
    b->last = address;
    put(b, (uint64_t)type << 1 | (size != 0));
    if (size)
        put(b, size);
    put(b, n);
    for (size_t i = 0; i < n; i++)
        put_delta(b, refs[i], address);
}

void sxs_heap_object(struct sxs_heap_file *f, uint64_t address, uint32_t type, uint64_t size,
                     const uint64_t *refs, size_t n)
{
    for (; n > PART; n -= PART, refs += PART)
        put_part(f, address, type, size, refs, PART);
    put_part(f, address, type, size, refs, n);
}

void sxs_heap_root(struct sxs_heap_file *f, enum sxs_heap_root_kind kind, uint32_t flags,
                   uint64_t object, uint64_t id, uint32_t name)
{
    struct sxs_heap_filling *b = begin_item(f, SXS_HEAP_ROOTS, 5 * VARINT_MAX);
    put(b, kind);
    put(b, flags);
    put_delta(b, object, b->last);
    b->last = object;
    put(b, id);
    put(b, name);
}

void sxs_heap_dependent(struct sxs_heap_file *f, uint64_t primary, uint64_t secondary, uint64_t id)
{
    struct sxs_heap_filling *b = begin_item(f, SXS_HEAP_DEPENDENT, 3 * VARINT_MAX);
    put_delta(b, primary, b->last);
    b->last = primary;
    put_delta(b, secondary ? secondary : primary, primary);
    put(b, id);
}

void sxs_heap_type(struct sxs_heap_file *f, const struct sxs_heap_type_record *type)
{
    struct sxs_heap_filling *b =
        begin_item(f, SXS_HEAP_TYPES, 2 * (TEXT_MAX + VARINT_MAX) + 4 * VARINT_MAX);
    put(b, type->number);
    put(b, type->flags);
    put(b, type->size);
    put(b, type->element);
    put_text(b, type->name);
    put_text(b, type->module);
}

void sxs_heap_name(struct sxs_heap_file *f, uint32_t number, const char *text)
{
    struct sxs_heap_filling *b = begin_item(f, SXS_HEAP_NAMES, TEXT_MAX + 2 * VARINT_MAX);
    put(b, number);
    put_text(b, text);
}

void sxs_heap_bounds(struct sxs_heap_file *f, unsigned generation, uint64_t start, uint64_t size)
{
    struct sxs_heap_filling *b = begin_item(f, SXS_HEAP_BOUNDS, 3 * VARINT_MAX);
    put(b, generation);
    put(b, start);
    put(b, size);
}

void sxs_heap_value(struct sxs_heap_file *f, const struct sxs_heap_value *value)
{
    struct sxs_heap_filling *b =
        begin_item(f, SXS_HEAP_VALUES, 4 * (VALUE_MAX + VARINT_MAX) + 6 * VARINT_MAX);
    put(b, value->what);
    put(b, value->depth);
    put(b, value->address);
    put(b, value->offset);
    put(b, value->size);
    put(b, value->object);
    put_short(b, value->name, VALUE_MAX);
    put_short(b, value->owner, VALUE_MAX);
    put_short(b, value->type, VALUE_MAX);
    put_short(b, value->value, VALUE_MAX);
}

int sxs_heap_fields(struct sxs_heap_file *f, const struct sxs_heap_fields_record *fields)
{
    struct sxs_heap_filling *b;
    size_t                   size = 5 * VARINT_MAX;
    for (uint32_t i = 0; i < fields->n; i++)
        size += strlen(fields->names[i]) + VARINT_MAX;
    if (size > SMALL - 64)
        return -1;
    b = begin_item(f, SXS_HEAP_FIELDS, size);
    put(b, fields->type);
    put(b, fields->base);
    put(b, fields->step);
    put(b, fields->lead);
    put(b, fields->n);
    for (uint32_t i = 0; i < fields->n; i++)
        put_text(b, fields->names[i]);
    return 0;
}

void sxs_heap_variant(struct sxs_heap_file *f, uint32_t number, uint32_t type, uint64_t mask)
{
    struct sxs_heap_filling *b = begin_item(f, SXS_HEAP_VARIANTS, 3 * VARINT_MAX);
    put(b, number);
    put(b, type);
    put(b, mask);
}

void sxs_heap_places(struct sxs_heap_file *f, uint64_t address, const uint32_t *runs, size_t n)
{
    struct sxs_heap_filling *b = begin_item(f, SXS_HEAP_PLACES, 2 * VARINT_MAX + n * 5);
    put_delta(b, address, b->last);
    b->last = address;
    put(b, n);
    for (size_t i = 0; i < n; i++)
        put(b, runs[i]);
}

void sxs_heap_end(struct sxs_heap_file *f, const struct sxs_heap_totals *totals)
{
    struct sxs_heap_filling *b;
    for (int kind = SXS_HEAP_RUNTIME; kind < SXS_HEAP_N_KINDS; kind++)
        write_block(f, (enum sxs_heap_block_kind)kind);
    b = begin_item(f, SXS_HEAP_END, 10 * VARINT_MAX);
    put(b, totals->objects);
    put(b, totals->bytes);
    put(b, totals->references);
    put(b, totals->roots);
    put(b, totals->dependent);
    put(b, totals->types);
    put(b, totals->lacking);
    put(b, totals->pause_ns);
    put(b, totals->suspend_ns);
    put(b, totals->status);
    write_block(f, SXS_HEAP_END);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int map_memory(struct sxs_heap_file *f)
{
    unsigned char *at = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return -errno;
    f->memory = at;
    for (int kind = 0; kind < SXS_HEAP_N_KINDS; kind++) {
        struct sxs_heap_filling *b = &f->blocks[kind];
        b->bytes = at;
        b->max = kind == SXS_HEAP_OBJECTS ? SXS_HEAP_BLOCK_MAX : SMALL;
        empty_block(b);
        at += b->max;
    }
    return 0;
}

static void fill_header(struct sxs_heap_file *f, uint32_t number, enum sxs_heap_trigger trigger,
                        const char *command)
{
    struct sxs_heap_header *h = f->header;
    h->version = SXS_HEAP_VERSION;
    h->pid = (uint32_t)getpid();
    h->number = number;
    h->trigger = trigger;
    h->started_realtime_ns = sxs_now_ns(CLOCK_REALTIME);
    h->started_ns = sxs_now_ns(CLOCK_MONOTONIC);
    f->used = SXS_HEAP_HEADER_SIZE;
    atomic_store(&h->used, f->used);
    snprintf(h->command, sizeof(h->command), "%s", command);
    memcpy(h->magic, SXS_HEAP_MAGIC, sizeof(h->magic));
}

int sxs_heap_create(struct sxs_heap_file *f, const struct sxs_folder *folder, uint32_t number,
                    enum sxs_heap_trigger trigger, const char *command)
{
    unsigned char *map = NULL;
    int            err = map_memory(f);
    if (err)
        return err;
    for (unsigned i = 0; i < TRIES; i++, number++) {
        snprintf(f->name, sizeof(f->name), "%s%u", SXS_HEAP_FILE, number);
        err = sxs_file_create(&f->file, folder, f->name, SXS_HEAP_HEADER_SIZE, SXS_HEAP_HEADER_SIZE,
                              &map);
        if (err != -EEXIST)
            break;
    }
    if (err) {
        sxs_heap_close(f);
        return err;
    }
    f->header = (struct sxs_heap_header *)(void *)map;
    fill_header(f, number, trigger, command);
    return 0;
}

int sxs_heap_ended(struct sxs_heap_file *f)
{
    if (!f->error)
        atomic_store(&f->header->ended_ns, sxs_now_ns(CLOCK_MONOTONIC));
    return f->error;
}

void sxs_heap_close(struct sxs_heap_file *f)
{
    if (f->header) {
        munmap(f->header, SXS_HEAP_HEADER_SIZE);
        sxs_file_close(&f->file);
    }
    if (f->memory)
        munmap(f->memory, MEMORY);
    f->header = NULL;
    f->memory = NULL;
}
