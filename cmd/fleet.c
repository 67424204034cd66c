/* SPDX-License-Identifier: MIT */
/* sxsprof fleet: ask a ClickHouse server about the profiles of many machines. */
#include "base/env.h"
#include "cmd/argument.h"
#include "cmd/command.h"
#include "cmd/fleet/flame.h"
#include "cmd/fleet/functions.h"
#include "cmd/fleet/print.h"
#include "cmd/fleet/tables.h"
#include "cmd/fleet/when.h"
#include "cmd/opener.h"
#include "cmd/output/must.h"
#include "cmd/output/output_file.h"
#include "cmd/output/print.h"
#include "cmd/report/profile.h"

#include <argp.h>
#include <errno.h>
#include <string.h>

/** The variable of the environment with the address of the server. */
#define SERVER_VARIABLE "SXSPROF_FLEET"

enum {
    KEY_SERVER = 256,
    KEY_FROM,
    KEY_TO,
    KEY_WHERE,
    KEY_DATA,
    KEY_A,
    KEY_B,
    KEY_BY,
    KEY_STEP,
    KEY_LIMIT,
    KEY_TOP,
    KEY_OPEN,
    KEY_KEEP,
    KEY_CA,
    KEY_TIMEOUT
};

enum { DEFAULT_LIMIT = 20000, DEFAULT_TOP = 30, MAX_GROUPS = 100000, WHY = 700 };

enum { A, B }; /* the selections of diff; other commands have one */

struct fleet_options {
    const char                     *command;
    const char                     *server, *to, *format, *output, *by;
    struct sxs_fleet_server_options connection;
    struct sxs_fleet_selection      common, of[2];
    bool                            has[2]; /* --a, --b were given */
    int64_t                         step;
    size_t                          limit, top;
    unsigned                        keep_days;
    bool                            open;
    time_t                          now;
};

struct context {
    struct fleet_options         *o;
    struct sxs_clickhouse_address address;
    struct sxs_fleet_server      *server;
    char                          why[WHY];
};

/* ---- options --------------------------------------------------------------------------------- */

static void add_where(struct argp_state *state, struct sxs_fleet_selection *s, const char *option,
                      const char *text, time_t now)
{
    char why[300];
    if (sxs_fleet_select(s, text, now, why, sizeof(why)) != 0)
        sxs_option_error(state, "%s: %s", option, why);
}

static void set_time(struct argp_state *state, const char *option, const char *text, time_t now,
                     int64_t *out)
{
    if (sxs_fleet_when(text, now, out) != 0)
        sxs_option_error(state, "%s: '%s': expected " SXS_FLEET_WHEN, option, text);
}

static void set_kind(struct argp_state *state, struct fleet_options *o, const char *text)
{
    o->common.kind = sxs_clickhouse_kind_named(text);
    if (o->common.kind == SXS_CLICKHOUSE_BATCH)
        sxs_option_error(state, "--data: '%s': expected %s", text, sxs_clickhouse_kind_names());
}

static bool is_command(const struct fleet_options *o, const char *name)
{
    return strcmp(o->command, name) == 0;
}

static void check_format(struct argp_state *state, const struct fleet_options *o)
{
    bool page = strcmp(o->format, "html") == 0;
    bool plain = strcmp(o->format, "text") == 0 || strcmp(o->format, "json") == 0;
    if (is_command(o, "flame")) {
        if (!page && strcmp(o->format, "collapsed") != 0 && strcmp(o->format, "speedscope") != 0 &&
            strcmp(o->format, "pprof") != 0)
            sxs_option_error(
                state,
                "--format: '%s': expected html, collapsed, speedscope or pprof; text and "
                "json are of fleet top",
                o->format);
    } else if (!plain && !(page && is_command(o, "diff") && !o->by)) {
        sxs_option_error(state, "--format: '%s': expected text%s or json", o->format,
                         is_command(o, "diff") && !o->by ? ", html" : "");
    }
}

static void complete_diff(struct argp_state *state, struct fleet_options *o)
{
    if (!is_command(o, "diff")) {
        if (o->has[A] || o->has[B])
            sxs_option_error(state, "--a and --b are options of fleet diff");
        return;
    }
    if (!o->has[A] || !o->has[B])
        sxs_option_error(state,
                         "--a and --b are expected: what differs, such as --a version=1.0 --b "
                         "version=1.1");
}

/* Builds the selections when all options are known. */
static void complete(struct argp_state *state, struct fleet_options *o)
{
    static const char *const commands[] = {"init", "expire", "flame", "top", "diff", "series"};
    bool                     known = false;
    for (size_t i = 0; o->command && i < sizeof(commands) / sizeof(commands[0]); i++)
        known |= is_command(o, commands[i]);
    if (!known) {
        sxs_option_error(state,
                         o->command ? "'%s': expected init, expire, flame, top, diff or series"
                                    : "init, expire, flame, top, diff or series is expected",
                         o->command);
        return;
    }
    if (o->to) {
        set_time(state, "--to", o->to, o->now, &o->common.to);
    }
    if (!o->server)
        o->server = sxs_env_named(SERVER_VARIABLE);
    if (!o->server)
        sxs_option_error(state,
                         "no server: expected --server URL or the variable " SERVER_VARIABLE);
    if (!o->format)
        o->format = o->open || is_command(o, "flame") ? "html" : "text";
    if (o->open && (strcmp(o->format, "html") != 0 || !o->output))
        sxs_option_error(state, "--open: expected --format html and -o FILE");
    check_format(state, o);
    sxs_check_terminal(state, o->format, o->output);
    enum sxs_fleet_place place = o->by ? sxs_fleet_place(o->by) : SXS_FLEET_OF_SOURCE;
    if (is_command(o, "diff") && (place == SXS_FLEET_OF_STACK || place == SXS_FLEET_TRACE) &&
        sxs_clickhouse_kind_is_state(o->common.kind))
        sxs_option_error(state,
                         "--by: '%s': of %s, processes are compared: expected service, version, "
                         "machine, container, process, command or a label",
                         o->by, sxs_clickhouse_kind_name(o->common.kind));
    complete_diff(state, o);
    if (o->step && !is_command(o, "series"))
        sxs_option_error(state, "--step is an option of fleet series");
}

static error_t parse_selection(int key, char *arg, struct argp_state *state,
                               struct fleet_options *o)
{
    switch (key) {
    case KEY_FROM: set_time(state, "--from", arg, o->now, &o->common.from); return 0;
    case KEY_TO: o->to = arg; return 0;
    case 's': sxs_fleet_select_one(&o->common, "service", arg, false); return 0;
    case KEY_WHERE: add_where(state, &o->common, "--where", arg, o->now); return 0;
    case KEY_DATA: set_kind(state, o, arg); return 0;
    case KEY_A:
    case KEY_B:
        o->has[key == KEY_B] = true;
        add_where(state, &o->of[key == KEY_B], key == KEY_A ? "--a" : "--b", arg, o->now);
        return 0;
    case KEY_BY:
        if (!*arg || strcmp(arg, "function") == 0)
            sxs_option_error(state,
                             "--by: '%s': expected service, version, machine, container, process, "
                             "command, runtime, class, thread, trace_id or a label",
                             arg);
        o->by = arg;
        return 0;
    case KEY_STEP:
        if (sxs_fleet_duration(arg, &o->step) != 0)
            sxs_option_error(state, "--step: '%s': expected a duration such as 1m, 1h or 1d", arg);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct fleet_options *o = state->input;
    switch (key) {
    case KEY_SERVER: o->server = arg; return 0;
    case KEY_CA: o->connection.ca = arg; return 0;
    case KEY_TIMEOUT:
        o->connection.timeout_s =
            (unsigned)((sxs_duration_argument(state, "--timeout", arg) + 999) / 1000);
        return 0;
    case KEY_LIMIT: o->limit = sxs_number_argument(state, "--limit", arg); return 0;
    case KEY_TOP: o->top = sxs_number_argument(state, "--top", arg); return 0;
    case KEY_KEEP:
        o->keep_days = (unsigned)sxs_number_argument(state, "--keep-days", arg);
        return 0;
    case 'f': o->format = arg; return 0;
    case 'o': o->output = arg; return 0;
    case KEY_OPEN: o->open = true; return 0;
    case ARGP_KEY_ARG:
        if (o->command)
            sxs_option_error(state, "'%s' is one argument more than expected", arg);
        o->command = arg;
        return 0;
    case ARGP_KEY_END: complete(state, o); return 0;
    default: return parse_selection(key, arg, state, o);
    }
}

static const struct argp_option option_list[] = {
    {"server", KEY_SERVER, "URL", 0,
     "The server: clickhouse://[USER@]HOST[:PORT][/DATABASE], clickhouses:// with TLS; by default "
     "the variable SXSPROF_FLEET. The user's password is in SXSPROF_FLEET_PASSWORD",
     0},
    {"ca", KEY_CA, "FILE", 0, "Certificates to trust in place of the system's", 0},
    {"timeout", KEY_TIMEOUT, "TIME", 0, "How long to wait for an answer (10m)", 0},
    {"from", KEY_FROM, "TIME", 0,
     "Samples since TIME: \"2h ago\", yesterday, 2026-11-23, 2026-11-23T18:05Z (all)", 1},
    {"to", KEY_TO, "TIME", 0, "Samples before TIME (all)", 1},
    {"service", 's', "PATTERN", 0, "Samples of this service; * and ? are wildcards", 1},
    {"where", KEY_WHERE, "KEY=PATTERN,...", 0,
     "Samples for which all of this is true: service, version, machine, container, process, "
     "command, runtime, class (managed, native, gc, jit, sxsprof), thread, trace_id, function "
     "(anywhere in the stack), or a label; KEY!=PATTERN for the opposite; can be repeated",
     1},
    {"data", KEY_DATA, "cpu|wall|alloc|native|locks|live|native-live|wait", 0,
     "Which samples (cpu); of live and native-live, the last state of each process", 1},
    {"a", KEY_A, "KEY=PATTERN,...", 0,
     "Of diff: what is compared, as --where; from=TIME and to=TIME, too", 2},
    {"b", KEY_B, "KEY=PATTERN,...", 0, "Of diff: what it is compared with", 2},
    {"by", KEY_BY, "KEY", 0, "Of series and diff: a row for each KEY, of those of --where", 2},
    {"step", KEY_STEP, "DURATION", 0, "Of series: a row for each 1m, 1h, 1d... (one for all)", 2},
    {"limit", KEY_LIMIT, "N", 0,
     "Of flame, and diff as html: the heaviest N stacks; the others are one frame (20000)", 3},
    {"top", KEY_TOP, "N", 0, "Functions, or rows of diff --by (30)", 3},
    {"format", 'f', "text|json|html|collapsed|speedscope|pprof", 0,
     "Of flame html (the default), collapsed, speedscope or pprof; of top and series text or json; "
     "of "
     "diff text, json or html",
     3},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 3},
    {"open", KEY_OPEN, NULL, 0, "Open the page of -o in a browser", 3},
    {"keep-days", KEY_KEEP, "N", 0, "Of init: how long samples are kept (30)", 4},
    {0},
};
const struct argp sxs_argp_fleet = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "init|expire|flame|top|diff|series",
    .doc = "Ask a ClickHouse server about the profiles of many machines.\v"
           "init makes the tables, expire drops days that are not to be kept. The verb push with "
           "an address clickhouse://... fills them. flame draws a flame graph, top lists "
           "functions, diff compares two selections, series lists sums over time or by version, "
           "machine...",
};

/* ---- commands -------------------------------------------------------------------------------- */

static int failed(const struct context *c)
{
    sxs_complain("fleet: %s", c->why);
    return SXS_EXIT_PROBLEM;
}

static int nothing(const struct context *c, const struct sxs_fleet_selection *s)
{
    char  *says = NULL;
    size_t size = 0;
    FILE  *to = sxs_must(open_memstream(&says, &size));
    sxs_fleet_says(to, s);
    fclose(to);
    sxs_must(says);
    sxs_complain("fleet: no samples in %s of: %s", c->o->server, says);
    free(says);
    return SXS_EXIT_PROBLEM;
}

static int open_output(const struct context *c, struct sxs_output *out)
{
    int err = sxs_output_open(out, c->o->output);
    return err ? sxs_wrong_input("--output: %s: %s", c->o->output, sxs_output_error(err)) : SXS_EXIT_OK;
}

static int close_output(const struct context *c, struct sxs_output *out)
{
    if (out->to == stdout)
        return sxs_finish_output();
    int err = sxs_output_close(out, false);
    if (!err)
        return SXS_EXIT_OK;
    sxs_complain("%s: %s", c->o->output, strerror(err));
    return SXS_EXIT_PROBLEM;
}

static int written(const struct context *c, enum sxs_profile_result result)
{
    if (result != SXS_PROFILE_OK)
        return SXS_EXIT_PROBLEM;
    if (!c->o->open)
        return SXS_EXIT_OK;
    if (!sxs_open_page(c->o->output))
        sxs_print("%s\n", c->o->output);
    return sxs_finish_output();
}

static int flame(struct context *c)
{
    struct sxs_model                m;
    const struct sxs_report_options write = {.output = c->o->output};
    int                             status;
    if (sxs_fleet_model(c->server, &c->o->of[A], c->o->limit, &m, c->why, WHY) != 0)
        status = failed(c);
    else if (!m.total && !m.total_ns)
        status = nothing(c, &c->o->of[A]);
    else
        status = written(c, sxs_profile_write(&m, c->o->format, &write));
    sxs_model_free(&m);
    return status;
}

static int diff_page(struct context *c)
{
    struct sxs_model                m[2] = {{.total = 0}};
    const struct sxs_report_options write = {.output = c->o->output};
    static const char *const        names[] = {"--a", "--b"};
    int                             status = SXS_EXIT_OK;
    for (int i = A; i <= B && status == SXS_EXIT_OK; i++) {
        if (sxs_fleet_model(c->server, &c->o->of[i], c->o->limit, &m[i], c->why, WHY) != 0)
            status = failed(c);
        else if (!m[i].total && !m[i].total_ns)
            status = nothing(c, &c->o->of[i]);
    }
    if (status == SXS_EXIT_OK)
        status = written(c, sxs_profile_write_diff(&m[A], &m[B], names, &write));
    sxs_model_free(&m[A]);
    sxs_model_free(&m[B]);
    return status;
}

/* Prints the functions of one selection, or of two. */
static int print_functions(struct context *c, const struct sxs_fleet_selection *other)
{
    struct sxs_fleet_functions        of;
    struct sxs_fleet_names            names = {0};
    const struct sxs_fleet_selection *s = &c->o->of[A];
    struct sxs_output                 out;
    int       err = sxs_fleet_functions(c->server, s, other, c->o->top, &of, c->why, WHY);
    uint64_t *ids = sxs_must_zeroed(of.n * 2, sizeof(*ids));
    for (size_t i = 0; i < of.n; i++) {
        ids[2 * i] = of.all[i].frame;
        ids[2 * i + 1] = of.all[i].other_frame;
    }
    if (!err)
        err = sxs_fleet_names_frames(&names, c->server, ids, of.n * 2, c->why, WHY);
    free(ids);
    int status = SXS_EXIT_OK;
    if (err)
        status = failed(c);
    else if (!of.count && !of.value)
        status = nothing(c, s);
    else if (other && !of.other_count && !of.other_value)
        status = nothing(c, other);
    else if ((status = open_output(c, &out)) == SXS_EXIT_OK) {
        sxs_fleet_print_functions(out.to, strcmp(c->o->format, "json") == 0, s, other, &of, &names);
        status = close_output(c, &out);
    }
    sxs_fleet_names_free(&names);
    free(of.all);
    return status;
}

static int changes(struct context *c)
{
    struct sxs_fleet_groups g[2] = {{.n = 0}};
    struct sxs_output       out;
    int                     status = SXS_EXIT_OK;
    for (int i = A; i <= B && status == SXS_EXIT_OK; i++)
        if (sxs_fleet_groups(c->server, &c->o->of[i], 0, c->o->by, MAX_GROUPS, &g[i], c->why,
                             WHY) != 0)
            status = failed(c);
        else if (!g[i].n)
            status = nothing(c, &c->o->of[i]);
    if (status == SXS_EXIT_OK && (status = open_output(c, &out)) == SXS_EXIT_OK) {
        sxs_fleet_print_changes(out.to, strcmp(c->o->format, "json") == 0, &c->o->of[A],
                                &c->o->of[B], c->o->by, &g[A], &g[B], c->o->top);
        status = close_output(c, &out);
    }
    sxs_fleet_groups_free(&g[A]);
    sxs_fleet_groups_free(&g[B]);
    return status;
}

static int diff(struct context *c)
{
    if (c->o->by)
        return changes(c);
    return strcmp(c->o->format, "html") == 0 ? diff_page(c) : print_functions(c, &c->o->of[B]);
}

static int series(struct context *c)
{
    struct sxs_fleet_groups           g;
    const struct sxs_fleet_selection *s = &c->o->of[A];
    struct sxs_output                 out;
    int                               status;
    if (sxs_fleet_groups(c->server, s, c->o->step, c->o->by, MAX_GROUPS, &g, c->why, WHY) != 0) {
        status = failed(c);
    } else if (!g.n) {
        status = nothing(c, s);
    } else if ((status = open_output(c, &out)) == SXS_EXIT_OK) {
        sxs_fleet_print_series(out.to, strcmp(c->o->format, "json") == 0, s, c->o->step, c->o->by,
                               &g);
        if (g.n == MAX_GROUPS)
            sxs_complain("fleet: only the first %d rows", MAX_GROUPS);
        status = close_output(c, &out);
    }
    sxs_fleet_groups_free(&g);
    return status;
}

static int init(struct context *c)
{
    struct sxs_fleet_tables t;
    if (sxs_fleet_tables_make(c->server, c->address.database, c->o->keep_days, &t, c->why, WHY) !=
        0)
        return failed(c);
    sxs_print(
        "ClickHouse %s at %s: database %s has tables of version %u; samples are kept %u days%s\n",
        t.server, c->address.base, c->address.database, t.version, t.keep_days,
        t.codecs ? ""
                 : ", if sxsprof fleet expire is run every day: this server drops nothing itself");
    return sxs_finish_output();
}

static int expire(struct context *c)
{
    struct sxs_fleet_tables t;
    size_t                  n;
    if (sxs_fleet_tables_look(c->server, c->address.database, &t, c->why, WHY) != 0 ||
        sxs_fleet_tables_expire(c->server, &t, &n, c->why, WHY) != 0)
        return failed(c);
    sxs_print("%zu days dropped: samples older than %u days\n", n, t.keep_days);
    return sxs_finish_output();
}

static int run(struct context *c)
{
    if (is_command(c->o, "init"))
        return init(c);
    unsigned since = sxs_clickhouse_kind_since(c->o->common.kind);
    if (sxs_fleet_tables_check(c->server, c->address.database, since, c->why, WHY) != 0)
        return failed(c);
    if (is_command(c->o, "expire"))
        return expire(c);
    if (is_command(c->o, "flame"))
        return flame(c);
    if (is_command(c->o, "top"))
        return print_functions(c, NULL);
    return is_command(c->o, "diff") ? diff(c) : series(c);
}

int sxs_cmd_fleet(int argc, char **argv)
{
    struct fleet_options o = {.common.kind = SXS_CLICKHOUSE_CPU,
                              .limit = DEFAULT_LIMIT,
                              .top = DEFAULT_TOP,
                              .now = time(NULL)};
    struct context       c = {.o = &o};
    bool                 is_empty = false; /* a period */
    int                  status;
    sxs_options_parse(&sxs_argp_fleet, argc, argv, 0, &o);
    for (int i = A; i <= B; i++) {
        struct sxs_fleet_selection own = o.of[i];
        o.of[i] = (struct sxs_fleet_selection){.kind = o.common.kind};
        sxs_fleet_select_copy(&o.of[i], &o.common);
        sxs_fleet_select_copy(&o.of[i], &own);
        sxs_fleet_selection_free(&own);
        is_empty |= o.of[i].to && o.of[i].to <= o.of[i].from;
    }
    if (is_empty)
        status = sxs_wrong_input("fleet: --to: expected a time after that of --from");
    else if (sxs_clickhouse_address_parse(o.server, &c.address, c.why, WHY) != 0)
        status = sxs_wrong_input("--server: %s", c.why);
    else if (!(c.server = sxs_fleet_server_open(&c.address, &o.connection, c.why, WHY)))
        status = sxs_wrong_input("fleet: %s", c.why);
    else
        status = run(&c);
    sxs_fleet_server_close(c.server);
    sxs_clickhouse_address_free(&c.address);
    sxs_fleet_selection_free(&o.common);
    sxs_fleet_selection_free(&o.of[A]);
    sxs_fleet_selection_free(&o.of[B]);
    return status;
}
