/* SPDX-License-Identifier: MIT */
/**
 * insert.h - makes the statements that insert rows of batches, and chooses the rows that must be sent.
 *
 * Every insert may be sent any number of times: the server compares the rows with its own in the same
 * statement. Frames, stacks and sources that are known are left out. The rows of samples of a batch
 * begin with a row of kind "batch"; when the table has one with the same ID, none of its rows is
 * inserted. All samples of a batch have one time, so that they get into one block of one partition:
 * all of them are there, or none. One thread per object; not signal-safe; without memory the command
 * ends.
 */
#ifndef SXS_CMD_CLICKHOUSE_INSERT_H
#define SXS_CMD_CLICKHOUSE_INSERT_H

#include "base/index.h"
#include "cmd/clickhouse/encode.h"

/** sxs_clickhouse_structure - return the columns of the rows for @table: "frame UInt64, ...".
 *  Static. */
const char *sxs_clickhouse_structure(enum sxs_clickhouse_table table);

/* ---- several batches as one ------------------------------------------------------------------ */

/** IDs of frames, stacks or sources. Zeroed it is empty. */
struct sxs_clickhouse_ids {
    uint64_t        *all; /* owned */
    size_t           n, cap;
    struct sxs_index index;
};

/** sxs_clickhouse_ids_add - add @id. Returns true when it was not there. */
bool sxs_clickhouse_ids_add(struct sxs_clickhouse_ids *ids, uint64_t id);
bool sxs_clickhouse_ids_have(const struct sxs_clickhouse_ids *ids, uint64_t id);
void sxs_clickhouse_ids_free(struct sxs_clickhouse_ids *ids);

/** What a server has, as far as its answers have said: by table; samples are not in it. */
struct sxs_clickhouse_known {
    struct sxs_clickhouse_ids of[SXS_CLICKHOUSE_SAMPLES];
};

/** The rows of several batches that are sent together. Zeroed it is empty. */
struct sxs_clickhouse_joined {
    struct sxs_rows             of[SXS_CLICKHOUSE_N_TABLES];
    struct sxs_clickhouse_known in;           /* what the rows above have */
    struct sxs_clickhouse_ids   batches;      /* their IDs */
    struct sxs_clickhouse_ids   services;     /* of their samples */
    uint32_t                    from_s, to_s; /* the first and the last time of their samples */
};

/**
 * sxs_clickhouse_join - add the rows of @table of one batch, as sxs_clickhouse_encode() wrote them.
 * Rows of frames, stacks and sources are left out when @known or @j has them.
 * @known: what the server has; may be empty. Returns 0, or -1 when the rows are damaged.
 */
int  sxs_clickhouse_join(struct sxs_clickhouse_joined *j, const struct sxs_clickhouse_known *known,
                         enum sxs_clickhouse_table table, const void *rows, size_t size);
void sxs_clickhouse_joined_free(struct sxs_clickhouse_joined *j);

/** sxs_clickhouse_learn - note that the server has accepted the rows of @table in @j. */
void sxs_clickhouse_learn(struct sxs_clickhouse_known *known, const struct sxs_clickhouse_joined *j,
                          enum sxs_clickhouse_table table);
/** sxs_clickhouse_forget - empty @known, and release its memory. */
void sxs_clickhouse_forget(struct sxs_clickhouse_known *known);

/** sxs_clickhouse_insert_sql - write the statement that inserts the rows for @table of @j from the
 *  external table _data. */
void sxs_clickhouse_insert_sql(FILE *to, enum sxs_clickhouse_table table,
                               const struct sxs_clickhouse_joined *j);

#endif
