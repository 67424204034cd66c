/* SPDX-License-Identifier: MIT */
/** server.h - statements sent to a ClickHouse server over HTTP. One thread; not signal-safe;
 *  without memory the command ends. */
#ifndef SXS_CMD_FLEET_SERVER_H
#define SXS_CMD_FLEET_SERVER_H

#include "cmd/clickhouse/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sxs_fleet_server; /* a connection */

struct sxs_fleet_server_options {
    const char *ca;        /* file with certificates to trust; NULL: those of the system */
    unsigned    timeout_s; /* for one statement; 0: 600 */
};

/** Longest answer that is taken, in bytes. */
#define SXS_FLEET_MAX_ANSWER (UINT64_C(1) << 30)

/** sxs_fleet_server_open - prepare to talk to @address (borrowed until the end). Returns an owned
 *  connection, or NULL with one line in @why. Nothing is sent yet. */
struct sxs_fleet_server *sxs_fleet_server_open(const struct sxs_clickhouse_address   *address,
                                               const struct sxs_fleet_server_options *options,
                                               char *why, size_t size);
void                     sxs_fleet_server_close(struct sxs_fleet_server *c);

/** An answer. Zeroed it is empty. */
struct sxs_fleet_answer {
    char  *bytes; /* owned; zero-terminated */
    size_t size, cap;
};

/**
 * sxs_fleet_query - send one statement and wait for its whole answer.
 * @sql: zero-terminated; with FORMAT if it answers rows. @in_database: false: outside of any
 * database, which may not exist yet. @out: overwritten; release it in both cases with
 * sxs_fleet_answer_free(). Returns 0, or -1 with one line in @why: no connection, wrong user, or
 * what the server said.
 */
int  sxs_fleet_query(struct sxs_fleet_server *c, const char *sql, bool in_database,
                     struct sxs_fleet_answer *out, char *why, size_t size);
void sxs_fleet_answer_free(struct sxs_fleet_answer *a);

#endif
