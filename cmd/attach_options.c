/* SPDX-License-Identifier: MIT */
#include "cmd/attach_options.h"

#include "cmd/argument.h"
#include "cmd/command.h"
#include "cmd/output/print.h"
#include "cmd/output/text.h"
#include "cmd/processes/find.h"
#include "cmd/settings.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOOL = 1000, PICK, MASK, DURATION, DELAY, ALL, APPEND, QUIET };

static const struct argp_option option_list[] = {
    {"tool", TOOL, "NAME[:OPTIONS]", 0, "Use a tool; may be given several times (default: sample)",
     0},
    {"pick", PICK, "all|first|one:WHAT", 0,
     "Which runtimes are recorded: all that can be reached (the default), the first, or one by a "
     "prefix of its version or its libcoreclr.so's path",
     0},
    {"mask", MASK, "off|text|all", 0,
     "Values that are not recorded: of texts only their length, or none at all (off is the "
     "default)",
     0},
    {"duration", DURATION, "TIME", 0,
     "Detach after this time, such as 500ms, 30s or 5m (default: at Ctrl-C)", 0},
    {"delay", DELAY, "TIME", 0, "Wait so long before the attach", 0},
    {"all", ALL, NULL, 0, "Attach to all processes with this name", 0},
    {"output", 'o', "DIR", 0,
     "Record into DIR, a new or empty folder; the default is ./sxsprof-PID", 0},
    {"append", APPEND, NULL, 0, "Add to the session that is in the folder of -o", 0},
    SXS_KEEP_OPTION_ROWS{"quiet", QUIET, NULL, 0, "Print problems only", 0},
    {0},
};

static void add_tool(struct argp_state *state, struct sxs_attach_options *o, const char *tool)
{
    char        why[512], *longer = NULL;
    const char *wrong = sxs_tool_check(tool, why, sizeof(why));
    if (wrong)
        sxs_option_error(state, "--tool: %s", wrong);
    if (asprintf(&longer, "%s%s%s", o->tools ? o->tools : "", o->tools ? ";" : "", tool) < 0)
        sxs_option_error(state, "out of memory");
    free(o->tools);
    o->tools = longer;
}

/* Sets --pick. A path is made absolute. */
static void set_pick(struct argp_state *state, struct sxs_attach_options *o, const char *value)
{
    char  why[1024], path[PATH_MAX];
    bool  relative = strncmp(value, "one:", 4) == 0 && value[4] != '/' && strchr(value, '/');
    char *pick = NULL;
    if (sxs_setting_check(sxs_setting_find("SXSPROF_PICK"), "--pick", value, why, sizeof(why)) != 0)
        sxs_option_error(state, "%s", why);
    if (relative && !realpath(value + 4, path))
        sxs_option_error(state, "--pick: %s: %s", value + 4, strerror(errno));
    if (asprintf(&pick, "%s%s", relative ? "one:" : value, relative ? path : "") < 0)
        sxs_option_error(state, "out of memory");
    free(o->pick);
    o->pick = pick;
}

static void set_mask(struct argp_state *state, struct sxs_attach_options *o, const char *value)
{
    char why[1024];
    if (sxs_setting_check(sxs_setting_find("SXSPROF_MASK"), "--mask", value, why, sizeof(why)) != 0)
        sxs_option_error(state, "%s", why);
    o->mask = value;
}

static void take_target(struct argp_state *state, struct sxs_attach_options *o, const char *arg)
{
    if (o->target)
        sxs_option_error(
            state, "'%s': expected one PID or name (--all: all processes with the name)", arg);
    if (!*arg)
        sxs_option_error(state, "the name is empty: expected a PID or a name");
    o->target = arg;
}

static void finish(struct argp_state *state, struct sxs_attach_options *o)
{
    if (!o->target)
        sxs_option_error(state,
                         "PID is missing: expected a process ID or a name; sxsprof ps lists them");
    if (o->append && !o->out)
        sxs_option_error(state,
                         "--append: expected -o DIR with it, the folder of the earlier session");
    if (!o->tools)
        add_tool(state, o, "sample");
    sxs_keep_complete(state, &o->keep, o->tools, false);
}

static error_t parse_attach(int key, char *arg, struct argp_state *state)
{
    struct sxs_attach_options *o = state->input;
    switch (key) {
    case TOOL: add_tool(state, o, arg); return 0;
    case PICK: set_pick(state, o, arg); return 0;
    case MASK: set_mask(state, o, arg); return 0;
    case DURATION: o->duration_ms = sxs_duration_argument(state, "--duration", arg); return 0;
    case DELAY: o->delay_ms = sxs_duration_argument(state, "--delay", arg); return 0;
    case ALL: o->all = true; return 0;
    case APPEND: o->append = true; return 0;
    case QUIET: o->quiet = true; return 0;
    case 'o':
        if (!*arg)
            sxs_option_error(state, "-o: the folder's name is empty");
        o->out = arg;
        return 0;
    case ARGP_KEY_ARG: take_target(state, o, arg); return 0;
    case ARGP_KEY_END: finish(state, o); return 0;
    default: return sxs_keep_option(key, arg, state, &o->keep);
    }
}

static error_t parse_detach(int key, char *arg, struct argp_state *state)
{
    struct sxs_attach_options *o = state->input;
    switch (key) {
    case ARGP_KEY_ARG: take_target(state, o, arg); return 0;
    case ARGP_KEY_END:
        if (!o->target)
            sxs_option_error(state, "PID is missing: expected a process ID or a name");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp sxs_argp_attach = {
    .options = option_list,
    .parser = parse_attach,
    .args_doc = "PID|NAME",
    .doc = "Record in a process that runs already, and leave it again.\v"
           "NAME is the name of a process, of its program or of its assembly. Ctrl-C ends the "
           "recording and detaches; a second Ctrl-C ends this command at once, and the process is "
           "detached all the same. The exit status is 0, 1 after a problem, 2 when the process was "
           "refused and nothing was changed, 125 when sxsprof itself failed.",
};

const struct argp sxs_argp_detach = {
    .parser = parse_detach,
    .args_doc = "PID|NAME",
    .doc =
        "End the recording in a process, and let its runtimes go.\v"
        "NAME is as for attach. The exit status is 0; 1 when a runtime could not be left; 2 when "
        "sxsprof is not in the process.",
};

void sxs_attach_options_free(struct sxs_attach_options *o)
{
    free(o->tools);
    free(o->pick);
    sxs_keep_options_free(&o->keep);
}

static int find_named(const char *name, pid_t *pids, size_t max, size_t *n)
{
    struct sxs_process_list list;
    int                     status = SXS_EXIT_OK;
    size_t                  found = 0;
    int                     err = sxs_process_list_read(&list, sxs_process_named, name);
    if (err)
        status = sxs_wrong_input("/proc: %s", strerror(err));
    for (; !status && found < list.n; found++)
        if (found < max)
            pids[found] = list.items[found].pid;
    if (!status && found == 0)
        status =
            sxs_wrong_input("%s: no process with a .NET runtime has this name; sxsprof ps lists "
                            "them",
                            name);
    else if (!status && found > max)
        status = sxs_wrong_input("%s: %zu processes have this name; expected at most %zu", name,
                                 found, max);
    *n = found;
    sxs_process_list_free(&list);
    return status;
}

int sxs_attach_find(const char *target, bool all, pid_t *pids, size_t max, size_t *n)
{
    struct sxs_process p;
    char               why[1024];
    if (all && target[strspn(target, "0123456789")])
        return find_named(target, pids, max, n);
    if (all)
        return sxs_wrong_input("--all: expected a name with it, not a PID");
    int err = sxs_process_find(target, &p, why, sizeof(why));
    pids[0] = p.pid;
    *n = 1;
    sxs_process_free(&p);
    return err ? sxs_wrong_input("%s", why) : SXS_EXIT_OK;
}
