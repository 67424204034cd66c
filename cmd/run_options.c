/* SPDX-License-Identifier: MIT */
#include "cmd/run_options.h"

#include "base/env.h"
#include "cmd/command.h"
#include "cmd/guest_option.h"
#include "cmd/method_option.h"
#include "cmd/output/print.h"
#include "cmd/settings.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct argp_option option_list[] = {
    {"pick", SXS_RUN_PICK, "all|first|one:WHAT", 0,
     "Which runtimes are profiled: all of them (the default), the first, or one by a prefix of its "
     "version or its libcoreclr.so's path",
     0},
    {"unpicked", SXS_RUN_UNPICKED, "guard|cancel", 0,
     "What becomes of the others: guard their signals (the default), or turn them away", 0},
    {"tool", SXS_RUN_TOOL, "NAME[:OPTIONS]", 0, "Use a tool; may be given several times", 0},
    {"calls", SXS_RUN_CALLS, "PATTERN", 0,
     "Count calls of functions that fit [VERSION/]ASSEMBLY:NAME, wildcards * and ?; may be given "
     "several times; the tool calls, all but framework code by default",
     0},
    {"calls-not", SXS_RUN_CALLS_NOT, "PATTERN", 0, "But not of these; may be given several times",
     0},
    {"values", SXS_RUN_VALUES, "PATTERN", 0,
     "Record each call of these functions with arguments and result; may be given several times; "
     "calls "
     "of all others take longer too",
     0},
    {"mask", SXS_RUN_MASK, "off|text|all", 0,
     "Values that are not recorded: of texts only their length, or none at all (off is the "
     "default)",
     0},
    {"instrument", SXS_RUN_INSTRUMENT, "PATH", 0,
     "Instrument methods as this file says, or the *.xml of this folder; see sxsprof check", 0},
    {"heap-at-exit", SXS_RUN_HEAP_AT_EXIT, NULL, 0,
     "Record all objects of each runtime when its program ends; the tool heap with at-exit", 0},
    {"guest", SXS_RUN_GUEST, "FILE|CLSID=PATH", 0,
     "Run another profiler as a guest: its class and its library, then optionally "
     ",pick=all|first|one:WHAT ,priority=N ,env=NAME=VALUE; or those of an XML file; may be given "
     "several times",
     0},
    {"adopt", SXS_RUN_ADOPT, NULL, 0,
     "Run the profilers that CORECLR_PROFILER and CORECLR_NOTIFICATION_PROFILERS name as guests, "
     "also when the command sets these variables itself",
     0},
    {"method", SXS_RUN_METHOD, "CONFIG.xml", 0,
     "Load the plug-ins (instrumentation methods) of the CLR Instrumentation Engine that this "
     "configuration file declares; may be given several times",
     0},
    {"output", 'o', "DIR", 0,
     "Record into DIR, a new or empty folder; the default is ./sxsprof-PID, PID being the "
     "command's",
     0},
    {"append", SXS_RUN_APPEND, NULL, 0, "Add to the session that is in the folder of -o", 0},
    SXS_KEEP_OPTION_ROWS{"no-preload", SXS_RUN_NO_PRELOAD, NULL, 0,
                         "Do not preload the signal library", 0},
    {"signals", SXS_RUN_SIGNALS, "on|off", 0, "Route signals to their runtimes (on is the default)",
     0},
    {"quiet", SXS_RUN_QUIET, NULL, 0, "Print no progress and nothing about the session at the end",
     0},
    {0},
};

/* Checks an option's value by the row of its variable. Does not return when the value is wrong,
 * because argp_error() ends the process. @source: name of the option; NULL: the row's. */
static const char *checked(struct argp_state *state, const char *variable, const char *source,
                           const char *value)
{
    char                      why[1024];
    const struct sxs_setting *row = sxs_setting_find(variable);
    if (sxs_setting_check(row, source ? source : row->option, value, why, sizeof(why)) != 0)
        sxs_option_error(state, "%s", why);
    return value;
}

/* Makes the path of "one:PATH" absolute, because the command may change its current folder before
 * the library uses the path. Returns an owned string. */
static char *absolute_pick(struct argp_state *state, const char *pick)
{
    char path[PATH_MAX], *out = NULL;
    bool relative = strncmp(pick, "one:", 4) == 0 && pick[4] != '/' && strchr(pick, '/');
    if (relative && !realpath(pick + 4, path))
        sxs_option_error(state, "--pick: %s: %s", pick + 4, strerror(errno));
    if (asprintf(&out, "%s%s", relative ? "one:" : pick, relative ? path : "") < 0)
        sxs_option_error(state, "--pick: out of memory");
    return out;
}

/* Makes the path absolute, because the command may change its current folder. Symbolic links are
 * kept: the library resolves them again whenever the files change. Returns an owned string. */
static char *absolute_rules(struct argp_state *state, const char *path)
{
    char *folder = *path == '/' ? NULL : get_current_dir_name(), *out = NULL;
    if (access(path, F_OK) != 0 || (*path != '/' && !folder))
        sxs_option_error(state, "--instrument: %s: %s", path, strerror(errno));
    if (asprintf(&out, "%s%s%s", folder ? folder : "", folder ? "/" : "", path) < 0)
        sxs_option_error(state, "--instrument: out of memory");
    free(folder);
    return out;
}

static void append_with(struct argp_state *state, char **list, const char *separator,
                        const char *item)
{
    char *longer = NULL;
    if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? separator : "", item) < 0)
        sxs_option_error(state, "out of memory");
    free(*list);
    *list = longer;
}

static void append(struct argp_state *state, char **list, const char *item)
{
    append_with(state, list, ";", item);
}

static void add_pattern(struct argp_state *state, char **list, const char *variable,
                        const char *source, const char *pattern)
{
    checked(state, variable, source, pattern);
    if (strchr(pattern, ';'))
        sxs_option_error(state, "%s: '%s': ';' separates patterns and cannot be part of one",
                         source ? source : sxs_setting_find(variable)->option, pattern);
    append(state, list, pattern);
}

/* Takes the tools of the environment when no option names one: an option that brings its tool adds it
 * to them. */
static void inherit_tools(struct argp_state *state, struct sxs_run_options *o)
{
    const char *inherited = sxs_env_named("SXSPROF_TOOLS");
    if (!o->tools && inherited && *inherited)
        append(state, &o->tools, inherited);
}

/* Returns the last entry of the tool "heap" in the list of tools, or NULL. */
static const char *find_heap_tool(const struct sxs_run_options *o)
{
    const char *found = NULL;
    for (const char *at = o->tools; at && *at; at += strcspn(at, ";"), at += *at == ';')
        if (strncmp(at, "heap", 4) == 0 && (!at[4] || strchr(":;", at[4])))
            found = at;
    return found;
}

/* Adds the tool "heap" with at-exit, or that option to the tool's others. */
static void complete_heap(struct argp_state *state, struct sxs_run_options *o)
{
    if (!o->heap_at_exit)
        return;
    inherit_tools(state, o);
    const char *last = find_heap_tool(o);
    char       *item = NULL;
    int         len = last ? (int)strcspn(last, ";") : 0;
    if (last && asprintf(&item, "%.*s%sat-exit", len, last, last[4] == ':' ? "," : ":") < 0)
        sxs_option_error(state, "out of memory");
    append(state, &o->tools, item ? item : "heap:at-exit"); /* a tool's last options count */
    free(item);
}

/* Adds the tool "calls" when patterns were given without it. */
static void complete_tools(struct argp_state *state, struct sxs_run_options *o)
{
    if (o->calls || o->calls_not || o->values)
        inherit_tools(state, o);
    bool has = false;
    for (const char *at = o->tools; at && *at; at += strcspn(at, ";"), at += *at == ';')
        has |= strncmp(at, "calls", 5) == 0 && (!at[5] || strchr(":;", at[5]));
    if ((o->calls || o->calls_not || o->values) && !has)
        append(state, &o->tools, o->values ? "calls:trace" : "calls");
}

static void add_guest(struct argp_state *state, struct sxs_run_options *o, const char *guest)
{
    char  why[PATH_MAX + 512];
    char *item = sxs_guest_item(guest, why, sizeof(why));
    if (!item)
        sxs_option_error(state, "--guest: %s", why);
    append(state, &o->guests, item);
    free(item);
}

static void add_method(struct argp_state *state, struct sxs_run_options *o, const char *config)
{
    char  why[PATH_MAX + 512];
    char *item = sxs_method_item(config, why, sizeof(why));
    if (!item)
        sxs_option_error(state, "--method: %s", why);
    append_with(state, &o->methods, ":", item);
    free(item);
}

/* Adds the profilers that the environment names, and checks the number of guests. */
static void complete_guests(struct argp_state *state, struct sxs_run_options *o)
{
    char        why[PATH_MAX + 512];
    const char *inherited = sxs_env_named("SXSPROF_GUESTS");
    const char *value = o->guests ? o->guests : inherited;
    if (value && (o->guests || o->adopt || sxs_guests_adopts(value))) {
        const char *wrong = sxs_guests_check(value, why, sizeof(why));
        if (wrong)
            sxs_option_error(state, "%s: %s", o->guests ? "--guest" : "SXSPROF_GUESTS", wrong);
    }
    o->adopt |= sxs_guests_adopts(value);
    if (!o->adopt)
        return;
    char *all = sxs_guests_adopt(value);
    if (!all)
        sxs_option_error(state, "--adopt: out of memory");
    if (sxs_guests_check(all, why, sizeof(why)))
        sxs_option_error(state, "--adopt: %s", why);
    free(o->guests);
    o->guests = all;
}

static void add_tool(struct argp_state *state, struct sxs_run_options *o, const char *tool)
{
    char        detail[512];
    const char *wrong = sxs_tool_check(tool, detail, sizeof(detail));
    if (wrong)
        sxs_option_error(state, "--tool: %s", wrong);
    append(state, &o->tools, tool);
}

void sxs_run_options_complete(struct argp_state *state, struct sxs_run_options *o)
{
    complete_heap(state, o);
    complete_tools(state, o);
}

/* The tools that are used, as SXSPROF_TOOLS. */
static const char *tools_of(const struct sxs_run_options *o)
{
    return o->tools ? o->tools : sxs_env_named("SXSPROF_TOOLS");
}

static void finish(struct argp_state *state, struct sxs_run_options *o)
{
    if (o->no_command && o->command)
        sxs_option_error(state, "'%s': no command is expected", o->command[0]);
    if (!o->no_command && !o->command)
        sxs_option_error(state, "COMMAND is missing: expected a command to run, after --");
    if (o->append && !o->out)
        sxs_option_error(state,
                         "--append: expected -o DIR with it, the folder of the earlier session");
    if (o->first_tool) {
        char *others = o->tools;
        o->tools = NULL;
        append(state, &o->tools, o->first_tool);
        if (others)
            append(state, &o->tools, others);
        free(others);
    }
    sxs_run_options_complete(state, o);
    complete_guests(state, o);
    sxs_keep_complete(state, &o->keep, tools_of(o), true);
}

error_t sxs_run_option(int key, const char *source, char *arg, struct argp_state *state,
                       struct sxs_run_options *o)
{
    switch (key) {
    case SXS_RUN_PICK:
        free(o->pick);
        o->pick = absolute_pick(state, checked(state, "SXSPROF_PICK", source, arg));
        return 0;
    case SXS_RUN_UNPICKED: o->unpicked = checked(state, "SXSPROF_UNPICKED", source, arg); return 0;
    case SXS_RUN_SIGNALS: o->signals = checked(state, "SXSPROF_SIGNALS", source, arg); return 0;
    case SXS_RUN_TOOL: add_tool(state, o, arg); return 0;
    case SXS_RUN_CALLS: add_pattern(state, &o->calls, "SXSPROF_CALLS", source, arg); return 0;
    case SXS_RUN_CALLS_NOT:
        add_pattern(state, &o->calls_not, "SXSPROF_CALLS_NOT", source, arg);
        return 0;
    case SXS_RUN_VALUES: add_pattern(state, &o->values, "SXSPROF_VALUES", source, arg); return 0;
    case SXS_RUN_MASK: o->mask = checked(state, "SXSPROF_MASK", source, arg); return 0;
    case SXS_RUN_INSTRUMENT:
        free(o->instrument);
        o->instrument = absolute_rules(state, checked(state, "SXSPROF_INSTRUMENT", source, arg));
        return 0;
    case SXS_RUN_APPEND: o->append = true; return 0;
    case SXS_RUN_GUEST: add_guest(state, o, arg); return 0;
    case SXS_RUN_METHOD: add_method(state, o, arg); return 0;
    case SXS_RUN_HEAP_AT_EXIT: o->heap_at_exit = true; return 0;
    case SXS_RUN_ADOPT: o->adopt = true; return 0;
    case SXS_RUN_NO_PRELOAD: o->no_preload = true; return 0;
    case SXS_RUN_QUIET: o->quiet = true; return 0;
    case 'o':
        if (!*arg)
            sxs_option_error(state, "-o: the folder's name is empty");
        o->out = arg;
        return 0;
    default: return sxs_keep_option(key, arg, state, &o->keep);
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct sxs_run_options *o = state->input;
    switch (key) {
    case ARGP_KEY_ARG: /* the command begins here; the rest belongs to it */
        o->command = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END: finish(state, o); return 0;
    default: return sxs_run_option(key, NULL, arg, state, o);
    }
}

const struct argp sxs_argp_run_options = {.options = option_list, .parser = parse};

int sxs_run_inherited(const struct sxs_run_options *o)
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
        {"SXSPROF_MASK", o->mask != NULL},
        {"SXSPROF_INSTRUMENT", o->instrument != NULL},
        {"SXSPROF_GUESTS", o->guests != NULL},
        {"SXSPROF_METHODS", o->methods != NULL},
        {"SXSPROF_KEEP", o->keep.keep != NULL},
        {"SXSPROF_EVERY", o->keep.every != NULL},
        {"SXSPROF_ON", o->keep.on != NULL},
        {"SXSPROF_BUDGET", o->keep.budget != NULL},
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

enum sxs_out_use sxs_run_out_use(const struct sxs_run_options *o)
{
    return sxs_keep_is_on(&o->keep, true) ? SXS_OUT_SEGMENTS
           : o->append                    ? SXS_OUT_APPEND
                                          : SXS_OUT_NEW;
}

const char *sxs_run_picked(const struct sxs_run_options *o)
{
    return o->pick ? o->pick : sxs_env_named("SXSPROF_PICK");
}

bool sxs_run_records(const struct sxs_run_options *o)
{
    const char *list = tools_of(o);
    if (sxs_run_rules(o) || sxs_keep_is_on(&o->keep, true))
        return true;
    for (; list && *list; list += strcspn(list, ";"), list += *list == ';')
        if (strcspn(list, ":;") != strlen("census") || strncmp(list, "census", 6) != 0)
            return true;
    return false;
}

bool sxs_run_has_tool(const struct sxs_run_options *o, const char *name)
{
    const char *list = tools_of(o);
    size_t      len = strlen(name);
    for (; list && *list; list += strcspn(list, ";"), list += *list == ';')
        if (strcspn(list, ":;") == len && strncmp(list, name, len) == 0)
            return true;
    return false;
}

bool sxs_run_tool_options(const struct sxs_run_options *o, const char *name, char *out, size_t size)
{
    const char *list = tools_of(o);
    size_t      len = strlen(name);
    for (; list && *list; list += strcspn(list, ";"), list += *list == ';') {
        if (strcspn(list, ":;") != len || strncmp(list, name, len) != 0)
            continue;
        const char *text = list + len + (list[len] == ':');
        return (size_t)snprintf(out, size, "%.*s", (int)strcspn(text, ";"), text) < size;
    }
    return false;
}

const char *sxs_run_rules(const struct sxs_run_options *o)
{
    const char *rules = o->instrument ? o->instrument : sxs_env_named("SXSPROF_INSTRUMENT");
    return rules && *rules ? rules : NULL;
}

const char *sxs_run_user_tails(char variable[SXS_KNOB_SIZE])
{
    for (unsigned kind = 0; kind < SXS_KNOB_KINDS; kind++) {
        const char *value = sxs_knob_variable(kind, SXS_KNOB_FAST_TAIL_CALLS, variable);
        if (value && *value)
            return value;
    }
    return NULL;
}

struct sxs_child_settings sxs_run_settings(const struct sxs_run_options *o,
                                           const struct sxs_library *lib, const char *out)
{
    char variable[SXS_KNOB_SIZE];
    return (struct sxs_child_settings){
        .library = lib,
        .preload = !o->no_preload,
        .allocator = sxs_run_has_tool(o, "native"),
        .pick = o->pick,
        .unpicked = o->unpicked,
        .tools = o->tools,
        .calls = o->calls,
        .calls_not = o->calls_not,
        .values = o->values,
        .mask = o->mask,
        .instrument = o->instrument,
        .guests = o->guests,
        .methods = o->methods,
        .adopt = o->adopt,
        .keep = o->keep.keep,
        .every = o->keep.every,
        .on = o->keep.on,
        .budget = o->keep.budget,
        .signals = o->signals,
        .out = out,
        .fast_tail_calls =
            sxs_run_has_tool(o, "calls") && !sxs_run_user_tails(variable) ? "0" : NULL,
    };
}

void sxs_run_options_free(struct sxs_run_options *o)
{
    char *owned[] = {o->pick,   o->tools,      o->calls,  o->calls_not,
                     o->values, o->instrument, o->guests, o->methods};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        free(owned[i]);
    sxs_keep_options_free(&o->keep);
}
