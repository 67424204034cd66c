/* SPDX-License-Identifier: MIT */
/* sxsprof start: begin a session in a process that has the library already. */
#include "base/tree.h"
#include "cmd/argument.h"
#include "cmd/attach/rules.h"
#include "cmd/command.h"
#include "cmd/control.h"
#include "cmd/output/print.h"
#include "cmd/output/text.h"
#include "cmd/processes/inside.h"
#include "cmd/run_options.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KEY_DURATION = 5000 };

struct options {
    struct sxs_run_options run;
    uint64_t               duration_ms;
    const char            *process;
};

/* Segments have samples of CPU time if no tool is given, as with run and attach. */
static void complete_tools(struct argp_state *state, struct sxs_run_options *o)
{
    if (o->tools || !(o->keep.keep || o->keep.every || o->keep.on))
        return;
    o->tools = strdup("sample");
    if (!o->tools)
        sxs_option_error(state, "out of memory");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case KEY_DURATION: o->duration_ms = sxs_duration_argument(state, "--duration", arg); return 0;
    case ARGP_KEY_ARG: return sxs_process_argument(key, arg, state, &o->process);
    case ARGP_KEY_END:
        sxs_process_argument(key, arg, state, &o->process);
        sxs_run_options_complete(state, &o->run);
        complete_tools(state, &o->run);
        if (!o->run.tools)
            sxs_option_error(
                state, "--tool is missing: expected what shall be recorded, as --tool sample");
        if (o->run.append && !o->run.out)
            sxs_option_error(
                state, "--append: expected -o DIR with it, the folder of the earlier session");
        sxs_keep_complete(state, &o->run.keep, o->run.tools, false);
        return 0;
    default: return sxs_run_option(key, NULL, arg, state, &o->run);
    }
}

static const struct argp_option option_list[] = {
    {"tool", SXS_RUN_TOOL, "NAME[:OPTIONS]", 0, "Use a tool; may be given several times", 0},
    {"pick", SXS_RUN_PICK, "all|first|one:WHAT", 0,
     "Which runtimes are profiled, as for sxsprof run (all by default)", 0},
    {"mask", SXS_RUN_MASK, "off|text|all", 0,
     "Values that are not recorded: of texts only their length, or none at all (off is the "
     "default)",
     0},
    {"duration", KEY_DURATION, "TIME", 0,
     "End the session by itself after so long: 30s, 500ms, 10m, 2h", 0},
    {"output", 'o', "DIR", 0,
     "The session folder; by default sxsprof-PID in the current folder. If the process lives in a "
     "container: as the "
     "process sees it, by default in its /tmp",
     0},
    {"append", SXS_RUN_APPEND, NULL, 0, "Add to the session in DIR", 0},
    SXS_KEEP_OPTION_ROWS{"quiet", SXS_RUN_QUIET, NULL, 0,
                         "Print nothing when the session has begun", 0},
    {0},
};
const struct argp sxs_argp_start = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "PID|NAME",
    .doc = "Begin a session in a running process that has the profiler library already: one that "
           "sxsprof run has started, or sxsprof attach.\v"
           "The session goes on when this command has ended: until sxsprof stop, its time is over, "
           "or the "
           "process ends. There is one session at a time. Exit status 2: wrong input, or the "
           "process refuses; nothing has begun.",
};

/* ---- the session folder ---------------------------------------------------------------------- */

static bool is_empty(int dir)
{
    DIR     *d = sxs_tree_list(dir, ".");
    unsigned n = 0;
    while (d && n < 3 && readdir(d))
        n++;
    if (d)
        closedir(d);
    return d && n == 2; /* "." and ".." */
}

/* Opens the folder that this command has made, and that nobody has used since. Its parent may belong to
 * another user, who can put something else in its place: a link, or a folder that holds something, is
 * refused. Returns a descriptor, or -1 with errno. */
static int open_made(const char *path)
{
    const struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
                                 .resolve = RESOLVE_NO_SYMLINKS};
    struct stat           st;
    int                   fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 0777) == 0700 &&
        is_empty(fd))
        return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

/* Gives a new folder to the user of the process, which writes into it. Returns an exit status. */
static int give_folder(const struct sxs_process *p, struct sxs_out_dir *out)
{
    int fd, err = 0;
    if (p->uid == geteuid())
        return SXS_EXIT_OK;
    if (!out->created)
        return sxs_wrong_input("-o %s: process %d belongs to user %s; expected a name that is free",
                               out->path, (int)p->pid, p->user);
    fd = open_made(out->path);
    out->created = fd >= 0; /* else something else is there now, which is not removed */
    if (fd < 0 || fchown(fd, p->uid, p->gid) != 0)
        err = errno;
    if (fd >= 0)
        close(fd);
    if (!err)
        err = sxs_inside_can(p, out->path, W_OK | X_OK);
    if (err)
        return sxs_wrong_input(
            "%s: user %s, whose process %d is, cannot write there: %s; expected -o DIR", out->path,
            p->user, (int)p->pid, strerror(err));
    return SXS_EXIT_OK;
}

/* Writes the path of @dir without links in the part that exists already. Returns false if there is none:
 * then opening @dir says why. */
static bool resolve_parent(const char *dir, char out[PATH_MAX])
{
    char        parent[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(dir, '/'), *name = slash ? slash + 1 : dir;
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strlen(dir) >= PATH_MAX)
        return false;
    snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - dir) + 1 : 1, slash ? dir : ".");
    return realpath(parent, real) &&
           snprintf(out, PATH_MAX, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) < PATH_MAX;
}

/* Opens the session folder. For another user's process, the folder must be made where @dir was before:
 * who owns a folder of the path may replace it by a link meanwhile. Returns an exit status. */
static int open_out(const struct sxs_control_target *t, const char *dir, enum sxs_out_use use,
                    struct sxs_out_dir *out)
{
    char wanted[PATH_MAX];
    bool check = t->process.uid != geteuid() && dir && resolve_parent(dir, wanted);
    int  status = sxs_control_out_open(out, check ? wanted : dir, use, t->process.pid);
    if (status || !check || !out->created || strcmp(out->path, wanted) == 0)
        return status;
    out->created = false; /* what is there now was not made here, so it is not removed */
    sxs_out_dir_abandon(out);
    return sxs_wrong_input(
        "-o %s: it was replaced by a link to %s; expected a folder that nobody else can replace",
        dir, out->path);
}

/* Makes the folder *@arg below @root, as the user of the process. */
static int make_inside(int root, void *arg, int *fd)
{
    char path[PATH_MAX], *slash;
    int  parent, err = 0;
    (void)fd;
    snprintf(path, sizeof(path), "%s", (const char *)arg);
    slash = strrchr(path, '/');
    *slash = '\0';
    parent =
        sxs_inside_open(root, slash == path ? "/" : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (parent < 0 || mkdirat(parent, slash + 1, 0700) != 0)
        err = errno;
    if (parent >= 0)
        close(parent);
    return err;
}

/* Makes the session folder in the container of the process. @out: receives its path there. */
static int make_apart(const struct sxs_process *p, const char *dir, char out[PATH_MAX])
{
    int err = 0;
    if (dir && (*dir != '/' || !dir[1] || strlen(dir) >= PATH_MAX))
        return sxs_wrong_input(
            "-o %s: process %d has another root folder than this command; expected an "
            "absolute path, as the process sees it",
            dir, (int)p->pid);
    for (int i = 1; i < 100; i++) {
        if (dir)
            snprintf(out, PATH_MAX, "%s", dir);
        else
            snprintf(out, PATH_MAX, i == 1 ? "/tmp/sxsprof-%d" : "/tmp/sxsprof-%d-%d",
                     (int)p->ns_pid, i);
        err = sxs_inside_call(p, 0, make_inside, out, NULL);
        if (err != EEXIST || dir)
            break;
    }
    if (err)
        return sxs_wrong_input("%s of process %d: %s; expected a folder that can be made there",
                               out, (int)p->pid, strerror(err));
    return SXS_EXIT_OK;
}

/* ---- the session ----------------------------------------------------------------------------- */

static void print_begun(const struct sxs_control_target *t, uint64_t duration_ms)
{
    char folder[PATH_MAX], text[3 * PATH_MAX], length[32];
    sxs_control_value(t, "why", text, sizeof(text));
    if (*text)
        sxs_complain("process %d: %s", (int)t->process.pid, text);
    sxs_print("session %s of process %d is on: %s\n",
              sxs_control_value(t, "number", length, sizeof(length)), (int)t->process.pid,
              sxs_control_value(t, "tools", text, sizeof(text)));
    if (sxs_control_folder(t, folder)) {
        sxs_text_clean(folder, text, sizeof(text));
        sxs_print("  it records into %s\n", text);
    }
    if (duration_ms)
        sxs_print("  it ends in %s, or by: sxsprof stop %d\n",
                  sxs_text_duration(duration_ms * 1000000u, length, sizeof(length)),
                  (int)t->process.pid);
    else
        sxs_print("  it ends by: sxsprof stop %d\n", (int)t->process.pid);
}

/* Checks that the process masks as many values as was asked for: a library that does not know the setting
 * ignores it. If it does not, ends the session. Returns an exit status. */
static int check_mask(struct sxs_control_target *t, const char *wanted)
{
    if (sxs_control_masks(&t->answer, wanted))
        return SXS_EXIT_OK;
    sxs_complain("process %d: --mask %s: its library does not mask these values, for example because it "
                 "is older than this command; the session is ended at once",
                 (int)t->process.pid, wanted);
    sxs_control_request(&t->request, "stop");
    (void)sxs_control_send(t, SXS_CONTROL_TIMEOUT_MS);
    return SXS_EXIT_PROBLEM;
}

/* Sends the request. @folder: as the process sees it. Returns an exit status. */
static int begin(struct sxs_control_target *t, const struct options *o, const char *folder)
{
    struct sxs_message_writer *w = &t->request;
    int                        err;
    sxs_control_request(w, "start");
    sxs_message_add(w, "tools", o->run.tools);
    sxs_message_add(w, "pick", o->run.pick);
    sxs_message_add(w, "mask", o->run.mask);
    sxs_message_add(w, "out", folder);
    sxs_message_add(w, "keep", o->run.keep.keep);
    sxs_message_add(w, "every", o->run.keep.every);
    sxs_message_add(w, "on", o->run.keep.on);
    sxs_message_add(w, "budget", o->run.keep.budget);
    if (o->duration_ms)
        sxs_message_addf(w, "duration_ms", "%" PRIu64, o->duration_ms);
    err = sxs_control_send(t, SXS_CONTROL_TIMEOUT_MS);
    return !err ? check_mask(t, o->run.mask) : err == EREMOTEIO ? SXS_EXIT_USAGE : SXS_EXIT_PROBLEM;
}

static int start_apart(struct sxs_control_target *t, const struct options *o)
{
    char folder[PATH_MAX];
    int  status = make_apart(&t->process, o->run.out, folder);
    return status ? status : begin(t, o, folder);
}

static int start(struct sxs_control_target *t, const struct options *o)
{
    struct sxs_out_dir out;
    enum sxs_out_use use = sxs_keep_is_on(&o->run.keep, false) ? SXS_OUT_SEGMENTS
                           : o->run.append                     ? SXS_OUT_APPEND
                                                               : SXS_OUT_NEW;
    int              status = open_out(t, o->run.out, use, &out);
    if (status)
        return status;
    status = give_folder(&t->process, &out);
    if (!status)
        status = begin(t, o, out.path);
    if (status == SXS_EXIT_USAGE)
        sxs_out_dir_abandon(&out);
    else
        sxs_out_dir_close(&out);
    return status;
}

int sxs_cmd_start(int argc, char **argv)
{
    static struct sxs_control_target t;
    struct options                   o = {0};
    char                             why[2048];
    int                              status;
    sxs_options_parse(&sxs_argp_start, argc, argv, 0, &o);
    status = sxs_control_open(&t, o.process);
    if (!status && sxs_rules_check(&t.process, o.run.tools, why, sizeof(why)) != 0)
        status = sxs_wrong_input("process %d: %s", (int)t.process.pid, why);
    if (!status)
        status = sxs_process_is_apart(&t.process) ? start_apart(&t, &o) : start(&t, &o);
    if (!status && !o.run.quiet)
        print_begun(&t, o.duration_ms);
    sxs_control_close(&t);
    sxs_run_options_free(&o.run);
    return sxs_finish_output() ? SXS_EXIT_PROBLEM : status;
}
