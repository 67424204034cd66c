/* SPDX-License-Identifier: MIT */
#include "cmd/out_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/tree.h"
#include "cmd/command.h"
#include "cmd/output/temporary.h"
#include "cmd/output/text.h"
#include "session/format/folder_open.h"

#define DEPTH \
    6 /* levels below a temporary folder: a session, kept, a segment, a process, its files */

static void free_old(struct sxs_out_dir *out)
{
    for (size_t i = 0; i < out->n_old; i++)
        free(out->old[i]);
    free(out->old);
    out->old = NULL;
    out->n_old = 0;
}

static int remember_name(struct sxs_out_dir *out, const char *name)
{
    char **grown = realloc(out->old, (out->n_old + 1) * sizeof(*grown));
    if (!grown)
        return -1;
    out->old = grown;
    grown[out->n_old] = strdup(name);
    if (!grown[out->n_old])
        return -1;
    out->n_old++;
    return 0;
}

/* Writes that folder @dir has a session, which one, and what to do. */
static int refuse_session(const struct sxs_out_dir *out, const char *dir, char *why, size_t size)
{
    struct sxs_session s;
    char               when[40] = "", last[160] = "";
    if (sxs_session_read(dir, &s) == 0 && s.n_processes) {
        const struct sxs_session_process *p = &s.processes[s.n_processes - 1];
        time_t                            began = (time_t)(p->started_ns / 1000000000u);
        struct tm                         tm;
        if (localtime_r(&began, &tm))
            strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
        sxs_text_clean(p->command, last, sizeof(last));
    }
    snprintf(why, size,
             "-o %s: it has a session of %zu process%s in it%s%s%s%s; expected --append to add to "
             "it, or another folder",
             dir, out->n_old, out->n_old == 1 ? "" : "es", *when ? ", the last of " : "", when,
             *last ? ": " : "", last);
    sxs_session_free(&s);
    return -1;
}

static unsigned names_of(enum sxs_out_use use)
{
    return use == SXS_OUT_SEGMENTS ? SXS_NAMES_SEGMENTS : SXS_NAMES_PROCESSES;
}

static int note_identity(struct sxs_out_dir *out, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return -1;
    out->dev = st.st_dev;
    out->ino = st.st_ino;
    return 0;
}

/* Notes the processes that are in the folder @fd. Their names were checked before; another process
 * of this user may add to them meanwhile. */
static int list_old(struct sxs_out_dir *out, int fd)
{
    int  ret = 0;
    DIR *d = sxs_tree_list(fd, ".");
    for (struct dirent *e; d && ret == 0 && (e = readdir(d));)
        if (sxs_session_names_process(e->d_name))
            ret = remember_name(out, e->d_name);
    if (d)
        closedir(d);
    return d ? ret : -1;
}

/* Accepts an existing folder when it is empty, or contains only what @use says; any other folder is
 * taken to be the user's own. */
static int take_existing(struct sxs_out_dir *out, const char *dir, int fd, enum sxs_out_use use,
                         char *why, size_t size)
{
    if (use != SXS_OUT_SEGMENTS && list_old(out, fd) != 0) {
        snprintf(why, size, "-o %s: out of memory", dir);
        return -1;
    }
    if (out->n_old && use != SXS_OUT_APPEND)
        return refuse_session(out, dir, why, size);
    if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) != 0) {
        snprintf(why, size, "-o %s: %s; expected a folder that can be written to", dir,
                 strerror(errno));
        return -1;
    }
    return 0;
}

static int open_named(struct sxs_out_dir *out, const char *dir, enum sxs_out_use use, char *why,
                      size_t size)
{
    char reason[512];
    int  made, ret;
    int  fd = sxs_session_folder_open(dir, SXS_FOLDER_PATH_MAKE | SXS_FOLDER_PATH_LAST_LINK,
                                      names_of(use), out->path, &made, reason, sizeof(reason));
    if (fd < 0) {
        snprintf(why, size, "-o %s: %s%s", dir, reason,
                 strstr(reason, "expected") ? ""
                 : strcmp(reason, strerror(-fd)) == 0
                     ? "; expected a folder that can be made there"
                     : "; expected a folder of your own, or a name that is free");
        return -1;
    }
    out->created = made;
    ret = note_identity(out, fd);
    if (ret)
        snprintf(why, size, "-o %s: %s", dir, strerror(errno));
    else if (!made)
        ret = take_existing(out, dir, fd, use, why, size);
    close(fd);
    return ret;
}

int sxs_out_dir_open(struct sxs_out_dir *out, const char *dir, enum sxs_out_use use, char *why,
                     size_t size)
{
    memset(out, 0, sizeof(*out));
    if (open_named(out, dir, use, why, size) == 0)
        return SXS_EXIT_OK;
    free_old(out);
    return SXS_EXIT_USAGE;
}

void sxs_out_dir_for_segments(struct sxs_out_dir *out)
{
    out->segments_ns = sxs_now_ns(CLOCK_REALTIME);
}

/* Makes a new private folder in @parent. Returns 0, or -1 with a reason in @why. */
static int make_in(struct sxs_out_dir *out, const char *parent, char *why, size_t size)
{
    char name[PATH_MAX];
    int  fd, n = snprintf(name, sizeof(name), "%s/sxsprof-XXXXXX", parent);
    if (n >= (int)sizeof(name))
        errno = ENAMETOOLONG;
    if (n >= (int)sizeof(name) || !mkdtemp(name)) { /* uses mode 0700 */
        snprintf(why, size, "%s", strerror(errno));
        return -1;
    }
    fd = sxs_session_folder_open(name, 0, 0, out->path, NULL, why, size);
    if (fd < 0)
        return -1;
    n = note_identity(out, fd);
    close(fd);
    return n;
}

int sxs_out_dir_make(struct sxs_out_dir *out, bool keep, char *why, size_t size)
{
    const char *tmp = sxs_temporary_folder();
    char        reason[256] = "";
    memset(out, 0, sizeof(*out));
    out->temporary = !keep;
    out->unnamed = keep;
    if (keep && make_in(out, ".", reason, sizeof(reason)) == 0) {
        out->created = true;
        return SXS_EXIT_OK;
    }
    out->created = make_in(out, tmp, reason, sizeof(reason)) == 0;
    if (out->created)
        return SXS_EXIT_OK;
    snprintf(why, size,
             "no folder can be made in %s: %s; expected TMPDIR to name a folder that can be "
             "written to, or -o DIR",
             tmp, reason);
    return SXS_EXIT_FAILED;
}

/* Tells whether @name in @parent is the folder that was made. */
static bool is_made(const struct sxs_out_dir *out, int parent, const char *name)
{
    struct stat st;
    return fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == out->dev &&
           st.st_ino == out->ino;
}

/* Renames in the folder @parent, if the name @to is free. On a file system that cannot rename without
 * replacing, an empty folder is replaced, as rename(2) does with no other. Returns 0 or an errno value. */
static int rename_free(int parent, const char *from, const char *to)
{
    if (renameat2(parent, from, parent, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    if (mkdirat(parent, to, 0700) != 0)
        return errno;
    if (renameat(parent, from, parent, to) == 0)
        return 0;
    int err = errno;
    unlinkat(parent, to, AT_REMOVEDIR);
    return err;
}

/* Gives the folder @from in @parent the name @to, if that is free. Others may be able to rename in
 * @parent, too: what has changed its name must be the folder that was made; else that is undone. Returns
 * 0 or an errno value. */
static int rename_folder(const struct sxs_out_dir *out, int parent, const char *from,
                         const char *to)
{
    int err = is_made(out, parent, from) ? rename_free(parent, from, to) : ESTALE;
    if (err || is_made(out, parent, to))
        return err;
    renameat2(parent, to, parent, from, RENAME_NOREPLACE);
    return ESTALE;
}

/* Opens the folder in which the session folder is. Returns a descriptor, or -1. */
static int open_parent(const struct sxs_out_dir *out)
{
    int fd = open(out->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int parent = fd >= 0 ? openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0)
        close(fd);
    return parent;
}

const char *sxs_out_dir_name(struct sxs_out_dir *out, pid_t pid)
{
    char   named[64];
    char  *name = strrchr(out->path, '/') + 1;
    size_t room = sizeof(out->path) - (size_t)(name - out->path);
    int    parent = out->unnamed ? open_parent(out) : -1, err = EEXIST;
    for (int i = 1; parent >= 0 && err == EEXIST && i < 100; i++) {
        int n =
            snprintf(named, sizeof(named), i == 1 ? "sxsprof-%d" : "sxsprof-%d-%d", (int)pid, i);
        err = (size_t)n < room ? rename_folder(out, parent, name, named) : ENAMETOOLONG;
        if (!err)
            memcpy(name, named, (size_t)n + 1);
    }
    out->unnamed &= err != 0;
    if (parent >= 0)
        close(parent);
    return out->path;
}

static bool is_old(const struct sxs_out_dir *out, const char *folder)
{
    for (size_t i = 0; i < out->n_old; i++)
        if (strcmp(out->old[i], folder) == 0)
            return true;
    return false;
}

void sxs_out_dir_keep_new(const struct sxs_out_dir *out, struct sxs_session *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_processes; i++)
        if (is_old(out, s->processes[i].folder))
            free(s->processes[i].runtimes);
        else
            s->processes[kept++] = s->processes[i];
    s->n_processes = kept;
    kept = 0;
    for (size_t i = 0; i < s->n_notes; i++) {
        char folder[SXS_SESSION_FOLDER];
        snprintf(folder, sizeof(folder), "%.*s", (int)strcspn(s->notes[i], "/"), s->notes[i]);
        if (is_old(out, folder))
            free(s->notes[i]);
        else
            s->notes[kept++] = s->notes[i];
    }
    s->n_notes = kept;
}

/* Removes the folder if it is still the one that was opened or made. @depth: how many levels of what
 * is in it are deleted, too; -1: it must be empty. */
static void remove_folder(const struct sxs_out_dir *out, int depth)
{
    struct stat st;
    int         fd = open(out->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_dev == out->dev && st.st_ino == out->ino) {
        if (depth >= 0)
            sxs_tree_clear(fd, (unsigned)depth);
        sxs_tree_unlink(fd, strrchr(out->path, '/') + 1);
    }
    close(fd);
}

/* Removes the folders of processes in the folder @fd that were not there before. */
static void remove_new(const struct sxs_out_dir *out, int fd)
{
    DIR *d = sxs_tree_list(fd, ".");
    for (struct dirent *e; d && (e = readdir(d));)
        if (sxs_session_names_process(e->d_name) && !is_old(out, e->d_name))
            sxs_tree_delete(fd, e->d_name, DEPTH);
    if (d)
        closedir(d);
}

void sxs_out_dir_undo(struct sxs_out_dir *out)
{
    struct stat st;
    int         fd = open(out->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == out->dev && st.st_ino == out->ino)
        remove_new(out, fd);
    if (fd >= 0)
        close(fd);
    sxs_out_dir_abandon(out);
}

void sxs_out_dir_abandon(struct sxs_out_dir *out)
{
    if (out->created)
        remove_folder(out, -1);
    free_old(out);
}

void sxs_out_dir_close(struct sxs_out_dir *out)
{
    if (out->temporary)
        remove_folder(out, DEPTH);
    free_old(out);
}
