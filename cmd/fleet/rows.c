/* SPDX-License-Identifier: MIT */
#include "cmd/fleet/rows.h"

#include "cmd/clickhouse/rows.h"
#include "cmd/clickhouse/sql.h"
#include "cmd/output/must.h"

#include <string.h>

/* ---- numbers --------------------------------------------------------------------------------- */

/* Reads one line of @width numbers. Returns what follows it, or NULL. */
static const char *read_line(const char *text, size_t width, uint64_t *out)
{
    for (size_t i = 0; i < width; i++) {
        char *end;
        if (*text < '0' || *text > '9')
            return NULL;
        out[i] = strtoull(text, &end, 10);
        if (*end != (i + 1 < width ? '\t' : '\n'))
            return NULL;
        text = end + 1;
    }
    return text;
}

int sxs_fleet_rows_read(const char *text, size_t width, struct sxs_fleet_rows *out)
{
    uint64_t row[SXS_FLEET_MAX_WIDTH];
    *out = (struct sxs_fleet_rows){.width = width};
    while (*text && *text != '\n') {
        text = read_line(text, width, row);
        if (!text)
            return -1;
        for (size_t i = 0; i < width; i++) {
            SXS_GROW(out->all, out->n, out->cap);
            out->all[out->n++] = row[i];
        }
    }
    if (!*text) /* no row and no totals: nothing was found */
        return out->n ? -1 : 0;
    text = read_line(text + 1, width, out->totals);
    return text && !*text ? 0 : -1;
}

int sxs_fleet_rows(struct sxs_fleet_server *server, const char *sql, size_t width,
                   struct sxs_fleet_rows *out, char *why, size_t size)
{
    struct sxs_fleet_answer answer;
    *out = (struct sxs_fleet_rows){0};
    int err = sxs_fleet_query(server, sql, true, &answer, why, size);
    if (!err && sxs_fleet_rows_read(answer.bytes, width, out) != 0) {
        snprintf(why, size, "the server's answer is damaged");
        err = -1;
    }
    sxs_fleet_answer_free(&answer);
    return err;
}

void sxs_fleet_rows_free(struct sxs_fleet_rows *r)
{
    free(r->all);
    *r = (struct sxs_fleet_rows){0};
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void put_group_name(FILE *to, const char *by)
{
    if (sxs_fleet_place(by) == SXS_FLEET_TRACE) {
        fputs(SXS_FLEET_TRACE_SQL, to);
    } else if (sxs_fleet_place(by) == SXS_FLEET_LABEL) {
        fputs("labels.value[indexOf(labels.key, ", to);
        sxs_sql_text(to, by);
        fputs(")]", to);
    } else {
        fputs(by, to); /* a name of this program's own list */
    }
}

static void put_groups(FILE *to, const struct sxs_fleet_selection *s, const char *by, size_t limit)
{
    enum sxs_fleet_place place = by ? sxs_fleet_place(by) : SXS_FLEET_OF_SOURCE;
    const char          *key = place == SXS_FLEET_OF_STACK ? "stack"
                               : place == SXS_FLEET_TRACE  ? "trace"
                                                           : "source";
    fputs("SELECT t, d, sum(n), sum(v), sum(c), count() FROM (SELECT t, n, v, c, d FROM (SELECT ",
          to);
    if (s->step)
        fprintf(to, "toUInt32(intDiv(toUInt32(time), %lld) * %lld)", (long long)s->step,
                (long long)s->step);
    else
        fputs("toUInt32(0)", to);
    fprintf(to,
            " AS t, %s, sum(if(kind = 'batch', toUInt64(0), count)) AS n, "
            "sum(if(kind = 'batch', toUInt64(0), value)) AS v, "
            "sum(if(kind = 'batch', value, toUInt64(0))) AS c FROM samples WHERE ",
            key);
    sxs_fleet_where(to, s, !sxs_clickhouse_kind_is_state(s->kind));
    fprintf(to, " GROUP BY t, %s) ANY LEFT JOIN (SELECT %s, ", key, key);
    if (by)
        put_group_name(to, by);
    else
        fputs("''", to);
    if (place == SXS_FLEET_TRACE)
        fputs(" AS d FROM samples GROUP BY trace)", to);
    else
        fprintf(to, " AS d FROM %ss)", key);
    fprintf(to, " USING %s) GROUP BY t, d ORDER BY t, d LIMIT %zu FORMAT RowBinary", key, limit);
}

static void take_group(struct sxs_fleet_groups *out, struct sxs_rows_reader *r, bool state,
                       bool by_stack)
{
    size_t                 size;
    struct sxs_fleet_group g = {.time = sxs_rows_get_u32(r)};
    const char            *name = sxs_rows_get_text(r, &size);
    g.name = sxs_must(strndup(name, size));
    g.count = sxs_rows_get_u64(r);
    g.value = sxs_rows_get_u64(r);
    g.covered_ns = sxs_rows_get_u64(r);
    g.processes = sxs_rows_get_u64(r);
    if (!state || by_stack)
        g.processes = 0;
    SXS_GROW(out->all, out->n, out->cap);
    out->all[out->n++] = g;
}

/* With groups of stacks or traces, the rows of batches are in a group "" of their own: what they cover is the
 * same for all groups of that time. */
static void share_covered(struct sxs_fleet_groups *g)
{
    size_t kept = 0;
    for (size_t i = 0, end; i < g->n; i = end) {
        uint64_t covered = 0;
        for (end = i; end < g->n && g->all[end].time == g->all[i].time; end++)
            covered += g->all[end].covered_ns;
        for (size_t k = i; k < end; k++) {
            g->all[k].covered_ns = covered;
            if (g->all[k].count || g->all[k].value)
                g->all[kept++] = g->all[k];
            else
                free(g->all[k].name);
        }
    }
    g->n = kept;
}

int sxs_fleet_groups(struct sxs_fleet_server *server, const struct sxs_fleet_selection *s,
                     int64_t step, const char *by, size_t limit, struct sxs_fleet_groups *out,
                     char *why, size_t size)
{
    struct sxs_fleet_answer answer;
    char                   *sql = NULL;
    size_t                  sql_size = 0;
    FILE                   *to = sxs_must(open_memstream(&sql, &sql_size));
    bool                    by_stack =
        by && (sxs_fleet_place(by) == SXS_FLEET_OF_STACK || sxs_fleet_place(by) == SXS_FLEET_TRACE);
    *out = (struct sxs_fleet_groups){0};
    struct sxs_fleet_selection of = *s;
    of.step = step;
    put_groups(to, &of, by, limit);
    fclose(to);
    int                    err = sxs_fleet_query(server, sxs_must(sql), true, &answer, why, size);
    struct sxs_rows_reader r = {(const uint8_t *)answer.bytes,
                                (const uint8_t *)answer.bytes + answer.size, false};
    while (!err && sxs_rows_more(&r))
        take_group(out, &r, sxs_clickhouse_kind_is_state(s->kind), by_stack);
    if (!err && r.failed) {
        snprintf(why, size, "the server's answer is damaged");
        err = -1;
    }
    if (by_stack)
        share_covered(out);
    sxs_fleet_answer_free(&answer);
    free(sql);
    return err;
}

void sxs_fleet_groups_free(struct sxs_fleet_groups *g)
{
    for (size_t i = 0; i < g->n; i++)
        free(g->all[i].name);
    free(g->all);
    *g = (struct sxs_fleet_groups){0};
}
