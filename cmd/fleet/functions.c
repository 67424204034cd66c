/* SPDX-License-Identifier: MIT */
#include "cmd/fleet/functions.h"

#include "cmd/clickhouse/encode.h"
#include "cmd/clickhouse/rows.h"
#include "cmd/fleet/rows.h"
#include "cmd/output/must.h"
#include "cmd/output/runtime_pairs.h"

#include <math.h>
#include <string.h>

/* ---- queries --------------------------------------------------------------------------------- */

/* Asks for the sums of a selection. */
static int ask_total(struct sxs_fleet_server *server, const struct sxs_fleet_selection *s,
                     uint64_t *count, uint64_t *value, char *why, size_t size)
{
    struct sxs_fleet_rows rows;
    char                 *sql = NULL;
    size_t                sql_size = 0;
    FILE                 *to = sxs_must(open_memstream(&sql, &sql_size));
    fputs("SELECT sum(count), sum(value) FROM samples WHERE ", to);
    sxs_fleet_where(to, s, false);
    fputs(" GROUP BY kind WITH TOTALS FORMAT TabSeparated", to);
    fclose(to);
    int err = sxs_fleet_rows(server, sxs_must(sql), 2, &rows, why, size);
    *count = rows.totals[0];
    *value = rows.totals[1];
    sxs_fleet_rows_free(&rows);
    free(sql);
    return err;
}

static void put_samples(FILE *to, const struct sxs_fleet_selection *s, bool other)
{
    fprintf(to, "SELECT stack, %s AS x, %s AS y FROM samples WHERE ",
            other ? "toUInt64(0)" : "value", other ? "value" : "toUInt64(0)");
    sxs_fleet_where(to, s, false);
}

/* Writes the query for the sums by frame. The big table is on the left of the join, which keeps
 * its right side in memory. A stack whose youngest frame is a type (`typed`) counts for the function
 * above it, too. FINAL: a stack that two machines inserted at once is there twice. */
static void put_sums(FILE *to, const struct sxs_fleet_selection *s,
                     const struct sxs_fleet_selection *other)
{
    static const char own[] = "frame = frames[-1] OR (typed = 1 AND frame = frames[-2])";
    fprintf(
        to,
        "SELECT frame, sum(if(%s, a, toUInt64(0))) AS sa, sum(a) AS ta, "
        "sum(if(%s, b, toUInt64(0))) AS sb, sum(b) AS tb FROM ("
        "SELECT stack, frames, typed, a, b FROM (SELECT stack, frames, typed FROM stacks FINAL) "
        "ANY INNER JOIN (SELECT stack, sum(x) AS a, sum(y) AS b FROM (",
        own, own);
    put_samples(to, s, false);
    if (other) {
        fputs(" UNION ALL ", to);
        put_samples(to, other, true);
    }
    fputs(") GROUP BY stack) USING stack) LEFT ARRAY JOIN arrayDistinct(frames) AS frame "
          "GROUP BY frame",
          to);
}

/* Asks for the frames of one selection with the largest sums. */
static int ask_heaviest(struct sxs_fleet_server *server, const struct sxs_fleet_selection *s,
                        size_t limit, struct sxs_fleet_functions *out, char *why, size_t size)
{
    enum { WIDTH = 5 };
    struct sxs_fleet_rows rows;
    char                 *sql = NULL;
    size_t                sql_size = 0;
    FILE                 *to = sxs_must(open_memstream(&sql, &sql_size));
    put_sums(to, s, NULL);
    fprintf(to, " WITH TOTALS ORDER BY sa DESC, ta DESC, frame LIMIT %zu FORMAT TabSeparated",
            limit);
    fclose(to);
    int err = sxs_fleet_rows(server, sxs_must(sql), WIDTH, &rows, why, size);
    out->all = sxs_must_zeroed(rows.n / WIDTH, sizeof(*out->all));
    for (size_t i = 0; i < rows.n; i += WIDTH) {
        const uint64_t *v = rows.all + i;
        out->all[out->n++] = (struct sxs_fleet_function){
            .frame = v[0], .other_frame = v[0], .self = v[1], .total = v[2]};
    }
    sxs_fleet_rows_free(&rows);
    free(sql);
    return err;
}

static struct sxs_fleet_sums take_sums(struct sxs_rows_reader *r)
{
    struct sxs_fleet_sums s = {.function = sxs_rows_get_u64(r)};
    size_t                size;
    s.frame = sxs_rows_get_u64(r);
    const char *version = sxs_rows_get_text(r, &size);
    s.version = sxs_must(strndup(version, size));
    for (int side = 0; side < 2; side++) {
        s.self[side] = sxs_rows_get_u64(r);
        s.total[side] = sxs_rows_get_u64(r);
    }
    return s;
}

/* Asks for the sums of all frames of two selections, and matches them. What identifies a function is
 * made by the server of the frames of runtimes; all other frames have 0. */
static int ask_compared(struct sxs_fleet_server *server, const struct sxs_fleet_selection *s,
                        const struct sxs_fleet_selection *other, size_t limit,
                        struct sxs_fleet_functions *out, char *why, size_t size)
{
    struct sxs_fleet_answer answer;
    struct sxs_fleet_sums  *sums = NULL;
    char                   *sql = NULL;
    size_t                  n = 0, cap = 0, sql_size = 0;
    FILE                   *to = sxs_must(open_memstream(&sql, &sql_size));
    fputs("SELECT function, frame, version, sa, ta, sb, tb FROM (", to);
    put_sums(to, s, other);
    fprintf(to,
            ") ANY LEFT JOIN (SELECT frame, cityHash64(name, file, flags) AS function, "
            "runtime AS version FROM frames WHERE bitAnd(flags, %u) != 0) USING frame "
            "FORMAT RowBinary",
            SXS_CLICKHOUSE_MANAGED | SXS_CLICKHOUSE_HOME);
    fclose(to);
    int err = sxs_fleet_query(server, sxs_must(sql), true, &answer, why, size);
    free(sql);
    struct sxs_rows_reader r = {(const uint8_t *)answer.bytes,
                                (const uint8_t *)answer.bytes + answer.size, false};
    while (!err && sxs_rows_more(&r)) {
        SXS_GROW(sums, n, cap);
        sums[n++] = take_sums(&r);
    }
    sxs_fleet_answer_free(&answer);
    if (!err && r.failed) {
        snprintf(why, size, "the server's answer is damaged");
        err = -1;
    }
    if (!err)
        sxs_fleet_match(sums, n, limit, out);
    for (size_t i = 0; i < n; i++)
        free(sums[i].version);
    free(sums);
    return err;
}

int sxs_fleet_functions(struct sxs_fleet_server *server, const struct sxs_fleet_selection *s,
                        const struct sxs_fleet_selection *other, size_t limit,
                        struct sxs_fleet_functions *out, char *why, size_t size)
{
    *out = (struct sxs_fleet_functions){0};
    int err = ask_total(server, s, &out->count, &out->value, why, size);
    if (!err && other)
        err = ask_total(server, other, &out->other_count, &out->other_value, why, size);
    if (err)
        return err;
    return other ? ask_compared(server, s, other, limit, out, why, size)
                 : ask_heaviest(server, s, limit, out, why, size);
}

/* ---- matching -------------------------------------------------------------------------------- */

/* The frames of one function that are in one selection. */
struct side {
    const struct sxs_fleet_sums **rows;               /* borrowed; newest version first */
    uint32_t                     *runtimes, *partner; /* as in struct sxs_runtimes_of */
    size_t                        n;
};

struct matching {
    struct sxs_fleet_functions *out;
    struct sxs_runtime_pairs    pairs;
    struct side                 of[2];
};

/* The order of functions, and of the versions of each as in struct sxs_runtime_pairs. */
static int by_function(const void *a, const void *b)
{
    const struct sxs_fleet_sums *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    int order = sxs_runtime_newest_first(x->version, y->version);
    return order ? order : (x->frame > y->frame) - (x->frame < y->frame);
}

/* Adds a function. @a, @b: its frames in the two selections; NULL: it is not there. */
static void add_function(struct sxs_fleet_functions *out, const struct sxs_fleet_sums *a,
                         const struct sxs_fleet_sums *b)
{
    struct sxs_fleet_function f = {0};
    if (a) {
        f.frame = f.other_frame = a->frame;
        f.self = a->self[0];
        f.total = a->total[0];
    }
    if (b) {
        f.frame = a ? f.frame : b->frame;
        f.other_frame = b->frame;
        f.other_self = b->self[1];
        f.other_total = b->total[1];
    }
    SXS_GROW(out->all, out->n, out->cap);
    out->all[out->n++] = f;
}

/* Matches the frames of one function. A frame without weight is a function of its own, and so is the
 * second one of a version, which is there when this program has begun to number frames in another
 * way. */
static void match_function(struct matching *g, const struct sxs_fleet_sums *rows, size_t n)
{
    struct side                 *a = &g->of[0], *b = &g->of[1];
    const struct sxs_fleet_sums *last = NULL;
    a->n = b->n = 0;
    for (const struct sxs_fleet_sums *row = rows; row < rows + n; row++) {
        if ((!row->total[0] && !row->total[1]) || !row->function ||
            (last && strcmp(last->version, row->version) == 0)) {
            add_function(g->out, row, row);
            continue;
        }
        last = row;
        for (int i = 0; i < 2; i++) {
            struct side *s = &g->of[i];
            if (!row->total[i])
                continue;
            s->rows[s->n] = row;
            s->runtimes[s->n++] = sxs_runtime_pairs_find(&g->pairs, i, row->version, 0);
        }
    }
    const struct sxs_runtimes_of have[2] = {{a->runtimes, a->partner, a->n},
                                            {b->runtimes, b->partner, b->n}};
    sxs_runtime_pairs_choose(&g->pairs, have);
    for (size_t i = 0; i < a->n; i++)
        add_function(g->out, a->rows[i], a->partner[i] ? b->rows[a->partner[i] - 1] : NULL);
    for (size_t i = 0; i < b->n; i++)
        if (!b->partner[i])
            add_function(g->out, NULL, b->rows[i]);
}

static double change(uint64_t a, uint64_t of_a, uint64_t b, uint64_t of_b)
{
    return fabs((double)a / (double)(of_a ? of_a : 1) - (double)b / (double)(of_b ? of_b : 1));
}

static const struct sxs_fleet_functions *sorted; /* for qsort(), which passes no argument */

static int by_change(const void *x, const void *y)
{
    const struct sxs_fleet_function *f = x, *g = y;
    uint64_t                         a = sorted->value, b = sorted->other_value;
    double by = change(g->self, a, g->other_self, b) - change(f->self, a, f->other_self, b);
    if (!(fabs(by) > 0))
        by = change(g->total, a, g->other_total, b) - change(f->total, a, f->other_total, b);
    if (fabs(by) > 0)
        return by > 0 ? 1 : -1;
    return f->frame != g->frame
               ? (f->frame > g->frame ? 1 : -1)
               : (f->other_frame > g->other_frame) - (f->other_frame < g->other_frame);
}

void sxs_fleet_match(struct sxs_fleet_sums *sums, size_t n, size_t limit,
                     struct sxs_fleet_functions *out)
{
    struct matching g = {.out = out};
    for (int side = 0; side < 2; side++) {
        g.of[side].rows = sxs_must_zeroed(n, sizeof(*g.of[side].rows));
        g.of[side].runtimes = sxs_must_zeroed(n, sizeof(*g.of[side].runtimes));
        g.of[side].partner = sxs_must_zeroed(n, sizeof(*g.of[side].partner));
        for (size_t i = 0; i < n; i++)
            if (sums[i].function && sums[i].total[side])
                sxs_runtime_pairs_add(&g.pairs, side, sums[i].version, 0);
    }
    sxs_runtime_pairs_match(&g.pairs);
    if (n)
        qsort(sums, n, sizeof(*sums), by_function);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && sums[end].function == sums[i].function; end++)
            ;
        match_function(&g, sums + i, end - i);
    }
    for (int side = 0; side < 2; side++) {
        free(g.of[side].rows);
        free(g.of[side].runtimes);
        free(g.of[side].partner);
    }
    sxs_runtime_pairs_free(&g.pairs);
    sorted = out;
    if (out->n)
        qsort(out->all, out->n, sizeof(*out->all), by_change);
    if (out->n > limit)
        out->n = limit;
}
