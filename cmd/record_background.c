/* SPDX-License-Identifier: MIT */
/* Begins a session in a process that has the library already, and leaves it on. */
#include "base/tree.h"
#include "cmd/attach/rules.h"
#include "cmd/command.h"
#include "cmd/control.h"
#include "cmd/output/print.h"
#include "cmd/output/text.h"
#include "cmd/processes/inside.h"
#include "cmd/record.h"

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
 * the owner of a folder of the path may have replaced it by a link. Returns an exit status. */
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
static int begin(struct sxs_control_target *t, const struct sxs_record_options *o,
                 const char *folder)
{
    struct sxs_message_writer *w = &t->request;
    int                        err;
    sxs_control_request(w, "start");
    sxs_record_add_settings(o, w);
    if (o->duration_ms)
        sxs_message_addf(w, "duration_ms", "%" PRIu64, o->duration_ms);
    sxs_message_add(w, "out", folder);
    err = sxs_control_send(t, SXS_CONTROL_TIMEOUT_MS);
    return !err               ? check_mask(t, o->set[SXS_SET_MASK])
           : err == EREMOTEIO ? SXS_EXIT_USAGE
                              : SXS_EXIT_PROBLEM;
}

static int start_apart(struct sxs_control_target *t, const struct sxs_record_options *o)
{
    char folder[PATH_MAX];
    int  status = make_apart(&t->process, o->outputs.folder, folder);
    return status ? status : begin(t, o, folder);
}

static int start(struct sxs_control_target *t, const struct sxs_record_options *o)
{
    struct sxs_out_dir out;
    int                status = open_out(t, o->outputs.folder, sxs_record_out_use(o), &out);
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

int sxs_record_background(const struct sxs_record_options *o)
{
    static struct sxs_control_target t;
    char                             why[2048];
    int                              status = sxs_control_open(&t, o->set[SXS_SET_PROCESS]);
    if (!status && sxs_rules_check(&t.process, o->set[SXS_SET_TOOLS], why, sizeof(why)) != 0)
        status = sxs_wrong_input("process %d: %s", (int)t.process.pid, why);
    if (!status)
        status = sxs_process_is_apart(&t.process) ? start_apart(&t, o) : start(&t, o);
    if (!status && !o->set[SXS_SET_QUIET])
        print_begun(&t, o->duration_ms);
    sxs_control_close(&t);
    return sxs_finish_output() ? SXS_EXIT_PROBLEM : status;
}
