/* SPDX-License-Identifier: MIT */
#include "cmd/clickhouse/schema.h"

#include <string.h>

static const char *const kinds[SXS_CLICKHOUSE_N_KINDS] = {
    "batch", "cpu", "wall", "alloc", "native", "locks", "live", "native-live", "wait"};

const char *sxs_clickhouse_kind_name(enum sxs_clickhouse_kind kind)
{
    return kinds[kind];
}

enum sxs_clickhouse_kind sxs_clickhouse_kind_named(const char *name)
{
    for (unsigned k = SXS_CLICKHOUSE_CPU; k < SXS_CLICKHOUSE_N_KINDS; k++)
        if (strcmp(name, kinds[k]) == 0)
            return k;
    return SXS_CLICKHOUSE_BATCH;
}

const char *sxs_clickhouse_kind_names(void)
{
    return "cpu, wall, alloc, native, locks, live, native-live or wait";
}

unsigned sxs_clickhouse_kind_since(enum sxs_clickhouse_kind kind)
{
    return kind <= SXS_CLICKHOUSE_LOCKS ? 1 : 2;
}

bool sxs_clickhouse_kind_is_state(enum sxs_clickhouse_kind kind)
{
    return kind == SXS_CLICKHOUSE_LIVE || kind == SXS_CLICKHOUSE_NATIVE_LIVE;
}

bool sxs_clickhouse_kind_is_bytes(enum sxs_clickhouse_kind kind)
{
    return kind == SXS_CLICKHOUSE_ALLOC || kind == SXS_CLICKHOUSE_NATIVE ||
           sxs_clickhouse_kind_is_state(kind);
}

int sxs_clickhouse_server_parse(const char *version, struct sxs_clickhouse_server *out)
{
    *out = (struct sxs_clickhouse_server){0};
    if (sscanf(version, "%u.%u", &out->major, &out->minor) != 2)
        return -1;
    out->codecs =
        out->major >= 20; /* all codecs used below, and TTL, are in every release of 2020 */
    return 0;
}

struct schema_column {
    const char *name, *type, *codec; /* codec: NULL: the server's default */
};

struct schema_table {
    const char                 *name;
    const struct schema_column *columns;
    unsigned                    n_columns;
    const char                 *engine, *order;
    bool                        expires;
};

#define COLUMNS(...)                                        \
    .columns = (const struct schema_column[]){__VA_ARGS__}, \
    .n_columns =                                            \
        sizeof((const struct schema_column[]){__VA_ARGS__}) / sizeof(struct schema_column)

/* Equal rows of ReplacingMergeTree become one when parts are merged: frames, stacks and sources are
 * written by every machine. */
static const struct schema_table tables[] = {
    {.name = "frames",
     COLUMNS({"frame", "UInt64", NULL}, {"name", "String", "ZSTD(3)"},
             {"file", "String", "ZSTD(3)"}, {"runtime", "String", "ZSTD(3)"},
             {"flags", "UInt16", "ZSTD(3)"}),
     .engine = "ReplacingMergeTree",
     .order = "frame"},
    {.name = "stacks",
     COLUMNS({"stack", "UInt64", NULL}, {"thread", "String", "ZSTD(3)"},
             {"root", "UInt8", "ZSTD(3)"}, {"class", "String", "ZSTD(3)"},
             {"runtime", "String", "ZSTD(3)"}, {"typed", "UInt8", "ZSTD(3)"},
             {"frames", "Array(UInt64)", "ZSTD(3)"}),
     .engine = "ReplacingMergeTree",
     .order = "stack"},
    {.name = "sources",
     COLUMNS({"source", "UInt64", NULL}, {"service_id", "UInt64", NULL},
             {"service", "String", "ZSTD(3)"}, {"version", "String", "ZSTD(3)"},
             {"machine", "String", "ZSTD(3)"}, {"container", "String", "ZSTD(3)"},
             {"process", "String", "ZSTD(3)"}, {"command", "String", "ZSTD(3)"},
             {"runtimes", "Array(String)", "ZSTD(3)"},
             {"labels", "Nested(key String, value String)", NULL}, {"seen", "DateTime", "ZSTD(3)"}),
     .engine = "ReplacingMergeTree",
     .order = "source"},
    {.name = "samples",
     COLUMNS({"service", "UInt64", "ZSTD(1)"}, {"kind", SXS_CLICKHOUSE_KINDS, "ZSTD(1)"},
             {"stack", "UInt64", "ZSTD(1)"}, {"time", "DateTime", "DoubleDelta, ZSTD(1)"},
             {"source", "UInt64", "ZSTD(1)"}, {"count", "UInt64", "T64, ZSTD(1)"},
             {"value", "UInt64", "T64, ZSTD(1)"}, {"trace", "FixedString(16)", "ZSTD(1)"}),
     .engine = "MergeTree PARTITION BY toDate(time)",
     .order = "service, kind, stack, source, time",
     .expires = true},
    {.name = "schema",
     COLUMNS({"version", "UInt32", NULL}, {"keep_days", "UInt32", NULL},
             {"made", "DateTime", NULL}),
     .engine = "MergeTree",
     .order = "made"},
};

bool sxs_clickhouse_schema_sql(FILE *to, const struct sxs_clickhouse_server *server,
                               unsigned keep_days, unsigned i)
{
    if (i >= sizeof(tables) / sizeof(tables[0]))
        return false;
    const struct schema_table *t = &tables[i];
    fprintf(to, "CREATE TABLE IF NOT EXISTS %s (", t->name);
    for (unsigned c = 0; c < t->n_columns; c++) {
        fprintf(to, "%s%s %s", c ? ", " : "", t->columns[c].name, t->columns[c].type);
        if (server->codecs && t->columns[c].codec)
            fprintf(to, " CODEC(%s)", t->columns[c].codec);
    }
    fprintf(to, ") ENGINE = %s ORDER BY (%s)", t->engine, t->order);
    if (server->codecs && t->expires)
        fprintf(to, " TTL time + INTERVAL %u DAY SETTINGS ttl_only_drop_parts = 1", keep_days);
    return true;
}

bool sxs_clickhouse_upgrade_sql(FILE *to, unsigned from, unsigned i)
{
    static const struct {
        unsigned    from;
        const char *sql;
    } steps[] = {
        {1, "ALTER TABLE samples MODIFY COLUMN kind " SXS_CLICKHOUSE_KINDS},
    };
    for (size_t k = 0; from && k < sizeof(steps) / sizeof(steps[0]); k++)
        if (steps[k].from >= from && i-- == 0) {
            fputs(steps[k].sql, to);
            return true;
        }
    return false;
}
