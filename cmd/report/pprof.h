/* SPDX-License-Identifier: MIT */
/** pprof.h - a model as bytes in the format pprof. */
#ifndef SXS_CMD_REPORT_PPROF_H
#define SXS_CMD_REPORT_PPROF_H

#include <stddef.h>
#include <stdint.h>

struct sxs_model;

/** The period of a profile: CLOCK_REALTIME. */
struct sxs_pprof_period {
    uint64_t from_ns, to_ns;
};

/**
 * sxs_pprof_encode - write the nodes of @m that have a weight as a gzip-compressed profile.
 * @m: loaded with SXS_DETAIL_LINES. @period: NULL: that of the session. @comment: NULL: none.
 * @size: receives the bytes. Returns owned memory, never NULL; release it with free(). */
uint8_t *sxs_pprof_encode(const struct sxs_model *m, const struct sxs_pprof_period *period,
                          const char *comment, size_t *size);

#endif
