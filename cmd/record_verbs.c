/* SPDX-License-Identifier: MIT */
/* The options of a recording verb are the rows of its tools' tables (tools/options), and the settings that all recordings share. */
#include "cmd/record_verbs.h"

#include "cmd/command.h"
#include "cmd/output/print.h"
#include "cmd/record.h"
#include "cmd/record_options.h"
#include "cmd/settings.h"
#include "tools/options/alloc_options.h"
#include "tools/options/calls_options.h"
#include "tools/options/events_options.h"
#include "tools/options/instrument_options.h"
#include "tools/options/locks_options.h"
#include "tools/options/native_options.h"
#include "tools/options/sample_options.h"
#include "tools/options/wait_options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the first argument of a verb is, if it is not a command. */
enum first_argument { FIRST_IS_COMMAND, FIRST_IS_RULES, FIRST_IS_TOOLS, FIRST_IS_PROCESS };

struct verb {
    const char         *name, *tool; /* NULL: those of --tool, or of the first argument */
    const char         *preset;      /* options of the tool that the verb implies; NULL: none */
    enum first_argument first;
    unsigned            with;         /* SXS_WITH_... */
    const char         *default_tool; /* of a process, if none is given; NULL: none */
    const char         *doc;
};

static const struct sxs_tool_table *const tables[] = {
    &sxs_sampler_table, &sxs_wait_table,  &sxs_calls_table, &sxs_alloc_table,
    &sxs_native_table,  &sxs_locks_table, &sxs_event_table, &sxs_instrument_table,
};
#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

#define TARGETS (SXS_WITH_COMMAND | SXS_WITH_PROCESS | SXS_WITH_BACKGROUND)

#define STATUS                                                                                   \
    "\vThe exit status is the command's; when a signal ended it, the same signal ends sxsprof. " \
    "Of a "                                                                                      \
    "process that runs (-p): 0, or 1 after a problem. 125: sxsprof itself failed. 126: the "     \
    "command "                                                                                   \
    "cannot be executed. 127: it was not found. 2: wrong input. In these cases nothing was "     \
    "started. "                                                                                  \
    "sxsprof record --help lists more options, which all recordings have."

static const struct verb verbs[] = {
    {"sample", "sample", NULL, FIRST_IS_COMMAND, TARGETS, NULL,
     "Sample stacks: which functions use the time." STATUS},
    {"calls", "calls", NULL, FIRST_IS_COMMAND, TARGETS, NULL,
     "Count and time calls of functions." STATUS},
    {"trace", "calls", "mode=trace", FIRST_IS_COMMAND, TARGETS, NULL,
     "Record each call of functions." STATUS},
    {"alloc", "alloc", NULL, FIRST_IS_COMMAND, TARGETS, NULL,
     "Record what functions allocate: objects by type and stack, and which stay alive." STATUS},
    {"native", "native", NULL, FIRST_IS_COMMAND, TARGETS, NULL,
     "Record native memory (malloc, mmap): who allocates it, and what is not freed." STATUS},
    {"locks", "locks", NULL, FIRST_IS_COMMAND, TARGETS, NULL,
     "Record waits for locks: who waits, how long, and who holds the lock." STATUS},
    {"wait", "wait", NULL, FIRST_IS_COMMAND, TARGETS, NULL,
     "Record what threads wait for, and for how long." STATUS},
    {"exceptions", "exceptions", NULL, FIRST_IS_COMMAND, TARGETS, NULL,
     "Record where exceptions are thrown, and what handles them." STATUS},
    {"events", "events", NULL, FIRST_IS_COMMAND, TARGETS, NULL,
     "Record what runtimes do: compilations, collections, loads, threads." STATUS},
    {"gc", "gc", NULL, FIRST_IS_COMMAND, TARGETS, NULL,
     "Record collections: why they were started, how long they stopped the threads, what they "
     "freed." STATUS},
    {"instrument", "instrument", NULL, FIRST_IS_RULES, TARGETS, NULL,
     "Instrument methods as a file says, or the *.xml of a folder." STATUS},
    {"heap", "heap", "at-exit", FIRST_IS_COMMAND, SXS_WITH_COMMAND, NULL,
     "Record all objects when the command ends." STATUS},
    {"record", NULL, NULL, FIRST_IS_TOOLS, TARGETS, NULL,
     "Record with several tools at once: sxsprof record sample,alloc -p PID. TOOLS are names of "
     "tools "
     "separated by commas; each may have options of its own, as in alloc:live=on." STATUS},
    {"run", NULL, NULL, FIRST_IS_COMMAND, TARGETS, "sample",
     "As record, with tools that --tool names, or none: then what the runtimes did is "
     "counted." STATUS},
    {"attach", NULL, NULL, FIRST_IS_PROCESS, SXS_WITH_PROCESS, "sample",
     "As record -p PID, with tools that --tool names (default: sample).\v"
     "Ctrl-C ends the recording and detaches; a second Ctrl-C ends this command at once, and the "
     "process is "
     "detached all the same. The exit status is 0, 1 after a problem, 2 when the process was "
     "refused and nothing was changed, 125 when sxsprof itself failed."},
    {"start", NULL, NULL, FIRST_IS_PROCESS, SXS_WITH_BACKGROUND, NULL,
     "As record -p PID --background: begin a session in a running process that has the profiler's "
     "library "
     "already, one that sxsprof has started or attached to.\v"
     "The session goes on when this command has ended: until sxsprof stop, its time is over, or "
     "the "
     "process ends. There is one session at a time. Exit status 2: wrong input, or the "
     "process refuses; nothing has begun."},
};

#define N_VERBS      (sizeof(verbs) / sizeof(verbs[0]))
#define MAX_OPTIONS  48
#define MAX_GIVEN    64
#define HELP_COLUMNS 32u /* options with longer arguments are not shown well by argp */
enum { KEY_ROW = 2000 }; /* the first option of a tool */

struct record_verb_options {
    struct sxs_record_options record;
    const struct verb        *verb;
    char                     *tools; /* owned: "sample:rate=997;alloc"; NULL: none so far */
    struct {                         /* options of tools, in the order in which they were given */
        const struct sxs_tool_option *row;
        const char                   *value;
    } given[MAX_GIVEN];
    size_t n_given;
};

static const struct verb *find(const char *name)
{
    for (size_t i = 0; i < N_VERBS; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

/* ---- options of tools ------------------------------------------------------------------------ */

/* Returns true when the verb already implies the option of @row. */
static bool is_preset(const struct verb *v, const struct sxs_tool_option *row)
{
    size_t len = sxs_tool_key(row);
    return v->preset && strncmp(v->preset, row->syntax, len) == 0 && v->preset[len] == '=';
}

/* Lists the options of the verb's tools, each name once: of several tools, an option is for each that has
 * it. Returns their number. */
static size_t list_rows(const struct verb *v, const struct sxs_tool_option *rows[MAX_OPTIONS])
{
    size_t n = 0;
    for (size_t t = 0; t < N_TABLES; t++) {
        if (v->tool ? strcmp(tables[t]->tool, v->tool) != 0 : v->first != FIRST_IS_TOOLS)
            continue;
        for (size_t i = 0; i < tables[t]->n && n < MAX_OPTIONS; i++) {
            const struct sxs_tool_option *row = &tables[t]->rows[i];
            bool                          listed = !row->option || is_preset(v, row);
            for (size_t k = 0; k < n && !listed; k++)
                listed = strcmp(rows[k]->option, row->option) == 0;
            if (!listed)
                rows[n++] = row;
        }
    }
    return n;
}

static const struct sxs_tool_option *find_row(const char *tool, size_t len, const char *option)
{
    for (size_t t = 0; t < N_TABLES; t++)
        if (strlen(tables[t]->tool) == len && strncmp(tables[t]->tool, tool, len) == 0)
            for (size_t i = 0; i < tables[t]->n; i++)
                if (tables[t]->rows[i].option && strcmp(tables[t]->rows[i].option, option) == 0)
                    return &tables[t]->rows[i];
    return NULL;
}

static void add(struct argp_state *state, struct record_verb_options *o, const char *separator,
                const char *text, size_t len)
{
    char *longer = NULL;
    if (asprintf(&longer, "%s%s%.*s", o->tools ? o->tools : "", o->tools ? separator : "", (int)len,
                 text) < 0)
        sxs_option_error(state, "out of memory");
    free(o->tools);
    o->tools = longer;
}

/* Adds the given options to one tool, "NAME" or "NAME:OPTIONS". Marks in @used which it has. */
static void add_tool(struct argp_state *state, struct record_verb_options *o, const char *tool,
                     size_t len, bool used[MAX_GIVEN])
{
    size_t name = strcspn(tool, ":;");
    bool   has_options = name < len;
    add(state, o, ";", tool, len);
    for (size_t i = 0; i < o->n_given; i++) {
        char                          text[256];
        const char                   *value = o->given[i].value;
        const struct sxs_tool_option *row =
            find_row(tool, name < len ? name : len, o->given[i].row->option);
        if (!row)
            continue;
        const char *expected = sxs_tool_option_check(row, value);
        if (expected || strlen(value ? value : "") > 48)
            sxs_option_error(state, "--%s: '%s': expected %s", row->option, value, row->expected);
        snprintf(text, sizeof(text), "%.*s%s%s", (int)sxs_tool_key(row), row->syntax,
                 value ? "=" : "", value ? value : "");
        add(state, o, has_options ? "," : ":", text, strlen(text));
        has_options = used[i] = true;
    }
}

/* Puts the tools of the verb together when all options are known: o->record.first_tool. */
static void complete_tools(struct argp_state *state, struct record_verb_options *o)
{
    bool  used[MAX_GIVEN] = {false};
    char *list = o->tools, *own = NULL;
    o->tools = NULL;
    if (o->verb->tool && asprintf(&own, "%s%s%s", o->verb->tool, o->verb->preset ? ":" : "",
                                  o->verb->preset ? o->verb->preset : "") < 0)
        sxs_option_error(state, "out of memory");
    for (const char *at = own ? own : list; at && *at;) {
        size_t len = strcspn(at, ";");
        add_tool(state, o, at, len, used);
        at += len + (at[len] == ';');
    }
    for (size_t i = 0; i < o->n_given; i++)
        if (!used[i])
            sxs_option_error(state, "--%s: none of the tools has this option: %s",
                             o->given[i].row->option, o->tools ? o->tools : "");
    free(own);
    free(list);
    o->record.first_tool = o->tools;
}

/* ---- the first argument ---------------------------------------------------------------------- */

/* Returns true when the last tool in the list has options. */
static bool last_has_options(const struct record_verb_options *o)
{
    const char *last = o->tools ? strrchr(o->tools, ';') : NULL;
    return o->tools && strchr(last ? last : o->tools, ':');
}

/* Takes the list of tools: "sample,alloc:live=on,exact,trace". A word that is no tool's name belongs to the
 * options of the tool before it. */
static void take_tools(struct argp_state *state, struct record_verb_options *o, const char *list)
{
    char        why[512];
    const char *wrong = NULL;
    for (const char *at = list; *at; at += *at == ',') {
        size_t len = strcspn(at, ","), name = strcspn(at, ":,=");
        bool   is_trace = name == strlen("trace") && strncmp(at, "trace", name) == 0 &&
                        (at[name] == ':' || !last_has_options(o));
        if (at[name] == '=')
            name = 0; /* an option */
        if (is_trace) {
            add(state, o, ";", "calls:mode=trace", strlen("calls:mode=trace"));
            if (at[name] == ':')
                add(state, o, ",", at + name + 1, len - name - 1);
        } else if (sxs_tool_exists(at, name)) {
            add(state, o, ";", at, len);
        } else if (last_has_options(o)) {
            add(state, o, ",", at, len);
        } else {
            sxs_option_error(state, "'%.*s': there is no such tool; expected one or several of %s",
                             (int)len, at, sxs_tool_names(", "));
        }
        at += len;
    }
    if (o->tools)
        wrong = sxs_settings[SXS_SET_TOOLS].check(o->tools, why, sizeof(why));
    if (wrong)
        sxs_option_error(state, "%s", wrong);
}

static error_t take_first(char *arg, struct argp_state *state, struct record_verb_options *o)
{
    struct sxs_record_options *r = &o->record;
    bool                       quoted = state->quoted && state->next > state->quoted;
    switch (o->verb->first) {
    case FIRST_IS_RULES:
        if (r->set[SXS_SET_INSTRUMENT])
            return ARGP_ERR_UNKNOWN;
        if (quoted)
            sxs_option_error(state,
                             "RULES is missing: expected an instrumentation file, or a folder of "
                             "them, before --");
        sxs_record_set(SXS_SET_INSTRUMENT, "RULES", arg, state, r);
        return 0;
    case FIRST_IS_TOOLS:
        if (o->tools || (r->set[SXS_SET_TOOLS] && quoted))
            return ARGP_ERR_UNKNOWN;
        if (quoted)
            sxs_option_error(state, "TOOLS is missing: expected one or several of %s, before --",
                             sxs_tool_names(", "));
        take_tools(state, o, arg);
        return 0;
    case FIRST_IS_PROCESS:
        if (r->set[SXS_SET_PROCESS])
            sxs_option_error(state, "'%s': expected one process: a PID or a name%s", arg,
                             r->with & SXS_WITH_PROCESS ? " (--all: all processes with the name)"
                                                        : "");
        sxs_record_set(SXS_SET_PROCESS, "PID", arg, state, r);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    const struct sxs_tool_option *rows[MAX_OPTIONS];
    struct record_verb_options   *o = state->input;
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = &o->record;
        return 0;
    }
    if (key == ARGP_KEY_ARG)
        return take_first(arg, state, o);
    if (key == ARGP_KEY_END) {
        if (o->verb->first == FIRST_IS_RULES && !o->record.set[SXS_SET_INSTRUMENT])
            sxs_option_error(
                state, "RULES is missing: expected an instrumentation file, or a folder of them");
        if (o->verb->first == FIRST_IS_TOOLS && !o->tools && !o->record.set[SXS_SET_TOOLS])
            sxs_option_error(state, "TOOLS is missing: expected one or several of %s",
                             sxs_tool_names(", "));
        complete_tools(state, o);
        sxs_record_complete(state, &o->record);
        return 0;
    }
    if (key < KEY_ROW || key >= KEY_ROW + (int)list_rows(o->verb, rows))
        return ARGP_ERR_UNKNOWN;
    if (o->n_given == MAX_GIVEN)
        sxs_option_error(state, "--%s: too many options", rows[key - KEY_ROW]->option);
    o->given[o->n_given].row = rows[key - KEY_ROW];
    o->given[o->n_given++].value = arg;
    return 0;
}

/* ---- the verbs ------------------------------------------------------------------------------- */

/* Returns the argument of a row's option for the help text. argp puts longer ones in a wrong place;
 * the option's help names their values, and "--mode=count|time|tree|trace" becomes "--mode=MODE".
 * @name: receives it, holds @size bytes. */
static const char *shown_argument(const struct sxs_tool_option *row, char *name, size_t size)
{
    if (!row->argument ||
        strlen("      --=") + strlen(row->option) + strlen(row->argument) <= HELP_COLUMNS)
        return row->argument;
    size_t n = 0;
    for (; n < size - 1 && row->option[n]; n++)
        name[n] = (char)toupper((unsigned char)row->option[n]);
    name[n] = '\0';
    return name;
}

static const char *const arguments[] = {
    [FIRST_IS_COMMAND] = "-- COMMAND [ARGUMENT...]\n-p PID|NAME",
    [FIRST_IS_RULES] = "RULES.xml|DIR -- COMMAND [ARGUMENT...]\nRULES.xml|DIR -p PID|NAME",
    [FIRST_IS_TOOLS] = "TOOLS -- COMMAND [ARGUMENT...]\nTOOLS -p PID|NAME",
    [FIRST_IS_PROCESS] = "PID|NAME",
};

const struct argp *sxs_record_verb_argp(const char *verb)
{
    static char                   names[MAX_OPTIONS][24];
    static struct argp_child      shared[2];
    static struct argp_option     list[MAX_OPTIONS + 1];
    static struct argp            argp = {.options = list, .parser = parse, .children = shared};
    const struct sxs_tool_option *rows[MAX_OPTIONS];
    const struct verb            *v = find(verb);
    if (!v)
        return NULL;
    size_t n = 0, n_rows = list_rows(v, rows);
    memset(list, 0, sizeof(list));
    for (size_t i = 0; i < n_rows; i++)
        list[n++] = (struct argp_option){rows[i]->option,
                                         KEY_ROW + (int)i,
                                         shown_argument(rows[i], names[i], sizeof(names[i])),
                                         0,
                                         rows[i]->help,
                                         1};
    shared[0] = (struct argp_child){sxs_record_argp(v->with, v->tool), 0,
                                    n ? "Options of all recordings:" : NULL, 2};
    argp.args_doc = arguments[v->first];
    argp.doc = v->doc;
    return &argp;
}

const char *sxs_record_verb_values(const char *verb, const char *option)
{
    const struct sxs_tool_option *rows[MAX_OPTIONS];
    const struct verb            *v = find(verb);
    size_t                        n = v ? list_rows(v, rows) : 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i]->option, option) == 0)
            return rows[i]->argument;
    return NULL;
}

int sxs_cmd_record(int argc, char **argv)
{
    const char                *name = strchr(argv[0], ' ') + 1;
    struct record_verb_options o = {.verb = find(name)};
    int                        status;
    o.record.with = o.verb->with;
    o.record.default_tool = o.verb->default_tool;
    sxs_options_parse(sxs_record_verb_argp(name), argc, argv,
                      o.verb->with & SXS_WITH_COMMAND ? ARGP_IN_ORDER : 0, &o);
    switch (o.record.chosen) {
    case SXS_WITH_PROCESS: status = sxs_record_process(&o.record); break;
    case SXS_WITH_BACKGROUND: status = sxs_record_background(&o.record); break;
    default: status = sxs_record_command(&o.record); break;
    }
    sxs_record_options_free(&o.record);
    free(o.tools);
    return status;
}
