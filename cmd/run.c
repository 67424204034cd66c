/* SPDX-License-Identifier: MIT */
/* sxsprof run: check all options and settings, then start the command. */
#include "base/env.h"
#include "cmd/calls/calls.h"
#include "cmd/child.h"
#include "cmd/child_env.h"
#include "cmd/command.h"
#include "cmd/events/events.h"
#include "cmd/out_dir.h"
#include "cmd/progress.h"
#include "cmd/report/profile.h"
#include "cmd/settings.h"
#include "cmd/table.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_PICK = 1000, KEY_UNPICKED, KEY_TOOL, KEY_NO_PRELOAD, KEY_SIGNALS, KEY_QUIET, KEY_CALLS,
       KEY_CALLS_NOT, KEY_VALUES, KEY_INSTRUMENT };

struct options {
    const char *unpicked, *signals, *out;
    char       *pick;  /* owned */
    char       *tools; /* owned, separated by ';' */
    char       *calls, *calls_not, *values; /* owned, separated by ';' */
    char       *instrument; /* owned, absolute */
    bool        no_preload, quiet;
    char      **command; /* borrowed from main's argv */
};

static const struct argp_option option_list[] = {
    {"pick", KEY_PICK, "all|first|one:WHAT", 0,
     "Which runtimes are profiled: all of them (the default), the first, or one by a prefix of its "
     "version or its libcoreclr.so's path",
     0},
    {"unpicked", KEY_UNPICKED, "guard|cancel", 0,
     "What becomes of the others: guard their signals (the default), or turn them away", 0},
    {"tool", KEY_TOOL, "NAME[:OPTIONS]", 0, "Use a tool; may be given several times", 0},
    {"calls", KEY_CALLS, "PATTERN", 0,
     "Count calls of functions that fit [VERSION/]ASSEMBLY:NAME, wildcards * and ?; may be given "
     "several times; the tool calls, all but framework code by default", 0},
    {"calls-not", KEY_CALLS_NOT, "PATTERN", 0, "But not of these; may be given several times", 0},
    {"values", KEY_VALUES, "PATTERN", 0,
     "Record each call of these functions with arguments and result; may be given several times; calls "
     "of all others take longer too", 0},
    {"instrument", KEY_INSTRUMENT, "PATH", 0,
     "Instrument methods as this file says, or the *.xml of this folder; see sxsprof check", 0},
    {NULL, 'o', "DIR", 0,
     "Keep the session in DIR: a new folder, an empty one, or an earlier session", 0},
    {"no-preload", KEY_NO_PRELOAD, NULL, 0, "Do not preload the signal library", 0},
    {"signals", KEY_SIGNALS, "on|off", 0, "Route signals to their runtimes (on is the default)", 0},
    {"quiet", KEY_QUIET, NULL, 0, "Print no table at the end, and no progress", 0},
    {0},
};

/* Checks an option's value by the row of its variable. Does not return when the value is wrong,
 * because argp_error() ends the process. */
static const char *checked(struct argp_state *state, const char *variable, const char *value)
{
    char why[1024];
    const struct sxs_setting *row = sxs_setting_find(variable);
    if (sxs_setting_check(row, row->option, value, why, sizeof(why)) != 0)
        argp_error(state, "%s", why);
    return value;
}

/* Makes the path of "one:PATH" absolute, because the command may change its current folder before
 * the library uses the path. Returns an owned string. */
static char *absolute_pick(struct argp_state *state, const char *pick)
{
    char path[PATH_MAX], *out = NULL;
    bool relative = strncmp(pick, "one:", 4) == 0 && pick[4] != '/' && strchr(pick, '/');
    if (relative && !realpath(pick + 4, path))
        argp_error(state, "--pick: %s: %s", pick + 4, strerror(errno));
    if (asprintf(&out, "%s%s", relative ? "one:" : pick, relative ? path : "") < 0)
        argp_error(state, "--pick: out of memory");
    return out;
}

/* Makes the path absolute, because the command may change its current folder. Symbolic links are
 * kept: the library resolves them again whenever the files change. Returns an owned string. */
static char *absolute_rules(struct argp_state *state, const char *path)
{
    char *folder = *path == '/' ? NULL : get_current_dir_name(), *out = NULL;
    if (access(path, F_OK) != 0 || (*path != '/' && !folder))
        argp_error(state, "--instrument: %s: %s", path, strerror(errno));
    if (asprintf(&out, "%s%s%s", folder ? folder : "", folder ? "/" : "", path) < 0)
        argp_error(state, "--instrument: out of memory");
    free(folder);
    return out;
}

static void append(struct argp_state *state, char **list, const char *item)
{
    char *longer = NULL;
    if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? ";" : "", item) < 0)
        argp_error(state, "out of memory");
    free(*list);
    *list = longer;
}

static void add_pattern(struct argp_state *state, char **list, const char *variable,
                        const char *pattern)
{
    checked(state, variable, pattern);
    if (strchr(pattern, ';'))
        argp_error(state, "%s: '%s': ';' separates patterns and cannot be part of one",
                   sxs_setting_find(variable)->option, pattern);
    append(state, list, pattern);
}

/* Adds the tool "calls" when patterns were given without it. */
static void complete_tools(struct argp_state *state, struct options *o)
{
    bool has = false;
    for (const char *at = o->tools; at && *at; at += strcspn(at, ";"), at += *at == ';')
        has |= strncmp(at, "calls", 5) == 0 && (!at[5] || strchr(":;", at[5]));
    if ((o->calls || o->calls_not || o->values) && !has)
        append(state, &o->tools, o->values ? "calls:trace" : "calls");
}

static void add_tool(struct argp_state *state, struct options *o, const char *tool)
{
    char        detail[512];
    const char *wrong = *tool ? sxs_tool_check(tool, detail, sizeof(detail)) : "it has no name";
    if (wrong)
        argp_error(state, "--tool: '%s': %s; expected NAME[:OPTIONS]", tool, wrong);
    append(state, &o->tools, tool);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case KEY_PICK:
        free(o->pick);
        o->pick = absolute_pick(state, checked(state, "SXSPROF_PICK", arg));
        return 0;
    case KEY_UNPICKED:
        o->unpicked = checked(state, "SXSPROF_UNPICKED", arg);
        return 0;
    case KEY_SIGNALS:
        o->signals = checked(state, "SXSPROF_SIGNALS", arg);
        return 0;
    case KEY_TOOL:
        add_tool(state, o, arg);
        return 0;
    case KEY_CALLS: add_pattern(state, &o->calls, "SXSPROF_CALLS", arg); return 0;
    case KEY_CALLS_NOT: add_pattern(state, &o->calls_not, "SXSPROF_CALLS_NOT", arg); return 0;
    case KEY_VALUES: add_pattern(state, &o->values, "SXSPROF_VALUES", arg); return 0;
    case KEY_INSTRUMENT:
        free(o->instrument);
        o->instrument = absolute_rules(state, checked(state, "SXSPROF_INSTRUMENT", arg));
        return 0;
    case KEY_NO_PRELOAD:
        o->no_preload = true;
        return 0;
    case KEY_QUIET:
        o->quiet = true;
        return 0;
    case 'o':
        if (!*arg)
            argp_error(state, "-o: the folder's name is empty");
        o->out = arg;
        return 0;
    case ARGP_KEY_ARG: /* the command begins here; the rest belongs to it */
        o->command = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (!o->command)
            argp_error(state, "COMMAND is missing: expected a command to run, after --");
        complete_tools(state, o);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse,
    .args_doc = "-- COMMAND [ARGUMENT...]",
    .doc = "Run a command with its .NET runtimes profiled, and print what they did.\v"
           "The exit status is the command's; when a signal ended it, the same signal ends "
           "sxsprof. The table goes to standard error. Wrong input: exit status 2, and nothing is "
           "started.",
};

/* Checks variables that no option replaces: the library will read them from the inherited
 * environment, so a bad value is wrong input, too. */
static int check_inherited(const struct options *o)
{
    const struct {
        const char *variable;
        bool        replaced;
    } inherited[] = {
        {"SXSPROF_PICK", o->pick != NULL},
        {"SXSPROF_UNPICKED", o->unpicked != NULL},
        {"SXSPROF_TOOLS", o->tools != NULL},
        {"SXSPROF_SIGNALS", o->signals != NULL},
        {"SXSPROF_CALLS", o->calls != NULL},
        {"SXSPROF_CALLS_NOT", o->calls_not != NULL},
        {"SXSPROF_VALUES", o->values != NULL},
        {"SXSPROF_INSTRUMENT", o->instrument != NULL},
        {"SXSPROF_LOG", false},
    };
    for (size_t i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++) {
        char        why[1024];
        const char *name = inherited[i].variable, *value = sxs_env_named(name);
        if (inherited[i].replaced || !value || !*value)
            continue;
        if (sxs_setting_check(sxs_setting_find(name), name, value, why, sizeof(why)) != 0)
            return sxs_wrong_input("%s (the variable is set)", why);
    }
    return 0;
}

static int check_library(const struct sxs_library *lib, bool preload)
{
    if (!lib->has_profiler)
        return sxs_wrong_input("%s is missing; expected it there or in %s/../lib/sxsprof",
                               lib->profiler, lib->bin_dir);
    if (preload && !lib->has_preload)
        return sxs_wrong_input("%s is missing; expected it there or in %s/../lib/sxsprof, or "
                               "--no-preload",
                               lib->preload, lib->bin_dir);
    if (preload && strpbrk(lib->preload, ": "))
        return sxs_wrong_input("%s: the loader cannot preload a path with a space or a colon in "
                               "it; expected another place, or --no-preload",
                               lib->preload);
    return 0;
}

static int check_command(const char *name, char *path, size_t size)
{
    switch (sxs_child_find(name, path, size)) {
    case 0:
        return 0;
    case EACCES:
        return sxs_wrong_input("%s: cannot be executed; expected a program", name);
    default:
        return sxs_wrong_input("%s: not found%s; expected a program", name,
                               strchr(name, '/') ? "" : " on PATH");
    }
}

static void print_session(const struct sxs_out_dir *out)
{
    struct sxs_session s;
    int err = sxs_session_read(out->path, &s);
    if (err)
        sxs_complain("%s: %s", out->path, strerror(err));
    sxs_out_dir_keep_new(out, &s);
    for (size_t i = 0; i < s.n_problems; i++)
        sxs_complain("%s/%s", out->path, s.problems[i]);
    if (!err && sxs_table_rows(&s) == 0)
        sxs_complain("no runtime loaded the library; sxsprof doctor -- COMMAND tells why");
    else
        sxs_table_print(stderr, &s);
    sxs_session_free(&s);
}

/* Returns true when one of the tools that the command will run with records more than the table of
 * runtimes. */
static bool records(const struct options *o)
{
    static const char *const tools[] = {"sample", "calls", "exceptions", "events"};
    const char              *list = o->tools ? o->tools : sxs_env_get(SXS_ENV_TOOLS);
    for (; list && *list; list += strcspn(list, ";"), list += *list == ';')
        for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
            if (strcspn(list, ":;") == strlen(tools[i]) &&
                strncmp(list, tools[i], strlen(tools[i])) == 0)
                return true;
    return false;
}

/* Returns true when a session folder is made and kept although there is no -o; not with --quiet,
 * because then the user would not learn of the folder. */
static bool keeps_session(const struct options *o)
{
    return records(o) && !o->out && !o->quiet;
}

/* Prints the first rows of the tables of calls, exceptions and events. */
static void print_tables(const char *dir)
{
    const struct sxs_calls_view view = {.top = 10, .depth = 1};
    struct sxs_session          s;
    struct sxs_calls_report     calls = {0};
    struct sxs_events_report    events = {0};
    if (sxs_session_read(dir, &s) == 0) {
        if (sxs_calls_report_load(dir, &s, NULL, &calls) == 0 && calls.n) {
            fputs("\n", stderr);
            sxs_calls_text(stderr, &calls, &view);
        }
        if (sxs_events_report_load(dir, &s, NULL, &events) == 0 && events.n) {
            fputs("\n", stderr);
            sxs_events_text(stderr, &events, 5);
        }
    }
    sxs_calls_report_free(&calls);
    sxs_events_report_free(&events);
    sxs_session_free(&s);
}

/* Prints a summary of the session and the path of its folder, which the user did not choose with
 * -o. */
static void print_recorded(struct sxs_out_dir *out)
{
    char        here[PATH_MAX];
    const char *path = out->path;
    bool        samples = sxs_profile_has_samples(path), calls = sxs_profile_has_calls(path);
    bool        events = sxs_profile_has_events(path);
    if (!samples && !calls && !events) {
        out->temporary = true; /* nothing was recorded: let sxs_out_dir_close() remove the folder */
        return;
    }
    if (getcwd(here, sizeof(here)) && strncmp(path, here, strlen(here)) == 0 &&
        path[strlen(here)] == '/')
        path += strlen(here) + 1;
    if (samples) {
        fputs("\n", stderr);
        sxs_profile_summary(out->path, stderr);
    }
    if (calls || events)
        print_tables(out->path);
    const char *what = samples || calls ? "flame" : "timeline";
    fprintf(stderr, "\nThe session is kept in %s; for a %s:\n"
                    "  sxsprof report --format html -o %s.html %s\n", path,
            samples || calls ? "flame graph" : "timeline", what, path);
}

static void progress(void *arg, bool ended)
{
    if (ended)
        sxs_progress_erase(arg);
    else
        sxs_progress_tick(arg);
}

/* Starts the command after all checks. Returns an exit status when it cannot be started; otherwise
 * ends this process as the command ended. */
static int start(const struct options *o, const struct sxs_library *lib, const char *path,
                 struct sxs_out_dir *out)
{
    const struct sxs_child_settings settings = {
        .library = lib,
        .preload = !o->no_preload,
        .pick = o->pick,
        .unpicked = o->unpicked,
        .tools = o->tools,
        .calls = o->calls,
        .calls_not = o->calls_not,
        .values = o->values,
        .instrument = o->instrument,
        .signals = o->signals,
        .out = out->path,
    };
    struct sxs_progress         shown;
    const struct sxs_child_tick tick = {progress, &shown, SXS_PROGRESS_PERIOD_NS};
    int    status = 0;
    char **env = sxs_child_env(&settings);
    sxs_progress_init(&shown, out, o->quiet);
    int err = env ? sxs_child_run(path, o->command, env, shown.enabled ? &tick : NULL, &status)
                  : ENOMEM;
    sxs_child_env_free(env);
    if (err) {
        sxs_out_dir_abandon(out);
        return sxs_wrong_input("%s: %s; nothing was started", path, strerror(err));
    }
    signal(SIGPIPE, SIG_IGN); /* if the reader of stderr is gone: keep the exit status */
    if (!o->quiet)
        print_session(out);
    if (keeps_session(o))
        print_recorded(out);
    sxs_out_dir_close(out);
    sxs_child_exit_like(status);
}

int sxs_cmd_run(int argc, char **argv)
{
    struct options     o = {0};
    struct sxs_library lib;
    struct sxs_out_dir out;
    char               path[PATH_MAX], why[PATH_MAX + 512];
    int                status = SXS_EXIT_USAGE;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o);

    int err = sxs_library_find(&lib);
    if (err) {
        sxs_complain("/proc/self/exe: %s; expected it to tell where this command lies",
                     strerror(err));
        goto done;
    }
    if (check_inherited(&o) || check_library(&lib, !o.no_preload) ||
        check_command(o.command[0], path, sizeof(path)))
        goto done;
    if ((keeps_session(&o) ? sxs_out_dir_open_kept(&out, why, sizeof(why))
                           : sxs_out_dir_open(&out, o.out, why, sizeof(why))) != 0) {
        sxs_complain("%s", why);
        goto done;
    }
    status = start(&o, &lib, path, &out);
done:
    free(o.pick);
    free(o.tools);
    free(o.calls);
    free(o.calls_not);
    free(o.values);
    free(o.instrument);
    return status;
}
