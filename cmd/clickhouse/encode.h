/* SPDX-License-Identifier: MIT */
/**
 * encode.h - what one process recorded in one period, as rows of the tables of
 * cmd/clickhouse/schema.h. One thread; not signal-safe; without memory the command ends.
 *
 * cmd/clickhouse/insert.h has the statements that insert them.
 */
#ifndef SXS_CMD_CLICKHOUSE_ENCODE_H
#define SXS_CMD_CLICKHOUSE_ENCODE_H

#include "cmd/clickhouse/rows.h"
#include "cmd/clickhouse/schema.h"
#include "cmd/report/model.h"

struct sxs_clickhouse_label {
    char *key, *value;
};

/** Whose profiles a batch has. Texts are borrowed, and never NULL; "": not known. */
struct sxs_clickhouse_source {
    const char                        *service, *version, *machine, *container, *process, *command;
    const char *const                 *runtimes; /* versions */
    size_t                             n_runtimes;
    const struct sxs_clickhouse_label *labels;
    size_t                             n_labels;
};

struct sxs_clickhouse_batch {
    uint64_t                            id; /* the same each time the same data are sent */
    uint64_t                            from_ns, to_ns; /* CLOCK_REALTIME */
    const struct sxs_clickhouse_source *source;
    const struct sxs_model *const      *models; /* one per kind of data; of one process */
    size_t                              n_models;
};

/** The tables that a batch goes into, in the order of the inserts. */
enum sxs_clickhouse_table {
    SXS_CLICKHOUSE_FRAMES,
    SXS_CLICKHOUSE_STACKS,
    SXS_CLICKHOUSE_SOURCES,
    SXS_CLICKHOUSE_SAMPLES,
    SXS_CLICKHOUSE_N_TABLES
};

/* Bits of frames.flags, beside those of enum sxs_frame_flag. They are stored: none ever changes. */
#define SXS_CLICKHOUSE_MANAGED 0x100u /* code of the runtime, or a type of it */
#define SXS_CLICKHOUSE_HOME    0x200u /* native code in the folder of the runtime */

/** A batch as rows, by table. Release it with sxs_clickhouse_rows_free(). */
struct sxs_clickhouse_rows {
    struct sxs_rows of[SXS_CLICKHOUSE_N_TABLES];
    size_t          n_samples; /* rows in samples, the one of the batch included */
};

/** sxs_clickhouse_service_id - return the value of the column samples.service for @service. */
uint64_t sxs_clickhouse_service_id(const char *service);

/** sxs_clickhouse_encode - encode @b. @out: overwritten. */
void sxs_clickhouse_encode(const struct sxs_clickhouse_batch *b, struct sxs_clickhouse_rows *out);
void sxs_clickhouse_rows_free(struct sxs_clickhouse_rows *r);

#endif
