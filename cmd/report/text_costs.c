/* SPDX-License-Identifier: MIT */
/* Text report of costs. Shares are shares of bytes or time, or of the number with --by-count. */
#include "cmd/report/text_costs.h"

#include "base/sum.h"
#include "cmd/costs/costs.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/text.h"
#include "cmd/report/costs.h"
#include "cmd/report/data_kind.h"
#include "runtime_facts/facts.h"

#include <string.h>

struct report {
    const struct sxs_model       *m;
    const struct sxs_model_costs *c;
    const struct sxs_data_kind   *kind;
    FILE                         *to;
    double                        n, value,
        weight; /* totals: how many, how much, and the one of them that shares are of */
    bool exact;
};

/* ---- numbers ---------------------------------------------------------------------------------- */

/* Formats a number with a comma after each three digits. */
static const char *count_text(double n, char *buf, size_t size)
{
    char   digits[32];
    size_t len =
        (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)sxs_cost_round(n));
    size_t at = 0;
    for (size_t i = 0; i < len && at + 2 < size; i++) {
        if (i && (len - i) % 3 == 0)
            buf[at++] = ',';
        buf[at++] = digits[i];
    }
    buf[at] = '\0';
    return buf;
}

/* Formats a sum of values: bytes or time, rounded first, so that it is the number of JSON. */
static const char *value_text(const struct report *r, double value, char *buf, size_t size)
{
    if (r->kind->unit == SXS_UNIT_BYTES)
        return sxs_text_bytes((double)sxs_cost_round(value), buf, size);
    return sxs_text_duration(sxs_cost_round(value), buf, size);
}

static double percent_of(double part, double all)
{
    return all > 0 ? 100 * part / all : 0;
}

static double weight_of(const struct report *r, double n, double value)
{
    return r->c->by_count ? n : value;
}

/* ---- errors ----------------------------------------------------------------------------------- */

static bool is_biased(const struct report *r, const struct sxs_cost_type *t)
{
    uint16_t runtime = sxs_costs_type_runtime(t);
    return runtime && sxs_costs_biased(&r->m->processes[sxs_costs_type_process(t)].head, r->c->kind,
                                       r->m->runtimes[runtime - 1].number);
}

static bool lacks_some(const struct report *r, const struct sxs_cost_type *t)
{
    return sxs_costs_dropped(&r->m->processes[sxs_costs_type_process(t)].head, r->c->kind) > 0;
}

static bool any_is_biased(const struct report *r)
{
    for (size_t i = 0; i < r->c->types.n; i++) {
        const struct sxs_cost_type *t = &r->c->types.all[i];
        if ((r->c->live ? t->live.records : t->all.records) && is_biased(r, t))
            return true;
    }
    return false;
}

/* Returns what is said of the error of a type, or NULL if it has an interval. @exact: the type was
 * counted. */
static const char *error_in_words(const struct report *r, const struct sxs_cost_type *t, bool exact)
{
    if (exact)
        return t->at_least ? "at least" : "exact";
    if (is_biased(r, t))
        return "unknown";
    if (lacks_some(r, t))
        return "at least";
    return r->c->interval <= 1 ? "exact" : NULL;
}

/* Formats how far the true value may be below and above an estimate: "-12.9 +14.3 %". */
static const char *error_text(struct sxs_cost_interval i, double of, char *buf, size_t size)
{
    snprintf(buf, size, "-%.1f +%.1f %%", percent_of(of - i.low, of), percent_of(i.high - of, of));
    return buf;
}

/* Writes the intervals of both sums, after how many samples they are estimated from. */
static void write_intervals(const struct report *r, const struct sxs_cost_sum *sum)
{
    struct sxs_cost_interval n = sxs_cost_interval_n(sum), value = sxs_cost_interval_value(sum);
    char                     a[48], b[48];
    sxs_print_to(r->to, "; in 19 of 20 runs the true value is %s to %s",
                 value_text(r, value.low, a, sizeof(a)), value_text(r, value.high, b, sizeof(b)));
    sxs_print_to(r->to, " in %s to %s %s)", count_text((double)sxs_cost_floor(n.low), a, sizeof(a)),
                 count_text((double)sxs_cost_ceil(n.high), b, sizeof(b)), r->kind->many);
}

/* Adds up the types that the runtime has not reported all objects of. Returns how many were counted;
 * @sampled: receives the sums of those that were recorded. */
static uint64_t sum_at_least(const struct report *r, struct sxs_cost_sum *sampled)
{
    uint64_t n = 0;
    *sampled = (struct sxs_cost_sum){0};
    for (size_t i = 0; r->exact && i < r->c->types.n; i++) {
        const struct sxs_cost_type *t = &r->c->types.all[i];
        if (!t->exact || !t->at_least)
            continue;
        sxs_sum_add(&n, t->n);
        sxs_cost_sum_join(sampled, &t->all);
    }
    return n;
}

static bool leaves_out_boxed(const struct sxs_runtime_facts *f)
{
    return f->leaves_out_boxed;
}

/* Says what the counts lack, and what the samples, which have everything, say of it. */
static void write_at_least(const struct report *r)
{
    struct sxs_cost_sum      sampled;
    struct sxs_cost_interval i;
    uint64_t                 n = sum_at_least(r, &sampled);
    char                     a[48], b[48], versions[SXS_FACTS_VERSIONS];
    if (!n)
        return;
    i = sxs_cost_interval_n(&sampled);
    sxs_print_to(
        r->to,
        "  counted too low: boxed values and delegates in .NET %s (\"at least\"), because the "
        "runtime does not "
        "report all\n  of those that code makes that is not optimized. %s of them were counted",
        sxs_facts_versions(leaves_out_boxed, true, versions), count_text((double)n, a, sizeof(a)));
    if (sampled.records)
        sxs_print_to(r->to, "; by the samples, which lack none, there are %s to %s",
                     count_text((double)sxs_cost_floor(i.low), a, sizeof(a)),
                     count_text((double)sxs_cost_ceil(i.high), b, sizeof(b)));
    fputs("\n", r->to);
}

/* ---- totals ----------------------------------------------------------------------------------- */

/* Names the runtimes whose objects were not chosen at random. */
static void write_biased(const struct report *r, const struct sxs_model_process *p)
{
    const char *before = "  not chosen at random: objects of runtime ";
    for (uint32_t number = 0; number < SXS_MAX_RUNTIMES; number++) {
        if (!sxs_costs_biased(&p->head, r->c->kind, number))
            continue;
        sxs_print_to(r->to, "%s%u", before, number);
        before = ", ";
    }
    if (before[0] == ',')
        fputs(". Estimates of a type may be wrong by any factor, and the error is not known: .NET "
              "8 and 9 "
              "report\n  objects in a rhythm of their own to a tool that is attached, or has the "
              "option "
              "ticks\n",
              r->to);
}

/* Says what the costs stood for that had no room in the file. */
static void write_dropped(const struct report *r, const struct sxs_samples_header *h)
{
    uint64_t n = atomic_load_explicit(&h->costs_dropped_n[r->c->kind], memory_order_relaxed);
    uint64_t value = atomic_load_explicit(&h->costs_dropped_value[r->c->kind], memory_order_relaxed);
    char     count[48], sum[48];
    fputs("  too low, because the file had no room for all: every number below that is not called exact",
          r->to);
    if (n)
        sxs_print_to(r->to, "; %s in %s %s are missing in all",
                     value_text(r, (double)value, sum, sizeof(sum)),
                     count_text((double)n, count, sizeof(count)),
                     n == 1 ? r->kind->one : r->kind->many);
    fputs("\n", r->to);
}

static void write_process(const struct report *r, const struct sxs_model_process *p)
{
    const struct sxs_samples_header *h = &p->head;
    uint64_t                         interval = h->cost_interval[r->c->kind];
    uint64_t                         dropped = sxs_costs_dropped(h, r->c->kind);
    char                             size[32];
    sxs_print_to(r->to, "process %s: %s\n", p->folder, h->command);
    if (interval > 1)
        sxs_print_to(r->to, "  one %s recorded for %s on average", r->kind->one,
                     sxs_text_bytes((double)interval, size, sizeof(size)));
    else
        sxs_print_to(r->to, "  every %s recorded", r->kind->one);
    sxs_print_to(r->to, ", %llu dropped%s\n", (unsigned long long)dropped,
                 atomic_load_explicit(&h->ended_ns, memory_order_relaxed)
                     ? ""
                     : ", still running or ended without saying so");
    if (dropped)
        write_dropped(r, h);
    if (sxs_costs_are_waits(r->c))
        fputs("  monitors and System.Threading.Lock; not SpinLock, class constructors, or waits "
              "that give "
              "up the thread (SemaphoreSlim.WaitAsync...)\n",
              r->to);
    uint64_t lost = atomic_load_explicit(&h->n_notes_dropped, memory_order_relaxed);
    if (r->c->live && lost)
        sxs_print_to(
            r->to,
            "  %llu notes of what is gone or alive were dropped: what is listed may be gone\n",
            (unsigned long long)lost);
    write_biased(r, p);
    if (r->c->live && !h->cost_live[r->c->kind])
        fputs("  which of them are gone was not recorded: none of them is listed\n", r->to);
}

static void sum_exact(struct report *r)
{
    for (size_t i = 0; i < r->c->types.n; i++) {
        const struct sxs_cost_type *t = &r->c->types.all[i];
        if (!t->exact)
            continue;
        r->n += (double)t->n;
        r->value += (double)t->value;
    }
}

/* Writes how much of what is listed may be garbage. */
static void write_unchecked(const struct report *r)
{
    const struct sxs_cost_sum *sum = &r->c->unchecked;
    char                       n[48], value[48];
    if (!r->c->live || !sum->records)
        return;
    sxs_print_to(r->to,
                 "may be garbage, because no collection of all objects came after it: %s in %s %s "
                 "(estimates from %s",
                 value_text(r, sum->value, value, sizeof(value)), count_text(sum->n, n, sizeof(n)),
                 r->kind->many, SXS_COUNT(sum->records, "sample"));
    if (any_is_biased(r) || r->c->dropped)
        fputs(")", r->to);
    else
        write_intervals(r, sum);
    fputs("\n", r->to);
}

static void write_total(const struct report *r)
{
    const struct sxs_cost_sum *sum = r->c->live ? &r->c->known : &r->c->all;
    struct sxs_cost_sum        at_least;
    bool                       lacks = r->c->dropped && (!r->exact || r->c->live);
    double                     all_n = r->c->live ? sum->n : r->n;
    double                     all_value = r->c->live ? sum->value : r->value;
    char                       n[48], value[48];
    sxs_print_to(r->to, "\n%s: %s%s in %s %s", r->kind->title,
                 sum_at_least(r, &at_least) || lacks ? "at least " : "",
                 value_text(r, all_value, value, sizeof(value)), count_text(all_n, n, sizeof(n)),
                 all_n > 0 && sxs_cost_round(all_n) == 1 ? r->kind->one : r->kind->many);
    if (r->exact && (r->c->interval > 1 || sum->var_n > 0))
        sxs_print_to(r->to, " (counted; the stacks are estimates from %s)",
                     SXS_COUNT(sum->records, "sample"));
    else if (!r->exact && sum->var_n > 0) {
        sxs_print_to(r->to, " (estimates from %s", SXS_COUNT(sum->records, "sample"));
        if (any_is_biased(r))
            fputs(", some not chosen at random: their error is not known)", r->to);
        else if (lacks)
            sxs_print_to(r->to, "; %llu more dropped)", (unsigned long long)r->c->dropped);
        else
            write_intervals(r, sum);
    }
    fputs("\n", r->to);
    write_unchecked(r);
    if (r->m->own_ns && r->c->by_count)
        sxs_print_to(r->to, "of these by sxsprof itself: %s\n",
                     count_text((double)r->m->own_ns, n, sizeof(n)));
    else if (r->m->own_ns)
        sxs_print_to(r->to, "of these by sxsprof itself: %s\n",
                     value_text(r, (double)r->m->own_ns, value, sizeof(value)));
    if (r->c->live && r->c->unfollowed.records)
        sxs_print_to(r->to, "not listed: %s in %s %s that nobody followed: too many at once\n",
                     value_text(r, r->c->unfollowed.value, value, sizeof(value)),
                     count_text(r->c->unfollowed.n, n, sizeof(n)), r->kind->many);
}

/* ---- types ------------------------------------------------------------------------------------ */

/* Writes "[8.0.29] System.String", with the process when there are several. */
static void write_type(const struct report *r, const struct sxs_cost_type *t)
{
    uint16_t runtime = sxs_costs_type_runtime(t);
    if (r->m->n_processes > 1)
        sxs_print_to(r->to, "%s/", r->m->processes[sxs_costs_type_process(t)].folder);
    if (runtime)
        sxs_print_to(r->to, "[%s] ", sxs_model_text(r->m, r->m->runtimes[runtime - 1].version));
    sxs_print_to(r->to, "%s", sxs_model_text(r->m, t->name));
}

static double type_n(const struct report *r, const struct sxs_cost_type *t)
{
    return r->c->live ? t->live.n : sxs_cost_type_n(t);
}

static double type_value(const struct report *r, const struct sxs_cost_type *t)
{
    return r->c->live ? t->live.value : sxs_cost_type_value(t);
}

static const struct report *sorted; /* for qsort(), which passes no argument; one thread */

static int by_weight(double x, double y, uint32_t a, uint32_t b)
{
    return x < y ? 1 : x > y ? -1 : (a > b) - (a < b);
}

static int heavier_type(const void *a, const void *b)
{
    uint32_t                    ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
    const struct sxs_cost_type *x = &sorted->c->types.all[ia], *y = &sorted->c->types.all[ib];
    return by_weight(weight_of(sorted, type_n(sorted, x), type_value(sorted, x)),
                     weight_of(sorted, type_n(sorted, y), type_value(sorted, y)), ia, ib);
}

static int heavier_call_site(const void *a, const void *b)
{
    uint32_t                   ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
    const struct sxs_cost_sum *x = &sorted->c->call_sites[ia].sum,
                              *y = &sorted->c->call_sites[ib].sum;
    return by_weight(weight_of(sorted, x->n, x->value), weight_of(sorted, y->n, y->value), ia, ib);
}

static uint32_t *sort_rows(const struct report *r, size_t n,
                           int (*compare)(const void *, const void *))
{
    uint32_t *all = sxs_must_zeroed(n, sizeof(*all));
    for (size_t i = 0; i < n; i++)
        all[i] = (uint32_t)i;
    sorted = r;
    if (n)
        qsort(all, n, sizeof(*all), compare);
    sorted = NULL;
    return all;
}

static void write_row_begin(const struct report *r, double n, double value)
{
    char count[48], sum[48];
    sxs_print_to(r->to, "  %11s  %6.2f %%  %13s", value_text(r, value, sum, sizeof(sum)),
                 percent_of(weight_of(r, n, value), r->weight),
                 count_text(n, count, sizeof(count)));
}

/* Says after a row how much of its bytes may be garbage. */
static void write_unchecked_part(const struct report *r, double part, double all)
{
    if (part > 0)
        sxs_print_to(r->to, "  (%.0f %% may be garbage)", percent_of(part, all));
}

static void write_type_row(const struct report *r, const struct sxs_cost_type *t)
{
    const struct sxs_cost_sum *sum = r->c->live ? &t->live : &t->all;
    bool                       exact = t->exact && !r->c->live;
    const char                *said = error_in_words(r, t, exact);
    double                     large = r->c->live ? 0 : sxs_cost_type_large(t);
    char                       text[48];
    write_row_begin(r, type_n(r, t), type_value(r, t));
    if (sxs_costs_are_waits(r->c))
        sxs_print_to(r->to, "  %11s", sxs_text_duration(t->longest, text, sizeof(text)));
    else if (said)
        sxs_print_to(r->to, "  %16s  %16s", said, said);
    else {
        sxs_print_to(r->to, "  %16s",
                     error_text(sxs_cost_interval_value(sum), sum->value, text, sizeof(text)));
        sxs_print_to(r->to, "  %16s",
                     error_text(sxs_cost_interval_n(sum), sum->n, text, sizeof(text)));
    }
    fputs("  ", r->to);
    write_type(r, t);
    if (large > 0)
        sxs_print_to(r->to, "  (%s on the large object heap)",
                     count_text(large, text, sizeof(text)));
    if (r->c->live)
        write_unchecked_part(r, t->unchecked.value, t->live.value);
    if (t->open && sxs_costs_are_waits(r->c))
        sxs_print_to(r->to, "  (%llu had not ended)", (unsigned long long)t->open);
    fputs("\n", r->to);
}

static void write_heading(const struct report *r, const char *title, const char *more)
{
    sxs_print_to(r->to, "\n%s\n  %11s     share  %13s%s\n", title,
                 r->kind->unit == SXS_UNIT_BYTES ? "bytes" : "total", r->kind->many, more);
}

/* The headings of the two columns of errors. */
static const char *kind_heading(const struct report *r, char *buf, size_t size)
{
    char many[32];
    snprintf(many, sizeof(many), "of %s", r->kind->many);
    snprintf(buf, size, "  %16s  %16s  type", "error of bytes", many);
    return buf;
}

static void write_types(const struct report *r, size_t top)
{
    char      heading[64];
    uint32_t *all = sort_rows(r, r->c->types.n, heavier_type);
    size_t    shown = 0, left = 0;
    write_heading(r, r->c->kind == SXS_COST_NATIVE ? "by kind" : "types",
                  sxs_costs_are_waits(r->c) ? "      longest  type"
                                            : kind_heading(r, heading, sizeof(heading)));
    for (size_t i = 0; i < r->c->types.n; i++) {
        const struct sxs_cost_type *t = &r->c->types.all[all[i]];
        if (type_n(r, t) <= 0 || (r->exact && !t->exact))
            continue;
        if (shown++ < top)
            write_type_row(r, t);
        else
            left++;
    }
    if (left)
        sxs_print_to(r->to, "  and %zu more\n", left);
    free(all);
}

/* ---- call sites ------------------------------------------------------------------------------ */

static void write_frame(const struct report *r, const char *what, uint32_t frame)
{
    static char text[70000];
    if (frame == UINT32_MAX)
        return;
    sxs_print_to(r->to, "%38s%-9s %s\n", "", what,
                 sxs_frame_text(r->m, frame, SXS_STYLE_FULL, text, sizeof(text)));
}

/* The generation that most of a call site's bytes are in: "gen 2, 98 %". */
static const char *generation_text(const struct sxs_cost_call_site *s, char *buf, size_t size)
{
    static const char *const names[] = {"gen 0",  "gen 1",  "gen 2", "large",
                                        "pinned", "frozen", "new"};
    size_t                   best = 0;
    double                   all = 0;
    for (size_t i = 0; i < SXS_COST_GENERATIONS; i++) {
        all += s->by_generation[i];
        best = s->by_generation[i] > s->by_generation[best] ? i : best;
    }
    if (percent_of(s->by_generation[best], all) >= 99.5)
        snprintf(buf, size, "%s", names[best]);
    else
        snprintf(buf, size, "%s %.0f %%", names[best], percent_of(s->by_generation[best], all));
    return buf;
}

static void write_call_site(const struct report *r, const struct sxs_cost_call_site *s)
{
    char a[48], b[48];
    write_row_begin(r, s->sum.n, s->sum.value);
    if (r->c->live) {
        if (r->c->kind == SXS_COST_ALLOCATION)
            sxs_print_to(r->to, "  %-11s", generation_text(s, a, sizeof(a)));
        sxs_print_to(r->to, "  %10s",
                     sxs_text_duration(sxs_cost_round(s->age_sum / s->sum.n), a, sizeof(a)));
        sxs_print_to(r->to, "  %10s", sxs_text_duration(s->oldest_ns, b, sizeof(b)));
    } else if (sxs_costs_are_waits(r->c)) {
        sxs_print_to(r->to, "  %11s", sxs_text_duration(s->longest, a, sizeof(a)));
    }
    fputs("  ", r->to);
    write_type(r, &r->c->types.all[s->type]);
    if (r->c->live)
        write_unchecked_part(r, s->unchecked, s->sum.value);
    if (s->open)
        sxs_print_to(r->to, "  (%llu had not ended)", (unsigned long long)s->open);
    fputs("\n", r->to);
    write_frame(r, "in", s->call_site);
    if (s->callee != s->call_site && !sxs_costs_are_waits(r->c))
        write_frame(r, "by", s->callee);
    write_frame(r, "held in", s->owner);
}

static void write_call_sites(const struct report *r, size_t top)
{
    uint32_t   *all = sort_rows(r, r->c->n_call_sites, heavier_call_site);
    const char *more = r->c->kind == SXS_COST_LOCK_OWNER ? "      longest  type, owner"
                       : sxs_costs_are_waits(r->c)       ? "      longest  type, waiter, owner"
                       : !r->c->live                     ? "  type, call site"
                       : r->c->kind == SXS_COST_NATIVE
                           ? "    mean age      oldest  kind, call site"
                           : "  generation     mean age      oldest  type, call site";
    write_heading(r,
                  r->c->live                  ? "what is kept, by allocation site"
                  : sxs_costs_are_waits(r->c) ? r->c->kind == SXS_COST_LOCK
                                                    ? "waits by call site"
                                                    : "waits by call site of the owner"
                                              : "allocation sites",
                  more);
    for (size_t i = 0; i < r->c->n_call_sites && i < top; i++)
        write_call_site(r, &r->c->call_sites[all[i]]);
    if (r->c->n_call_sites > top)
        sxs_print_to(r->to, "  and %zu more\n", r->c->n_call_sites - top);
    free(all);
}

/* ---- functions -------------------------------------------------------------------------------- */

static int heavier_self(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return by_weight((double)sorted->m->frames[x].self_ns, (double)sorted->m->frames[y].self_ns, x,
                     y);
}

static int heavier_total(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return by_weight((double)sorted->m->frames[x].total_ns, (double)sorted->m->frames[y].total_ns,
                     x, y);
}

static void write_functions(const struct report *r, bool by_self, size_t top)
{
    static char text[70000];
    uint32_t   *all = sort_rows(r, r->m->n_frames, by_self ? heavier_self : heavier_total);
    size_t      shown = 0;
    sxs_print_to(r->to, "\ntop functions by %s\n      self     total  function\n",
                 by_self ? "self" : "total");
    for (size_t i = 0; i < r->m->n_frames && shown < top; i++) {
        const struct sxs_model_frame *f = &r->m->frames[all[i]];
        if (f->flags & SXS_FRAME_TYPE)
            continue;
        if (by_self ? !f->self_ns : !f->total_ns)
            break;
        shown++;
        sxs_print_to(r->to, "  %6.2f %%  %6.2f %%  %s\n",
                     percent_of((double)f->self_ns, (double)r->m->total_ns),
                     percent_of((double)f->total_ns, (double)r->m->total_ns),
                     sxs_frame_text(r->m, all[i], SXS_STYLE_FULL, text, sizeof(text)));
    }
    free(all);
}

void sxs_text_costs(const struct sxs_model *m, const struct sxs_report_options *o, FILE *to)
{
    const struct sxs_model_costs *c = m->costs;
    const struct sxs_cost_sum    *sum = c->live ? &c->alive : &c->all;
    struct report                 r = {.m = m, .c = c, .kind = sxs_data_kind(m->data), .to = to};
    size_t                        top = o->top ? o->top : 30, some = o->top || o->brief ? top : 15;
    r.exact = c->exact && !c->live;
    for (size_t i = 0; i < m->n_processes; i++)
        write_process(&r, &m->processes[i]);
    write_at_least(&r);
    if (m->filtered_out)
        sxs_print_to(to, "%s %s not of what was asked for: left out\n",
                     SXS_COUNT(m->filtered_out, "sample"), m->filtered_out == 1 ? "is" : "are");
    if (m->merged)
        sxs_print_to(to, "counted at their callers, because there are more than %u stacks: %s\n",
                     SXS_MODEL_MAX_NODES, SXS_COUNT(m->merged, "frame"));
    if (r.exact) {
        sum_exact(&r);
    } else {
        r.n = sum->n;
        r.value = sum->value;
    }
    write_total(&r);
    if (r.n <= 0)
        return;
    r.weight = weight_of(&r, r.n, r.value);
    write_types(&r, top);
    r.weight = weight_of(&r, sum->n, sum->value); /* call sites are of what was sampled */
    write_call_sites(&r, some);
    if (o->brief || !sum->records)
        return;
    write_functions(&r, true, some);
    write_functions(&r, false, some);
}
