/* SPDX-License-Identifier: MIT */
#include "cmd/report/gzip.h"

#include <limits.h>
#include <zlib.h>

#include "cmd/output/must.h"

uint8_t *sxs_gzip(const void *bytes, size_t size, size_t *out_size)
{
    enum { LEVEL = 6, GZIP = 16, WINDOW = 15, MEMORY = 8 };
    z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)bytes};
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW + GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        sxs_must(NULL);
    size_t   cap = deflateBound(&z, size), left = size, done = 0;
    uint8_t *out = sxs_must_zeroed(cap, 1);
    int      result;
    do { /* zlib counts in unsigned int */
        unsigned in = left > INT_MAX ? INT_MAX : (unsigned)left;
        unsigned room = cap - done > INT_MAX ? INT_MAX : (unsigned)(cap - done);
        z.avail_in = in;
        z.next_out = out + done;
        z.avail_out = room;
        result = deflate(&z, in == left ? Z_FINISH : Z_NO_FLUSH);
        left -= in - z.avail_in;
        done += room - z.avail_out;
    } while (result == Z_OK);
    deflateEnd(&z);
    if (result != Z_STREAM_END)
        sxs_must(NULL);
    *out_size = done;
    return out;
}
