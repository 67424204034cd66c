/* SPDX-License-Identifier: MIT */
/**
 * address.h - the address of a ClickHouse server, and its texts about refused requests. One thread; not
 * signal-safe; without memory the command ends.
 */
#ifndef SXS_CMD_CLICKHOUSE_ADDRESS_H
#define SXS_CMD_CLICKHOUSE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The variable of the environment with the password of the server's user. */
#define SXS_CLICKHOUSE_PASSWORD "SXSPROF_FLEET_PASSWORD"

/** An address: [clickhouse|clickhouses|http|https]://[USER@]HOST[:PORT][/DATABASE]. */
struct sxs_clickhouse_address {
    char *base;     /* owned; "http://host:8123" */
    char *user;     /* owned; NULL: the server's default */
    char *database; /* owned */
};

/** sxs_clickhouse_address_parse - read @url. Returns 0, or -1 with one line in @why, which says
 * what
 *  was expected. Release @out with sxs_clickhouse_address_free() in both cases. */
int  sxs_clickhouse_address_parse(const char *url, struct sxs_clickhouse_address *out, char *why,
                                  size_t size);
void sxs_clickhouse_address_free(struct sxs_clickhouse_address *a);

/**
 * sxs_clickhouse_reason - turn the body of a refusal into one line: "Code: 60, e.displayText() =
 * DB::Exception: Table x doesn't exist, e.what() = ..." becomes "Table x doesn't exist". @why:
 * receives
 * it. Returns the server's error code, 0 when there is none.
 */
int sxs_clickhouse_reason(const char *body, char *why, size_t size);

#endif
