/* SPDX-License-Identifier: MIT */
#include "cmd/clickhouse/insert.h"

#include "cmd/clickhouse/sql.h"
#include "cmd/output/must.h"

#include <string.h>

/* The columns of the rows. `layout` has a letter for each: its bytes, t: a text, T: texts, a:
 * numbers of 8 bytes, f: 16 bytes. The first column is the ID. */
static const struct {
    const char *name, *key, *layout, *structure;
} tables[SXS_CLICKHOUSE_N_TABLES] = {
    [SXS_CLICKHOUSE_FRAMES] =
        {"frames", "frame", "8ttt2",
         "frame UInt64, name String, file String, runtime String, flags UInt16"},
    [SXS_CLICKHOUSE_STACKS] = {"stacks", "stack", "8t1tt1a",
                               "stack UInt64, thread String, root UInt8, class String, "
                               "runtime String, typed UInt8, frames Array(UInt64)"},
    [SXS_CLICKHOUSE_SOURCES] = {"sources", "source", "88ttttttTTT4",
                                "source UInt64, service_id UInt64, service String, version String, "
                                "machine String, container String, process String, command String, "
                                "runtimes Array(String), labels.key Array(String), "
                                "labels.value Array(String), seen DateTime"},
    [SXS_CLICKHOUSE_SAMPLES] = {"samples", NULL, "81848888f",
                                "service UInt64, kind Int8, stack UInt64, time DateTime, "
                                "source UInt64, count UInt64, value UInt64, batch UInt64, "
                                "trace FixedString(16)"},
};

const char *sxs_clickhouse_structure(enum sxs_clickhouse_table table)
{
    return tables[table].structure;
}

/* ---- sets of IDs ----------------------------------------------------------------------------- */

/* IDs are hashes already. */
static uint32_t hash_of(uint64_t id)
{
    return (uint32_t)(id >> 32) ^ (uint32_t)id;
}

bool sxs_clickhouse_ids_have(const struct sxs_clickhouse_ids *ids, uint64_t id)
{
    uint32_t hash = hash_of(id), number;
    size_t   at = hash;
    if (!ids->index.n)
        return false;
    for (; (number = sxs_index_next(&ids->index, hash, &at)) != 0; at++)
        if (ids->all[number - 1] == id)
            return true;
    return false;
}

bool sxs_clickhouse_ids_add(struct sxs_clickhouse_ids *ids, uint64_t id)
{
    uint32_t hash = hash_of(id), number;
    size_t   at = hash;
    if (sxs_index_reserve(&ids->index) != 0)
        sxs_must(NULL);
    for (; (number = sxs_index_next(&ids->index, hash, &at)) != 0; at++)
        if (ids->all[number - 1] == id)
            return false;
    sxs_index_put(&ids->index, at, hash, ids->n);
    SXS_GROW(ids->all, ids->n, ids->cap);
    ids->all[ids->n++] = id;
    return true;
}

void sxs_clickhouse_ids_free(struct sxs_clickhouse_ids *ids)
{
    sxs_index_free(&ids->index);
    free(ids->all);
    *ids = (struct sxs_clickhouse_ids){0};
}

void sxs_clickhouse_forget(struct sxs_clickhouse_known *known)
{
    for (size_t i = 0; i < SXS_CLICKHOUSE_SAMPLES; i++)
        sxs_clickhouse_ids_free(&known->of[i]);
}

void sxs_clickhouse_learn(struct sxs_clickhouse_known *known, const struct sxs_clickhouse_joined *j,
                          enum sxs_clickhouse_table table)
{
    for (size_t i = 0; table != SXS_CLICKHOUSE_SAMPLES && i < j->in.of[table].n; i++)
        sxs_clickhouse_ids_add(&known->of[table], j->in.of[table].all[i]);
}

/* ---- joining --------------------------------------------------------------------------------- */

static void skip_bytes(struct sxs_rows_reader *r, size_t size)
{
    if (r->failed || (size_t)(r->end - r->at) < size)
        r->failed = true;
    else
        r->at += size;
}

static void skip_column(struct sxs_rows_reader *r, char layout)
{
    size_t size;
    switch (layout) {
    case 't': sxs_rows_get_text(r, &size); break;
    case 'T':
        for (size_t n = sxs_rows_get_count(r, 1); n-- > 0 && !r->failed;)
            sxs_rows_get_text(r, &size);
        break;
    case 'f': skip_bytes(r, 16); break;
    case 'a': skip_bytes(r, 8 * sxs_rows_get_count(r, 8)); break;
    default: skip_bytes(r, (size_t)(layout - '0'));
    }
}

/* Notes what the statement says about samples. */
static void note_sample(struct sxs_clickhouse_joined *j, struct sxs_rows_reader r)
{
    uint64_t service = sxs_rows_get_u64(&r);
    uint8_t  kind = sxs_rows_get_u8(&r);
    uint64_t stack = sxs_rows_get_u64(&r);
    uint32_t time_s = sxs_rows_get_u32(&r);
    if (kind != SXS_CLICKHOUSE_BATCH)
        return;
    j->from_s = !j->batches.n || time_s < j->from_s ? time_s : j->from_s;
    j->to_s = time_s > j->to_s ? time_s : j->to_s;
    sxs_clickhouse_ids_add(&j->batches, stack);
    sxs_clickhouse_ids_add(&j->services, service);
}

int sxs_clickhouse_join(struct sxs_clickhouse_joined *j, const struct sxs_clickhouse_known *known,
                        enum sxs_clickhouse_table table, const void *rows, size_t size)
{
    struct sxs_rows_reader r = {rows, (const uint8_t *)rows + size, false};
    while (sxs_rows_more(&r)) {
        const struct sxs_rows_reader begin = r;
        uint64_t                     id = sxs_rows_get_u64(&r);
        for (const char *column = tables[table].layout + 1; *column; column++)
            skip_column(&r, *column);
        if (r.failed)
            break;
        if (table == SXS_CLICKHOUSE_SAMPLES)
            note_sample(j, begin);
        else if (sxs_clickhouse_ids_have(&known->of[table], id) ||
                 !sxs_clickhouse_ids_add(&j->in.of[table], id))
            continue;
        sxs_rows_bytes(&j->of[table], begin.at, (size_t)(r.at - begin.at));
    }
    return r.failed ? -1 : 0;
}

void sxs_clickhouse_joined_free(struct sxs_clickhouse_joined *j)
{
    for (size_t i = 0; i < SXS_CLICKHOUSE_N_TABLES; i++)
        sxs_rows_free(&j->of[i]);
    sxs_clickhouse_forget(&j->in);
    sxs_clickhouse_ids_free(&j->batches);
    sxs_clickhouse_ids_free(&j->services);
    *j = (struct sxs_clickhouse_joined){.from_s = 0};
}

/* ---- statements ------------------------------------------------------------------------------ */

/* Writes the names of the columns: the words that are followed by a type. */
static void put_names(FILE *to, const char *structure)
{
    for (const char *at = structure; at; at = strstr(at, ", ")) {
        at += at == structure ? 0 : 2;
        fprintf(to, "%s%.*s", at == structure ? "" : ",", (int)strcspn(at, " "), at);
    }
}

static void put_ids(FILE *to, const struct sxs_clickhouse_ids *ids)
{
    for (size_t i = 0; i < ids->n; i++)
        fprintf(to, "%stoUInt64(%llu)", i ? "," : "(", (unsigned long long)ids->all[i]);
    fputs(ids->n ? ")" : "(toUInt64(0))", to);
}

/* The kind is a number there, because old servers split a structure at all spaces. It goes through
 * its name into the column: the column may be of another version of the tables, and numbers that it
 * does not know would get into it, names do not. */
static void put_samples(FILE *to, const struct sxs_clickhouse_joined *j)
{
    fputs("INSERT INTO samples (service,kind,stack,time,source,count,value,trace) SELECT "
          "service,CAST(CAST(kind, ",
          to);
    sxs_sql_text(to, SXS_CLICKHOUSE_KINDS);
    fputs("),'String'),stack,time,source,count,value,trace FROM _data WHERE batch NOT IN (SELECT "
          "stack "
          "FROM samples WHERE service IN ",
          to);
    put_ids(to, &j->services);
    fputs(" AND kind = 'batch' AND stack IN ", to);
    put_ids(to, &j->batches);
    fprintf(to, " AND time >= toDateTime(%lu) AND time <= toDateTime(%lu))",
            (unsigned long)j->from_s, (unsigned long)j->to_s);
}

void sxs_clickhouse_insert_sql(FILE *to, enum sxs_clickhouse_table table,
                               const struct sxs_clickhouse_joined *j)
{
    const char *name = tables[table].name, *key = tables[table].key;
    if (table == SXS_CLICKHOUSE_SAMPLES) {
        put_samples(to, j);
        return;
    }
    fprintf(to, "INSERT INTO %s (", name);
    put_names(to, tables[table].structure);
    fputs(") SELECT ", to);
    put_names(to, tables[table].structure);
    fprintf(to,
            " FROM _data WHERE %s NOT IN (SELECT %s FROM %s WHERE %s IN (SELECT %s FROM _data)) "
            "LIMIT 1 BY %s",
            key, key, name, key, key, key);
}
