/* SPDX-License-Identifier: MIT */
/* What changed between two sessions, as text: functions, and of costs types, with their weights before and
 * now. What changed by so little that it means nothing, or by no more than chance explains, is left out and
 * counted; cmd/page/page_change.js has the same limits for the boxes of the page. */
#include "cmd/report/format.h"

#include "cmd/costs/costs.h"
#include "cmd/output/missing.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/text.h"
#include "cmd/report/costs.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/merged.h"

#include <math.h>
#include <stdlib.h>

#define CHANCE      0.01  /* of one row or more, if nothing has changed */
#define LEAST_SHARE 0.005 /* half a point; of costs, of the larger session */
#define LEAST_PART  0.1   /* of the larger side */

struct frame_difference {
    uint32_t frame;
    uint64_t self[2], total[2]; /* before, now */
};

struct comparison {
    const struct sxs_model  *of[2]; /* before, now */
    struct sxs_merged        merged;
    struct frame_difference *rows; /* by frame of the merged model */
    size_t                   n;
    double                   limit; /* standard errors that chance does not explain */
};

/* Returns the value that a normal distribution exceeds with the probability @p (Abramowitz and Stegun,
 * 26.2.23). */
static double normal_limit(double p)
{
    const double t = sqrt(-2 * log(p));
    return t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

static double share(uint64_t part, const struct sxs_model *m)
{
    return m->total_ns ? (double)part / (double)m->total_ns : 0;
}

/* How many records stand after one unit of weight, on average; 0: every event was recorded. */
static double records_per_weight(const struct sxs_model *m)
{
    if (!m->costs || m->costs->interval <= 1 || !m->total_ns)
        return 0;
    const struct sxs_cost_sum *sum = m->costs->live ? &m->costs->alive : &m->costs->all;
    return (double)sum->records / (double)m->total_ns;
}

/* Costs are compared as they are, everything else as shares of each session. */
static double change_of(const struct comparison *c, const uint64_t weight[2])
{
    if (c->of[1]->costs)
        return (double)weight[1] - (double)weight[0];
    return share(weight[1], c->of[1]) - share(weight[0], c->of[0]);
}

static bool is_change(const struct comparison *c, const uint64_t weight[2])
{
    const struct sxs_model *was = c->of[0], *now = c->of[1];
    const double            d = fabs(change_of(c, weight));
    if (now->costs) {
        double larger = (double)(was->total_ns > now->total_ns ? was->total_ns : now->total_ns);
        double side = (double)(weight[0] > weight[1] ? weight[0] : weight[1]);
        double per = records_per_weight(now);
        return d > 0 && d >= LEAST_SHARE * larger && d >= LEAST_PART * side &&
               (per <= 0 ||
                d * per > c->limit * sqrt(((double)weight[0] + (double)weight[1]) * per));
    }
    const double p[] = {share(weight[0], was), share(weight[1], now)};
    if (d < LEAST_SHARE || d < LEAST_PART * fmax(p[0], p[1]))
        return false;
    if (now->data == SXS_DATA_CALLS)
        return true;
    const double n[] = {(double)(was->total ? was->total : 1),
                        (double)(now->total ? now->total : 1)};
    const double both = (p[0] * n[0] + p[1] * n[1]) / (n[0] + n[1]);
    return d > c->limit * sqrt(both * (1 - both) * (1 / n[0] + 1 / n[1]));
}

static void compare(struct comparison *c, const struct sxs_model *before,
                    const struct sxs_model *now)
{
    *c = (struct comparison){.of = {before, now}};
    sxs_merged_make(&c->merged, before, now);
    const struct sxs_model *both = &c->merged.both;
    c->n = both->n_frames;
    c->rows = sxs_must_zeroed(c->n, sizeof(*c->rows));
    c->limit = normal_limit(CHANCE / 4 / (double)(c->n ? c->n : 1)); /* each has self and total */
    for (int side = 1; side >= 0; side--) {
        sxs_merged_sum(&c->merged, side == 0);
        for (size_t i = 0; i < c->n; i++) {
            c->rows[i].frame = (uint32_t)i;
            c->rows[i].self[side] = both->frames[i].self_ns;
            c->rows[i].total[side] = both->frames[i].total_ns;
        }
    }
}

static const struct comparison *sorted; /* for qsort(), which passes no argument; one thread */

static int larger_change(const void *a, const void *b)
{
    const struct frame_difference *x = a, *y = b;
    double by_self = fabs(change_of(sorted, y->self)) - fabs(change_of(sorted, x->self));
    double by_total = fabs(change_of(sorted, y->total)) - fabs(change_of(sorted, x->total));
    double by = fabs(by_self) > 0 ? by_self : by_total;
    return by > 0 ? 1 : by < 0 ? -1 : (x->frame > y->frame) - (x->frame < y->frame);
}

static const char *weight_text(const struct sxs_model *m, uint64_t weight, char *buf, size_t size)
{
    if (m->unit == SXS_UNIT_BYTES)
        return sxs_text_bytes((double)weight, buf, size);
    if (m->unit == SXS_UNIT_COUNT)
        snprintf(buf, size, "%llu", (unsigned long long)weight);
    else
        sxs_text_duration(weight, buf, size);
    return buf;
}

static void put_side(const struct sxs_model *m, const char *when, const char *name, FILE *to)
{
    char                        weight[32];
    const struct sxs_data_kind *kind = sxs_data_kind(m->data);
    sxs_print_to(to, "%-7s %s: ", when, name);
    if (!m->costs)
        sxs_print_to(to, "%s, ", SXS_COUNT(m->total, kind->one));
    sxs_print_to(to, "%s%s\n", weight_text(m, m->total_ns, weight, sizeof(weight)),
                 m->costs ? m->unit == SXS_UNIT_COUNT ? kind->many : "" : "");
}

/* Formats a weight of one side as its row shows it. */
static const char *cell(const struct comparison *c, const uint64_t weight[2], int side, char *buf,
                        size_t size)
{
    if (c->of[1]->costs)
        return weight_text(c->of[1], weight[side], buf, size);
    snprintf(buf, size, "%.2f %%", 100 * share(weight[side], c->of[side]));
    return buf;
}

static const char *change_cell(const struct comparison *c, const uint64_t weight[2], char *buf,
                               size_t size)
{
    double change = change_of(c, weight);
    if (c->of[1]->costs) {
        buf[0] = change < 0 ? '-' : '+';
        weight_text(c->of[1], (uint64_t)fabs(change), buf + 1, size - 1);
    } else {
        snprintf(buf, size, "%+.2f", 100 * change);
    }
    return buf;
}

static void put_rows(struct comparison *c, bool types, size_t top, FILE *to)
{
    static char text[70000];
    char        cells[6][40];
    size_t      changed = 0, shown = 0, all = 0;
    sorted = c;
    qsort(c->rows, c->n, sizeof(*c->rows), larger_change);
    for (size_t i = 0; i < c->n; i++) {
        const struct frame_difference *r = &c->rows[i];
        if (types != ((c->merged.both.frames[r->frame].flags & SXS_FRAME_TYPE) != 0))
            continue;
        all++;
        if (!is_change(c, r->self) && !is_change(c, r->total))
            continue;
        if (!changed++)
            sxs_print_to(to, "\n%s that changed\n%12s %12s %12s %12s %12s %12s  %s\n",
                         types ? "types" : "functions", "self before", "self now", "change",
                         "total before", "total now", "change", types ? "type" : "function");
        if (shown >= top)
            continue;
        shown++;
        sxs_print_to(to, "%12s %12s %12s %12s %12s %12s  %s\n",
                     cell(c, r->self, 0, cells[0], sizeof(cells[0])),
                     cell(c, r->self, 1, cells[1], sizeof(cells[1])),
                     change_cell(c, r->self, cells[2], sizeof(cells[2])),
                     cell(c, r->total, 0, cells[3], sizeof(cells[3])),
                     cell(c, r->total, 1, cells[4], sizeof(cells[4])),
                     change_cell(c, r->total, cells[5], sizeof(cells[5])),
                     sxs_frame_text(&c->merged.both, r->frame, SXS_STYLE_FULL, text, sizeof(text)));
    }
    if (changed > shown)
        sxs_print_to(to, "  and %zu more\n", changed - shown);
    if (!all)
        return;
    if (!changed)
        fputs("\n", to);
    sxs_print_to(to, "not listed: %s that changed by less than %s or a tenth%s\n",
                 SXS_COUNT(all - changed, types ? "type" : "function"),
                 c->of[1]->costs ? "0.5 % of all" : "half a point",
                 c->of[1]->data == SXS_DATA_CALLS ||
                         (c->of[1]->costs && c->of[1]->costs->interval <= 1)
                     ? ""
                     : ", or by no more than chance explains");
}

int sxs_format_text_diff(const struct sxs_model *before, const struct sxs_model *now,
                         const char *const names[2], const struct sxs_missing missing[2],
                         const struct sxs_report_options *o, FILE *to)
{
    struct comparison c;
    size_t            top = o->top ? o->top : 30;
    compare(&c, before, now);
    put_side(before, "before", names[0], to);
    sxs_missing_text_of(to, "before", &missing[0]);
    put_side(now, "now", names[1], to);
    sxs_missing_text_of(to, "now", &missing[1]);
    if (now->costs)
        put_rows(&c, true, top, to);
    put_rows(&c, false, top, to);
    free(c.rows);
    sxs_merged_free(&c.merged);
    return 0;
}
