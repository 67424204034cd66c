/* SPDX-License-Identifier: MIT */
/* sxsprof stop: end the session of a running process. sxsprof snapshot: copy it; it goes on. */
#include "cmd/argument.h"
#include "cmd/command.h"
#include "cmd/control.h"
#include "cmd/output/print.h"
#include "cmd/output/text.h"
#include "cmd/processes/apart.h"
#include "cmd/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_QUIET = 1000 };

struct stop_options {
    const char *out, *process;
    bool        quiet;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct stop_options *o = state->input;
    switch (key) {
    case 'o':
        if (!*arg)
            sxs_option_error(state, "-o: the folder's name is empty");
        o->out = arg;
        return 0;
    case KEY_QUIET: o->quiet = true; return 0;
    default: return sxs_process_argument(key, arg, state, &o->process);
    }
}

static const struct argp_option stop_options[] = {
    {"quiet", KEY_QUIET, NULL, 0, "Print nothing about the session", 0},
    {0},
};
const struct argp sxs_argp_stop = {
    .options = stop_options,
    .parser = parse_option,
    .args_doc = "PID|NAME",
    .doc =
        "End the session of a running process. The process runs on, and its library waits for "
        "another session; sxsprof detach removes it from the runtimes.\v"
        "All files of the session are complete when the command has ended. Exit status 1: nothing "
        "was recorded, or a tool cannot end before its runtime.",
};

static const struct argp_option snapshot_options[] = {
    {"output", 'o', "DIR", 0,
     "The folder of the copy; by default sxsprof-PID in the current folder", 0},
    {"quiet", KEY_QUIET, NULL, 0, "Print nothing about the copy", 0},
    {0},
};
const struct argp sxs_argp_snapshot = {
    .options = snapshot_options,
    .parser = parse_option,
    .args_doc = "PID|NAME",
    .doc =
        "Copy what the session of a running process has recorded so far into a session of its own. "
        "The session goes on.",
};

/* Prints what the session has, as run does it. @folder: of the process, in its session. */
static void print_session(const struct sxs_control_target *t, const char *folder)
{
    const char            *tools = sxs_message_get(&t->answer.message, "tools");
    struct sxs_record_options o = {.set = {[SXS_SET_TOOLS] = tools ? strdup(tools) : NULL}};
    struct sxs_out_dir     out = {.of_process = true};
    char                  *slash;
    snprintf(out.path, sizeof(out.path), "%s", folder);
    slash = strrchr(out.path, '/');
    if (o.set[SXS_SET_TOOLS] && slash && slash > out.path) {
        *slash = '\0';
        sxs_record_finish(&o, &out);
    }
    sxs_record_options_free(&o);
}

/* Says that the folder that the process names is not that of a session of the process. */
static void say_refused(const struct sxs_control_target *t, const char *why)
{
    char text[3 * PATH_MAX];
    sxs_complain("process %d: %s is no session of its own: %s", (int)t->process.pid,
                 sxs_control_value(t, "out", text, sizeof(text)), why);
}

static int stop(struct sxs_control_target *t, const struct stop_options *o)
{
    char        folder[PATH_MAX];
    const char *why;
    int         fd;
    sxs_control_request(&t->request, "stop");
    if (sxs_control_send(t, SXS_CONTROL_TIMEOUT_MS) != 0)
        return SXS_EXIT_PROBLEM;
    if (o->quiet)
        return SXS_EXIT_OK;
    if (!sxs_control_folder(t, folder)) {
        sxs_complain("process %d: the session has ended; it had no folder", (int)t->process.pid);
        return SXS_EXIT_OK;
    }
    fd = sxs_control_folder_open(t, false, NULL, &why);
    if (fd < 0 && errno == ENOENT) { /* the attach that held it can be faster */
        char text[3 * PATH_MAX];
        sxs_complain(
            "process %d: the session has ended; it is not in %s any more: the command that "
            "attached has fetched it, or somebody has removed it",
            (int)t->process.pid, sxs_control_value(t, "out", text, sizeof(text)));
        return SXS_EXIT_OK;
    }
    if (fd < 0) {
        say_refused(t, why);
        return SXS_EXIT_PROBLEM;
    }
    print_session(t, folder);
    close(fd);
    return SXS_EXIT_OK;
}

/* ---- snapshot -------------------------------------------------------------------------------- */

/* Has everything recorded so far written, and opens the folder. Returns it, or -1 after a message. In
 * continuous mode the folder may be complete already: then the process records into another one. */
static int request_snapshot(struct sxs_control_target *t)
{
    const char *why = NULL;
    int         in = -1;
    for (int i = 0; in < 0 && i < 2; i++) {
        memset(&t->request, 0, sizeof(t->request));
        memset(&t->answer, 0, sizeof(t->answer));
        sxs_control_request(&t->request, "snapshot");
        if (sxs_control_send(t, SXS_CONTROL_TIMEOUT_MS) != 0)
            return -1;
        in = sxs_control_folder_open(t, true, NULL, &why);
    }
    if (in < 0)
        say_refused(t, why);
    return in;
}

/* What the child that copies gets. */
struct copy_work {
    const struct sxs_process *process;
    int                       from, to;
};

static int copy_folder(void *arg, struct sxs_copy_result *result)
{
    const struct copy_work     *w = arg;
    const struct sxs_copy_rules rules = {.has_owner = true, .owner = w->process->uid};
    return sxs_copy_session(w->from, w->to, &rules, result);
}

/* Copies the process's folder @in into the session folder @out, where it gets the @name: what belongs to
 * the user of the process. Returns 0 or an errno value. */
static int copy_session(const struct sxs_process *p, int in, const char *name,
                        const struct sxs_out_dir *out, struct sxs_copy_result *result)
{
    struct copy_work w = {p, in, -1};
    char             to[2 * PATH_MAX];
    int              err = 0;
    snprintf(to, sizeof(to), "%s/%s", out->path, name);
    if (mkdir(to, 0700) != 0)
        err = errno;
    else
        w.to = open(to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!err && w.to < 0)
        err = errno;
    int keep[] = {in, w.to};
    if (!err)
        err = sxs_copy_apart(copy_folder, &w, keep, 2, result);
    if (w.to >= 0)
        close(w.to);
    return err;
}

static int snapshot(struct sxs_control_target *t, const struct stop_options *o)
{
    struct sxs_copy_result result = {0};
    struct sxs_out_dir     out;
    char                   folder[3 * PATH_MAX], text[3 * PATH_MAX];
    int                    in = request_snapshot(t), err, status;
    if (in < 0)
        return SXS_EXIT_PROBLEM;
    status = sxs_control_out_open(&out, o->out, SXS_OUT_NEW, t->process.pid);
    if (status) {
        close(in);
        return status;
    }
    err = copy_session(&t->process, in,
                       strrchr(sxs_message_get(&t->answer.message, "out"), '/') + 1, &out, &result);
    close(in);
    sxs_text_clean(out.path, text, sizeof(text));
    if (err)
        sxs_complain("%s: the copy of %s is not complete: %s", text,
                     sxs_control_value(t, "out", folder, sizeof(folder)), strerror(err));
    else if (!o->quiet)
        sxs_print("%s\n", text);
    if (!err && result.n_skipped)
        sxs_complain("%s: left out of the copy: %zu files or folders, first %s", text,
                     result.n_skipped, result.skipped);
    sxs_out_dir_close(&out);
    return err || result.n_skipped ? SXS_EXIT_PROBLEM : SXS_EXIT_OK;
}

static int run_verb(const struct argp *argp, int argc, char **argv,
                    int (*verb)(struct sxs_control_target *t, const struct stop_options *o))
{
    static struct sxs_control_target t;
    struct stop_options              o = {0};
    int                              status;
    sxs_options_parse(argp, argc, argv, 0, &o);
    status = sxs_control_open(&t, o.process);
    if (!status)
        status = verb(&t, &o);
    sxs_control_close(&t);
    return sxs_finish_output() ? SXS_EXIT_PROBLEM : status;
}

int sxs_cmd_stop(int argc, char **argv)
{
    return run_verb(&sxs_argp_stop, argc, argv, stop);
}

int sxs_cmd_snapshot(int argc, char **argv)
{
    return run_verb(&sxs_argp_snapshot, argc, argv, snapshot);
}
