/* SPDX-License-Identifier: MIT */
#include "cmd/fleet/tables.h"

#include "cmd/clickhouse/schema.h"
#include "cmd/output/must.h"

#include <stdarg.h>
#include <string.h>

/* Sends a statement whose answer does not matter. */
static int tell(struct sxs_fleet_server *server, bool in_database, char *why, size_t size,
                const char *fmt, ...) __attribute__((format(printf, 5, 6)));
static int tell(struct sxs_fleet_server *server, bool in_database, char *why, size_t size,
                const char *fmt, ...)
{
    struct sxs_fleet_answer answer;
    char                   *sql = NULL;
    va_list                 ap;
    va_start(ap, fmt);
    if (vasprintf(&sql, fmt, ap) < 0)
        sql = NULL;
    va_end(ap);
    int err = sxs_fleet_query(server, sxs_must(sql), in_database, &answer, why, size);
    sxs_fleet_answer_free(&answer);
    free(sql);
    return err;
}

/* ---- looking --------------------------------------------------------------------------------- */

static int look_server(struct sxs_fleet_server *server, struct sxs_fleet_tables *out, char *why,
                       size_t size)
{
    struct sxs_fleet_answer      answer;
    struct sxs_clickhouse_server can;
    int err = sxs_fleet_query(server, "SELECT version()", false, &answer, why, size);
    if (!err) {
        snprintf(out->server, sizeof(out->server), "%.*s", (int)strcspn(answer.bytes, "\n"),
                 answer.bytes);
        err = sxs_clickhouse_server_parse(out->server, &can);
        out->codecs = can.codecs;
        if (err)
            snprintf(why, size, "this is no ClickHouse server: it has no version");
    }
    sxs_fleet_answer_free(&answer);
    return err;
}

/* Reads the newest row of the table schema, if there is one. @database: a name (sxs_sql_is_name). */
static int look_tables(struct sxs_fleet_server *server, const char *database,
                       struct sxs_fleet_tables *out, char *why, size_t size)
{
    struct sxs_fleet_answer answer;
    char                   *sql = NULL;
    if (asprintf(&sql,
                 "SELECT count() FROM system.tables WHERE database = '%s' AND name = 'schema'",
                 database) < 0)
        sxs_must(NULL);
    int  err = sxs_fleet_query(server, sql, false, &answer, why, size);
    bool has = !err && answer.bytes[0] == '1';
    sxs_fleet_answer_free(&answer);
    free(sql);
    if (err || !has)
        return err;
    err = sxs_fleet_query(server,
                          "SELECT version, keep_days FROM schema ORDER BY made DESC, version "
                          "DESC LIMIT 1 FORMAT TabSeparated",
                          true, &answer, why, size);
    if (!err && answer.size &&
        sscanf(answer.bytes, "%u\t%u", &out->version, &out->keep_days) != 2) {
        snprintf(why, size, "the table schema of database %s is not one of sxsprof", database);
        err = -1;
    }
    sxs_fleet_answer_free(&answer);
    return err;
}

int sxs_fleet_tables_look(struct sxs_fleet_server *server, const char *database,
                          struct sxs_fleet_tables *out, char *why, size_t size)
{
    *out = (struct sxs_fleet_tables){.version = 0};
    int err = look_server(server, out, why, size);
    return err ? err : look_tables(server, database, out, why, size);
}

static int refuse_newer(const struct sxs_fleet_tables *t, const char *database, char *why,
                        size_t size)
{
    if (t->version <= SXS_CLICKHOUSE_SCHEMA)
        return 0;
    snprintf(why, size,
             "database %s has tables of version %u, made by a newer sxsprof; this one knows "
             "version %u",
             database, t->version, SXS_CLICKHOUSE_SCHEMA);
    return -1;
}

int sxs_fleet_tables_check(struct sxs_fleet_server *server, const char *database, unsigned since,
                           char *why, size_t size)
{
    struct sxs_fleet_tables t;
    if (sxs_fleet_tables_look(server, database, &t, why, size) != 0 ||
        refuse_newer(&t, database, why, size) != 0)
        return -1;
    if (t.version >= since)
        return 0;
    if (t.version)
        snprintf(why, size,
                 "database %s has tables of version %u, and these data are in version %u; sxsprof "
                 "fleet init brings them up to date",
                 database, t.version, since);
    else
        snprintf(why, size,
                 "no tables of sxsprof in database %s; make them with sxsprof fleet init",
                 database);
    return -1;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Writes statement @i. Returns false when there is no such one. */
typedef bool put_statement(FILE *to, const struct sxs_fleet_tables *t, unsigned keep_days,
                           unsigned i);

static bool put_make(FILE *to, const struct sxs_fleet_tables *t, unsigned keep_days, unsigned i)
{
    const struct sxs_clickhouse_server can = {.codecs = t->codecs};
    return sxs_clickhouse_schema_sql(to, &can, keep_days, i);
}

static bool put_upgrade(FILE *to, const struct sxs_fleet_tables *t, unsigned keep_days, unsigned i)
{
    (void)keep_days;
    return sxs_clickhouse_upgrade_sql(to, t->version, i);
}

static int tell_all(struct sxs_fleet_server *server, put_statement *put,
                    const struct sxs_fleet_tables *t, unsigned keep_days, char *why, size_t size)
{
    int err = 0;
    for (unsigned i = 0; !err; i++) {
        char  *sql = NULL;
        size_t sql_size = 0;
        FILE  *to = sxs_must(open_memstream(&sql, &sql_size));
        bool   more = put(to, t, keep_days, i);
        fclose(to);
        sxs_must(sql);
        if (more)
            err = tell(server, true, why, size, "%s", sql);
        free(sql);
        if (!more)
            break;
    }
    return err;
}

int sxs_fleet_tables_make(struct sxs_fleet_server *server, const char *database, unsigned keep_days,
                          struct sxs_fleet_tables *out, char *why, size_t size)
{
    if (sxs_fleet_tables_look(server, database, out, why, size) != 0 ||
        refuse_newer(out, database, why, size) != 0)
        return -1;
    unsigned days = keep_days ? keep_days : out->version ? out->keep_days : SXS_FLEET_KEEP_DAYS;
    bool     changed = out->version && days != out->keep_days;
    if (tell(server, false, why, size, "CREATE DATABASE IF NOT EXISTS %s", database) != 0 ||
        tell_all(server, put_make, out, days, why, size) != 0 ||
        tell_all(server, put_upgrade, out, days, why, size) != 0)
        return -1;
    if (changed && out->codecs &&
        tell(server, true, why, size, "ALTER TABLE samples MODIFY TTL time + INTERVAL %u DAY",
             days) != 0)
        return -1;
    if ((changed || out->version < SXS_CLICKHOUSE_SCHEMA) &&
        tell(server, true, why, size,
             "INSERT INTO schema (version, keep_days, made) SELECT toUInt32(%u), toUInt32(%u), "
             "toDateTime(greatest(toUInt32(now()), toUInt32(max(made)) + 1)) FROM schema",
             SXS_CLICKHOUSE_SCHEMA, days) != 0)
        return -1;
    out->version = SXS_CLICKHOUSE_SCHEMA;
    out->keep_days = days;
    return 0;
}

int sxs_fleet_tables_expire(struct sxs_fleet_server *server, const struct sxs_fleet_tables *tables,
                            size_t *n, char *why, size_t size)
{
    struct sxs_fleet_answer days;
    char                   *sql = NULL;
    *n = 0;
    if (asprintf(&sql,
                 "SELECT DISTINCT partition FROM system.parts WHERE database = currentDatabase() "
                 "AND table = 'samples' AND active AND toDate(partition) < today() - %u "
                 "ORDER BY partition FORMAT TabSeparated",
                 tables->keep_days) < 0)
        sxs_must(NULL);
    int err = sxs_fleet_query(server, sql, true, &days, why, size);
    free(sql);
    for (char *at = days.bytes, *line; !err && (line = strsep(&at, "\n")) != NULL && *line;
         (*n)++) {
        if (strspn(line, "0123456789-") != 10 || line[10]) {
            snprintf(why, size, "the table samples has a partition that is no day");
            err = -1;
        } else {
            err = tell(server, true, why, size, "ALTER TABLE samples DROP PARTITION '%s'", line);
        }
    }
    sxs_fleet_answer_free(&days);
    return err;
}
