/* SPDX-License-Identifier: MIT */
/** tables.h - make the tables of a fleet, and drop rows that have reached their maximum age. One
 * thread. */
#ifndef SXS_CMD_FLEET_TABLES_H
#define SXS_CMD_FLEET_TABLES_H

#include "cmd/fleet/server.h"

#include <stdbool.h>

/** What a server has. */
struct sxs_fleet_tables {
    char     server[64]; /* version of the server */
    bool     codecs;     /* it has codecs and TTL */
    unsigned version;    /* of the tables; 0: there are none */
    unsigned keep_days;
};

/** How long samples are kept by default. */
#define SXS_FLEET_KEEP_DAYS 30u

/** sxs_fleet_tables_look - ask what @server has. Returns 0, or -1 with one line in @why. */
int sxs_fleet_tables_look(struct sxs_fleet_server *server, const char *database,
                          struct sxs_fleet_tables *out, char *why, size_t size);

/** sxs_fleet_tables_check - do the same, and refuse tables of a newer version, of one before @since,
 *  or none. */
int sxs_fleet_tables_check(struct sxs_fleet_server *server, const char *database, unsigned since,
                           char *why, size_t size);

/**
 * sxs_fleet_tables_make - make what is missing: the database and the tables; bring tables of an
 * earlier version up to date; their rows stay.
 * @keep_days: 0: as it is, or SXS_FLEET_KEEP_DAYS. @out: what the server has then. Tables of a newer
 * version are left alone and refused. Returns 0, or -1 with one line in @why.
 */
int sxs_fleet_tables_make(struct sxs_fleet_server *server, const char *database, unsigned keep_days,
                          struct sxs_fleet_tables *out, char *why, size_t size);

/**
 * sxs_fleet_tables_expire - drop the days of samples that are older than they are to be kept.
 * @n: receives the number of days dropped. Returns 0, or -1 with one line in @why.
 */
int sxs_fleet_tables_expire(struct sxs_fleet_server *server, const struct sxs_fleet_tables *tables,
                            size_t *n, char *why, size_t size);

#endif
