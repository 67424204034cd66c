/* SPDX-License-Identifier: MIT */
/* sxsprof top: a live view of a process that is recorded, or of a session. */
#include "cmd/top/top.h"
#include "cmd/argument.h"
#include "cmd/command.h"
#include "cmd/confined/reader.h"
#include "cmd/confined_verb.h"
#include "cmd/named_processes.h"
#include "cmd/output/print.h"
#include "cmd/process_session.h"
#include "cmd/processes/asked.h"
#include "cmd/symbols/debuginfod.h"
#include "cmd/top_attach.h"
#include "cmd/top_follow.h"
#include "cmd/top_watch.h"

#include "base/c_locale.h"
#include "session/read/session_read.h"

#include <argp.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { KEY_REFRESH = 0x100, KEY_WINDOW, KEY_VIEW, KEY_RUNTIME, KEY_FILTER, KEY_TOP };

struct top_options {
    struct sxs_top_options top;
    const char            *source; /* a session's folder, or a pid */
    bool                   batch;
    bool                   named; /* the source is the name of a process */
    pid_t                  pid;   /* 0: the source is a folder */
};

static double seconds_argument(struct argp_state *state, const char *option, const char *text)
{
    char  *end;
    double v = sxs_strtod(text, &end);
    if (end == text || *end || !(v >= 0.05 && v <= 3600))
        sxs_option_error(state, "%s: '%s': expected seconds, from 0.05 to 3600", option, text);
    return v;
}

static void set_format(struct argp_state *state, struct top_options *o, const char *text)
{
    o->top.json = sxs_format_argument(state, text) == SXS_FORMAT_JSON;
    o->batch |= o->top.json;
}

static void set_view(struct argp_state *state, struct top_options *o, const char *text)
{
    if (sxs_top_view_named(text) == SXS_TOP_N_VIEWS)
        sxs_option_error(state, "--view: '%s': expected %s", text, sxs_top_view_names());
    o->top.view = text;
}

/* Chooses what no argument said. A number is a process; a folder of that name is ./NUMBER. What is no folder and has
 * no slash is the name of a process, as for the other verbs. */
static void complete(struct argp_state *state, struct top_options *o)
{
    if (!o->source && o->top.process) {
        o->source = o->top.process;
        o->top.process = NULL;
    }
    if (!o->source)
        o->source = sxs_newest_argument(state, "PID or SESSION",
                                        "a running process, or a folder made by sxsprof record");
    if (o->source[strspn(o->source, "0123456789")] == '\0' && strlen(o->source) < 10)
        o->pid = (pid_t)strtol(o->source, NULL, 10);
    else if (!strchr(o->source, '/') && access(o->source, F_OK) != 0)
        o->named = true;
    if (o->top.count && !o->batch)
        sxs_option_error(state, "--count needs --batch");
    if (o->top.lines && !o->batch)
        sxs_option_error(state, "--top needs --batch");
    if (o->top.process && (o->pid || o->named))
        sxs_option_error(state, "--process is for a SESSION with several processes, not for a PID");
    if (!o->top.lines)
        o->top.lines = 20;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct top_options *o = state->input;
    switch (key) {
    case 'b': o->batch = true; return 0;
    case 'n': o->top.count = sxs_number_argument(state, "--count", arg); return 0;
    case 'f': set_format(state, o, arg); return 0;
    case KEY_REFRESH: o->top.interval_s = seconds_argument(state, "--refresh", arg); return 0;
    case KEY_WINDOW: o->top.window_s = seconds_argument(state, "--window", arg); return 0;
    case KEY_VIEW: set_view(state, o, arg); return 0;
    case KEY_RUNTIME:
        o->top.runtime = (uint32_t)sxs_number_argument(state, "--runtime", arg);
        return 0;
    case KEY_FILTER: o->top.filter = arg; return 0;
    case 'p': o->top.process = arg; return 0;
    case KEY_TOP: o->top.lines = sxs_number_argument(state, "--top", arg); return 0;
    case ARGP_KEY_ARG:
        if (o->source)
            sxs_option_error(state, "one process or session is expected, '%s' is one more", arg);
        o->source = arg;
        return 0;
    case ARGP_KEY_END: complete(state, o); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_list[] = {
    {"refresh", KEY_REFRESH, "SECONDS", 0, "Time between two looks (default: 1)", 0},
    {"window", KEY_WINDOW, "SECONDS", 0, "Values are those of the last SECONDS (default: 5)", 0},
    {"view", KEY_VIEW, "VIEW", 0,
     "functions, threads, allocations, native, exceptions, locks, collections, jit or runtimes", 1},
    {"runtime", KEY_RUNTIME, "N", 0, "Only runtime number N", 1},
    {"filter", KEY_FILTER, "TEXT", 0, "Only rows that contain TEXT", 1},
    {"process", 'p', "PID|NAME", 0,
     "This process; with SESSION, one of its processes (default: the newest that runs)", 1},
    {"batch", 'b', NULL, 0, "Print, instead of using the terminal", 2},
    {"count", 'n', "N", 0, "Print N times, then end (default: until the process ends)", 2},
    {"top", KEY_TOP, "N", 0, "Print N rows of each list (default: 20)", 2},
    {"format", 'f', "text|json", 0, "Print text, or a line of JSON for each look (implies --batch)",
     2},
    {0}};

const struct argp sxs_argp_top = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "[PID|NAME|SESSION]",
    .doc = "Show what a process does now: functions, threads, allocations, exceptions, locks, "
           "collections, compilations. PID, NAME: a process that is recorded, or that is attached "
           "to for "
           "this. SESSION: a session's folder (default: the newest one here)."};

static void wait_s(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)};
    nanosleep(&t, NULL); /* a signal that asks to end ends the wait */
}

/* Looks until everything that was recorded has been read. */
static unsigned look_at_all(struct sxs_live *live)
{
    unsigned changes;
    while (((changes = sxs_top_look(live)) & SXS_LIVE_BEHIND) && !sxs_top_stopped())
        ;
    return changes;
}

/* Looks, also at the session that follows one that has ended. */
static unsigned look_on(struct sxs_top_follow *f)
{
    unsigned changes = look_at_all(f->live);
    if ((changes & SXS_LIVE_ENDED) && sxs_top_follow_wait(f))
        changes = look_at_all(f->live);
    return changes;
}

static int batch(struct sxs_top_follow *f, const struct top_options *o, pid_t pid)
{
    struct sxs_top_system system = {0};
    unsigned              changes = look_on(f);
    sxs_top_system_read(&system, pid);
    for (size_t n = 0; !sxs_top_stopped(); n++) {
        if (!(changes & SXS_LIVE_ENDED)) { /* figures are those of an interval, also at first */
            wait_s(o->top.interval_s);
            changes = look_on(f);
            sxs_top_system_read(&system, pid);
        }
        if ((o->top.json ? sxs_top_print_json : sxs_top_print_text)(f->live, &o->top, &system,
                                                                    stdout))
            return sxs_finish_output();
        if ((changes & SXS_LIVE_ENDED) || n + 1 == o->top.count)
            break;
    }
    return SXS_EXIT_OK;
}

static void print_problems(struct sxs_live *live)
{
    const char *line;
    for (size_t i = 0; (line = sxs_live_problem(live, i)) != NULL; i++)
        sxs_complain("%s", line);
}

static struct sxs_live *next_session(void *arg)
{
    struct sxs_top_follow *f = arg;
    return sxs_top_follow_next(f) ? f->live : NULL;
}

/* What is shown. */
struct shown_session {
    const struct top_options *o;
    const char               *path, *name; /* by which the session is opened, and called */
    bool                      follows;     /* the next sessions of the process are shown too */
};

/* Reads and draws. @arg: struct shown_session. Returns an exit status. */
static int show(void *arg)
{
    const struct shown_session *s = arg;
    const struct top_options   *o = s->o;
    struct sxs_top_follow       f;
    char                        why[1024];
    int                         status = SXS_EXIT_OK;
    sxs_top_catch();
    if (sxs_confined_is_reader()) /* its parent is gone: the terminal is given back first */
        prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (sxs_top_follow_open(&f, s->path, s->name, o->top.process, o->pid, o->top.window_s, why,
                            sizeof(why)) != 0)
        return sxs_wrong_input("top: %s: %s", s->name, why);
    pid_t pid = o->pid;
    if (!s->follows)
        f.pid = 0;
    if (!pid) { /* the process of a session, if it runs and its number is not of another PID namespace */
        sxs_live_look(f.live);
        pid = (pid_t)sxs_live_process(f.live)->pid;
        pid = pid && sxs_live_is_of(f.live, pid) ? pid : 0;
    }
    if (o->batch) {
        status = batch(&f, o, pid);
    } else if (sxs_top_screen(f.live, &o->top, pid, next_session, &f, why, sizeof(why)) != 0) {
        status = sxs_wrong_input("top: %s", why);
    }
    print_problems(f.live);
    sxs_top_follow_close(&f);
    return status;
}

/* Shows it in a confined child, whose helper looks at processes. @foreign: of another user's process, whose files
 * may never answer. */
static int show_confined(struct shown_session *s, bool foreign)
{
    const struct sxs_child_limit  *limit = sxs_top_watch(!s->o->batch);
    const struct sxs_confined_verb needs = {.reads = {&s->path},
                                            .no_packs = true,
                                            .asks = true,
                                            .answer = sxs_asked_answer,
                                            .answer_arg =
                                                s->follows ? (void *)(uintptr_t)&s->o->pid : NULL,
                                            .network = sxs_debuginfod_enabled(),
                                            .names = true,
                                            .limit = foreign ? limit : NULL,
                                            .lost = sxs_top_watch_lost,
                                            .endless = true};
    sxs_top_hold(); /* until the child catches them: it ends in order */
    int status = sxs_confined_verb(&needs, show, s);
    sxs_top_catch();
    return status;
}

/* Shows a process; attaches to it when it is not recorded. This process holds the attach, and reads nothing
 * of the session. */
static int show_process(const struct top_options *o)
{
    char                       dir[PATH_MAX + 64], path[PATH_MAX + 64];
    struct sxs_process_session found;
    struct sxs_top_attach      attached = {0};
    int                        status = sxs_process_session_open(o->pid, &found);
    if (status == SXS_EXIT_OK && !found.dir)
        status = sxs_top_attach(o->pid, &attached, &found);
    if (status == SXS_EXIT_OK) {
        snprintf(dir, sizeof(dir), "%s/%s", found.dir, found.folder);
        snprintf(path, sizeof(path), "%s/%s", found.open, found.folder);
        status = show_confined(&(struct shown_session){o, path, dir, !attached.child},
                               sxs_process_session_is_foreign(&found));
    }
    sxs_top_detach(&attached);
    sxs_process_session_free(&found);
    return status;
}

int sxs_cmd_top(int argc, char **argv)
{
    struct top_options o = {.top = {.interval_s = 1, .window_s = 5}};
    sxs_options_parse(&sxs_argp_top, argc, argv, 0, &o);
    if (o.named) {
        size_t n;
        int    status = sxs_named_processes(o.source, false, &o.pid, 1, &n);
        if (status != SXS_EXIT_OK)
            return status;
    }
    sxs_top_catch();
    return o.pid ? show_process(&o)
                 : show_confined(&(struct shown_session){&o, o.source, o.source, false}, false);
}
