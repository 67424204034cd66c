/* SPDX-License-Identifier: MIT */
/**
 * select.h - converts the options --from, --to, --service, --where and --data, which choose the samples of
 * a query, to conditions of SQL. One thread.
 */
#ifndef SXS_CMD_FLEET_SELECT_H
#define SXS_CMD_FLEET_SELECT_H

#include "cmd/clickhouse/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/** What a key of --where, or a value of --by, is. */
enum sxs_fleet_place {
    SXS_FLEET_OF_SOURCE, /* a column of sources */
    SXS_FLEET_OF_STACK,  /* a column of stacks */
    SXS_FLEET_TRACE,     /* the trace of the samples */
    SXS_FLEET_FUNCTION,  /* a function anywhere in the stack */
    SXS_FLEET_LABEL,     /* a label of the source */
};

/** A trace's id as text; "" when samples have none. */
#define SXS_FLEET_TRACE_SQL "if(trace = toFixedString('', 16), '', lower(hex(trace)))"

struct sxs_fleet_condition {
    enum sxs_fleet_place place;
    char                *key, *pattern; /* owned */
    bool                 negated;
};

/** A selection. Zeroed it selects all samples of kind SXS_CLICKHOUSE_BATCH: set `kind`. */
struct sxs_fleet_selection {
    enum sxs_clickhouse_kind kind;
    int64_t                  from, to; /* seconds since 1970; 0: not limited; `to` is not in it */
    int64_t
        step; /* of states: the last of each process in each so many seconds; 0: in the period */
    struct sxs_fleet_condition *conditions; /* owned; all must be true */
    size_t                      n, cap;
};

/** sxs_fleet_place - return what @key is. */
enum sxs_fleet_place sxs_fleet_place(const char *key);

/**
 * sxs_fleet_select - add conditions: "KEY=PATTERN,KEY!=PATTERN,...". A comma in a pattern is
 * written
 * "\,". The keys "from" and "to" set the period.
 * @now: the present. Returns 0, or -1 with one line in @why.
 */
int sxs_fleet_select(struct sxs_fleet_selection *s, const char *text, time_t now, char *why,
                     size_t size);
/** sxs_fleet_select_one - add the condition that @key fits @pattern. */
void sxs_fleet_select_one(struct sxs_fleet_selection *s, const char *key, const char *pattern,
                          bool negated);
/** sxs_fleet_select_copy - add all that @from selects to @to; a period of @from replaces that of
 *  @to. */
void sxs_fleet_select_copy(struct sxs_fleet_selection *to, const struct sxs_fleet_selection *from);
void sxs_fleet_selection_free(struct sxs_fleet_selection *s);

/** sxs_fleet_where - write the conditions for rows of samples, without WHERE. Of kinds that are
 *  states, these are the last rows of each process. @with_batches: take
 * the
 *  rows of kind "batch" of the same sources and period, too. */
void sxs_fleet_where(FILE *to, const struct sxs_fleet_selection *s, bool with_batches);

/** sxs_fleet_says - write the selection in words: "service=shop, version=1.2*, 2026-11-23 18:00 to
 *  19:00 UTC". */
void sxs_fleet_says(FILE *to, const struct sxs_fleet_selection *s);

#endif
