/* SPDX-License-Identifier: MIT */
#include "cmd/record_options.h"

#include "base/env.h"
#include "cmd/argument.h"
#include "cmd/guest_option.h"
#include "cmd/output/formats.h"
#include "cmd/output/print.h"
#include "control/keep/keep_settings.h"
#include "control/message/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the options ----------------------------------------------------------------------------- */

enum { FIRST_KEY = 1000 }; /* of options without a letter */

/* What the help of a verb of one tool lists; sxsprof record --help lists all. */
static const enum sxs_setting_id important[] = {SXS_SET_PROCESS, SXS_SET_DURATION, SXS_SET_OUT,
                                                SXS_SET_FORMAT,  SXS_SET_PICK,     SXS_SET_QUIET};

static bool is_important(enum sxs_setting_id id)
{
    for (size_t i = 0; i < sizeof(important) / sizeof(important[0]); i++)
        if (important[i] == id)
            return true;
    return false;
}

static int key_of(enum sxs_setting_id id)
{
    return sxs_settings[id].letter ? sxs_settings[id].letter : FIRST_KEY + (int)id;
}

static bool find_key(int key, enum sxs_setting_id *id)
{
    for (*id = 0; *id < SXS_N_SETTINGS; ++*id)
        if (sxs_settings[*id].option && key_of(*id) == key)
            return true;
    return false;
}

static void append(struct argp_state *state, char **list, char separator, const char *item)
{
    char  before[2] = {*list ? separator : '\0', '\0'};
    char *longer = NULL;
    if (asprintf(&longer, "%s%s%s", *list ? *list : "", before, item) < 0)
        sxs_option_error(state, "out of memory");
    free(*list);
    *list = longer;
}

void sxs_record_set(enum sxs_setting_id id, const char *source, const char *arg,
                    struct argp_state *state, struct sxs_record_options *o)
{
    const struct sxs_setting *row = &sxs_settings[id];
    const char               *name = source ? source : row->option;
    char                      why[PATH_MAX + 1024], *taken = NULL;
    if (id == SXS_SET_OUT) {
        if (sxs_record_outputs_add(&o->outputs, arg, why, sizeof(why)) != 0)
            sxs_option_error(state, "%s", why);
        return;
    }
    if (row->check && !(row->several && row->take) &&
        sxs_setting_check(row, name, arg, why, sizeof(why)) != 0)
        sxs_option_error(state, "%s", why);
    if (row->several && !row->take && strchr(arg, row->separator))
        sxs_option_error(state, "%s: '%s': '%c' separates %s and cannot be part of one", name, arg,
                         row->separator, row->several);
    if (row->take) {
        snprintf(why, sizeof(why), "out of memory");
        taken = row->take(arg, why, sizeof(why));
        if (!taken)
            sxs_option_error(state, "%s: %s", name, why);
    }
    if (!row->several) {
        free(o->set[id]);
        o->set[id] = NULL;
    }
    append(state, &o->set[id], row->separator, taken ? taken : arg ? arg : "on");
    free(taken);
    if (id == SXS_SET_DURATION)
        o->duration_ms = sxs_duration_argument(state, name, arg);
    else if (id == SXS_SET_DELAY)
        o->delay_ms = sxs_duration_argument(state, name, arg);
}

/* ---- what follows from several options ------------------------------------------------------- */

/* Returns true when the variables of this command's environment count: what is started inherits them. */
static bool inherits(const struct sxs_record_options *o)
{
    return o->chosen == SXS_WITH_COMMAND || o->chosen == SXS_WITH_ENV;
}

/* Returns the value of a setting, also from the environment; NULL: it has none. */
static const char *value_of(const struct sxs_record_options *o, enum sxs_setting_id id)
{
    return o->set[id] || !inherits(o) ? o->set[id] : sxs_env_named(sxs_settings[id].variable);
}

static const char *tools_of(const struct sxs_record_options *o)
{
    return value_of(o, SXS_SET_TOOLS);
}

/* Takes the tools of the environment when no option names one: an option that brings its tool adds it
 * to them. */
static void inherit_tools(struct argp_state *state, struct sxs_record_options *o)
{
    const char *inherited = tools_of(o);
    if (!o->set[SXS_SET_TOOLS] && inherited && *inherited)
        append(state, &o->set[SXS_SET_TOOLS], ';', inherited);
}

static const char *next_tool(const char *at)
{
    at += strcspn(at, ";");
    return at + (*at == ';');
}

/* Returns the last entry of the tool @name in a list of tools, or NULL. */
static const char *find_tool(const char *list, const char *name)
{
    const char *found = NULL;
    size_t      len = strlen(name);
    for (const char *at = list; at && *at; at = next_tool(at))
        if (strcspn(at, ":;") == len && strncmp(at, name, len) == 0)
            found = at;
    return found;
}

/* Adds an option to those of the last entry of a tool. A tool that is not in the list is added. */
static void add_tool_option(struct argp_state *state, struct sxs_record_options *o,
                            const char *tool, const char *option)
{
    inherit_tools(state, o);
    const char *list = o->set[SXS_SET_TOOLS], *last = find_tool(list, tool);
    char       *longer = NULL;
    if (!last) {
        if (asprintf(&longer, "%s:%s", tool, option) < 0)
            sxs_option_error(state, "out of memory");
        append(state, &o->set[SXS_SET_TOOLS], ';', longer);
        free(longer);
        return;
    }
    size_t len = strcspn(last, ";");
    if (asprintf(&longer, "%.*s%c%s%s", (int)(last - list + (ptrdiff_t)len), list,
                 memchr(last, ':', len) ? ',' : ':', option, last + len) < 0)
        sxs_option_error(state, "out of memory");
    free(o->set[SXS_SET_TOOLS]);
    o->set[SXS_SET_TOOLS] = longer;
}

static void complete_heap(struct argp_state *state, struct sxs_record_options *o)
{
    if (o->set[SXS_SET_HEAP_AT_EXIT])
        add_tool_option(state, o, "heap", "at-exit");
}

/* Adds the tool "calls" when patterns were given without it. */
static void complete_calls(struct argp_state *state, struct sxs_record_options *o)
{
    if (!o->set[SXS_SET_CALLS] && !o->set[SXS_SET_CALLS_NOT] && !o->set[SXS_SET_VALUES])
        return;
    inherit_tools(state, o);
    if (!find_tool(o->set[SXS_SET_TOOLS], "calls"))
        append(state, &o->set[SXS_SET_TOOLS], ';',
               o->set[SXS_SET_VALUES] ? "calls:trace" : "calls");
}

/* A command gets the rules by a variable, a process that runs as an option of the tool. */
static void complete_rules(struct argp_state *state, struct sxs_record_options *o)
{
    char *option = NULL;
    if (!o->set[SXS_SET_INSTRUMENT] || inherits(o))
        return;
    if (asprintf(&option, "config=%s", o->set[SXS_SET_INSTRUMENT]) < 0)
        sxs_option_error(state, "out of memory");
    if (strpbrk(option, ",;"))
        sxs_option_error(state,
                         "%s: expected a path without ',' and ';' for a process that runs already",
                         o->set[SXS_SET_INSTRUMENT]);
    add_tool_option(state, o, "instrument", option);
    free(option);
}

/* Adds the profilers that the environment names, and checks the number of guests. */
static void complete_guests(struct argp_state *state, struct sxs_record_options *o)
{
    char        why[PATH_MAX + 512];
    const char *own = o->set[SXS_SET_GUESTS], *value = value_of(o, SXS_SET_GUESTS);
    bool        adopts = o->set[SXS_SET_ADOPT] || sxs_guests_adopts(value);
    if (value && (own || adopts)) {
        const char *wrong = sxs_guests_check(value, why, sizeof(why));
        if (wrong)
            sxs_option_error(state, "%s: %s", own ? "--guest" : "SXSPROF_GUESTS", wrong);
    }
    if (!adopts)
        return;
    if (!o->set[SXS_SET_ADOPT])
        append(state, &o->set[SXS_SET_ADOPT], '\0', "on");
    char *all = sxs_guests_adopt(value);
    if (!all)
        sxs_option_error(state, "--adopt: out of memory");
    if (sxs_guests_check(all, why, sizeof(why)))
        sxs_option_error(state, "--adopt: %s", why);
    free(o->set[SXS_SET_GUESTS]);
    o->set[SXS_SET_GUESTS] = all;
}

/* ---- continuous mode ---- */

static struct sxs_keep_texts keep_texts(const struct sxs_record_options *o)
{
    return (struct sxs_keep_texts){
        .keep = value_of(o, SXS_SET_KEEP),
        .segment = value_of(o, SXS_SET_SEGMENT),
        .on = value_of(o, SXS_SET_ON),
        .budget = value_of(o, SXS_SET_BUDGET),
    };
}

bool sxs_record_is_segments(const struct sxs_record_options *o)
{
    const struct sxs_keep_texts texts = keep_texts(o);
    struct sxs_keep_settings    settings;
    char                        why[SXS_KEEP_WHY];
    return sxs_keep_parse(&texts, &settings, why, sizeof(why)) == 0 && settings.is_on;
}

/* Ends the process with @why, which begins with the name of a setting ("keep"). The message names
 * the option, or the variable if the value is from there. */
static void refuse_keep(struct argp_state *state, const struct sxs_record_options *o,
                        const char *why)
{
    static const enum sxs_setting_id ids[] = {SXS_SET_KEEP, SXS_SET_SEGMENT, SXS_SET_ON,
                                              SXS_SET_BUDGET};
    size_t                           len = strcspn(why, ":");
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        const struct sxs_setting *row = &sxs_settings[ids[i]];
        if (strlen(row->request) == len && strncmp(row->request, why, len) == 0)
            sxs_option_error(state, "%s%s%s", o->set[ids[i]] ? row->option : row->variable,
                             why + len, o->set[ids[i]] ? "" : " (the variable is set)");
    }
    sxs_option_error(state, "%s", why);
}

static void complete_keep(struct argp_state *state, const struct sxs_record_options *o)
{
    const struct sxs_keep_texts texts = keep_texts(o);
    struct sxs_keep_settings    settings;
    char                        why[SXS_KEEP_WHY];
    if (sxs_keep_parse(&texts, &settings, why, sizeof(why)) != 0)
        refuse_keep(state, o, why);
    if (settings.is_on && sxs_keep_tools_check(tools_of(o), why, sizeof(why)) != 0) {
        char line[SXS_KEEP_WHY + 16];
        snprintf(line, sizeof(line), "%s: %s",
                 texts.keep && *texts.keep         ? "keep"
                 : texts.segment && *texts.segment ? "segment"
                                                   : "on",
                 why);
        refuse_keep(state, o, line);
    }
}

/* ---- all of them ---- */

/* Says with what the recording is done, and refuses options that cannot be used with it. */
static void choose(struct argp_state *state, struct sxs_record_options *o)
{
    static const char *const names[] = {[SXS_WITH_COMMAND] = "a command that sxsprof starts",
                                        [SXS_WITH_PROCESS] = "a process that runs already",
                                        [SXS_WITH_BACKGROUND] = "--background",
                                        [SXS_WITH_ENV] = "sxsprof env"};
    if (o->set[SXS_SET_PROCESS] && o->command)
        sxs_option_error(state, "'%s': expected either a command or -p, not both", o->command[0]);
    if (o->with & SXS_WITH_ENV)
        o->chosen = SXS_WITH_ENV;
    else if (o->set[SXS_SET_BACKGROUND] || o->with == SXS_WITH_BACKGROUND)
        o->chosen = SXS_WITH_BACKGROUND;
    else if (o->set[SXS_SET_PROCESS] || o->with == SXS_WITH_PROCESS)
        o->chosen = SXS_WITH_PROCESS;
    else
        o->chosen = SXS_WITH_COMMAND;
    if (o->chosen == SXS_WITH_COMMAND && !o->command)
        sxs_option_error(state, "COMMAND is missing: expected a command to run, after --%s",
                         o->with & SXS_WITH_PROCESS ? ", or -p PID for a process that runs already"
                                                    : "");
    if (!inherits(o) && !o->set[SXS_SET_PROCESS])
        sxs_option_error(state,
                         "PID is missing: expected a process ID or a name; sxsprof ps lists them");
    for (enum sxs_setting_id id = 0; id < SXS_N_SETTINGS; id++)
        if (o->set[id] && !(sxs_settings[id].with & o->chosen))
            sxs_option_error(state,
                             "%s cannot be used with %s; sxsprof record --help lists what can",
                             sxs_settings[id].option, names[o->chosen]);
}

static void complete_outputs(struct argp_state *state, struct sxs_record_options *o)
{
    char why[PATH_MAX + 256];
    bool files = o->chosen == SXS_WITH_COMMAND || o->chosen == SXS_WITH_PROCESS;
    if (sxs_record_outputs_complete(&o->outputs, o->set[SXS_SET_FORMAT], files, why, sizeof(why)) !=
        0)
        sxs_option_error(state, "%s", why);
    for (size_t i = 0; i < o->outputs.n; i++)
        sxs_check_terminal(state, o->outputs.files[i].format, o->outputs.files[i].path);
    if (o->set[SXS_SET_APPEND] && !o->outputs.folder)
        sxs_option_error(state,
                         "--append: expected -o DIR with it, the folder of the earlier session");
}

static void complete_tools(struct argp_state *state, struct sxs_record_options *o)
{
    if (o->first_tool) {
        char *others = o->set[SXS_SET_TOOLS];
        o->set[SXS_SET_TOOLS] = NULL;
        append(state, &o->set[SXS_SET_TOOLS], ';', o->first_tool);
        if (others)
            append(state, &o->set[SXS_SET_TOOLS], ';', others);
        free(others);
    }
    complete_heap(state, o);
    complete_calls(state, o);
    complete_rules(state, o);
    const struct sxs_keep_texts texts = keep_texts(o);
    bool                        segments = texts.keep || texts.segment || texts.on;
    if (!inherits(o) && !o->set[SXS_SET_TOOLS] && (o->default_tool || segments))
        append(state, &o->set[SXS_SET_TOOLS], ';', o->default_tool ? o->default_tool : "sample");
    if (!inherits(o) && !o->set[SXS_SET_TOOLS])
        sxs_option_error(state,
                         "--tool is missing: expected what shall be recorded, as --tool sample");
}

void sxs_record_complete(struct argp_state *state, struct sxs_record_options *o)
{
    choose(state, o);
    complete_outputs(state, o);
    complete_tools(state, o);
    complete_guests(state, o);
    complete_keep(state, o);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct sxs_record_options *o = state->input;
    enum sxs_setting_id        id;
    switch (key) {
    case ARGP_KEY_ARG:
        if (!(o->with & SXS_WITH_COMMAND))
            sxs_option_error(state, "'%s': no command is expected", arg);
        o->command = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    default:
        if (!find_key(key, &id))
            return ARGP_ERR_UNKNOWN;
        sxs_record_set(id, NULL, arg, state, o);
        return 0;
    }
}

const struct argp *sxs_record_argp(unsigned with, const char *tool)
{
    static struct argp_option list[SXS_N_SETTINGS + 1];
    static const struct argp  argp = {.options = list, .parser = parse};
    size_t                    n = 0;
    memset(list, 0, sizeof(list));
    for (enum sxs_setting_id id = 0; id < SXS_N_SETTINGS; id++) {
        const struct sxs_setting *row = &sxs_settings[id];
        bool shown = !tool || is_important(id) || (row->tool && strcmp(row->tool, tool) == 0);
        if (row->option && (row->with & with))
            list[n++] = (struct argp_option){row->option + strlen("--"), key_of(id), row->argument,
                                             shown ? 0 : OPTION_HIDDEN,  row->help,  0};
    }
    return &argp;
}

/* ---- what was chosen ------------------------------------------------------------------------- */

int sxs_record_inherited(const struct sxs_record_options *o)
{
    for (enum sxs_setting_id id = 0; id < SXS_N_SETTINGS; id++) {
        const struct sxs_setting *row = &sxs_settings[id];
        char                      why[1024];
        const char               *value = row->variable ? sxs_env_named(row->variable) : NULL;
        if (o->set[id] || id == SXS_SET_OUT || id == SXS_SET_CONTROL || !value || !*value)
            continue;
        if (sxs_setting_check(row, row->variable, value, why, sizeof(why)) != 0)
            return sxs_wrong_input("%s (the variable is set)", why);
    }
    return 0;
}

enum sxs_out_use sxs_record_out_use(const struct sxs_record_options *o)
{
    return sxs_record_is_segments(o) ? SXS_OUT_SEGMENTS
           : o->set[SXS_SET_APPEND]  ? SXS_OUT_APPEND
                                     : SXS_OUT_NEW;
}

int sxs_record_open_out(const struct sxs_record_options *o, bool keep, struct sxs_out_dir *out)
{
    char             why[PATH_MAX + 512];
    const char      *folder = o->outputs.folder;
    enum sxs_out_use use = sxs_record_out_use(o);
    int              status = folder ? sxs_out_dir_open(out, folder, use, why, sizeof(why))
                                     : sxs_out_dir_make(out, keep, why, sizeof(why));
    if (status)
        sxs_complain("%s", why);
    else if (use == SXS_OUT_SEGMENTS)
        sxs_out_dir_for_segments(out);
    return status;
}

const char *sxs_record_picked(const struct sxs_record_options *o)
{
    return value_of(o, SXS_SET_PICK);
}

bool sxs_record_records(const struct sxs_record_options *o)
{
    if (sxs_record_rules(o) || sxs_record_is_segments(o))
        return true;
    for (const char *at = tools_of(o); at && *at; at = next_tool(at))
        if (strcspn(at, ":;") != strlen("census") || strncmp(at, "census", 6) != 0)
            return true;
    return false;
}

bool sxs_record_has_tool(const struct sxs_record_options *o, const char *name)
{
    return find_tool(tools_of(o), name) != NULL;
}

bool sxs_record_only_heap(const struct sxs_record_options *o)
{
    const char *at = tools_of(o);
    bool        any = at && *at;
    for (; at && *at; at = next_tool(at))
        any &= strcspn(at, ":;") == strlen("heap") && strncmp(at, "heap", 4) == 0;
    return any;
}

bool sxs_record_tool_options(const struct sxs_record_options *o, const char *name, char *out,
                             size_t size)
{
    const char *tool = find_tool(tools_of(o), name);
    if (!tool)
        return false;
    tool += strlen(name);
    tool += *tool == ':';
    return (size_t)snprintf(out, size, "%.*s", (int)strcspn(tool, ";"), tool) < size;
}

const char *sxs_record_rules(const struct sxs_record_options *o)
{
    const char *rules = value_of(o, SXS_SET_INSTRUMENT);
    return rules && *rules ? rules : NULL;
}

const char *sxs_record_user_tails(char variable[SXS_KNOB_SIZE])
{
    for (unsigned kind = 0; kind < SXS_KNOB_KINDS; kind++) {
        const char *value = sxs_knob_variable(kind, SXS_KNOB_FAST_TAIL_CALLS, variable);
        if (value && *value)
            return value;
    }
    return NULL;
}

struct sxs_child_settings sxs_record_environment(const struct sxs_record_options *o,
                                                 const struct sxs_library *lib, const char *out)
{
    char                      variable[SXS_KNOB_SIZE];
    struct sxs_child_settings s = {
        .library = lib,
        .preload = !o->set[SXS_SET_NO_PRELOAD],
        .allocator = sxs_record_has_tool(o, "native"),
        .adopt = o->set[SXS_SET_ADOPT],
        .fast_tail_calls =
            sxs_record_has_tool(o, "calls") && !sxs_record_user_tails(variable) ? "0" : NULL,
    };
    for (enum sxs_setting_id id = 0; id < SXS_N_SETTINGS; id++)
        s.values[id] = o->set[id];
    s.values[SXS_SET_OUT] = out;
    return s;
}

void sxs_record_add_settings(const void *options, struct sxs_message_writer *w)
{
    const struct sxs_record_options *o = options;
    for (enum sxs_setting_id id = 0; id < SXS_N_SETTINGS; id++)
        if (sxs_settings[id].request)
            sxs_message_add(w, sxs_settings[id].request, o->set[id]);
}

void sxs_record_options_free(struct sxs_record_options *o)
{
    for (size_t i = 0; i < SXS_N_SETTINGS; i++)
        free(o->set[i]);
}
