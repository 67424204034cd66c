/* SPDX-License-Identifier: MIT */
#include "cmd/clickhouse/rows.h"

#include "cmd/output/must.h"

#include <string.h>

/* Makes room for @size more bytes and returns where they begin. */
static uint8_t *extend(struct sxs_rows *r, size_t size)
{
    if (!r->bytes || r->cap - r->size < size) {
        r->cap = (r->cap + size) * 2 + 256;
        r->bytes = sxs_must(realloc(r->bytes, r->cap));
    }
    r->size += size;
    return r->bytes + r->size - size;
}

static void put(struct sxs_rows *r, uint64_t v, size_t size)
{
    uint8_t *to = extend(r, size);
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(v >> (8 * i));
}

void sxs_rows_u8(struct sxs_rows *r, uint8_t v)
{
    put(r, v, 1);
}

void sxs_rows_u16(struct sxs_rows *r, uint16_t v)
{
    put(r, v, 2);
}

void sxs_rows_u32(struct sxs_rows *r, uint32_t v)
{
    put(r, v, 4);
}

void sxs_rows_u64(struct sxs_rows *r, uint64_t v)
{
    put(r, v, 8);
}

void sxs_rows_count(struct sxs_rows *r, size_t n)
{
    for (; n >= 0x80; n >>= 7)
        put(r, (n & 0x7f) | 0x80, 1);
    put(r, n, 1);
}

void sxs_rows_bytes(struct sxs_rows *r, const void *bytes, size_t size)
{
    if (size)
        memcpy(extend(r, size), bytes, size);
}

void sxs_rows_text(struct sxs_rows *r, const char *text)
{
    size_t size = strlen(text);
    sxs_rows_count(r, size);
    sxs_rows_bytes(r, text, size);
}

void sxs_rows_free(struct sxs_rows *r)
{
    free(r->bytes);
    *r = (struct sxs_rows){0};
}

static uint64_t get(struct sxs_rows_reader *r, size_t size)
{
    uint64_t v = 0;
    if (r->failed || (size_t)(r->end - r->at) < size) {
        r->failed = true;
        return 0;
    }
    for (size_t i = 0; i < size; i++)
        v |= (uint64_t)r->at[i] << (8 * i);
    r->at += size;
    return v;
}

bool sxs_rows_more(const struct sxs_rows_reader *r)
{
    return !r->failed && r->at < r->end;
}

uint8_t sxs_rows_get_u8(struct sxs_rows_reader *r)
{
    return (uint8_t)get(r, 1);
}

uint16_t sxs_rows_get_u16(struct sxs_rows_reader *r)
{
    return (uint16_t)get(r, 2);
}

uint32_t sxs_rows_get_u32(struct sxs_rows_reader *r)
{
    return (uint32_t)get(r, 4);
}

uint64_t sxs_rows_get_u64(struct sxs_rows_reader *r)
{
    return get(r, 8);
}

size_t sxs_rows_get_count(struct sxs_rows_reader *r, size_t element_size)
{
    uint64_t n = 0;
    unsigned shift = 0;
    uint64_t byte;
    do {
        byte = get(r, 1);
        n |= (byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && shift < 63);
    if (byte & 0x80 || n > (uint64_t)(r->end - r->at) / element_size)
        r->failed = true;
    return r->failed ? 0 : (size_t)n;
}

const char *sxs_rows_get_text(struct sxs_rows_reader *r, size_t *size)
{
    *size = sxs_rows_get_count(r, 1);
    const char *text = (const char *)r->at;
    r->at += *size;
    return *size ? text : "";
}
