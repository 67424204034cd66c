/* SPDX-License-Identifier: MIT */
/** rows.h - queries that the server answers with rows of numbers. One thread. */
#ifndef SXS_CMD_FLEET_ROWS_H
#define SXS_CMD_FLEET_ROWS_H

#include "cmd/fleet/select.h"
#include "cmd/fleet/server.h"

enum { SXS_FLEET_MAX_WIDTH = 6 };

/** Rows of `width` numbers each. Zeroed it is empty. */
struct sxs_fleet_rows {
    uint64_t *all;    /* owned; row by row */
    size_t    n, cap; /* numbers */
    size_t    width;
    uint64_t  totals[SXS_FLEET_MAX_WIDTH]; /* WITH TOTALS */
};

/**
 * sxs_fleet_rows - send @sql, which answers @width unsigned numbers a row, WITH TOTALS, FORMAT
 * TabSeparated. @out: overwritten; release it in both cases. Returns 0, or -1 with one line in
 * @why.
 */
int  sxs_fleet_rows(struct sxs_fleet_server *server, const char *sql, size_t width,
                    struct sxs_fleet_rows *out, char *why, size_t size);
void sxs_fleet_rows_free(struct sxs_fleet_rows *r);

/** sxs_fleet_rows_read - do the same with an answer. Returns 0, or -1 when it is damaged. */
int sxs_fleet_rows_read(const char *text, size_t width, struct sxs_fleet_rows *out);

/** The samples of a selection in one period and group. */
struct sxs_fleet_group {
    uint32_t time; /* of its begin, seconds since 1970 */
    char    *name; /* owned; the value of --by */
    uint64_t count, value;
    uint64_t covered_ns; /* for how long processes were recorded, all of them added up; of states:
                          * 0, and how many processes, as far as that is known by group */
    uint64_t processes;
};

struct sxs_fleet_groups {
    struct sxs_fleet_group *all; /* owned; by time and name */
    size_t                  n, cap;
};

/**
 * sxs_fleet_groups - sum up the samples of @s by period and group, in the server.
 * @step: length of a period in seconds; 0: all in one. @by: a key of --where; NULL: no groups.
 * @out: overwritten; release it in both cases. Returns 0, or -1 with one line in @why.
 */
int  sxs_fleet_groups(struct sxs_fleet_server *server, const struct sxs_fleet_selection *s,
                      int64_t step, const char *by, size_t limit, struct sxs_fleet_groups *out,
                      char *why, size_t size);
void sxs_fleet_groups_free(struct sxs_fleet_groups *g);

#endif
