/* SPDX-License-Identifier: MIT */
#include "cmd/output/output_file.h"

#include "base/folder_path.h"
#include "cmd/output/must.h"
#include "cmd/output/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

enum { TRIES = 16, MAX_LINKS = 16 };

static char folder_why[PATH_MAX + 256]; /* why the folder could not be opened; "": another reason */

const char *sxs_output_error(int err)
{
    return *folder_why ? folder_why : strerror(err);
}

/* ---- names ------------------------------------------------------------------------------------ */

/* A name in its folder. */
struct at {
    int  folder;         /* descriptor (O_PATH), owned; -1: none */
    char real[PATH_MAX]; /* path of the folder, without links */
    char name[NAME_MAX + 1];
};

/* What is there before it is written. */
enum output_place {
    NEW,     /* a new file takes its place: nothing is there, a file, or a link of a stranger */
    DEVICE,  /* it is written to as it is: a pipe, /dev/null... */
    THROUGH, /* a link of root or of the user, as /dev/stdout is: written to what it leads to */
    REFUSED, /* a pipe or a device of another user, which could keep this command waiting */
};

static void leave(struct at *at)
{
    if (at->folder >= 0)
        close(at->folder);
    at->folder = -1;
}

/* Opens the folder of @path; links of strangers are not followed. Returns 0 or an errno value. */
static int find(const char *path, struct at *at)
{
    char        folder[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int         len = slash == path ? 1 : slash ? (int)(slash - path) : 1;
    at->folder = -1;
    if (!*name || strcmp(name, "..") == 0)
        name = "."; /* a folder, which is no file */
    if (len >= (int)sizeof(folder) || strlen(name) >= sizeof(at->name))
        return ENAMETOOLONG;
    snprintf(folder, sizeof(folder), "%.*s", len, slash ? path : ".");
    snprintf(at->name, sizeof(at->name), "%s", name);
    int fd = sxs_folder_path_open(folder, SXS_FOLDER_PATH_LAST_LINK | SXS_FOLDER_PATH_ENTER,
                                  at->real, NULL, folder_why, sizeof(folder_why));
    if (fd < 0)
        return -fd;
    *folder_why = '\0';
    at->folder = fd;
    return 0;
}

static bool is_trusted(const struct stat *st)
{
    return st->st_uid == geteuid() || st->st_uid == 0;
}

/* Tells whether the link @st may be followed: nobody else can have put it there. */
static bool is_own_link(const struct at *at, const struct stat *st)
{
    struct stat folder;
    return is_trusted(st) && fstat(at->folder, &folder) == 0 && is_trusted(&folder);
}

static enum output_place place_of(const struct at *at)
{
    struct stat st;
    if (fstatat(at->folder, at->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return NEW;
    if (!S_ISLNK(st.st_mode))
        return S_ISREG(st.st_mode) ? NEW : is_trusted(&st) ? DEVICE : REFUSED;
    return is_own_link(at, &st) && fstatat(at->folder, at->name, &st, 0) == 0 ? THROUGH : NEW;
}

/* ---- what is written in place ----------------------------------------------------------------- */

/* Opens the link, checks whose it is, and writes to @target what it names; "": the kernel alone knows, as of
 * /proc/self/fd/1. Returns 0 or an errno value: EAGAIN when it is another's by now. */
static int read_link(const struct at *at, char target[PATH_MAX])
{
    char          text[PATH_MAX] = "";
    struct stat   st = {0};
    struct statfs fs = {0};
    int           fd = openat(at->folder, at->name, O_PATH | O_NOFOLLOW | O_CLOEXEC), err = 0;
    ssize_t       n = -1;
    if (fd < 0)
        return errno;
    if (fstat(fd, &st) != 0 || fstatfs(fd, &fs) != 0 ||
        (n = readlinkat(fd, "", text, sizeof(text) - 1)) < 0)
        err = errno;
    else if (!is_own_link(at, &st))
        err = EAGAIN;
    close(fd);
    if (err)
        return err;
    *target = '\0';
    if (fs.f_type == PROC_SUPER_MAGIC)
        return 0;
    text[n] = '\0';
    int size = snprintf(target, PATH_MAX, "%s%s%s", *text == '/' ? "" : at->real,
                        *text == '/' ? "" : "/", text);
    return size < PATH_MAX ? 0 : ENAMETOOLONG;
}

/* Follows links of this user or of root to their target, which becomes @at. @kernel: receives whether the last one
 * is a link that the kernel follows. Returns 0 or an errno value. */
static int follow(struct at *at, bool *kernel)
{
    char target[PATH_MAX] = "";
    for (int i = 0; i < MAX_LINKS; i++) {
        struct stat st = {0};
        if (fstatat(at->folder, at->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            return errno;
        if (!S_ISLNK(st.st_mode))
            return S_ISREG(st.st_mode) || is_trusted(&st) ? 0 : EPERM;
        int err = read_link(at, target);
        if (err || (*kernel = !*target))
            return err;
        leave(at);
        err = find(target, at);
        if (err)
            return err;
    }
    return ELOOP;
}

/* Opens what is written to as it is. @place: of @at. @later: a pipe or a device, whose opening can wait for
 * another process, is opened by O_PATH only; receives whether it was. @is_file: receives whether it is a
 * regular file, whose contents are replaced. Returns 0 or an errno value. */
static int open_in_place(struct at *at, enum output_place place, int *fd, bool *later,
                         bool *is_file)
{
    struct stat st = {0};
    bool        kernel = false, may_wait = *later;
    int         err = place == REFUSED ? EPERM : place == THROUGH ? follow(at, &kernel) : 0;
    *later = false;
    if (err)
        return err;
    if (fstatat(at->folder, at->name, &st, kernel ? 0 : AT_SYMLINK_NOFOLLOW) != 0)
        return errno;
    *later = may_wait && !kernel && !S_ISREG(st.st_mode);
    *fd = openat(at->folder, at->name,
                 (*later ? O_PATH : O_WRONLY | O_NOCTTY) | O_CLOEXEC | (kernel ? 0 : O_NOFOLLOW));
    if (*fd < 0 || fstat(*fd, &st) != 0)
        return errno;
    *is_file = S_ISREG(st.st_mode);
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    return (*is_file && (place == DEVICE || *later)) || S_ISLNK(st.st_mode)
               ? EAGAIN /* it is another one by now */
               : 0;
}

/* ---- a new file ------------------------------------------------------------------------------- */

/* Returns a name beside @base that nobody can guess; owned. */
static char *make_name(const char *base)
{
    uint64_t random = 0;
    char    *name;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        random = (uint64_t)getpid(); /* O_EXCL refuses a name that exists */
    if (asprintf(&name, "%.*s.%016llx.part", NAME_MAX - 22, base, (unsigned long long)random) < 0)
        sxs_must(NULL);
    return name;
}

/* Makes the new file. @temporary: receives its name, owned. Returns a descriptor, or -1 with errno. */
static int make_file(const struct at *at, mode_t mode, char **temporary)
{
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0; i++) {
        *temporary = make_name(at->name);
        char *kept = sxs_must(strdup(*temporary));
        fd = sxs_temporary_make_in(at->folder, kept, mode);
        if (fd >= 0)
            break;
        int err = errno;
        free(*temporary);
        *temporary = NULL;
        errno = err;
        if (err != EEXIST)
            break;
    }
    return fd;
}

/* ---- opening and closing ---------------------------------------------------------------------- */

/* An output that is open. */
struct sxs_output_opened {
    struct at at;
    int       fd;
    char     *temporary; /* name of the new file; owned; NULL: written in place */
    bool      is_file;   /* written in place: a regular file, to be emptied first */
    bool      later;     /* @fd is one of O_PATH: opened when it is written */
};

static void discard(struct sxs_output_opened *o)
{
    if (o->fd >= 0)
        close(o->fd);
    if (o->temporary)
        sxs_temporary_remove(o->temporary);
    free(o->temporary);
    leave(&o->at);
    *o = (struct sxs_output_opened){.fd = -1, .at.folder = -1};
}

/* @later: as of open_in_place(). */
static int open_path(const char *path, mode_t mode, bool later, struct sxs_output_opened *o)
{
    *o = (struct sxs_output_opened){.fd = -1};
    int err = find(path, &o->at);
    if (!err) {
        enum output_place place = place_of(&o->at);
        o->later = later && place != NEW;
        if (place != NEW)
            err = open_in_place(&o->at, place, &o->fd, &o->later, &o->is_file);
        else if ((o->fd = make_file(&o->at, mode, &o->temporary)) < 0)
            err = errno;
    }
    if (err)
        discard(o);
    return err;
}

/* Gives the new file its name. Returns 0 or an errno value. */
static int rename_new(const struct sxs_output_opened *o)
{
    return sxs_temporary_rename(o->temporary, o->at.name) == 0 ? 0 : errno;
}

/* What the parent of a child that cannot open files has opened for it. */
static struct {
    const char              *path; /* borrowed; NULL: nothing */
    int                      err;  /* of opening */
    struct sxs_output_opened opened;
    char                     place[32]; /* of what the child opens itself; "": nothing */
    bool                    *complete;  /* shared with the child, which sets it */
} prepared;

int sxs_output_prepare(const char *path, mode_t mode)
{
    if (!path || strcmp(path, "-") == 0)
        return 0;
    void *shared =
        mmap(NULL, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return errno;
    prepared.path = path;
    prepared.complete = shared;
    prepared.err = open_path(path, mode, true, &prepared.opened);
    *prepared.place = '\0';
    if (!prepared.err && prepared.opened.later)
        snprintf(prepared.place, sizeof(prepared.place), "/proc/self/fd/%d", prepared.opened.fd);
    return 0;
}

const char *sxs_output_place(void)
{
    return prepared.path && *prepared.place ? prepared.place : NULL;
}

int sxs_output_finish(void)
{
    int err = 0;
    if (!prepared.path)
        return 0;
    if (*prepared.complete && prepared.opened.temporary) {
        err = rename_new(&prepared.opened);
        if (!err) {
            free(prepared.opened.temporary);
            prepared.opened.temporary = NULL;
        }
    }
    if (!prepared.err)
        discard(&prepared.opened);
    munmap(prepared.complete, sizeof(bool));
    prepared.path = NULL;
    return err;
}

/* Takes what was prepared. Returns a descriptor, or -1 with errno. */
static int take_prepared(void)
{
    const struct sxs_output_opened *o = &prepared.opened;
    *prepared.complete = false;
    if (*prepared.place)
        return open(prepared.place, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (!prepared.err && o->is_file && ftruncate(o->fd, 0) != 0)
        return -1;
    errno = prepared.err;
    return prepared.err ? -1 : fcntl(o->fd, F_DUPFD_CLOEXEC, 3);
}

int sxs_output_open(struct sxs_output *out, const char *path)
{
    int fd = -1, err = 0;
    *out = (struct sxs_output){.to = stdout};
    if (!path || strcmp(path, "-") == 0)
        return 0;
    out->path = path;
    out->prepared = prepared.path && strcmp(prepared.path, path) == 0;
    if (out->prepared) {
        fd = take_prepared();
        err = fd < 0 ? errno : 0;
    } else {
        out->opened = sxs_must_zeroed(1, sizeof(*out->opened));
        err = open_path(path, 0666, false, out->opened);
        if (!err && out->opened->is_file && ftruncate(out->opened->fd, 0) != 0)
            err = errno;
        if (!err)
            fd = out->opened->fd;
    }
    out->to = err ? NULL : fdopen(fd, "w");
    if (out->to)
        return 0;
    err = err ? err : errno;
    if (out->prepared && fd >= 0)
        close(fd);
    if (out->opened)
        discard(out->opened);
    free(out->opened);
    out->opened = NULL;
    return err;
}

int sxs_output_close(struct sxs_output *out, bool failed)
{
    int err = fflush(out->to) != 0 || ferror(out->to) ? (errno ? errno : EIO) : failed ? EIO : 0;
    if (out->to != stdout && fclose(out->to) != 0 && !err)
        err = errno;
    if (out->prepared)
        *prepared.complete = !err;
    if (!out->opened)
        return err;
    out->opened->fd = -1;
    if (out->opened->temporary && !err && !(err = rename_new(out->opened))) {
        free(out->opened->temporary);
        out->opened->temporary = NULL;
    }
    discard(out->opened);
    free(out->opened);
    out->opened = NULL;
    return err;
}
