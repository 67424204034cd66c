/* SPDX-License-Identifier: MIT */
#include "cmd/report/gzip.h"

#include <limits.h>
#include <stdlib.h>

#include "cmd/output/must.h"

enum { LEVEL = 6, GZIP = 16, WINDOW = 15, MEMORY = 8, STEP = 1 << 16 };

void sxs_gzip_begin(struct sxs_gzip *g)
{
    *g = (struct sxs_gzip){.n = 0};
    if (deflateInit2(&g->z, LEVEL, Z_DEFLATED, WINDOW + GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        sxs_must(NULL);
}

/* Compresses what is in z.next_in. */
static void compress_input(struct sxs_gzip *g, int flush)
{
    do {
        if (g->cap - g->n < STEP) {
            g->cap += g->cap / 2 + STEP;
            g->out = sxs_must(realloc(g->out, g->cap));
        }
        size_t room = g->cap - g->n < INT_MAX ? g->cap - g->n : INT_MAX;
        g->z.next_out = g->out + g->n;
        g->z.avail_out = (uInt)room;
        if (deflate(&g->z, flush) == Z_STREAM_ERROR)
            sxs_must(NULL);
        g->n += room - g->z.avail_out;
    } while (g->z.avail_out == 0);
}

void sxs_gzip_put(struct sxs_gzip *g, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t n; size; at += n, size -= n) { /* zlib counts in unsigned int */
        n = size < INT_MAX ? size : INT_MAX;
        g->z.next_in = (z_const Bytef *)(uintptr_t)at;
        g->z.avail_in = (uInt)n;
        compress_input(g, Z_NO_FLUSH);
    }
}

uint8_t *sxs_gzip_end(struct sxs_gzip *g, size_t *out_size)
{
    g->z.avail_in = 0;
    compress_input(g, Z_FINISH);
    deflateEnd(&g->z);
    *out_size = g->n;
    return g->out;
}

uint8_t *sxs_gzip(const void *bytes, size_t size, size_t *out_size)
{
    struct sxs_gzip g;
    sxs_gzip_begin(&g);
    sxs_gzip_put(&g, bytes, size);
    return sxs_gzip_end(&g, out_size);
}
