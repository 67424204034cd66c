/* SPDX-License-Identifier: MIT */
/* Records in a command: checks all options and settings, then starts it. */
#include "clrie/config/config.h"
#include "cmd/record.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/held.h"
#include "cmd/child.h"
#include "cmd/command.h"
#include "cmd/output/print.h"
#include "cmd/output/text.h"
#include "cmd/progress.h"
#include "instr/config/config.h"
#include "session/format/traced.h"
#include "tools/options/calls_options.h"
#include "tools/options/instrument_options.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Checks a library that is preloaded. @without: how to run without it. */
static int check_preloaded(const struct sxs_library *lib, const char *path, bool exists,
                           const char *without)
{
    if (!exists)
        sxs_complain("%s is missing; expected it there or in %s/../lib/sxsprof, or %s", path,
                     lib->bin_dir, without);
    else if (strpbrk(path, ": "))
        sxs_complain("%s: the loader cannot preload a path with a space or a colon in it; expected "
                     "another place, or %s",
                     path, without);
    else
        return SXS_EXIT_OK;
    return SXS_EXIT_FAILED;
}

static int check_library(const struct sxs_library *lib, bool preload, bool allocator, bool plugins)
{
    int status = SXS_EXIT_OK;
    if (!lib->has_profiler) {
        sxs_complain("%s is missing; expected it there or in %s/../lib/sxsprof", lib->profiler,
                     lib->bin_dir);
        return SXS_EXIT_FAILED;
    }
    if (preload)
        status = check_preloaded(lib, lib->preload, lib->has_preload, "--no-preload");
    if (allocator && !status)
        status = check_preloaded(lib, lib->allocator, lib->has_allocator, "no tool native");
    if (plugins && !status && !lib->has_clrie) {
        sxs_complain("%s is missing; expected it beside " SXS_LIBRARY_FILE ", or no --method",
                     lib->clrie);
        status = SXS_EXIT_FAILED;
    }
    return status;
}

static int check_command(const char *name, char *path, size_t size)
{
    switch (sxs_child_find(name, path, size)) {
    case 0: return SXS_EXIT_OK;
    case EACCES:
        sxs_complain("%s: cannot be executed; expected a program", name);
        return SXS_EXIT_CANNOT_EXECUTE;
    default:
        sxs_complain("%s: not found%s; expected a program", name,
                     strchr(name, '/') ? "" : " on PATH");
        return SXS_EXIT_NOT_FOUND;
    }
}

/* Says that a profiler that the environment names is replaced for the command. */
static void print_replaced(const struct sxs_record_options *o)
{
    const char *clsid = sxs_env_named("CORECLR_PROFILER");
    const char *path = sxs_env_named("CORECLR_PROFILER_PATH_64");
    if (o->set[SXS_SET_ADOPT] || !clsid || !*clsid || strcasecmp(clsid, SXSPROF_CLSID) == 0)
        return;
    if (!path || !*path)
        path = sxs_env_named("CORECLR_PROFILER_PATH");
    if (strcasecmp(clsid, CLRIE_CLSID) == 0)
        sxs_complain("CORECLR_PROFILER: the CLR Instrumentation Engine (%s) is replaced for this "
                     "command: this profiler loads the plug-ins that the environment names",
                     path && *path ? path : "no path");
    else
        sxs_complain("CORECLR_PROFILER: the profiler %s (%s) is replaced for this command, which runs "
                 "without it; --adopt runs both",
                 clsid, path && *path ? path : "no path");
}

/* Fast tail calls have no leave hook. sxs_record_environment() switches them off unless the user has set the
 * variable. */
static void warn_of_tails(const struct sxs_record_options *o)
{
    char        variable[SXS_KNOB_SIZE];
    const char *value = sxs_record_user_tails(variable);
    if (value && strtoul(value, NULL, 16) != 0 && sxs_record_has_tool(o, "calls"))
        sxs_complain(
            "%s=%s is kept as set: the time of a function that ends in a tail call is exact "
            "only if its callee is counted, too; the report lists such functions",
            variable, value);
}

static bool has_trace(const char *path)
{
    struct sxs_config *config = sxs_config_load(path, NULL);
    bool               found = false;
    for (uint32_t i = 0; config && i < config->n_rules && !found; i++)
        for (uint32_t k = 0; k < config->rules[i]->n_actions; k++)
            found |= config->rules[i]->actions[k].kind == SXS_ACTION_TRACE;
    sxs_config_free(config);
    return found;
}

/* Says how many traced calls are recorded at most, and which options change that. */
static void print_limits(const struct sxs_record_options *o)
{
    struct sxs_instrument_options instrument;
    struct sxs_calls_options      calls;
    char                          text[4096] = "", why[256], rate[64] = "any number of";
    const char                   *rules = sxs_record_rules(o);
    if (sxs_record_tool_options(o, "calls", text, sizeof(text)) &&
        sxs_calls_parse(text, &calls, why, sizeof(why)) == 0 && calls.trace_mb)
        sxs_print_to(stderr,
                     "sxsprof: of each process the first %s of the call trace are recorded "
                     "(--trace-size); the tree has all calls\n",
                     SXS_BYTES((uint64_t)calls.trace_mb << 20));
    text[0] = '\0';
    sxs_record_tool_options(o, "instrument", text, sizeof(text));
    if (!rules || !has_trace(rules) ||
        sxs_instrument_options_parse(text, &instrument, why, sizeof(why)) != 0)
        return;
    if (instrument.traced_rate)
        snprintf(rate, sizeof(rate), "%u calls, then %u", instrument.traced_rate * SXS_TRACED_BURST,
                 instrument.traced_rate);
    sxs_print_to(stderr,
                 "sxsprof: of each process %s calls a second are traced (--trace-rate), in at most "
                 "%s (--trace-size); counts have all calls\n",
                 rate, SXS_BYTES((uint64_t)instrument.traced_mb << 20));
}

/* What goes on while the command runs. */
struct running {
    const struct sxs_record_options *o;
    struct sxs_out_dir              *out;
    struct sxs_progress              shown;
    uint64_t                         ends_ns; /* CLOCK_MONOTONIC: when -d is over; 0: never */
    bool                             finished;
    int                              written; /* exit status of sxs_record_finish() */
};

/* Returns true when processes have recorded and none does any more. */
static bool has_ended(const struct sxs_out_dir *out)
{
    struct sxs_session s;
    bool               ended = sxs_session_read(out->path, &s) == 0;
    if (ended)
        sxs_out_dir_keep_new(out, &s);
    ended &= s.n_processes > 0;
    for (size_t i = 0; ended && i < s.n_processes; i++)
        ended = sxs_session_is_held(out->path, &s.processes[i]) != SXS_HELD_YES;
    sxs_session_free(&s);
    return ended;
}

static void finish(struct running *r)
{
    sxs_progress_erase(&r->shown);
    r->finished = true;
    r->written = sxs_record_finish(r->o, r->out);
}

/* Draws the progress; when the time of -d is over, prints and writes what was recorded, and the command
 * runs on. */
static void look(void *arg, bool ended)
{
    struct running *r = arg;
    if (ended)
        sxs_progress_erase(&r->shown);
    else if (r->finished)
        return;
    else if (r->ends_ns && sxs_now_ns(CLOCK_MONOTONIC) >= r->ends_ns && has_ended(r->out))
        finish(r);
    else if (r->shown.enabled)
        sxs_progress_tick(&r->shown);
}

/* Returns the value of SXSPROF_DURATION: every process of the command counts from now on. Static; NULL:
 * none. */
static const char *duration_from_now(const struct sxs_record_options *o)
{
    static char text[64];
    if (!o->set[SXS_SET_DURATION])
        return NULL;
    snprintf(text, sizeof(text), "%s,%" PRIu64, o->set[SXS_SET_DURATION],
             sxs_now_ns(CLOCK_REALTIME) / 1000000);
    return text;
}

static const char *name_folder(void *arg, pid_t child)
{
    return sxs_out_dir_name(arg, child);
}

/* Starts the command after all checks. Returns an exit status when it cannot be started; otherwise
 * ends this process as the command ended. */
static int start_command(const struct sxs_record_options *o, const struct sxs_library *lib,
                         const char *path, struct sxs_out_dir *out)
{
    struct sxs_child_settings settings = sxs_record_environment(o, lib, out->path);
    struct running            running = {.o = o, .out = out};
    struct sxs_child_tick     tick = {look, &running, SXS_PROGRESS_PERIOD_NS};
    int                       status = SXS_EXIT_FAILED;
    settings.values[SXS_SET_DURATION] = duration_from_now(o);
    struct sxs_child_command command = {
        .path = path,
        .argv = o->command,
        .env = sxs_child_env(&settings),
        .tick = NULL,
        .variable = "SXSPROF_OUT",
        .value = name_folder,
        .value_arg = out,
    };
    sxs_progress_init(&running.shown, out, o->set[SXS_SET_QUIET]);
    if (o->duration_ms)
        running.ends_ns = sxs_now_ns(CLOCK_MONOTONIC) + o->duration_ms * 1000000;
    if (running.shown.enabled || o->duration_ms)
        command.tick = &tick;
    int err = command.env ? sxs_child_run(&command, &status) : ENOMEM;
    sxs_child_env_free(command.env);
    if (err) {
        sxs_out_dir_abandon(out);
        sxs_complain("%s: %s; nothing was started", path, strerror(err));
        return status;
    }
    signal(SIGPIPE, SIG_IGN); /* if the reader of stderr is gone: keep the exit status */
    if (!running.finished)
        finish(&running);
    sxs_out_dir_close(out);
    if (running.written && status == 0)
        return running.written;
    sxs_child_exit_like(status);
}

int sxs_record_command(const struct sxs_record_options *o)
{
    struct sxs_library lib;
    struct sxs_out_dir out;
    char               path[PATH_MAX];
    int                status = sxs_record_inherited(o), err = sxs_library_find(&lib);
    if (err) {
        sxs_complain("/proc/self/exe: %s; expected it to tell where this command lies",
                     strerror(err));
        return SXS_EXIT_FAILED;
    }
    if (!status)
        status = check_library(&lib, !o->set[SXS_SET_NO_PRELOAD], sxs_record_has_tool(o, "native"),
                               o->set[SXS_SET_METHODS] != NULL);
    if (!status)
        status = check_command(o->command[0], path, sizeof(path));
    if (!status)
        status = sxs_record_outputs_check(&o->outputs);
    if (!status)
        status = sxs_record_open_out(
            o, sxs_record_records(o) && !sxs_record_outputs_only(&o->outputs), &out);
    if (status)
        return status;
    print_replaced(o);
    warn_of_tails(o);
    if (!o->set[SXS_SET_QUIET])
        print_limits(o);
    return start_command(o, &lib, path, &out);
}
