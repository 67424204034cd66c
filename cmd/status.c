/* SPDX-License-Identifier: MIT */
/* sxsprof status: what the library in a running process records now. */
#include "cmd/argument.h"
#include "cmd/command.h"
#include "cmd/control.h"
#include "cmd/output/json_document.h"
#include "cmd/output/json_values.h"
#include "cmd/output/print.h"
#include "cmd/output/text.h"
#include "cmd/processes/runtime_line.h"

#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define TIMEOUT_MS 15000

struct status_options {
    enum sxs_format format;
    const char     *process;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct status_options *o = state->input;
    switch (key) {
    case 'f': o->format = sxs_format_argument(state, arg); return 0;
    default: return sxs_process_argument(key, arg, state, &o->process);
    }
}

static const struct argp_option option_list[] = {
    {"format", 'f', "text|json", 0, "Text for people (the default) or JSON", 0},
    {0},
};
const struct argp sxs_argp_status = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "PID|NAME",
    .doc = "Print what the profiler in a running process records now, and its runtimes.\v"
           "Asks the library in the process, over its control socket.",
};

/* ---- the answer ------------------------------------------------------------------------------ */

/* Calls @take for each runtime of the answer. */
static void each_runtime(const struct sxs_control_target *t,
                         void (*take)(void *arg, const struct sxs_runtime_line *r), void *arg)
{
    const struct sxs_message *m = &t->answer.message;
    for (size_t i = 0; i < m->n; i++) {
        struct sxs_runtime_line r;
        if (strcmp(m->names[i], "runtime") == 0 && sxs_runtime_line_parse(m->values[i], &r))
            take(arg, &r);
    }
}

static uint64_t number_of(const struct sxs_control_target *t, const char *name)
{
    const char *value = sxs_message_get(&t->answer.message, name);
    return value ? strtoull(value, NULL, 10) : 0;
}

/* Returns how many bytes of the disk the session's folder takes, without its holes; 0: the folder
 * is not that of a session of the process. */
static uint64_t bytes_of(const struct sxs_control_target *t)
{
    uint64_t    bytes;
    const char *why;
    int         fd = sxs_control_folder_open(t, false, &bytes, &why);
    if (fd >= 0)
        close(fd);
    return bytes;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_runtime(void *arg, const struct sxs_runtime_line *r)
{
    (void)arg;
    sxs_print("  runtime %s  %-10s %s, %s  %s\n", r->number, r->version, r->state, r->life,
              r->path);
}

static void print_session(const struct sxs_control_target *t, bool ending)
{
    char      text[3 * PATH_MAX], since[40] = "?", length[32];
    uint64_t  started = number_of(t, "started_ns"), now = sxs_now_ns(CLOCK_REALTIME);
    uint64_t  left = number_of(t, "left_ms");
    time_t    began = (time_t)(started / 1000000000u);
    struct tm tm;
    if (localtime_r(&began, &tm))
        strftime(since, sizeof(since), "%Y-%m-%d %H:%M:%S", &tm);
    sxs_text_duration(now > started ? now - started : 0, length, sizeof(length));
    sxs_print("  session %" PRIu64 " %s since %s (%s)", number_of(t, "number"),
              ending ? "ends; it was on" : "is on", since, length);
    if (left)
        sxs_print(", ends in %s", sxs_text_duration(left * 1000000u, length, sizeof(length)));
    if (*sxs_control_value(t, "waits_for", text, sizeof(text)))
        sxs_print("\n  waits   %s", text);
    sxs_print("\n  tools   %s\n", sxs_control_value(t, "tools", text, sizeof(text)));
    if (!*sxs_control_value(t, "out", text, sizeof(text))) {
        puts("  folder  none: the counts are kept in memory only");
        return;
    }
    sxs_print("  folder  %s (%s)\n", text, SXS_BYTES(bytes_of(t)));
}

static void count_by_life(void *arg, const struct sxs_runtime_line *r)
{
    size_t *counts = arg; /* those that are live, and those that are detached */
    counts[0] += strcmp(r->life, "live") == 0;
    counts[1] += strcmp(r->life, "detached") == 0;
}

/* Detached runtimes have to be attached to again, which --background does not do. */
static void print_no_session(const struct sxs_control_target *t)
{
    size_t counts[2] = {0, 0};
    each_runtime(t, count_by_life, counts);
    sxs_print("  nothing is recorded; sxsprof sample -p %d%s begins a session\n",
              (int)t->process.pid, !counts[0] && counts[1] ? "" : " --background");
}

static void print_text(const struct sxs_control_target *t)
{
    char phase[16], version[64], name[64];
    sxs_control_value(t, "phase", phase, sizeof(phase));
    sxs_control_value(t, "version", version, sizeof(version));
    sxs_text_clean(t->process.name, name, sizeof(name));
    sxs_print("process %d (%s), library %s\n", (int)t->process.pid, name, version);
    each_runtime(t, print_runtime, NULL);
    if (strcmp(phase, "none") == 0)
        print_no_session(t);
    else
        print_session(t, strcmp(phase, "ending") == 0);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_runtime(void *arg, const struct sxs_runtime_line *r)
{
    json_array_append_new(arg, json_pack("{s:I, s:s, s:s, s:b, s:s}", "runtime",
                                         (json_int_t)strtoull(r->number, NULL, 10), "version",
                                         r->version, "state", r->state, "is_live",
                                         strcmp(r->life, "live") == 0, "path", r->path));
}

static int set_value(json_t *o, const struct sxs_control_target *t, const char *name,
                     const char *key)
{
    const char *value = sxs_message_get(&t->answer.message, name);
    return value ? sxs_json_set_text(o, key, value) : 0;
}

static json_t *session_json(const struct sxs_control_target *t)
{
    json_t *o = json_object();
    int     err = sxs_json_set_number(o, "number", number_of(t, "number"));
    err |= set_value(o, t, "id", "id");
    err |= set_value(o, t, "tools", "tools");
    err |= set_value(o, t, "out", "folder");
    err |= sxs_json_set_number(o, "started_ns", number_of(t, "started_ns"));
    err |= sxs_json_set_number(o, "disk_bytes", bytes_of(t));
    err |= set_value(o, t, "waits_for", "waits_for");
    if (number_of(t, "left_ms"))
        err |= sxs_json_set_number(o, "left_ms", number_of(t, "left_ms"));
    return sxs_json_whole(o, err);
}

static int print_json(const struct sxs_control_target *t)
{
    json_t     *top = sxs_json_document_new(SXS_JSON_STATUS), *runtimes = json_array();
    const char *phase = sxs_message_get(&t->answer.message, "phase");
    int         err = sxs_json_set_number(top, "pid", (uint64_t)t->process.pid);
    err |= set_value(top, t, "version", "library_version");
    err |= set_value(top, t, "phase", "phase");
    err |= json_object_set_new(top, "session",
                               phase && strcmp(phase, "none") != 0 ? session_json(t) : json_null());
    each_runtime(t, add_runtime, runtimes);
    err |= json_object_set_new(top, "runtimes", runtimes);
    err = sxs_json_print(top, err);
    if (err)
        sxs_complain("out of memory");
    return err;
}

int sxs_cmd_status(int argc, char **argv)
{
    static struct sxs_control_target t;
    struct status_options            o = {SXS_FORMAT_TEXT, NULL};
    int                              status;
    sxs_options_parse(&sxs_argp_status, argc, argv, 0, &o);
    status = sxs_control_open(&t, o.process);
    if (!status) {
        sxs_control_request(&t.request, "status");
        if (sxs_control_send(&t, TIMEOUT_MS) != 0)
            status = SXS_EXIT_PROBLEM;
        else if (o.format == SXS_FORMAT_JSON)
            status = print_json(&t) ? SXS_EXIT_PROBLEM : SXS_EXIT_OK;
        else
            print_text(&t);
    }
    sxs_control_close(&t);
    return sxs_finish_output() ? SXS_EXIT_PROBLEM : status;
}
