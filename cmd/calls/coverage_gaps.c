/* SPDX-License-Identifier: MIT */
/* Collects the coverage gaps of a process from its functions and notes. */
#include "cmd/calls/coverage_gaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct gap_collector {
    const struct sxs_calls     *c;
    struct sxs_gap_list                   *list;
    const struct sxs_calls_read_function **fns; /* sorted by runtime, token and file */
    uint32_t                   *rows; /* by function: index of its row of kind SXS_GAP_INLINED in
                                       * list, or SXS_CALLS_NONE */
    int                         err;
};

static void add_gap(struct gap_collector *o, enum sxs_gap_kind kind, uint32_t runtime,
                    const char *name, const char *detail, uint64_t count)
{
    struct sxs_gap_list *l = o->list;
    if (o->err)
        return;
    if (l->n == l->cap) {
        size_t             cap = l->cap ? l->cap * 2 : 64;
        struct sxs_gap    *more = reallocarray(l->all, cap, sizeof(*more));
        if (!more) {
            o->err = ENOMEM;
            return;
        }
        l->all = more;
        l->cap = cap;
    }
    l->all[l->n] = (struct sxs_gap){kind, runtime, strdup(name), strdup(detail), count};
    if (!l->all[l->n].name || !l->all[l->n].detail)
        o->err = ENOMEM;
    l->n++;
}

/* ---- functions -------------------------------------------------------------------------------- */

/* Sums over the functions of one runtime. */
struct gap_sums {
    uint32_t runtime;
    uint64_t hooked, again, max, kept;
};

static void add_sums(struct gap_collector *o, const struct gap_sums *s)
{
    char detail[128];
    if (s->again) {
        snprintf(detail, sizeof(detail), "up to %llu times", (unsigned long long)s->max);
        add_gap(o, SXS_GAP_RECOMPILED, s->runtime, "", detail, s->again);
    }
    if (s->kept && !o->c->head.inlining)
        add_gap(o, SXS_GAP_KEPT, s->runtime, "", "", s->kept);
}

static void take_tails(struct gap_collector *o, const struct sxs_calls_read_function *fn)
{
    const struct {
        enum sxs_gap_kind kind;
        uint32_t          n;
    } rows[] = {{SXS_GAP_TAIL_LATE, fn->tail_late},
                {SXS_GAP_TAIL_LOOP, fn->tail_looped},
                {SXS_GAP_TAIL_LEFT, fn->tail_left},
                {SXS_GAP_TAIL_CALLED, fn->tail_called}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].n)
            add_gap(o, rows[i].kind, fn->runtime, fn->name, "", rows[i].n);
}

/* Adds the rows that come from functions. o->fns is sorted by runtime, so the sums of a runtime are
 * complete when the next runtime begins. */
static void take_functions(struct gap_collector *o)
{
    struct gap_sums s = {0};
    for (size_t i = 0; i < o->c->n_fns; i++) {
        const struct sxs_calls_read_function *fn = o->fns[i];
        if (fn->runtime != s.runtime) {
            add_sums(o, &s);
            s = (struct gap_sums){.runtime = fn->runtime};
        }
        s.again += fn->compiled > 1;
        s.max = fn->compiled > s.max ? fn->compiled : s.max;
        s.kept += fn->inlining != 0;
        take_tails(o, fn);
        if (fn->backed_off)
            add_gap(o, SXS_GAP_UNTIMED, fn->runtime, fn->name, "", fn->calls);
        if (fn->inlining && o->c->head.inlining) {
            o->rows[fn - o->c->fns] = (uint32_t)o->list->n;
            add_gap(o, SXS_GAP_INLINED, fn->runtime, fn->name,
                    fn->compiled ? "" : "never compiled on its own", fn->inlining);
        }
    }
    add_sums(o, &s);
}

/* ---- methods that patterns name --------------------------------------------------------------- */

static int compare_key(const struct sxs_calls_read_function *fn, uint32_t runtime, uint32_t token,
                       const char *file)
{
    if (fn->runtime != runtime)
        return fn->runtime < runtime ? -1 : 1;
    if (fn->token != token)
        return fn->token < token ? -1 : 1;
    return strcmp(fn->file, file);
}

static int by_key(const void *a, const void *b)
{
    const struct sxs_calls_read_function *const *x = a, *const *y = b;
    return compare_key(*x, (*y)->runtime, (*y)->token, (*y)->file);
}

/* How the report counts a method. */
enum counting { NOT_COUNTED, LISTED_AS_INLINED, COUNTED };

/* Returns COUNTED when the method was compiled with hooks, in any of its instantiations. */
static enum counting counting_of(const struct gap_collector *o, uint32_t runtime, uint32_t token,
                                 const char *file)
{
    size_t low = 0, high = o->c->n_fns;
    bool   inlined = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_key(o->fns[middle], runtime, token, file) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < o->c->n_fns && !compare_key(o->fns[low], runtime, token, file); low++) {
        const struct sxs_calls_read_function *fn = o->fns[low];
        if (fn->compiled)
            return COUNTED;
        inlined |= fn->inlining && o->c->head.inlining;
    }
    return inlined ? LISTED_AS_INLINED : NOT_COUNTED;
}

static void take_method(struct gap_collector *o, const struct sxs_calls_read_note *r,
                        uint32_t token, unsigned char what, const char *name)
{
    static const enum sxs_gap_kind kinds[SXS_CALLS_METHODS] = {
        [SXS_CALLS_METHOD_CODE] = SXS_GAP_NEVER,
        [SXS_CALLS_METHOD_ABSTRACT] = SXS_GAP_ABSTRACT,
        [SXS_CALLS_METHOD_NATIVE] = SXS_GAP_NATIVE,
        [SXS_CALLS_METHOD_RUNTIME] = SXS_GAP_RUNTIME,
        [SXS_CALLS_METHOD_INTRINSIC] = SXS_GAP_INTRINSIC,
    };
    if (what >= SXS_CALLS_METHODS)
        return;
    enum counting counting = counting_of(o, r->runtime, token, r->text);
    if (what == SXS_CALLS_METHOD_INTRINSIC)
        add_gap(o, kinds[what], r->runtime, name, counting == COUNTED ? "also compiled" : "", 0);
    else if (counting == NOT_COUNTED)
        add_gap(o, kinds[what], r->runtime, name, "", 0);
}

static void take_methods(struct gap_collector *o, const struct sxs_calls_read_note *r)
{
    size_t at = strlen(r->text) + 1;
    while (at + 5 < r->size) {
        const char *name = r->text + at + 5;
        uint32_t    token;
        memcpy(&token, r->text + at, sizeof(token));
        take_method(o, r, token, (unsigned char)r->text[at + 4], name);
        at += 5 + strlen(name) + 1;
    }
}

/* ---- notes ------------------------------------------------------------------------------------ */

/* Appends the callers in which a function may have been inlined to the detail of its row. */
static void add_callers(struct gap_collector *o)
{
    for (size_t i = 0; i < o->c->n_notes; i++) {
        const struct sxs_calls_read_note *r = &o->c->notes[i];
        struct sxs_gap                   *u;
        char                          *text;
        if (r->kind != SXS_CALLS_NOTE_INLINED || r->fn == SXS_CALLS_NONE || o->err ||
            o->rows[r->fn] == SXS_CALLS_NONE)
            continue;
        u = &o->list->all[o->rows[r->fn]];
        if (strlen(u->detail) > 2000)
            continue;
        if (asprintf(&text, "%s%sin %s (%llu)", u->detail, *u->detail ? ", " : "", r->text,
                     (unsigned long long)r->count) < 0) {
            o->err = ENOMEM;
            return;
        }
        free(u->detail);
        u->detail = text;
    }
}

static void take_runtime(struct gap_collector *o, const struct sxs_calls_read_note *r)
{
    if (r->count)
        add_gap(o, SXS_GAP_ATTACHED, r->runtime, "", "", 0);
    else
        add_gap(o, SXS_GAP_SETTINGS, r->runtime, "", r->text, 0);
}

const char *sxs_gap_no_match(const struct sxs_calls_read_note *pattern)
{
    return pattern->count ? "its assembly has no such function"
                          : "no runtime of its version loaded such an assembly";
}

static void take_note(struct gap_collector *o, const struct sxs_calls_read_note *r)
{
    switch (r->kind) {
    case SXS_CALLS_NOTE_PATTERN:
        if (!r->more)
            add_gap(o, SXS_GAP_PATTERN, 0, r->text, sxs_gap_no_match(r), 0);
        break;
    case SXS_CALLS_NOTE_RUNTIME: take_runtime(o, r); break;
    case SXS_CALLS_NOTE_DYNAMIC:
        if (strncmp(r->text, "[stub] ", 7) == 0)
            add_gap(o, SXS_GAP_STUB, r->runtime, r->text + 7, "", r->count);
        else
            add_gap(o, SXS_GAP_DYNAMIC, r->runtime,
                    r->text + (strncmp(r->text, "[dynamic] ", 10) == 0 ? 10 : 0), "", r->count);
        break;
    case SXS_CALLS_NOTE_METHODS: take_methods(o, r); break;
    default: break;
    }
}

static int in_order(const void *a, const void *b)
{
    const struct sxs_gap *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->runtime != y->runtime)
        return x->runtime < y->runtime ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Drops equal rows: the methods of a module that was loaded twice are noted twice. */
static void drop_doubles(struct sxs_gap_list *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (n && l->all[i].name[0] && in_order(&l->all[n - 1], &l->all[i]) == 0 &&
            l->all[i].kind != SXS_GAP_INLINED && l->all[i].kind != SXS_GAP_UNTIMED) {
            free(l->all[i].name);
            free(l->all[i].detail);
        } else {
            l->all[n++] = l->all[i];
        }
    }
    l->n = n;
}

int sxs_gaps_collect(const struct sxs_calls_process *p, struct sxs_gap_list *out)
{
    struct gap_collector o = {.c = p->calls, .list = out};
    memset(out, 0, sizeof(*out));
    o.fns = calloc(o.c->n_fns + 1, sizeof(*o.fns));
    o.rows = calloc(o.c->n_fns + 1, sizeof(*o.rows));
    if (!o.fns || !o.rows) {
        free(o.fns);
        free(o.rows);
        return ENOMEM;
    }
    for (size_t i = 0; i < o.c->n_fns; i++) {
        o.fns[i] = &o.c->fns[i];
        o.rows[i] = SXS_CALLS_NONE;
    }
    qsort(o.fns, o.c->n_fns, sizeof(*o.fns), by_key);
    take_functions(&o);
    add_callers(&o);
    for (size_t i = 0; i < o.c->n_notes; i++)
        take_note(&o, &o.c->notes[i]);
    if (atomic_load(&o.c->head.functions_lost))
        add_gap(&o, SXS_GAP_LOST, 0, "", "", atomic_load(&o.c->head.functions_lost));
    if (atomic_load(&o.c->head.notes_lost))
        add_gap(&o, SXS_GAP_UNLISTED, 0, "", "", atomic_load(&o.c->head.notes_lost));
    free(o.fns);
    free(o.rows);
    if (!o.err && out->n) {
        qsort(out->all, out->n, sizeof(*out->all), in_order);
        drop_doubles(out);
    }
    return o.err;
}

void sxs_gaps_free(struct sxs_gap_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->all[i].name);
        free(list->all[i].detail);
    }
    free(list->all);
    memset(list, 0, sizeof(*list));
}
