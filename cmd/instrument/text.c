/* SPDX-License-Identifier: MIT */
/* Text report: methods that got new IL, methods that failed first, then by calls. */
#include "cmd/output/text.h"
#include "cmd/instrument/instrument.h"
#include "cmd/output/print.h"
#include "cmd/output/processes.h"
#include "cmd/output/thread_list.h"

#include <stdlib.h>
#include <string.h>

#define TOP     30
#define TRACE_ENTRIES 200

typedef unsigned long long ull;

static int by_interest(const void *a, const void *b)
{
    const struct sxs_instrumented *x = *(const struct sxs_instrumented *const *)a;
    const struct sxs_instrumented *y = *(const struct sxs_instrumented *const *)b;
    int                            x_failed = x->state == SXS_INSTRUMENTED_FAILED,
        y_failed = y->state == SXS_INSTRUMENTED_FAILED;
    if (x_failed != y_failed)
        return y_failed - x_failed;
    if (x->calls != y->calls)
        return x->calls < y->calls ? 1 : -1;
    return strcmp(x->name, y->name) ? strcmp(x->name, y->name)
                                    : (x->runtime > y->runtime) - (x->runtime < y->runtime);
}

static void write_row(FILE *to, const struct sxs_instrument_process *p,
                      const struct sxs_instrumented *s)
{
    char name[1024], rules[512], total[32], mean[32];
    sxs_text_clean(s->label[0] ? s->label : s->name, name, sizeof(name));
    sxs_text_clean(s->state == SXS_INSTRUMENTED_FAILED ? s->reason : s->rules, rules,
                   sizeof(rules));
    sxs_print_to(to, "  %-8s %10llu %9llu %10s %10s  [%s] %s",
                 sxs_instrumented_state_text(s->state), (ull)s->calls, (ull)s->threw,
                 sxs_text_duration(s->total_ns, total, sizeof(total)),
                 sxs_text_duration(s->ended ? s->sum_ns / s->ended : 0, mean, sizeof(mean)),
                 sxs_process_version(p->process, s->runtime), name);
    if (s->swallowed)
        sxs_print_to(to, ", %s of what it calls swallowed", SXS_COUNT(s->swallowed, "exception"));
    sxs_print_to(to, s->state == SXS_INSTRUMENTED_FAILED ? ": %s\n" : " (%s)\n", rules);
}

/* Writes the time that the library spent on each kind of work. */
static void write_spent(FILE *to, const struct sxs_instrument_header *h)
{
    static const struct {
        enum sxs_spent_kind kind;
        const char         *text;
    } parts[] = {{SXS_SPENT_WEAVE, "a method"},
                 {SXS_SPENT_MATCH, "to match a module"},
                 {SXS_SPENT_REJIT, "to ask for a batch"}};
    const char *between = "  own work: ";
    char        mean[32], longest[32];
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const struct sxs_instrument_spent *s = &h->spent[parts[i].kind];
        if (!s->n)
            continue;
        sxs_print_to(to, "%s%s %s (%llu, the longest %s)", between,
                     sxs_text_duration(s->ns / s->n, mean, sizeof(mean)), parts[i].text, (ull)s->n,
                     sxs_text_duration(s->longest_ns, longest, sizeof(longest)));
        between = ", ";
    }
    if (*between == ',')
        fputc('\n', to);
}

static bool goes_well(const struct sxs_instrumented_rule *r)
{
    return r->gone || (r->matched && !r->without_il);
}

/* True when both rules matched nothing for the same reason. Files that name the methods of a
 * library contain many such rules when the library is not in use. */
static bool are_alike(const struct sxs_instrumented_rule *a, const struct sxs_instrumented_rule *b)
{
    return !a->matched && !b->matched && strcmp(a->text, b->text) == 0;
}

/* Returns the index of the first rule after @at that differs from the rule at @at. @n: receives the
 * number of equal rules, the one at @at included. */
static size_t behind_alike(const struct sxs_instrument_data *d, size_t at, size_t *n)
{
    const struct sxs_instrumented_rule *first = &d->rules[at];
    *n = 1;
    while (++at < d->n_rules) {
        if (goes_well(&d->rules[at]))
            continue;
        if (!are_alike(first, &d->rules[at]))
            break;
        ++*n;
    }
    return at;
}

static void write_rule(FILE *to, const struct sxs_instrumented_rule *r, size_t alike)
{
    char name[512], file[1024], text[1024];
    sxs_text_clean(r->name, name, sizeof(name));
    sxs_text_clean(r->file, file, sizeof(file));
    sxs_text_clean(r->text, text, sizeof(text));
    sxs_print_to(to, "  rule %s (%s:%u)", name, file, r->line);
    if (alike > 1)
        sxs_print_to(to, " and the next %zu", alike - 1);
    if (!r->matched)
        sxs_print_to(to, " matched nothing: %s\n", text);
    else
        sxs_print_to(to, " passed over %u without IL: %s\n", r->without_il, text);
}

/* Writes the rules that matched nothing, or methods without IL. */
static void write_rules(FILE *to, const struct sxs_instrument_data *d, size_t top)
{
    size_t lines = 0, more = 0, alike, next;
    for (size_t i = 0; i < d->n_rules; i = next) {
        const struct sxs_instrumented_rule *r = &d->rules[i];
        next = i + 1;
        if (goes_well(r))
            continue;
        next = behind_alike(d, i, &alike);
        if (lines++ < top)
            write_rule(to, r, alike);
        else
            more += alike;
    }
    if (more)
        sxs_print_to(to, "  and %s\n", SXS_COUNT(more, "more rule"));
}

static void write_helpers(FILE *to, const struct sxs_instrument_process *p)
{
    char text[4096];
    for (size_t i = 0; i < p->data->n_helpers; i++) {
        const struct sxs_instrument_called *h = &p->data->helpers[i];
        if (!h->threw && !h->failed)
            continue;
        sxs_text_clean(h->text, text, sizeof(text));
        sxs_print_to(to, "  [%s] %s: %s%llu exceptions swallowed\n",
                     sxs_process_version(p->process, h->runtime), text,
                     h->failed ? "cannot be loaded and is not called, " : "", (ull)h->threw);
    }
}

static void write_trace_entry(FILE *to, const struct sxs_instrument_process *p,
                              const struct sxs_traced_call *c)
{
    const struct sxs_instrumented *s = sxs_instrument_find(p->data, c->method);
    char name[1024], values[3 * SXS_TRACED_TEXT + 1], took[32];
    sxs_text_clean(!s ? "?" : s->label[0] ? s->label : s->name, name, sizeof(name));
    sxs_text_clean(c->arguments ? c->arguments : "", values, sizeof(values));
    sxs_print_to(to, "%12.6f %7u %-8s %*s%s",
                 (double)sxs_instrument_ns(p->data, c->started_tick) / 1e9, c->tid,
                 s ? sxs_process_version(p->process, s->runtime) : "?",
                 (int)(2 * (c->depth < 40 ? c->depth : 40)), "", name);
    if (c->arguments)
        sxs_print_to(to, "(%s)", values);
    if (c->result) {
        sxs_text_clean(c->result, values, sizeof(values));
        sxs_print_to(to, " = %s", values);
    }
    if (c->after) {
        sxs_text_clean(c->after, values, sizeof(values));
        sxs_print_to(to, ", then %s", values);
    }
    if (c->threw)
        fputs(" left by an exception", to);
    if (c->thrown) {
        sxs_text_clean(c->thrown, values, sizeof(values));
        sxs_print_to(to, ", %s", values);
    }
    if (c->ended)
        sxs_print_to(
            to, " <%s>\n",
            sxs_text_duration(sxs_instrument_duration(p->data, c->ended_tick - c->started_tick),
                              took, sizeof(took)));
    else
        fputs(" <no end recorded>\n", to);
}

static bool has_values(const struct sxs_traced_data *t)
{
    for (size_t i = 0; i < t->n_calls; i++)
        if (t->calls[i].arguments || t->calls[i].result || t->calls[i].after || t->calls[i].thrown)
            return true;
    return false;
}

/* Says in the first lines how many calls are missing among the traced calls. */
static void write_left_out(FILE *to, const struct sxs_traced_data *t)
{
    if (t->head.left_out)
        sxs_print_to(to,
                     "traced calls: %s%s left out, because more than %u a second were made "
                     "(--trace-rate); counts have them\n",
                     t->head.complete ? "" : "at least ", SXS_COUNT(t->head.left_out, "call"),
                     t->head.rate);
    if (t->head.lost)
        sxs_print_to(to, "traced calls: %s found no room (--trace-size); counts have them\n",
                     SXS_COUNT(t->head.lost, "record"));
}

static void write_trace_entries(FILE *to, const struct sxs_instrument_process *p,
                                size_t trace_entries)
{
    const struct sxs_traced_data *t = &p->data->traced;
    size_t                        n = trace_entries ? trace_entries : TRACE_ENTRIES;
    if (!t->n_calls || (!trace_entries && !has_values(t)))
        return;
    n = n < t->n_calls ? n : t->n_calls;
    sxs_print_to(to, "\nsingle calls of process %s, the first %zu of %zu\n%12s %7s %-8s call\n",
                 p->process->folder, n, t->n_calls, "s", "thread", "runtime");
    struct sxs_thread_list threads = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        write_trace_entry(to, p, &t->calls[i]);
        sxs_thread_list_add(&threads, t->calls[i].tid,
                            sxs_instrument_thread(p->data, &t->calls[i]));
    }
    sxs_thread_list_print(to, &threads);
}

static void write_process(FILE *to, const struct sxs_instrument_process *p, size_t top,
                          size_t trace_entries)
{
    const struct sxs_instrument_data *d = p->data;
    const struct sxs_instrumented   **rows = calloc(d->n_methods + 1, sizeof(*rows));
    size_t                            states[SXS_N_INSTRUMENTED_STATES] = {0};
    if (!rows)
        return;
    for (size_t i = 0; i < d->n_methods; i++) {
        rows[i] = &d->methods[i];
        states[rows[i]->state]++;
    }
    qsort(rows, d->n_methods, sizeof(*rows), by_interest);
    sxs_print_to(to, "instrumented: %s", SXS_COUNT(d->n_methods, "method"));
    for (int i = 0; i < SXS_N_INSTRUMENTED_STATES; i++)
        if (states[i])
            sxs_print_to(to, ", %zu %s", states[i], sxs_instrumented_state_text((uint8_t)i));
    fputc('\n', to);
    write_left_out(to, &d->traced);
    write_spent(to, &d->head);
    sxs_print_to(to, "  %-8s %10s %9s %10s %10s\n", "state", "calls", "threw", "total", "mean");
    for (size_t i = 0; i < d->n_methods && i < top; i++)
        write_row(to, p, rows[i]);
    if (d->n_methods > top)
        sxs_print_to(to, "  and %s\n", SXS_COUNT(d->n_methods - top, "more method"));
    free(rows);
    write_rules(to, d, top);
    write_helpers(to, p);
    write_trace_entries(to, p, trace_entries);
}

void sxs_instrument_text(FILE *to, const struct sxs_instrument_report *r, size_t top,
                         size_t trace_entries)
{
    for (size_t i = 0; i < r->n; i++)
        write_process(to, &r->processes[i], top ? top : TOP, trace_entries);
}
