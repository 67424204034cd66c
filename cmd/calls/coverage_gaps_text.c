/* SPDX-License-Identifier: MIT */
/* Writes coverage gaps as text and as JSON. */
#include "base/sum.h"
#include "cmd/calls/coverage_gaps.h"
#include "cmd/output/print.h"
#include "cmd/output/processes.h"
#include "cmd/output/text.h"

#include <string.h>

#define NAMES 20 /* rows of each kind and runtime in the text, unless --top says otherwise */

static const struct {
    const char *name, *why;
    bool        counted; /* print the count of each row in a column */
} kinds[SXS_GAP_KINDS] = {
    [SXS_GAP_PATTERN] = {"pattern", "patterns that fit nothing", false},
    [SXS_GAP_ATTACHED] = {"attached", "not hooked: the runtime was running before the tool came",
                          false},
    [SXS_GAP_SETTINGS] = {"settings",
                          "precompiled code (ReadyToRun) has no hooks and is not used: "
                          "all code is compiled",
                          false},
    [SXS_GAP_LOST] = {"no memory", "functions not hooked for want of memory", false},
    [SXS_GAP_TAIL_LATE] =
        {"tail call not counted",
         "functions left by a tail call to a function that is not counted: such a call "
         "ends with the next counted call or return on its thread",
         true},
    [SXS_GAP_TAIL_LOOP] =
        {"tail recursion",
         "functions that tail calls call again: a call ends when the next round begins", true},
    [SXS_GAP_TAIL_LEFT] =
        {"left by tail call",
         "functions left by tail calls: their times include their callees, which are "
         "below them in the tree",
         true},
    [SXS_GAP_TAIL_CALLED] =
        {"called by tail call",
         "functions called by tail calls, and for that below a function that is no "
         "longer on the stack",
         true},
    [SXS_GAP_UNTIMED] = {"timed no longer",
                         "functions counted but timed no longer, having too many "
                         "short calls",
                         true},
    [SXS_GAP_INLINED] = {"inlined",
                         "functions that the JIT was free to inline (inline=on), so that "
                         "calls in such code are not counted",
                         true},
    [SXS_GAP_KEPT] = {"kept from being inlined",
                      "functions kept from being inlined, which are slower "
                      "than without the tool",
                      false},
    [SXS_GAP_RECOMPILED] = {"compiled again",
                            "functions compiled more than once (tiers, OSR), each "
                            "one row",
                            false},
    [SXS_GAP_INTRINSIC] = {"intrinsic", "intrinsics, not counted where the JIT expands them",
                           false},
    [SXS_GAP_DYNAMIC] = {"dynamic method", "dynamic methods, which cannot be hooked", true},
    [SXS_GAP_STUB] = {"stub",
                      "stubs made by the runtime (P/Invokes, delegates), which cannot be "
                      "hooked",
                      true},
    [SXS_GAP_NATIVE] = {"native", "P/Invokes, which are native code", false},
    [SXS_GAP_RUNTIME] = {"runtime",
                         "methods that the runtime implements itself, without code to "
                         "hook",
                         false},
    [SXS_GAP_ABSTRACT] = {"abstract", "abstract methods, of which the implementations are seen",
                          false},
    [SXS_GAP_NEVER] = {"never compiled",
                       "functions selected by a pattern, but never compiled, as "
                       "nobody called them",
                       false},
    [SXS_GAP_UNLISTED] = {"not listed", "notes on what is not seen that found no room", false},
};

const char *sxs_gap_why(enum sxs_gap_kind kind)
{
    return kinds[kind].why;
}

bool sxs_gap_is_counted(enum sxs_gap_kind kind)
{
    return kinds[kind].counted;
}

size_t sxs_gaps_group(const struct sxs_gap_list *list, size_t from)
{
    const struct sxs_gap    *u = &list->all[from];
    size_t                   n = 1;
    while (from + n < list->n && u[n].kind == u->kind && u[n].runtime == u->runtime)
        n++;
    return n;
}

uint64_t sxs_gaps_sum(const struct sxs_gap *group, size_t n)
{
    return *group->name ? n : group->count;
}

static void write_row(FILE *to, const struct sxs_gap *u)
{
    char name[4096], detail[4096];
    sxs_text_clean(u->name, name, sizeof(name));
    sxs_text_clean(u->detail, detail, sizeof(detail));
    if (kinds[u->kind].counted)
        sxs_print_to(to, "%12llu", (unsigned long long)u->count);
    else
        sxs_print_to(to, "%12s", "");
    sxs_print_to(to, "  %s%s%s\n", name, *name && *detail ? ": " : "", detail);
}

/* Writes @n rows of one kind and runtime, at most @top of them. */
static void write_group(FILE *to, const struct sxs_calls_process *p, const struct sxs_gap *u,
                        size_t n, size_t top)
{
    char     version[256] = "";
    uint64_t count = sxs_gaps_sum(u, n);
    size_t   shown = 0;
    if (u->runtime) {
        sxs_text_clean(sxs_process_version(p->process, u->runtime), version, sizeof(version) - 4);
        memmove(version + 1, version, strlen(version) + 1);
        version[0] = '[';
        strcat(version, "] ");
    }
    sxs_print_to(to, "  %s%s", version, kinds[u->kind].why);
    if (count)
        sxs_print_to(to, ": %llu", (unsigned long long)count);
    putc('\n', to);
    for (size_t i = 0; i < n; i++) {
        if (!*u[i].name && !*u[i].detail)
            continue;
        if (shown++ < top)
            write_row(to, &u[i]);
    }
    if (shown > top)
        sxs_print_to(to, "%12s  and %zu more\n", "", shown - top);
}

static void warn_of_tails(FILE *to, const struct sxs_calls *c)
{
    uint64_t late = 0, calls = 0, again = 0;
    for (size_t i = 0; i < c->n_fns; i++) {
        late += c->fns[i].tail_late != 0;
        again += c->fns[i].tail_looped != 0;
        sxs_sum_add(&calls, c->fns[i].tail_late);
    }
    if (late)
        sxs_print_to(
            to,
            "  warning: the times of %llu functions may be too long: they were left by tail calls "
            "to functions that are not counted, in %llu calls (below: tail call); "
            "DOTNET_FastTailCalls=0 prevents fast tail calls\n",
            (unsigned long long)late, (unsigned long long)calls);
    if (again)
        sxs_print_to(
            to,
            "  %llu functions call themselves or each other by tail calls: each of their calls "
            "ends when the next round begins (below)\n",
            (unsigned long long)again);
}

void sxs_gaps_warn(FILE *to, const struct sxs_calls_process *p)
{
    warn_of_tails(to, p->calls);
    for (size_t i = 0; i < p->calls->n_notes; i++) {
        const struct sxs_calls_read_note *r = &p->calls->notes[i];
        char                           pattern[1024];
        if (r->kind != SXS_CALLS_NOTE_PATTERN || r->more)
            continue;
        sxs_text_clean(r->text, pattern, sizeof(pattern));
        sxs_print_to(to, "  warning: nothing fits the pattern %s: %s\n", pattern,
                     sxs_gap_no_match(r));
    }
}

void sxs_gaps_text(FILE *to, const struct sxs_calls_process *p, const struct sxs_calls_view *v)
{
    struct sxs_gap_list    list;
    int                    err = sxs_gaps_collect(p, &list);
    bool                   any = false;
    for (size_t i = 0, n; !err && i < list.n; i += n) {
        const struct sxs_gap *u = &list.all[i];
        n = sxs_gaps_group(&list, i);
        if (v->runtime && u->runtime && u->runtime != v->runtime)
            continue;
        if (!any)
            sxs_print_to(to, "\nnot seen, or seen in part, in process %s\n", p->process->folder);
        any = true;
        write_group(to, p, u, n, v->top ? v->top : NAMES);
    }
    sxs_gaps_free(&list);
}

static json_t *clean_text(const char *s)
{
    char text[3 * 4096 + 1];
    sxs_text_clean(s, text, sizeof(text));
    return json_string(text);
}

static json_t *row_json(const struct sxs_calls_process *p, const struct sxs_gap *u)
{
    return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:s, s:o}", "pid",
                     json_integer(p->process->pid), "runtime", json_integer(u->runtime), "version",
                     clean_text(u->runtime ? sxs_process_version(p->process, u->runtime) : ""),
                     "kind", kinds[u->kind].name, "name", clean_text(u->name), "count",
                     json_integer(u->count > INT64_MAX ? INT64_MAX : (json_int_t)u->count), "why",
                     kinds[u->kind].why, "detail", clean_text(u->detail));
}

int sxs_gaps_json(json_t *top, const struct sxs_calls_report *calls)
{
    json_t *rows = json_array();
    int     err = json_object_set_new(top, "unseen", rows);
    for (size_t i = 0; i < calls->n && !err; i++) {
        struct sxs_gap_list list;
        err = sxs_gaps_collect(&calls->processes[i], &list) ? -1 : 0;
        for (size_t k = 0; k < list.n && !err; k++)
            err = json_array_append_new(rows, row_json(&calls->processes[i], &list.all[k]));
        sxs_gaps_free(&list);
    }
    return err;
}
