/* SPDX-License-Identifier: MIT */
/* sxsprof check: report errors in instrumentation files, and which methods their rules match. */
#include "cmd/assembly_body.h"
#include "cmd/assembly_file.h"
#include "cmd/command.h"
#include "cmd/confined_verb.h"
#include "cmd/guest_option.h"
#include "cmd/output/print.h"
#include "guests/config/file.h"
#include "instr/config/assembly.h"

#include <argp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ACTIONS_MAX   64 /* the schema allows no more */
#define ARGUMENTS_MAX 64

/* NATIVE_CODE: bits of a method's ImplFlags, set when it has no IL; STATIC: a bit of its Flags. */
enum { NATIVE_CODE = 0x3, STATIC = 0x10 };

struct check_options {
    const char *path;
    const char *runtime;    /* NULL: any runtime */
    char      **assemblies; /* borrowed from main's argv */
    int         n_assemblies;
};

struct check {
    const struct check_options *options;
    const struct sxs_config    *config;
    struct sxs_metadata        *md;
    struct sxs_assembly       **assemblies; /* one for each of options->assemblies */
    struct sxs_il_body         *body;       /* owned; of the current method */
    unsigned long               n_warnings;
    uint8_t had[ACTIONS_MAX][ARGUMENTS_MAX]; /* for the current rule, by action and argument: 1 when
                                              * a matched method has the argument */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct check_options *o = state->input;
    switch (key) {
    case 'r': o->runtime = arg; return 0;
    case ARGP_KEY_ARG:
        if (o->path)
            return ARGP_ERR_UNKNOWN; /* then argp passes the remaining arguments as ARGP_KEY_ARGS */
        o->path = arg;
        return 0;
    case ARGP_KEY_ARGS:
        o->assemblies = state->argv + state->next;
        o->n_assemblies = state->argc - state->next;
        return 0;
    case ARGP_KEY_END:
        if (!o->path)
            sxs_option_error(state, "expected an instrumentation file, or a folder of them");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_list[] = {
    {"runtime", 'r', "VERSION", 0, "Match as this runtime would, such as 8.0.29 (default: any)", 0},
    {0},
};
const struct argp sxs_argp_check = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "PATH [ASSEMBLY...]",
    .doc = "Check instrumentation files: PATH is one, or a folder whose *.xml are taken. With "
           "assemblies, print which methods each rule matches in them. PATH may also be a file that "
           "declares guests, for --guest.\v"
           "What is wrong goes to standard error as FILE:LINE:COLUMN: MESSAGE. The exit status is "
           "1 when "
           "something is.",
};

/* ---- problems -------------------------------------------------------------------------------- */

static void put_problem(const struct sxs_problem *problem)
{
    char text[4096];
    sxs_config_put_problem(problem, text, sizeof(text));
    sxs_print_to(stderr, "%s\n", text);
}

static void warn_rule(struct check *c, const struct sxs_rule *rule, uint32_t line, uint32_t column,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));
static void warn_rule(struct check *c, const struct sxs_rule *rule, uint32_t line, uint32_t column,
                      const char *format, ...)
{
    va_list args;
    c->n_warnings++;
    sxs_print_to(stderr, "%s:%u:%u: warning: ", rule->file, line, column);
    va_start(args, format);
    sxs_vprint_to(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* Warns when a file that an action calls into cannot be read. */
static void check_target(struct check *c, const struct sxs_rule *rule, const struct sxs_action *a,
                         const struct sxs_call_target *target)
{
    if (target->kind != SXS_TARGET_NONE && strchr(target->path, '/') &&
        access(target->path, R_OK) != 0)
        warn_rule(c, rule, a->line, a->column, "%s cannot be read", target->path);
}

/* ---- matches --------------------------------------------------------------------------------- */

static bool has_argument(const struct check *c, const struct sxs_argument *argument, int i,
                         uint32_t token, const struct sxs_config_method *m)
{
    uint32_t flags =
        sxs_md_cell(&c->md[i], SXS_TABLE_METHOD_DEF, token & 0xffffff, SXS_METHOD_DEF_FLAGS);
    switch (argument->kind) {
    case SXS_ARGUMENT_NAME:
        return sxs_assembly_parameter(c->assemblies[i], token, argument->name) >= 0;
    case SXS_ARGUMENT_INDEX: return argument->index < m->n_parameters;
    case SXS_ARGUMENT_THIS: return !(flags & STATIC);
    default: return true;
    }
}

static const char *argument_text(const struct sxs_argument *argument, char text[16])
{
    if (argument->kind == SXS_ARGUMENT_NAME)
        return argument->name;
    if (argument->kind == SXS_ARGUMENT_THIS)
        return "this";
    snprintf(text, 16, "%u", argument->index);
    return text;
}

/* Prints which arguments that the rule asks for the method lacks, and marks the others in
 * c->had. */
static void put_lacking(struct check *c, const struct sxs_rule *rule, int i, uint32_t token,
                        const struct sxs_config_method *m)
{
    int lacking = 0;
    for (uint32_t a = 0; a < rule->n_actions && a < ACTIONS_MAX; a++)
        for (uint32_t k = 0; k < rule->actions[a].n_arguments && k < ARGUMENTS_MAX; k++) {
            const struct sxs_argument *argument = &rule->actions[a].arguments[k];
            char                       text[16];
            if (has_argument(c, argument, i, token, m))
                c->had[a][k] = 1;
            else
                sxs_print("%s%s", lacking++ ? ", " : "  has no ", argument_text(argument, text));
        }
}

/* Says that the library will not change the method's body, and why. */
static void put_refused(struct check *c, const struct sxs_rule *rule, int i, uint32_t token,
                        const struct sxs_config_method *m)
{
    uint32_t rva =
        sxs_md_cell(&c->md[i], SXS_TABLE_METHOD_DEF, token & 0xffffff, SXS_METHOD_DEF_RVA);
    struct sxs_blob     bytes = sxs_md_at_rva(&c->md[i], rva);
    struct sxs_il_error error;
    if (!c->body || (sxs_il_read(c->body, bytes.at, bytes.size, &error) == 0 &&
                     sxs_assembly_check_body(&c->md[i], c->body, token, &error) == 0))
        return;
    sxs_print("  cannot be changed: %s", error.text);
    warn_rule(c, rule, rule->line, rule->column,
              "%s.%s cannot be changed: its body is not valid: %s", m->type, m->method, error.text);
}

static void put_method(struct check *c, const struct sxs_rule *rule, int i, uint32_t token,
                       const struct sxs_config_method *m)
{
    sxs_print("    [%s] %s.%s(", m->assembly, m->type, m->method);
    for (uint32_t p = 0; p < m->n_parameters; p++)
        sxs_print("%s%s", p ? "," : "", m->parameters[p]);
    sxs_print(")");
    if (m->outer)
        sxs_print("  the body of %s.%s", m->outer->type, m->outer->method);
    else if (sxs_assembly_is_outer(c->assemblies[i], token))
        sxs_print("  its body is a state machine's, see async=\"statemachine\"");
    put_lacking(c, rule, i, token, m);
    put_refused(c, rule, i, token, m);
    sxs_print("\n");
}

/* Returns true when the rule applies to the method. A method that several New Relic rules match
 * gets only one of them. */
static bool is_applied(const struct check *c, const struct sxs_rule *rule,
                       const struct sxs_config_method *m)
{
    const struct sxs_rule *rules[256];
    size_t                 n;
    if (!sxs_config_matches(rule, m))
        return false;
    if (!rule->new_relic)
        return true;
    n = sxs_config_rules(c->config, m, rules, 256);
    for (size_t i = 0; i < n && i < 256; i++)
        if (rules[i] == rule)
            return true;
    return false;
}

static unsigned long match_in(struct check *c, const struct sxs_rule *rule, int i)
{
    unsigned long found = 0;
    uint32_t      n = sxs_md_rows(&c->md[i], SXS_TABLE_METHOD_DEF);
    for (uint32_t row = 1; row <= n; row++) {
        uint32_t token = sxs_token(SXS_TABLE_METHOD_DEF, row);
        uint32_t rva = sxs_md_cell(&c->md[i], SXS_TABLE_METHOD_DEF, row, SXS_METHOD_DEF_RVA);
        uint32_t impl =
            sxs_md_cell(&c->md[i], SXS_TABLE_METHOD_DEF, row, SXS_METHOD_DEF_IMPL_FLAGS);
        struct sxs_config_method m;
        if (!rva || impl & NATIVE_CODE || sxs_assembly_method(c->assemblies[i], token, &m) != 0)
            continue;
        m.runtime = c->options->runtime;
        if (!is_applied(c, rule, &m))
            continue;
        found++;
        put_method(c, rule, i, token, &m);
    }
    return found;
}

/* Warns about arguments that no matched method has; they are probably misspelled. */
static void check_arguments(struct check *c, const struct sxs_rule *rule)
{
    for (uint32_t a = 0; a < rule->n_actions && a < ACTIONS_MAX; a++)
        for (uint32_t k = 0; k < rule->actions[a].n_arguments && k < ARGUMENTS_MAX; k++) {
            char        text[16];
            const char *argument = argument_text(&rule->actions[a].arguments[k], text);
            if (!c->had[a][k])
                warn_rule(c, rule, rule->actions[a].line, rule->actions[a].column,
                          "none of these methods has an argument %s", argument);
        }
}

static void check_rule(struct check *c, const struct sxs_rule *rule)
{
    unsigned long found = 0;
    for (uint32_t a = 0; a < rule->n_actions; a++)
        check_target(c, rule, &rule->actions[a], &rule->actions[a].call);
    memset(c->had, 0, sizeof(c->had));
    if (!c->options->n_assemblies)
        return;
    sxs_print("%s:%u:%u: %s\n", rule->file, rule->line, rule->column, rule->name);
    for (int i = 0; i < c->options->n_assemblies; i++) {
        uint32_t name = sxs_md_cell(&c->md[i], SXS_TABLE_ASSEMBLY, 1, SXS_ASSEMBLY_NAME);
        if (sxs_config_may_match(rule, c->options->runtime, sxs_md_string(&c->md[i], name), NULL,
                                 NULL))
            found += match_in(c, rule, i);
    }
    if (!found)
        sxs_print("    no method of %s\n",
                  c->options->n_assemblies > 1 ? "these assemblies" : "this assembly");
    else
        check_arguments(c, rule);
}

/* ---- the verb -------------------------------------------------------------------------------- */

static int open_assemblies(struct check *c)
{
    int n = c->options->n_assemblies;
    c->md = calloc((size_t)n + 1, sizeof(*c->md));
    c->assemblies = calloc((size_t)n + 1, sizeof(*c->assemblies));
    for (int i = 0; i < n; i++) {
        int err = c->md && c->assemblies ? sxs_assembly_open(c->options->assemblies[i], &c->md[i])
                                         : SXS_EXIT_PROBLEM;
        if (err)
            return err;
        c->assemblies[i] = sxs_assembly_new(&c->md[i]);
        if (!c->assemblies[i]) {
            sxs_complain("out of memory");
            return SXS_EXIT_PROBLEM;
        }
    }
    return SXS_EXIT_OK;
}

static void check_all(struct check *c)
{
    for (uint32_t i = 0; i < c->config->n_problems; i++)
        put_problem(&c->config->problems[i]);
    for (uint32_t i = 0; i < c->config->n_rules; i++)
        check_rule(c, c->config->rules[i]);
    sxs_print("%s: %u rule%s in %u file%s, %u error%s, %lu warning%s\n", c->options->path,
              c->config->n_rules, c->config->n_rules == 1 ? "" : "s", c->config->n_files,
              c->config->n_files == 1 ? "" : "s", c->config->n_errors,
              c->config->n_errors == 1 ? "" : "s", c->n_warnings + c->config->n_warnings,
              c->n_warnings + c->config->n_warnings == 1 ? "" : "s");
}

/* Checks a file that declares guests, and the libraries that it names. */
static int check_guests(const struct check_options *o, const struct guest_file *file)
{
    char     why[4096];
    unsigned n_errors = file->problems->n_errors;
    for (uint32_t i = 0; i < file->problems->n_problems; i++)
        put_problem(&file->problems->problems[i]);
    if (o->n_assemblies || o->runtime)
        return sxs_wrong_input("%s declares guests: no assembly and no --runtime is expected",
                               o->path);
    for (unsigned i = 0; i < file->n; i++) {
        if (sxs_guest_check(&file->guests[i], why, sizeof(why)) == 0)
            continue;
        sxs_print_to(stderr, "%s:%u: %s\n", o->path, file->line[i], why);
        n_errors++;
    }
    sxs_print("%s: %u guest%s, %u error%s\n", o->path, file->n, file->n == 1 ? "" : "s", n_errors,
              n_errors == 1 ? "" : "s");
    return sxs_finish_output() || n_errors ? SXS_EXIT_PROBLEM : SXS_EXIT_OK;
}

/* Returns true when @path is a file that declares guests, right or wrong. */
static bool declares_guests(const char *path, struct guest_file *file)
{
    struct stat st;
    memset(file, 0, sizeof(*file));
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && guest_file_read(path, file) == 0 &&
           file->is_ours;
}

/* Reads the files and prints what is wrong. @arg: struct check_options. Returns an exit status. */
static int check(void *arg)
{
    struct guest_file     guests;
    struct check_options *options = arg;
    struct check          c = {.options = options};
    struct sxs_config    *config;
    int                   err;
    err = declares_guests(options->path, &guests) ? check_guests(options, &guests) : -1;
    guest_file_free(&guests);
    if (err >= 0)
        return err;
    err = open_assemblies(&c);
    c.body = err || !options->n_assemblies ? NULL : sxs_il_new();
    config = err ? NULL : sxs_config_load(options->path, NULL);
    if (config) {
        c.config = config;
        check_all(&c);
        err = sxs_finish_output() || config->n_errors ? SXS_EXIT_PROBLEM : SXS_EXIT_OK;
        if (!config->n_files && config->n_errors)
            err = SXS_EXIT_USAGE;
    } else if (!err) {
        sxs_complain("out of memory");
        err = SXS_EXIT_PROBLEM;
    }
    sxs_config_free(config);
    for (int i = 0; c.assemblies && i < options->n_assemblies; i++)
        sxs_assembly_free(c.assemblies[i]);
    free(c.assemblies);
    free(c.md);
    sxs_il_free(c.body);
    return err;
}

int sxs_cmd_check(int argc, char **argv)
{
    struct check_options options = {0};
    sxs_options_parse(&sxs_argp_check, argc, argv, 0, &options);
    const struct sxs_confined_verb needs = {.reads = {&options.path}};
    return sxs_confined_verb(&needs, check, &options);
}
