/* SPDX-License-Identifier: MIT */
/* sxsprof report: print a session as a table or JSON, or write its profile in one of the other
 * formats. */
#include "cmd/argument.h"
#include "cmd/calls/calls.h"
#include "cmd/carried.h"
#include "cmd/command.h"
#include "cmd/confined_verb.h"
#include "cmd/costs/costs.h"
#include "cmd/events/events.h"
#include "cmd/fail_if.h"
#include "cmd/fleet/when.h"
#include "cmd/gc/gc.h"
#include "cmd/guests/guests.h"
#include "cmd/heap/counts.h"
#include "cmd/instrument/instrument.h"
#include "cmd/opener.h"
#include "cmd/output/missing.h"
#include "cmd/output/opened.h"
#include "cmd/output/output_file.h"
#include "cmd/output/print.h"
#include "cmd/output/shown.h"
#include "cmd/pack/pack.h"
#include "cmd/report/costs.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/format.h"
#include "cmd/report/profile.h"
#include "cmd/selection.h"
#include "cmd/symbols/debuginfod.h"
#include "cmd/symbols/symbol_path.h"
#include "cmd/table.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEY_RUNTIME = 256,
    KEY_NATIVE,
    KEY_MANAGED,
    KEY_TOP,
    KEY_DATA,
    KEY_BY_COUNT,
    KEY_CALLERS,
    KEY_DEPTH,
    KEY_BY_THREAD,
    KEY_TRACE_ENTRIES,
    KEY_OPEN,
    KEY_SYMBOLS,
    KEY_FROM,
    KEY_TO,
    KEY_TRACE,
    KEY_ENDPOINT,
    KEY_FAIL_IF
};

struct report_options {
    const char                  *format; /* NULL: text, or html with --open */
    bool                         open;
    struct sxs_report_options    samples; /* used for samples and calls */
    struct sxs_calls_view        view;
    bool                         selective; /* an option selects a part of the session */
    const char                  *dir;
    struct sxs_calls_report      calls;
    struct sxs_events_report     events;
    struct sxs_instrument_report instrument;
    struct sxs_guests_report     guests;
    struct sxs_heap_newest       heap; /* JSON only */
    struct sxs_costs_report      costs;
    struct sxs_opened            session;
    struct sxs_traces            traces;   /* of text and JSON */
    struct sxs_missing           missing;
    struct sxs_model             model;   /* of one kind of data; JSON only */
    struct sxs_report_options    profile; /* how the model is loaded */
    char                         trace[SXS_TRACE_ID_SIZE];
    struct sxs_fail_if           fail_if;
    struct sxs_opened_reader     readers[10]; /* of all the above */
    size_t                       n_readers;
    struct sxs_model_loading    *loading; /* of the model; until end_rest() */
};

static void set_only(struct argp_state *state, struct report_options *o, enum sxs_only only)
{
    if (o->samples.only && o->samples.only != only)
        sxs_option_error(state, "--native and --managed exclude each other");
    o->samples.only = only;
}

/* Reads the time of --from or --to; CLOCK_REALTIME. */
static uint64_t when(struct argp_state *state, const char *option, const char *text)
{
    int64_t seconds;
    if (sxs_fleet_when(text, time(NULL), &seconds) != 0)
        sxs_option_error(state, "%s: '%s': expected " SXS_FLEET_WHEN, option, text);
    return (uint64_t)seconds * 1000000000u;
}

static void check_period(struct argp_state *state, const struct sxs_period *p)
{
    if (p->to_ns && p->to_ns <= p->from_ns)
        sxs_option_error(state, "--to: expected a time after that of --from");
}

/* Chooses what no argument said: the session, the format and with --open the file of the page. */
static void complete(struct argp_state *state, struct report_options *o)
{
    check_period(state, &o->samples.period);
    sxs_fail_if_check(state, &o->fail_if, &o->samples);
    o->format = sxs_page_format(state, o->format, o->open, o->samples.output);
    if (!o->dir)
        o->dir = sxs_newest_argument(state, "DIR", "a folder made by sxsprof record");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct report_options *o = state->input;
    o->selective |= key >= KEY_RUNTIME && key <= KEY_TOP && key != KEY_TOP;
    switch (key) {
    case 'f':
        if (strcmp(arg, "json") != 0 && !sxs_profile_has_format(arg))
            sxs_option_error(state, "--format: '%s': expected json, %s", arg,
                             sxs_profile_formats());
        o->format = arg;
        return 0;
    case 'o': o->samples.output = arg; return 0;
    case 't':
        o->samples.thread = arg;
        o->selective = true;
        return 0;
    case KEY_RUNTIME:
        o->samples.runtime = (uint32_t)sxs_number_argument(state, "--runtime", arg);
        return 0;
    case KEY_NATIVE: set_only(state, o, SXS_ONLY_NATIVE); return 0;
    case KEY_MANAGED: set_only(state, o, SXS_ONLY_MANAGED); return 0;
    case KEY_TOP: o->samples.top = sxs_number_argument(state, "--top", arg); return 0;
    case 'p':
        o->samples.process = arg;
        o->selective = true;
        return 0;
    case KEY_DATA: o->samples.data = sxs_data_option(state, arg); return 0;
    case KEY_BY_COUNT: o->samples.by_count = true; return 0;
    case KEY_CALLERS:
        o->view.callers = arg;
        o->samples.data = SXS_DATA_CALLS;
        return 0;
    case KEY_DEPTH: o->view.depth = (unsigned)sxs_number_argument(state, "--depth", arg); return 0;
    case KEY_SYMBOLS: sxs_symbols_option(state, arg, &o->samples.symbols); return 0;
    case KEY_TRACE_ENTRIES:
        o->view.trace_entries = sxs_number_argument(state, "--single", arg);
        return 0;
    case KEY_BY_THREAD: o->view.by_thread = true; return 0;
    case KEY_FROM: o->samples.period.from_ns = when(state, "--from", arg); return 0;
    case KEY_TO: o->samples.period.to_ns = when(state, "--to", arg); return 0;
    case KEY_TRACE:
        if (sxs_trace_id_read(arg, o->trace) != 0)
            sxs_option_error(state, "--trace-id: '%s': expected " SXS_TRACE_ID_EXPECTED, arg);
        o->samples.trace.trace = o->trace;
        o->selective = true;
        return 0;
    case KEY_ENDPOINT:
        o->samples.trace.endpoint = arg;
        o->selective = true;
        return 0;
    case KEY_FAIL_IF: sxs_fail_if_add(state, &o->fail_if, arg); return 0;
    case KEY_OPEN: o->open = true; return 0;
    case ARGP_KEY_ARG:
        if (o->dir)
            sxs_option_error(state, "one folder is expected, '%s' is one more", arg);
        o->dir = arg;
        return 0;
    case ARGP_KEY_END: complete(state, o); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_list[] = {
    {"format", 'f', SXS_REPORT_FORMATS, 0,
     "text (the default) or json: what the runtimes did. Of samples, calls and costs: text, html "
     "(flame graph, "
     "call tree, functions and timeline in one file), svg (a picture), collapsed, speedscope, "
     "pprof, chrome, "
     "firefox. The ending of -o decides when this option is not given",
     0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {"open", KEY_OPEN, NULL, 0,
     "Write the page (html) beside the session, or to the file of -o, and open it in a browser", 0},
    {"data", KEY_DATA, "DATA", 0,
     "The data to show: samples, calls, alloc (allocated objects), live (those "
     "still alive), native (native memory), native-live (what of it is not freed), locks (waits "
     "for "
     "locks), lock-owners (the threads that held these), wait (samples of waiting threads). By "
     "default the first of these that the session has; text and html show all",
     0},
    {"by-count", KEY_BY_COUNT, NULL, 0,
     "Of alloc to lock-owners: weights are numbers of objects, blocks or waits, not bytes or time",
     0},
    SXS_SYMBOLS_OPTION(KEY_SYMBOLS, 0),
    {"fail-if", KEY_FAIL_IF, "CONDITION", 0,
     "Exit with status 3 if a condition is met, and with 4 if it cannot be decided: "
     "self(PATTERN)>5% or "
     "total(PATTERN)>=100ms, with <, <=, > or >=; units: % of all, ns, us, ms, s, B, KiB, MiB, "
     "GiB, or none "
     "for numbers of samples, calls, objects, waits, exceptions. PATTERN is "
     "[[VERSION/]ASSEMBLY:]NAME with the "
     "wildcards * and ?. May be given several times",
     0},
    {"runtime", KEY_RUNTIME, "N", 0, "Stacks with a frame of runtime number N only", 1},
    {"thread", 't', "T", 0, "One thread only: its id, name, or a pattern of names", 1},
    {"process", 'p', "PID", 0, "One process only", 1},
    {"trace-id", KEY_TRACE, "ID", 0,
     "Samples of one trace only: its id, the first digits of it, or a traceparent", 1},
    {"endpoint", KEY_ENDPOINT, "NAME", 0,
     "Samples of the traces of one endpoint only: its name, or a pattern of names", 1},
    {"native", KEY_NATIVE, NULL, 0, "Native frames only", 1},
    {"managed", KEY_MANAGED, NULL, 0, "Managed frames only", 1},
    {"from", KEY_FROM, "TIME", 0,
     "Only what was recorded from TIME on: \"5m ago\", \"2026-11-24 10:15\", "
     "2026-11-24T10:15:30Z...",
     1},
    {"to", KEY_TO, "TIME", 0, "Only what was recorded before TIME", 1},
    {"top", KEY_TOP, "N", 0, "Functions the text names (30)", 1},
    {"callers", KEY_CALLERS, "PATTERN", 0,
     "Of calls, as text: who calls the functions whose names fit, and whom they call", 2},
    {"depth", KEY_DEPTH, "N", 0, "Of calls, as text: levels of the call tree (all)", 2},
    {"single", KEY_TRACE_ENTRIES, "N", 0,
     "Of calls with values, and traced ones, as text or JSON: how many single calls of a process "
     "(200; JSON: 5000)",
     2},
    {"by-thread", KEY_BY_THREAD, NULL, 0, "Of calls, as text: a call tree for each thread", 2},
    {0},
};
const struct argp sxs_argp_report = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "[DIR|FILE]",
    .doc = "Print what the runtimes of a recorded session did, and where its time went.\v"
           "DIR is a folder made by sxsprof record, FILE a file made by sxsprof pack; the default "
           "is the "
           "newest session in the current folder. The segments in a folder of continuous mode "
           "(--keep, "
           "--segment) are joined. What cannot be read is named on standard "
           "error, the rest is printed and the exit status is 1.",
};

static bool is_format(const struct report_options *o, const char *name)
{
    return strcmp(o->format, name) == 0;
}

/* Returns the samples or costs that JSON shows; NULL: there are none, or which of them are gone is not known. */
static const struct sxs_model *shown_profile(const struct report_options *o)
{
    const struct sxs_model_costs *costs = o->model.costs;
    if (!(costs ? costs->n_processes : o->model.n_processes))
        return NULL;
    if (!costs || !costs->live || (costs->live_known && !costs->parted))
        return &o->model;
    sxs_complain("%s: \"profile\" is left out, because it is not known which %s are gone",
                 sxs_shown(o->dir), sxs_data_kind(o->model.data)->many);
    return NULL;
}

static int report_json(const struct report_options *o, const struct sxs_session *s, FILE *to)
{
    const struct sxs_report_options *v = &o->samples;
    const struct sxs_table_parts     parts = {.calls = &o->calls,
                                              .events = &o->events,
                                              .instrument = &o->instrument,
                                              .guests = &o->guests,
                                              .heap = &o->heap,
                                              .costs = &o->costs,
                                              .profile = shown_profile(o),
                                              .segments = &o->session.segments,
                                              .traces = &o->traces,
                                              .missing = &o->missing,
                                              .runtime = v->runtime,
                                              .trace_entries = o->view.trace_entries,
                                              .chosen = v->thread || v->only ||
                                                        !sxs_trace_choice_is_all(&v->trace)};
    return sxs_table_json(to, s, &parts) == 0 ? SXS_EXIT_OK : SXS_EXIT_PROBLEM;
}

/* Writes the table of what the runtimes did and the reports of calls, events and instrumentation,
 * or all of that as JSON. */
static int report_census(const struct report_options *o, const struct sxs_session *s, FILE *to)
{
    if (is_format(o, "json"))
        return report_json(o, s, to);
    sxs_missing_text(to, &o->missing);
    if (!o->selective && !o->view.callers) {
        sxs_segments_text(to, &o->session.segments);
        sxs_table_print(to, s);
        if (o->guests.n) {
            fputs("\n", to);
            sxs_guests_text(to, &o->guests, 0);
        }
        fputs(o->calls.n ? "\n" : "", to);
    }
    if (o->calls.n && (o->samples.data == SXS_DATA_ANY || o->samples.data == SXS_DATA_CALLS))
        sxs_calls_text(to, &o->calls, &o->view);
    if (o->events.n) {
        fputs("\n", to);
        sxs_events_text(to, &o->events, o->samples.top);
        sxs_gc_text(to, &o->events, o->samples.top, o->samples.runtime);
    }
    if (o->instrument.n) {
        fputs("\n", to);
        sxs_instrument_text(to, &o->instrument, o->samples.top, o->view.trace_entries);
    }
    sxs_traces_text(to, &o->traces, o->samples.top);
    size_t snapshots;
    free(sxs_heap_places(&o->session, o->samples.process, &snapshots));
    if (snapshots && !o->selective && o->session.segments.n)
        sxs_print_to(to,
                     "\nheap snapshots: %zu; sxsprof heap with one of the segments prints them\n",
                     snapshots);
    else if (snapshots && !o->selective)
        sxs_print_to(to, "\nheap snapshots: %zu; sxsprof heap %s prints the newest\n", snapshots,
                     sxs_shown(o->dir));
    return SXS_EXIT_OK;
}

static int write_census(const struct report_options *o, const struct sxs_session *s)
{
    struct sxs_output out;
    int               err = sxs_output_open(&out, o->samples.output);
    if (err)
        return sxs_wrong_input("--output: %s: %s", o->samples.output, sxs_output_error(err));
    int status = report_census(o, s, out.to);
    if (out.to == stdout)
        return sxs_finish_output() == SXS_EXIT_OK ? status : SXS_EXIT_PROBLEM;
    err = sxs_output_close(&out, false);
    if (err) {
        sxs_complain("%s: %s", o->samples.output, strerror(err));
        return SXS_EXIT_PROBLEM;
    }
    return status;
}

/* Refuses a choice that fits nothing in the session. */
static int nothing_chosen(const struct report_options *o)
{
    if (!o->selective)
        return sxs_wrong_input("%s: nothing was recorded in the time of --from and --to",
                               sxs_shown(o->dir));
    return sxs_wrong_input("%s: nothing that was asked for to show", sxs_shown(o->dir));
}

/* The sections of the text that are not about samples, to be written before those that are. */
struct head {
    struct report_options    *o;
    const struct sxs_session *session;
    bool                      all; /* false: what is lacking, and traces */
};

static void put_head(void *arg, FILE *to)
{
    const struct head *head = arg;
    if (head->all) {
        report_census(head->o, head->session, to);
        fputs("\n", to);
        return;
    }
    sxs_missing_text(to, &head->o->missing);
    sxs_traces_text(to, &head->o->traces, head->o->samples.top);
    if (head->o->traces.on)
        fputs("\n", to);
}

static void complain_of(const char *dir, char *const *problems, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sxs_complain("%s/%s", sxs_shown(dir), problems[i]);
}

static void add_reader(struct report_options *o, struct sxs_opened_reader reader)
{
    o->readers[o->n_readers++] = reader;
}

/* Prepares to read calls, events and instrumentation for text and JSON. The other formats load the data that
 * they show themselves and print the problems. */
static void begin_rest(struct report_options *o)
{
    const struct sxs_opened *v = &o->session;
    add_reader(o, sxs_calls_report_reader(&o->calls));
    add_reader(o, sxs_events_report_reader(&o->events));
    add_reader(o, sxs_instrument_report_reader(&o->instrument));
    add_reader(o, sxs_guests_report_reader(&o->guests));
    if (v->recorded.has_contexts && !o->samples.traces)
        add_reader(o, sxs_traces_reader(&o->traces));
    if (!is_format(o, "json"))
        return;
    add_reader(o, sxs_heap_newest_reader(o->samples.runtime, &o->heap));
    add_reader(o, sxs_costs_report_reader(&o->costs)); /* the text has them with their stacks */
    enum sxs_data data = sxs_profile_stack_data(v, &o->samples);
    if (data == SXS_DATA_CALLS || !sxs_profile_has(v, data))
        return;
    o->profile = o->samples;
    o->profile.by_count = false; /* JSON has both */
    o->loading = sxs_model_loading_new(v, &o->profile, data, 0, &o->model);
    add_reader(o, sxs_model_loading_reader(o->loading));
}

/* Finishes what has been read. */
static void end_rest(struct report_options *o)
{
    int err = 0;
    for (size_t i = 0; i < o->n_readers && !err; i++)
        err = o->readers[i].err;
    if (o->loading)
        sxs_model_loading_end(o->loading);
    o->loading = NULL;
    if (o->traces.loading)
        sxs_traces_end(&o->traces, &o->samples.trace);
    if (err)
        sxs_complain("%s: %s", sxs_shown(o->dir), strerror(err));
    o->view.top = o->samples.top;
    o->view.runtime = o->samples.runtime;
    o->view.thread = o->samples.thread;
}

/* Prints the problems of all that was read. @calls: also those of calls. */
static void complain_of_rest(const struct report_options *o, bool calls)
{
    if (calls)
        complain_of(o->dir, o->calls.problems, o->calls.n_problems);
    complain_of(o->dir, o->events.problems, o->events.n_problems);
    complain_of(o->dir, o->instrument.problems, o->instrument.n_problems);
    complain_of(o->dir, o->guests.problems, o->guests.n_problems);
    complain_of(o->dir, o->heap.problems, o->heap.n_problems);
    complain_of(o->dir, o->costs.problems, o->costs.n_problems);
    for (size_t i = 0; i < o->model.n_problems; i++)
        sxs_complain("%s", o->model.problems[i]);
}

/* Returns true if the text begins with all other sections, not only with what is missing. */
static bool is_whole_text(const struct report_options *o)
{
    return is_format(o, "text") && o->samples.data < SXS_DATA_ALLOC &&
           (!o->selective || o->calls.n);
}

/* Called when the report has read the session. Begins the text at once, so that it is there when there are no
 * samples. */
static void begin_text(void *arg)
{
    struct head *head = arg;
    if (head->o->n_readers) {
        end_rest(head->o);
        complain_of_rest(head->o, sxs_profile_has_stacks(&head->o->session));
    }
    head->all = is_whole_text(head->o);
    if (head->o->samples.output)
        return;
    put_head(head, stdout);
    fflush(stdout);
}

/* Writes samples or calls in the format that was asked for. */
static int report_profile(struct report_options *o, const struct sxs_session *s)
{
    struct head               before = {o, s, false};
    struct sxs_report_options options = o->samples;
    options.readers = o->readers;
    options.n_readers = o->n_readers;
    if (is_format(o, "text")) {
        options.loaded = begin_text;
        options.loaded_arg = &before;
        options.before = options.output ? put_head : NULL;
        options.before_arg = &before;
    }
    enum sxs_profile_result result = sxs_profile_report(&o->session, o->format, &options);
    bool                    head = is_whole_text(o);
    switch (result) {
    case SXS_PROFILE_OK: return SXS_EXIT_OK;
    case SXS_PROFILE_DAMAGED: return SXS_EXIT_PROBLEM;
    case SXS_PROFILE_NOTHING:
        if (head && options.output)
            write_census(o, s);
        if (o->selective || !sxs_period_is_all(&o->samples.period))
            return nothing_chosen(o);
        return sxs_wrong_input("%s: nothing to show; expected a folder made by %s, with -o DIR",
                               sxs_shown(o->dir),
                               o->samples.data ? sxs_data_kind(o->samples.data)->record
                                               : "sxsprof sample or sxsprof calls");
    case SXS_PROFILE_NO_FORMAT: return SXS_EXIT_USAGE;
    default:
        if (head && options.output)
            write_census(o, s);
        return SXS_EXIT_PROBLEM;
    }
}

/* Refuses a choice of traces that no sample has. */
static int check_traces(struct report_options *o)
{
    const struct sxs_trace_choice *choice = &o->samples.trace;
    int                            err = 0;
    if (sxs_trace_choice_is_all(choice))
        return SXS_EXIT_OK;
    if (o->samples.data != SXS_DATA_ANY && o->samples.data != SXS_DATA_SAMPLES &&
        o->samples.data != SXS_DATA_WAIT)
        return sxs_wrong_input("--trace-id and --endpoint choose samples: expected --data samples or "
                               "wait");
    err = sxs_traces_load(&o->session, o->samples.process, choice, &o->traces);
    o->samples.traces = &o->traces;
    if (!err && !o->traces.on)
        return sxs_wrong_input("%s: its samples have no traces; expected a session recorded with "
                               "sxsprof sample --activity on",
                               sxs_shown(o->dir));
    if (!err && !sxs_traces_any(&o->traces))
        return sxs_wrong_input("%s: no trace fits %s '%s'; expected one that sxsprof report lists",
                               sxs_shown(o->dir), choice->trace ? "--trace-id" : "--endpoint",
                               choice->trace ? choice->trace : choice->endpoint);
    return SXS_EXIT_OK;
}

/* Writes the report. The problems of the session are printed here, except when samples are shown,
 * because then sxs_profile_report() prints them. */
static int write_report(struct report_options *o, const struct sxs_session *s)
{
    struct sxs_opened_reader condition;
    bool text = is_format(o, "text"), json = is_format(o, "json");
    bool samples = !text && !json;
    bool costs = o->samples.data >= SXS_DATA_ALLOC; /* data that the text shows alone */
    sxs_opened_missing(&o->session, o->samples.process, &o->missing);
    o->samples.missing = &o->missing;
    if (!samples)
        begin_rest(o);
    if (sxs_fail_if_begin(&o->fail_if, &o->session, &o->samples, &condition))
        add_reader(o, condition);
    if (text && o->samples.data != SXS_DATA_CALLS)
        samples = costs || sxs_profile_has_stacks(&o->session);
    bool sampled = samples;
    if (!samples) { /* otherwise the samples are read in the same go */
        (void)sxs_opened_read(&o->session, o->samples.process, o->readers, o->n_readers);
        end_rest(o);
        o->n_readers = 0;
    }
    if (text && o->samples.data != SXS_DATA_CALLS && o->selective)
        samples |= !o->calls.n && !o->events.n && !o->instrument.n;
    if (!samples)
        complain_of(o->dir, s->problems, s->n_problems);
    for (size_t i = 0; !text && !json && i < o->missing.n; i++) /* the others have it themselves */
        sxs_complain("%s", o->missing.all[i].text);
    if (!sampled)
        complain_of_rest(
            o,
            !samples); /* else sxs_profile_report() loads the calls again, and prints their problems */
    if (s->n_processes == 0 && s->n_problems == 0 && !sxs_period_is_all(&o->samples.period))
        return nothing_chosen(o);
    if (json && o->model.total == 0 && o->model.filtered_out && o->selective)
        return nothing_chosen(o);
    if (s->n_processes == 0 && s->n_problems == 0 && s->n_notes == 0)
        return sxs_wrong_input("%s: no session: it has no folder <pid> with a file " SXS_CENSUS_FILE
                               "; expected a folder made by sxsprof record -o DIR",
                               sxs_shown(o->dir));
    int status = samples ? report_profile(o, s) : write_census(o, s);
    if (status == SXS_EXIT_OK &&
        (s->n_problems || o->calls.n_problems || o->events.n_problems || o->instrument.n_problems ||
         o->guests.n_problems || o->heap.n_problems || o->costs.n_problems ||
         o->model.n_damage))
        status = SXS_EXIT_PROBLEM;
    return status;
}

/* Returns the name of the page beside session @dir: "/path/sxsprof-123.html". Owned; NULL after a
 * message. */
static char *page_beside(const char *dir)
{
    char  path[PATH_MAX];
    char *page = NULL;
    if (!realpath(dir, path) || asprintf(&page, "%s.html", path) < 0) {
        sxs_complain("%s: %s", dir, strerror(errno));
        return NULL;
    }
    return page;
}

/* Returns SXS_EXIT_OK when the session has what the options select. */
static int check_selection(struct report_options *o, const struct sxs_session *s)
{
    int status = sxs_selection_check(o->dir, s, o->samples.process, o->samples.runtime);
    return status == SXS_EXIT_OK ? check_traces(o) : status;
}

/* Reads the session and writes its report. @arg: struct report_options. Returns an exit status. */
static int report(void *arg)
{
    struct report_options *o = arg;
    char                   why[512];
    int                    status;
    if (sxs_pack_open(o->dir, &o->dir, why, sizeof(why)) != 0)
        return sxs_wrong_input("%s: %s; expected a file made by sxsprof pack", o->dir, why);
    int err = sxs_opened_open(o->dir, &o->samples.period, &o->session);
    if (err)
        status = sxs_wrong_input("%s: %s; expected a folder made by sxsprof record -o DIR",
                                 sxs_shown(o->dir), strerror(err));
    else if ((status = check_selection(o, &o->session.session)) == SXS_EXIT_OK)
        status = write_report(o, &o->session.session);
    status = sxs_fail_if_end(&o->fail_if, &o->session, &o->missing, status);
    sxs_missing_free(&o->missing);
    sxs_calls_report_free(&o->calls);
    sxs_events_report_free(&o->events);
    sxs_instrument_report_free(&o->instrument);
    sxs_guests_report_free(&o->guests);
    sxs_heap_newest_free(&o->heap);
    sxs_costs_report_free(&o->costs);
    sxs_traces_free(&o->traces);
    sxs_model_free(&o->model);
    sxs_opened_close(&o->session);
    return status;
}

int sxs_cmd_report(int argc, char **argv)
{
    struct report_options o = {.format = NULL};
    char                 *page = NULL;
    sxs_options_parse(&sxs_argp_report, argc, argv, 0, &o);
    if (o.open && !o.samples.output && access(o.dir, F_OK) == 0) {
        page = page_beside(o.dir);
        if (!page)
            return SXS_EXIT_PROBLEM;
        o.samples.output = page;
    }
    const struct sxs_confined_verb needs = {.reads = {&o.dir},
                                            .output = o.samples.output,
                                            .network = sxs_debuginfod_enabled(),
                                            .names = true,
                                            .symbols = o.samples.symbols};
    int                            status = sxs_confined_verb(&needs, report, &o);
    if (o.open && o.samples.output)
        status = sxs_open_written_page(o.samples.output, status);
    free(page);
    sxs_symbol_path_free(o.samples.symbols);
    return status;
}
