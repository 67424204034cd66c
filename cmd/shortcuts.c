/* SPDX-License-Identifier: MIT */
/* The options of a shortcut are the rows of its tool's table (tools/options), other names of
 * options of "run", and all options of "run". */
#include "cmd/shortcuts.h"

#include "cmd/command.h"
#include "cmd/output/print.h"
#include "cmd/run.h"
#include "cmd/run_options.h"
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

/* Another name of an option of "run". */
struct other_name {
    const char *option;
    int         key; /* SXS_RUN_... */
    const char *argument, *help;
};

struct shortcut {
    const char                  *verb, *tool;
    const char                  *preset; /* options of the tool that the verb implies; NULL: none */
    const struct sxs_tool_table *table;  /* NULL: the tool has no options */
    const struct other_name     *names;  /* ends with an empty one; NULL: none */
    bool                         rules;  /* the first argument is an instrumentation file */
    const char                  *doc;
};

static const struct other_name functions[] = {
    {"only", SXS_RUN_CALLS, "FUNCTIONS",
     "Only functions that match [VERSION/]ASSEMBLY:NAME, wildcards * and ?; may be given several "
     "times (default: all but framework code)"},
    {"not", SXS_RUN_CALLS_NOT, "FUNCTIONS", "But not these; may be given several times"},
    {0},
};

static const struct shortcut shortcuts[] = {
    {"sample", "sample", NULL, &sxs_sampler_table, NULL, false,
     "Sample the stacks of a command: which functions use the time."},
    {"calls", "calls", NULL, &sxs_calls_table, functions, false,
     "Count and time the calls of a command's functions."},
    {"trace", "calls", "mode=trace", &sxs_calls_table, functions, false,
     "Record each call of a command's functions."},
    {"alloc", "alloc", NULL, &sxs_alloc_table, NULL, false,
     "Record what a command's functions allocate: objects by type and stack, and which stay alive."},
    {"native", "native", NULL, &sxs_native_table, NULL, false,
     "Record a command's native memory (malloc, mmap): who allocates it, and what is not freed."},
    {"locks", "locks", NULL, &sxs_locks_table, NULL, false,
     "Record a command's waits for locks: who waits, how long, and who holds the lock."},
    {"wait", "wait", NULL, &sxs_wait_table, NULL, false,
     "Record what a command's threads wait for, and for how long."},
    {"exceptions", "exceptions", NULL, NULL, NULL, false,
     "Record where a command throws exceptions, and what handles them."},
    {"events", "events", NULL, &sxs_event_table, NULL, false,
     "Record what a command's runtimes do: compilations, collections, loads, threads."},
    {"gc", "gc", NULL, NULL, NULL, false,
     "Record a command's collections: why they were started, how long they stopped its threads, what "
     "they freed."},
    {"instrument", "instrument", NULL, &sxs_instrument_table, NULL, true,
     "Instrument a command's methods as a file says, or the *.xml of a folder."},
};

#define N_SHORTCUTS (sizeof(shortcuts) / sizeof(shortcuts[0]))
#define MAX_OPTIONS 24
#define HELP_COLUMNS 32u /* options with longer arguments are not shown well by argp */
enum { KEY_ROW = 2000, KEY_NAME = 3000 }; /* number of a row of the table, of another name */

struct options {
    struct sxs_run_options run;
    const struct shortcut *shortcut;
    char                   tool[512]; /* "sample:rate=997,wall" */
};

/* Adds "KEY=VALUE" or "KEY" to the tool's options. */
static void add_option(struct options *o, const char *key, size_t len, const char *value)
{
    size_t used = strlen(o->tool);
    snprintf(o->tool + used, sizeof(o->tool) - used, "%c%.*s%s%s", strchr(o->tool, ':') ? ',' : ':',
             (int)len, key, value ? "=" : "", value ? value : "");
}

static void take_row(const struct sxs_tool_option *row, const char *value, struct argp_state *state,
                     struct options *o)
{
    const char *expected = sxs_tool_option_check(row, value);
    if (expected || strlen(value ? value : "") > 48)
        sxs_option_error(state, "--%s: '%s': expected %s", row->option, value, row->expected);
    add_option(o, row->syntax, sxs_tool_key(row), value);
}

/* Handles an argument that may be the instrumentation file. */
static error_t take_rules(char *arg, struct argp_state *state, struct options *o)
{
    if (!o->shortcut->rules || o->run.instrument)
        return ARGP_ERR_UNKNOWN;
    if (state->quoted && state->next > state->quoted)
        sxs_option_error(state,
                         "RULES is missing: expected an instrumentation file, or a folder of "
                         "them, before --");
    return sxs_run_option(SXS_RUN_INSTRUMENT, "RULES", arg, state, &o->run);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    char            source[40];
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = &o->run;
        return 0;
    }
    if (key == ARGP_KEY_ARG)
        return take_rules(arg, state, o);
    if (key >= KEY_NAME && key < KEY_NAME + MAX_OPTIONS) {
        const struct other_name *name = &o->shortcut->names[key - KEY_NAME];
        snprintf(source, sizeof(source), "--%s", name->option);
        return sxs_run_option(name->key, source, arg, state, &o->run);
    }
    if (key < KEY_ROW || key >= KEY_ROW + MAX_OPTIONS)
        return ARGP_ERR_UNKNOWN;
    take_row(&o->shortcut->table->rows[key - KEY_ROW], arg, state, o);
    return 0;
}

static const struct shortcut *find(const char *verb)
{
    for (size_t i = 0; i < N_SHORTCUTS; i++)
        if (strcmp(shortcuts[i].verb, verb) == 0)
            return &shortcuts[i];
    return NULL;
}

/* Returns true when the verb already implies the option of @row. */
static bool is_preset(const struct shortcut *s, const struct sxs_tool_option *row)
{
    size_t len = sxs_tool_key(row);
    return s->preset && strncmp(s->preset, row->syntax, len) == 0 && s->preset[len] == '=';
}

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

const struct argp *sxs_shortcut_argp(const char *verb)
{
    static char                    names[MAX_OPTIONS][24];
    static const struct argp_child run[] = {
        {&sxs_argp_run_options, 0, "Options of run and its shortcuts:", 2}, {0}};
    static struct argp_option list[MAX_OPTIONS];
    static struct argp        argp = {.options = list, .parser = parse, .children = run};
    const struct shortcut    *s = find(verb);
    size_t                    n = 0;
    if (!s)
        return NULL;
    memset(list, 0, sizeof(list));
    for (size_t i = 0; s->table && i < s->table->n && n < MAX_OPTIONS - 1; i++) {
        const struct sxs_tool_option *row = &s->table->rows[i];
        if (!row->option || is_preset(s, row))
            continue;
        list[n] = (struct argp_option){row->option, KEY_ROW + (int)i,
                                       shown_argument(row, names[n], sizeof(names[n])), 0,
                                       row->help, 1};
        n++;
    }
    for (int i = 0; s->names && s->names[i].option && n < MAX_OPTIONS - 1; i++)
        list[n++] = (struct argp_option){
            s->names[i].option, KEY_NAME + i, s->names[i].argument, 0, s->names[i].help, 1};
    argp.args_doc = s->rules ? "RULES.xml|DIR [--] COMMAND [ARGUMENT...]" : SXS_RUN_ARGUMENTS;
    argp.doc = s->doc;
    return &argp;
}

const char *sxs_shortcut_values(const char *verb, const char *option)
{
    const struct shortcut *s = find(verb);
    for (size_t i = 0; s && s->table && i < s->table->n; i++)
        if (s->table->rows[i].option && strcmp(s->table->rows[i].option, option) == 0)
            return s->table->rows[i].argument;
    return NULL;
}

int sxs_cmd_shortcut(int argc, char **argv)
{
    const char    *verb = strchr(argv[0], ' ') + 1;
    struct options o = {.shortcut = find(verb)};
    int            status;
    snprintf(o.tool, sizeof(o.tool), "%s", o.shortcut->tool);
    o.run.first_tool = o.tool;
    if (o.shortcut->preset)
        add_option(&o, o.shortcut->preset, strlen(o.shortcut->preset), NULL);
    sxs_options_parse(sxs_shortcut_argp(verb), argc, argv, ARGP_IN_ORDER, &o);
    status = sxs_run(&o.run);
    sxs_run_options_free(&o.run);
    return status;
}
