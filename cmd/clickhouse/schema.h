/* SPDX-License-Identifier: MIT */
/**
 * schema.h - the tables that hold the profiles of a fleet (docs/internals/fleet.md). Pure functions
 * that write SQL; sxsprof fleet init sends it.
 *
 *   frames   a function, a type or a kind of wait: hash -> name, file, version of its runtime
 *   stacks   hash -> thread name, frames (oldest first), runtime and class of the youngest
 *   sources  a process: hash -> service, version, machine, container, pid, labels
 *   samples  one row for each minute, stack and process; and one of kind "batch" for each batch
 *   schema   the version of these tables, and how many days samples are kept
 */
#ifndef SXS_CMD_CLICKHOUSE_SCHEMA_H
#define SXS_CMD_CLICKHOUSE_SCHEMA_H

#include <stdbool.h>
#include <stdio.h>

/** The version of the tables that this program writes and reads. */
#define SXS_CLICKHOUSE_SCHEMA 2u

/** The kinds of samples, as the type of the column `kind`. */
#define SXS_CLICKHOUSE_KINDS                                                             \
    "Enum8('batch' = 0, 'cpu' = 1, 'wall' = 2, 'alloc' = 3, 'native' = 4, 'locks' = 5, " \
    "'live' = 6, 'native-live' = 7, 'wait' = 8)"

enum sxs_clickhouse_kind {
    SXS_CLICKHOUSE_BATCH,  /* not a sample: stack is the batch's ID, value the ns that it covers */
    SXS_CLICKHOUSE_CPU,    /* value: ns */
    SXS_CLICKHOUSE_WALL,   /* value: ns */
    SXS_CLICKHOUSE_ALLOC,  /* value: bytes */
    SXS_CLICKHOUSE_NATIVE, /* value: bytes */
    SXS_CLICKHOUSE_LOCKS,  /* value: ns */
    SXS_CLICKHOUSE_LIVE,   /* value: bytes that are alive at that time: a state, not a sum */
    SXS_CLICKHOUSE_NATIVE_LIVE, /* the same of native memory */
    SXS_CLICKHOUSE_WAIT,        /* value: ns; stacks end with what a thread waits in */
    SXS_CLICKHOUSE_N_KINDS
};

/** sxs_clickhouse_kind_name - return "cpu", "alloc"... Static. */
const char *sxs_clickhouse_kind_name(enum sxs_clickhouse_kind kind);

/** sxs_clickhouse_kind_named - return the kind of a name; SXS_CLICKHOUSE_BATCH: there is none. */
enum sxs_clickhouse_kind sxs_clickhouse_kind_named(const char *name);

/** sxs_clickhouse_kind_names - return the names of all kinds of samples: "cpu, wall...". Static. */
const char *sxs_clickhouse_kind_names(void);

/** sxs_clickhouse_kind_since - return the first version of the tables that has @kind. */
unsigned sxs_clickhouse_kind_since(enum sxs_clickhouse_kind kind);

/** sxs_clickhouse_kind_is_state - return true when rows of @kind say what there was at their time.
 *  Those of two times are not added up. */
bool sxs_clickhouse_kind_is_state(enum sxs_clickhouse_kind kind);

/** sxs_clickhouse_kind_is_bytes - return true when values of @kind are bytes, else they are ns. */
bool sxs_clickhouse_kind_is_bytes(enum sxs_clickhouse_kind kind);

/** What a server can do, by its version. */
struct sxs_clickhouse_server {
    unsigned major, minor;
    bool     codecs; /* CODEC() of columns, TTL of tables */
};

/** sxs_clickhouse_server_parse - read "18.16.1" or "24.3.2.23" into @out. Returns 0, or -1 when
 *  @version is no version. */
int sxs_clickhouse_server_parse(const char *version, struct sxs_clickhouse_server *out);

/**
 * sxs_clickhouse_schema_sql - write statement @i of those that make the tables, where they are
 * missing. @keep_days: how long samples are kept. Returns false when there is no such statement.
 */
bool sxs_clickhouse_schema_sql(FILE *to, const struct sxs_clickhouse_server *server,
                               unsigned keep_days, unsigned i);

/**
 * sxs_clickhouse_upgrade_sql - write statement @i of those that bring tables of version @from to
 * SXS_CLICKHOUSE_SCHEMA. Each can be sent again. Returns false when there is no such statement.
 */
bool sxs_clickhouse_upgrade_sql(FILE *to, unsigned from, unsigned i);

#endif
