/* SPDX-License-Identifier: MIT */
/* sxsprof diff: print or draw what grew and what shrank between two sessions. */
#include "cmd/argument.h"
#include "cmd/command.h"
#include "cmd/confined_verb.h"
#include "cmd/gc/gc.h"
#include "cmd/heap_diff.h"
#include "cmd/output/formats.h"
#include "cmd/output/output_file.h"
#include "cmd/output/print.h"
#include "cmd/output/segments.h"
#include "cmd/output/shown.h"
#include "cmd/pack/pack.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/profile.h"
#include "cmd/symbols/debuginfod.h"
#include "cmd/symbols/symbol_path.h"

#include <argp.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

enum { KEY_SYMBOLS = 256, KEY_DATA, KEY_BY_COUNT, KEY_TOP };

struct diff_options {
    struct sxs_report_options samples;
    const char               *format; /* text or html */
    const char               *dir[2];
    unsigned                  n;
    bool                      gc;   /* compare collections */
    bool                      heap; /* compare heap snapshots */
};

/* Chooses the format that no argument said: a page when the file is named like one. */
static void complete(struct argp_state *state, struct diff_options *o)
{
    const char *output = o->samples.output;
    const char *ending = output ? sxs_format_of_file(output) : NULL;
    bool        page = ending && strcmp(ending, "html") == 0;
    if (o->gc && o->format && strcmp(o->format, "html") == 0)
        sxs_option_error(state, "--data gc: expected --format text, not html");
    if (!o->format)
        o->format = page && !o->gc ? "html" : "text";
    sxs_check_terminal(state, o->format, output);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct diff_options *o = state->input;
    switch (key) {
    case 'o': o->samples.output = arg; return 0;
    case 'f':
        if (strcmp(arg, "text") != 0 && strcmp(arg, "html") != 0)
            sxs_option_error(state, "--format: '%s': expected text or html", arg);
        o->format = arg;
        return 0;
    case KEY_TOP: o->samples.top = sxs_number_argument(state, "--top", arg); return 0;
    case KEY_BY_COUNT: o->samples.by_count = true; return 0;
    case KEY_DATA:
        o->gc = strcmp(arg, "gc") == 0;
        o->heap = strcmp(arg, "heap") == 0;
        if (!o->gc && !o->heap)
            o->samples.data = sxs_data_option(state, arg);
        return 0;
    case KEY_SYMBOLS: sxs_symbols_option(state, arg, &o->samples.symbols); return 0;
    case ARGP_KEY_ARG:
        if (o->n == 2)
            sxs_option_error(state, "two folders are expected, '%s' is one more", arg);
        o->dir[o->n++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (o->n < 2)
            sxs_option_error(state,
                             "A and B are expected: two folders made by sxsprof sample or sxsprof "
                             "calls, with -o DIR");
        complete(state, o);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_list[] = {
    {"format", 'f', "text|html", 0,
     "text: what changed most; or html, a page with the flame graph of B (the default for -o "
     "FILE.html)",
     0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {"data", KEY_DATA, "DATA", 0,
     "The data to compare: samples, calls, alloc, live, native, native-live, "
     "locks, lock-owners, wait (by default the first of these that both sessions have); gc: "
     "collections, as text; "
     "heap: the types in heap snapshots",
     0},
    {"by-count", KEY_BY_COUNT, NULL, 0,
     "Of alloc to lock-owners: compare numbers of objects, blocks or waits, not bytes or time", 0},
    {"top", KEY_TOP, "N", 0, "Functions the text names (30)", 0},
    SXS_SYMBOLS_OPTION(KEY_SYMBOLS, 0),
    {0},
};
const struct argp sxs_argp_diff = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "A B",
    .doc = "Print what changed from session A to session B, or, with -o FILE.html, draw B's flame "
           "graph, "
           "coloured by what grew and shrank since A. Of heap snapshots, what each type has more.",
};

static int nothing_to_compare(const struct diff_options *o, const char *record)
{
    return sxs_wrong_input(
        "nothing to compare in %s or %s; expected folders made by %s, with -o DIR",
        sxs_shown(o->dir[0]), sxs_shown(o->dir[1]), record);
}

static int write_gcs(const struct diff_options *o, const struct sxs_events_report *of)
{
    struct sxs_output out;
    int               err = sxs_output_open(&out, o->samples.output);
    if (err)
        return sxs_wrong_input("--output: %s: %s", o->samples.output, sxs_output_error(err));
    sxs_print_to(out.to, "before: %s\nnow:    %s\n", sxs_shown(o->dir[0]), sxs_shown(o->dir[1]));
    sxs_gc_diff(out.to, &of[0], &of[1]);
    if (out.to == stdout)
        return sxs_finish_output();
    err = sxs_output_close(&out, false);
    if (!err)
        return SXS_EXIT_OK;
    sxs_complain("%s: %s", o->samples.output, strerror(err));
    return SXS_EXIT_PROBLEM;
}

/* Loads the collections of one session. Returns an errno value. */
static int load_gcs(const struct sxs_opened *v, struct sxs_events_report *out)
{
    int err = sxs_events_report_load(v, NULL, out);
    for (size_t i = 0; i < v->session.n_problems; i++)
        sxs_complain("%s/%s", sxs_shown(v->dir), v->session.problems[i]);
    for (size_t i = 0; i < out->n_problems; i++)
        sxs_complain("%s/%s", sxs_shown(v->dir), out->problems[i]);
    return err;
}

static int diff_gcs(const struct diff_options *o, const struct sxs_opened *sessions)
{
    struct sxs_events_report of[2] = {0};
    int                      status = SXS_EXIT_OK;
    for (int i = 0; i < 2 && status == SXS_EXIT_OK; i++) {
        int err = load_gcs(&sessions[i], &of[i]);
        if (err)
            status = sxs_wrong_input("%s: %s", sxs_shown(o->dir[i]), strerror(err));
    }
    if (status == SXS_EXIT_OK && (!sxs_gc_recorded(&of[0]) || !sxs_gc_recorded(&of[1])))
        status = nothing_to_compare(o, "sxsprof gc");
    if (status == SXS_EXIT_OK)
        status = write_gcs(o, of);
    for (int i = 0; i < 2; i++) {
        if (status == SXS_EXIT_OK && (sessions[i].session.n_problems || of[i].n_problems))
            status = SXS_EXIT_PROBLEM;
        sxs_events_report_free(&of[i]);
    }
    return status;
}

/* Writes what changed between two sessions. Returns an exit status. */
static int diff_sessions(const struct diff_options *o, const struct sxs_opened *sessions)
{
    if (o->gc)
        return diff_gcs(o, sessions);
    if (o->heap || (!o->samples.data && sxs_heap_only(&sessions[0]) && sxs_heap_only(&sessions[1])))
        return sxs_heap_diff(o->dir[0], o->dir[1], o->format, o->samples.output);
    switch (sxs_profile_diff(&sessions[0], &sessions[1], o->format, &o->samples)) {
    case SXS_PROFILE_OK: return SXS_EXIT_OK;
    case SXS_PROFILE_NOTHING:
        return nothing_to_compare(o, o->samples.data ? sxs_data_kind(o->samples.data)->record
                                                     : "sxsprof sample or sxsprof calls");
    default: return SXS_EXIT_PROBLEM;
    }
}

/* Opens both sessions and writes what changed. @arg: struct diff_options. Returns an exit status. */
static int diff(void *arg)
{
    struct diff_options *o = arg;
    struct sxs_opened    sessions[2] = {{.fd = -1}, {.fd = -1}};
    char                 why[512];
    int                  status = SXS_EXIT_OK;
    for (int i = 0; i < 2; i++)
        if (sxs_pack_open(o->dir[i], &o->dir[i], why, sizeof(why)) != 0)
            return sxs_wrong_input("%s: %s; expected a file made by sxsprof pack", o->dir[i], why);
    for (int i = 0; i < 2 && status == SXS_EXIT_OK; i++) {
        int err = sxs_opened_open(o->dir[i], &o->samples.period, &sessions[i]);
        if (err)
            status = sxs_wrong_input("%s: %s; expected a folder made by sxsprof run -o DIR",
                                     sxs_shown(o->dir[i]), strerror(err));
    }
    if (status == SXS_EXIT_OK)
        status = diff_sessions(o, sessions);
    for (int i = 0; i < 2; i++)
        sxs_opened_close(&sessions[i]);
    return status;
}

int sxs_cmd_diff(int argc, char **argv)
{
    struct diff_options o = {.n = 0};
    sxs_options_parse(&sxs_argp_diff, argc, argv, 0, &o);
    const struct sxs_confined_verb needs = {.reads = {&o.dir[0], &o.dir[1]},
                                            .output = o.samples.output,
                                            .network = sxs_debuginfod_enabled(),
                                            .names = true,
                                            .symbols = o.samples.symbols};
    int                            status = sxs_confined_verb(&needs, diff, &o);
    sxs_symbol_path_free(o.samples.symbols);
    return status;
}
