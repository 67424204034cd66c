/* SPDX-License-Identifier: MIT */
/*
 * Each insert is a statement in the URL and its rows in the body, as the external table _data of a
 * form: only so can a statement look at the rows before it inserts them.
 */
#include "cmd/fleet/joining.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "cmd/clickhouse/address.h"
#include "cmd/clickhouse/insert.h"
#include "cmd/clickhouse/sql.h"
#include "cmd/output/must.h"
#include "cmd/push/out.h"

/* After so long, frames and stacks are sent again; and when so many are known. */
enum { REMEMBER_S = 3600, MAX_KNOWN = 1 << 20 };

struct fleet_joining {
    char                        *database; /* owned */
    uint64_t                     sender;
    struct sxs_clickhouse_known  known;
    time_t                       since;  /* CLOCK_MONOTONIC: when `known` was empty */
    struct sxs_clickhouse_joined joined; /* of the last join */
    enum sxs_clickhouse_table    tables[SXS_CLICKHOUSE_N_TABLES]; /* of its requests */
    size_t                       n_tables;
};

static time_t now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

void *sxs_fleet_joining_open(const struct sxs_push_settings *s, const char *sender)
{
    struct fleet_joining         *j = sxs_must_zeroed(1, sizeof(*j));
    struct sxs_clickhouse_address address;
    char                          why[400];
    if (sxs_clickhouse_address_parse(s->to, &address, why, sizeof(why)) == 0)
        j->database = sxs_must(strdup(address.database));
    sxs_clickhouse_address_free(&address);
    j->sender = sxs_hash_bytes(s->machine, strlen(s->machine) + 1, 21);
    j->sender = sxs_hash_bytes(sender, strlen(sender), j->sender);
    j->since = now_s();
    return j;
}

void sxs_fleet_joining_close(void *joining)
{
    struct fleet_joining *j = joining;
    sxs_clickhouse_joined_free(&j->joined);
    sxs_clickhouse_forget(&j->known);
    free(j->database);
    free(j);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Builds the path of a request: the statement, its external table, and its ID. */
static char *make_path(const struct fleet_joining *j, enum sxs_clickhouse_table table)
{
    char  *path = NULL, *sql = NULL;
    size_t size, sql_size;
    FILE  *to = sxs_must(open_memstream(&sql, &sql_size));
    sxs_clickhouse_insert_sql(to, table, &j->joined);
    fclose(to);
    to = sxs_must(open_memstream(&path, &size));
    fprintf(to, "/?database=%s&query_id=sxsprof-%016llx-%d&query=", j->database,
            (unsigned long long)j->sender, (int)table);
    sxs_url_text(to, sxs_must(sql));
    fputs("&_data_format=RowBinary&_data_structure=", to);
    sxs_url_text(to, sxs_clickhouse_structure(table));
    fclose(to);
    free(sql);
    return sxs_must(path);
}

/* Chooses a boundary that does not occur in the rows. */
static void choose_boundary(const struct sxs_rows *rows, uint64_t seed, char *buf, size_t size)
{
    do
        snprintf(buf, size, "sxsprof-%016llx", (unsigned long long)seed++);
    while (rows->size && memmem(rows->bytes, rows->size, buf, strlen(buf)));
}

static int emit(struct fleet_joining *j, enum sxs_clickhouse_table table, struct sxs_push_out *out)
{
    const struct sxs_rows *rows = &j->joined.of[table];
    char                   boundary[40], type[120], text[200];
    struct sxs_rows        body = {0};
    char                  *path = make_path(j, table);
    choose_boundary(rows, j->sender, boundary, sizeof(boundary));
    snprintf(type, sizeof(type), "multipart/form-data; boundary=%s", boundary);
    snprintf(text, sizeof(text),
             "--%s\r\nContent-Disposition: form-data; name=\"_data\"; filename=\"rows\"\r\n"
             "Content-Type: application/octet-stream\r\n\r\n",
             boundary);
    sxs_rows_bytes(&body, text, strlen(text));
    sxs_rows_bytes(&body, rows->bytes, rows->size);
    snprintf(text, sizeof(text), "\r\n--%s--\r\n", boundary);
    sxs_rows_bytes(&body, text, strlen(text));
    const struct sxs_push_request r = {path, type, NULL, body.bytes, body.size};
    int                           err = sxs_push_emit(out, &r);
    j->tables[j->n_tables++] = table;
    sxs_rows_free(&body);
    free(path);
    return err;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Adds the rows of a batch. Returns 0 or a negative errno. */
static int take(struct fleet_joining *j, const struct sxs_push_out *batch)
{
    if (batch->n != 1 || strcmp(batch->requests[0].path, SXS_FLEET_ROWS) != 0)
        return -ENOTSUP; /* of a queue from an earlier version */
    const uint8_t         *at = batch->bytes + batch->requests[0].at;
    struct sxs_rows_reader r = {at, at + batch->requests[0].size, false};
    for (unsigned t = 0; t < SXS_CLICKHOUSE_N_TABLES; t++) {
        uint64_t size = sxs_rows_get_u64(&r);
        if (r.failed || size > (uint64_t)(r.end - r.at) ||
            sxs_clickhouse_join(&j->joined, &j->known, t, r.at, (size_t)size) != 0)
            return -EBADMSG;
        r.at += size;
    }
    return r.at == r.end ? 0 : -EBADMSG;
}

static void forget(struct fleet_joining *j)
{
    sxs_clickhouse_forget(&j->known);
    j->since = now_s();
}

int sxs_fleet_joining_join(void *joining, const struct sxs_push_out *const *batches, size_t n,
                           struct sxs_push_out *out)
{
    struct fleet_joining *j = joining;
    int                   err = 0;
    sxs_clickhouse_joined_free(&j->joined);
    j->n_tables = 0;
    if (now_s() - j->since >= REMEMBER_S || j->known.of[SXS_CLICKHOUSE_STACKS].n > MAX_KNOWN)
        forget(j);
    for (size_t i = 0; i < n && !err; i++)
        err = take(j, batches[i]);
    for (unsigned t = 0; t < SXS_CLICKHOUSE_N_TABLES && !err; t++)
        if (j->joined.of[t].size)
            err = emit(j, t, out);
    return err;
}

void sxs_fleet_joining_accepted(void *joining, size_t i)
{
    struct fleet_joining *j = joining;
    sxs_clickhouse_learn(&j->known, &j->joined, j->tables[i]);
}

void sxs_fleet_joining_failed(void *joining)
{
    forget(joining);
}
