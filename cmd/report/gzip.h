/* SPDX-License-Identifier: MIT */
/** gzip.h - compress bytes in memory. */
#ifndef SXS_CMD_REPORT_GZIP_H
#define SXS_CMD_REPORT_GZIP_H

#include <stddef.h>
#include <stdint.h>

#include <zlib.h>

/** sxs_gzip - compress @size bytes. @out_size: receives the compressed bytes. The result depends on
 *  the input only: it has no time and no name. Returns owned memory, never NULL. */
uint8_t *sxs_gzip(const void *bytes, size_t size, size_t *out_size);

/** What is being compressed piece by piece. */
struct sxs_gzip {
    z_stream z;
    uint8_t *out; /* owned; `n` of `cap` bytes */
    size_t   n, cap;
};

/**
 * Compress pieces, so that they need not be in memory together. The result is that of sxs_gzip() of
 * all pieces, however they were cut.
 * sxs_gzip_begin: @g: overwritten; end it with sxs_gzip_end(). sxs_gzip_put: add a piece; borrowed.
 * sxs_gzip_end: return the compressed bytes; owned, never NULL. @out_size: receives their number.
 */
void     sxs_gzip_begin(struct sxs_gzip *g);
void     sxs_gzip_put(struct sxs_gzip *g, const void *bytes, size_t size);
uint8_t *sxs_gzip_end(struct sxs_gzip *g, size_t *out_size);

#endif
