/* SPDX-License-Identifier: MIT */
/* Prints the summary of a recording that has ended. */
#include "cmd/calls/calls.h"
#include "cmd/carried.h"
#include "cmd/command.h"
#include "cmd/confined_verb.h"
#include "cmd/events/events.h"
#include "cmd/gc/gc.h"
#include "cmd/guests/guests.h"
#include "cmd/instrument/instrument.h"
#include "cmd/left_running.h"
#include "cmd/output/missing.h"
#include "cmd/output/print.h"
#include "cmd/output/segments.h"
#include "cmd/output/shown.h"
#include "cmd/output/text.h"
#include "cmd/report/profile.h"
#include "cmd/record.h"
#include "cmd/symbols/debuginfod.h"
#include "cmd/table.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns true when the table of runtimes says nothing that the summary after it does not: of one runtime, as
 * expected, counts of events. sxsprof report prints it. */
static bool is_plain(const struct sxs_record_options *o, const struct sxs_session *s)
{
    return sxs_record_records(o) && sxs_table_rows(s) == 1 && s->n_processes == 1 &&
           s->processes[0].n_runtimes == 1 &&
           s->processes[0].runtimes[0].state == SXS_STATE_PICKED &&
           s->processes[0].runtimes[0].errors == 0;
}

/* Processes that the command has started and that still run. */
struct left {
    size_t n;
    char   text[512]; /* some of them */
};

/* Says that more is recorded than the table below has. */
static void print_left(const struct sxs_out_dir *out, const struct left *left)
{
    sxs_complain("%s that the command has started still run%s: %s%s; %s",
                 SXS_COUNT(left->n, "process"), left->n == 1 ? "s" : "", left->text,
                 left->n > 4 ? "..." : "",
                 out->temporary ? "what they record is not kept: name a folder by -o"
                                : "what they record from now on is in the session, and not here");
}

static void print_session(const struct sxs_record_options *o, const struct sxs_out_dir *out,
                          const struct sxs_opened *v, const struct left *left, bool table)
{
    const struct sxs_session *s = &v->session;
    for (size_t i = 0; i < s->n_problems; i++)
        sxs_complain("%s/%s", sxs_shown(out->path), s->problems[i]);
    if (left->n)
        print_left(out, left);
    else if (sxs_table_rows(s) == 0 && o->duration_ms)
        sxs_complain("no runtime loaded the library in the first %s of the command (--duration); "
                     "sxsprof doctor -- "
                     "COMMAND tells whether one would",
                     o->set[SXS_SET_DURATION]);
    else if (sxs_table_rows(s) == 0)
        sxs_complain("no runtime loaded the library; sxsprof doctor -- COMMAND tells why");
    struct sxs_missing missing;
    sxs_opened_missing(v, NULL, &missing);
    sxs_missing_text(stderr, &missing);
    sxs_missing_free(&missing);
    if (table)
        sxs_table_print(stderr, s);
}

/* Prints which guests are not active, or how many there are. */
static void print_guests(const struct sxs_out_dir *out, const struct sxs_opened *v)
{
    struct sxs_guests_report guests = {0};
    if (sxs_guests_report_load(v, NULL, &guests) == 0)
        sxs_guests_summary(stderr, &guests);
    for (size_t i = 0; i < guests.n_problems; i++)
        sxs_complain("%s/%s", sxs_shown(out->path), guests.problems[i]);
    sxs_guests_report_free(&guests);
}

/* Prints one line when --pick names one runtime and none of the loaded runtimes is that one. */
static void print_unpicked(const struct sxs_record_options *o, const struct sxs_session *s)
{
    const char *pick = sxs_record_picked(o);
    char        loaded[256] = "";
    size_t      len = 0;
    if (!pick || strncmp(pick, "one:", 4) != 0 || sxs_table_rows(s) == 0)
        return;
    for (size_t i = 0; i < s->n_processes; i++)
        for (size_t k = 0; k < s->processes[i].n_runtimes; k++) {
            const struct sxs_session_runtime *r = &s->processes[i].runtimes[k];
            if (r->state == SXS_STATE_PICKED)
                return;
            if (len < sizeof(loaded))
                len += (size_t)snprintf(loaded + len, sizeof(loaded) - len, "%s%s", len ? ", " : "",
                                        r->version[0] ? r->version : "?");
        }
    sxs_complain("--pick %s: no runtime was picked; loaded were %s", pick, loaded);
}

enum {
    ROWS = 10,
    ROWS_NAMED = 3
}; /* of each table: of a session without and with a name of the user's */

/* Prints the first @top rows of the tables of calls, exceptions, events and instrumented methods. */
static void print_tables(const struct sxs_opened *v, size_t top)
{
    const struct sxs_calls_view  view = {.top = top, .depth = 1};
    struct sxs_calls_report      calls = {0};
    struct sxs_events_report     events = {0};
    struct sxs_instrument_report instrument = {0};
    struct sxs_opened_reader     readers[] = {sxs_calls_report_reader(&calls),
                                              sxs_events_report_reader(&events),
                                              sxs_instrument_report_reader(&instrument)};
    (void)sxs_opened_read(v, NULL, readers, sizeof(readers) / sizeof(readers[0]));
    if (!readers[0].err && calls.n) {
        fputs("\n", stderr);
        sxs_calls_text(stderr, &calls, &view);
    }
    if (!readers[1].err && events.n) {
        fputs("\n", stderr);
        sxs_events_text(stderr, &events, top < 5 ? top : 5);
        sxs_gc_text(stderr, &events, top < 5 ? top : 5, 0);
    }
    if (!readers[2].err && instrument.n) {
        fputs("\n", stderr);
        sxs_instrument_text(stderr, &instrument, top, top < 5 ? top : 5);
    }
    sxs_calls_report_free(&calls);
    sxs_events_report_free(&events);
    sxs_instrument_report_free(&instrument);
}

/* Prints a summary of the session, where it is, and what to do with it. */
static void print_recorded(const struct sxs_out_dir *out, const struct sxs_opened *v, size_t top)
{
    char        here[PATH_MAX];
    const char *path = out->path;
    bool        profile = sxs_profile_has_stacks(v) || sxs_profile_has_calls(v);
    bool        events = sxs_profile_has_events(v);
    if (getcwd(here, sizeof(here)) && strncmp(path, here, strlen(here)) == 0 &&
        path[strlen(here)] == '/')
        path += strlen(here) + 1;
    if (sxs_profile_has_stacks(v)) {
        fputs("\n", stderr);
        sxs_profile_summary(v, top, stderr);
    }
    print_tables(v, top);
    if (out->temporary)
        return;
    sxs_print_to(stderr, "\nThe session is kept in %s; for ", path);
    if (profile || events)
        sxs_print_to(stderr, "a %s:\n  sxsprof report --format html -o %s.html %s\n",
                     profile ? "flame graph" : "timeline", profile ? "flame" : "timeline", path);
    else
        sxs_print_to(stderr, "all of it:\n  sxsprof report %s\n", path);
}

/* Prints what the segments of this run have together. Returns false when no runtime was recorded. */
static bool finish_segments(const struct sxs_record_options *o, struct sxs_out_dir *out,
                            const struct left *left)
{
    const struct sxs_period period = {.from_ns = out->segments_ns};
    struct sxs_opened       v;
    int                     err = sxs_opened_open(out->path, &period, &v);
    bool                    unnamed = !o->outputs.folder && !err && !v.segments.n;
    if (err)
        sxs_complain("%s: %s", sxs_shown(out->path), strerror(err));
    if (!o->set[SXS_SET_QUIET] && !err) {
        print_session(o, out, &v, left, true);
        if (v.segments.n)
            sxs_segments_text(stderr, &v.segments);
        if (v.segments.n && !out->temporary)
            sxs_print_to(stderr,
                         "The segments are kept in %s; for all of them:\n  sxsprof report %s\n",
                         out->path, out->path);
    }
    bool any = err || v.segments.n || v.session.n_problems || left->n;
    print_unpicked(o, &v.session);
    if (unnamed && v.session.n_problems == 0 && !left->n)
        out->temporary = true; /* nothing was recorded */
    sxs_opened_close(&v);
    return any;
}

/* The same of a session that is not in segments. */
static bool finish_session(const struct sxs_record_options *o, struct sxs_out_dir *out,
                           const struct left *left)
{
    struct sxs_session        read;
    struct sxs_opened         v = {.fd = -1};
    const struct sxs_session *s = &v.session;
    int                       err = sxs_session_read(out->path, &read);
    bool                      unnamed = sxs_record_records(o) && !o->outputs.folder;
    bool                      any;
    sxs_out_dir_keep_new(out, &read);
    if (!err)
        err = sxs_opened_open_read(out->path, &read, &v);
    if (err)
        sxs_complain("%s: %s", sxs_shown(out->path), strerror(err));
    if (!o->set[SXS_SET_QUIET] && !err) {
        print_session(o, out, &v, left, !is_plain(o, s));
        print_guests(out, &v);
    }
    print_unpicked(o, s);
    any = err || sxs_table_rows(s) || s->n_problems || left->n;
    if (unnamed && !any)
        out->temporary = true; /* nothing was recorded: let sxs_out_dir_close() remove the folder */
    else if (sxs_record_records(o) && !o->set[SXS_SET_QUIET] && !err && sxs_table_rows(s) > 0)
        print_recorded(out, &v, unnamed && !out->temporary ? ROWS : ROWS_NAMED);
    sxs_opened_close(&v);
    sxs_session_free(&read);
    return any;
}

/* What the child that reads the session gets. */
struct summary {
    const struct sxs_record_options *options;
    struct sxs_out_dir           *out;
    const char                   *path; /* of the folder, as the child finds it */
    struct left                   left;
};

enum {
    STUCK_MS = 5000,
    STUCK_ASKING_MS = 30000, /* more than what a server of debug files may take */
};
/* What that child found out, as bits of its exit status. No status of a child that failed or was ended by a
 * limit is one of these: then the session is kept. */
enum {
    SEEN = 64,
    REMOVE = 1,
    NOTHING = 2
}; /* whether the folder is kept when no runtime was recorded */

static int print_summary(void *arg)
{
    const struct summary *s = arg;
    if (s->path != s->out->path)
        snprintf(s->out->path, sizeof(s->out->path), "%s", s->path);
    bool any = s->out->segments_ns ? finish_segments(s->options, s->out, &s->left)
                                   : finish_session(s->options, s->out, &s->left);
    return SEEN | (s->out->temporary ? REMOVE : 0) | (any ? 0 : NOTHING);
}

/* Writes the files of -o. Returns an exit status. */
static int write_files(const struct sxs_record_options *o, const struct sxs_out_dir *out,
                       bool nothing)
{
    const struct sxs_record_outputs *files = &o->outputs;
    if (!nothing)
        return sxs_record_outputs_write(files, out->path, sxs_record_only_heap(o),
                                        o->set[SXS_SET_QUIET]);
    for (size_t i = 0; i < files->n; i++)
        sxs_complain("%s is not written: no runtime was recorded", sxs_shown(files->files[i].path));
    return files->n ? SXS_EXIT_PROBLEM : SXS_EXIT_OK;
}

int sxs_record_finish(const struct sxs_record_options *o, struct sxs_out_dir *out)
{
    struct summary                 s = {.options = o, .out = out, .path = out->path};
    unsigned                       stuck_ms = sxs_debuginfod_enabled() ? STUCK_ASKING_MS : STUCK_MS;
    const struct sxs_confined_verb needs = {
        .reads = {&s.path}, .names = true, .stuck_ms = out->of_process ? stuck_ms : 0};
    if (!o->duration_ms) /* else they record no longer than that */
        s.left.n = sxs_left_running(out->path, s.left.text, sizeof(s.left.text));
    int seen = sxs_confined_verb(&needs, print_summary, &s);
    if ((seen & ~(REMOVE | NOTHING)) != SEEN)
        seen = 0;
    out->temporary |= seen & REMOVE;
    int written = write_files(o, out, seen & NOTHING);
    if (written && !(seen & NOTHING) && sxs_record_outputs_only(&o->outputs)) {
        out->temporary = false; /* or what was recorded would be lost with the file */
        sxs_complain("the session is kept in %s", out->path);
    }
    return written;
}
