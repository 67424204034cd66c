/* SPDX-License-Identifier: MIT */
#include "cmd/output/output_file.h"

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
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

enum { TRIES = 16 };

/* What @path is before it is written. */
enum place {
    NEW,     /* a new file takes its place: nothing is there, a file, or a link of a stranger */
    DEVICE,  /* it is written to as it is: a pipe, /dev/null... */
    THROUGH, /* a link of root or of the user, as /dev/stdout is: written to what it leads to */
    REFUSED, /* a pipe or the like of another user, who could keep this command waiting */
};

static bool is_trusted(const struct stat *st)
{
    return st->st_uid == geteuid() || st->st_uid == 0;
}

static enum place place_of(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return NEW;
    if (!S_ISLNK(st.st_mode))
        return S_ISREG(st.st_mode) ? NEW : is_trusted(&st) ? DEVICE : REFUSED;
    return is_trusted(&st) && stat(path, &st) == 0 ? THROUGH : NEW;
}

/* Opens the link, checks whose it is, and writes to @target what it names. Returns 0 or an errno
 * value: EAGAIN when it is another's by now. */
static int read_link(const char *path, char target[PATH_MAX])
{
    char          name[PATH_MAX];
    const char   *slash = strrchr(path, '/');
    struct stat   st;
    struct statfs fs;
    int           fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), err;
    ssize_t       n = -1;
    if (fd < 0)
        return errno;
    if (fstat(fd, &st) == 0 && fstatfs(fd, &fs) == 0)
        n = readlinkat(fd, "", name, sizeof(name) - 1);
    err = errno;
    close(fd);
    if (n < 0)
        return err ? err : EIO;
    if (!is_trusted(&st))
        return EAGAIN;
    if (fs.f_type == PROC_SUPER_MAGIC) /* /proc/self/fd/1: its text is no path */
        return snprintf(target, PATH_MAX, "%s", path) < PATH_MAX ? 0 : ENAMETOOLONG;
    name[n] = '\0';
    int size = snprintf(target, PATH_MAX, "%.*s%s",
                        *name == '/' || !slash ? 0 : (int)(slash - path) + 1, path, name);
    return size < PATH_MAX ? 0 : ENAMETOOLONG;
}

/* Opens what is written to as it is. Returns a descriptor, or -1 with errno. */
static int open_in_place(const char *path, enum place place)
{
    char        target[PATH_MAX];
    struct stat st;
    int         err = place == THROUGH ? read_link(path, target) : 0;
    int         fd = -1;
    if (place == REFUSED)
        err = EPERM;
    else if (!err)
        fd = open(place == THROUGH ? target : path,
                  O_WRONLY | O_NOCTTY | O_CLOEXEC | (place == DEVICE ? O_NOFOLLOW : 0));
    if (!err && (fd < 0 || fstat(fd, &st) != 0))
        err = errno;
    else if (!err &&
             S_ISREG(st.st_mode)) /* the device is a file by now; or the link leads to one */
        err = place == DEVICE ? EAGAIN : ftruncate(fd, 0) != 0 ? errno : 0;
    if (!err)
        return fd;
    if (fd >= 0)
        close(fd);
    errno = err;
    return -1;
}

/* Returns a name beside @path that nobody can guess; owned. */
static char *make_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    uint64_t    random = 0;
    char       *name;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        random = (uint64_t)getpid(); /* O_EXCL refuses a name that exists */
    if (asprintf(&name, "%.*s%.*s.%016llx.part", (int)(base - path), path, NAME_MAX - 22, base,
                 (unsigned long long)random) < 0)
        sxs_must(NULL);
    return name;
}

/* Makes the new file. Returns a descriptor, or -1 with errno. */
static int make_file(struct sxs_output *out)
{
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0; i++) {
        out->temporary = make_name(out->path);
        char *kept = sxs_must(strdup(out->temporary));
        fd = sxs_temporary_make(SXS_TEMPORARY_FILE, kept, 0666);
        if (fd >= 0)
            break;
        int err = errno;
        free(out->temporary);
        out->temporary = NULL;
        errno = err;
        if (err != EEXIST)
            break;
    }
    return fd;
}

int sxs_output_open(struct sxs_output *out, const char *path)
{
    *out = (struct sxs_output){.to = stdout};
    if (!path || strcmp(path, "-") == 0)
        return 0;
    out->path = path;
    enum place place = place_of(path);
    int        fd = place == NEW ? make_file(out) : open_in_place(path, place);
    out->to = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out->to)
        return 0;
    int err = errno;
    if (fd >= 0)
        close(fd);
    if (out->temporary)
        sxs_temporary_remove(out->temporary);
    free(out->temporary);
    return err;
}

int sxs_output_close(struct sxs_output *out, bool failed)
{
    int err = fflush(out->to) != 0 || ferror(out->to) ? (errno ? errno : EIO) : failed ? EIO : 0;
    if (out->to != stdout && fclose(out->to) != 0 && !err)
        err = errno;
    if (out->temporary && !err && sxs_temporary_rename(out->temporary, out->path) != 0)
        err = errno;
    if (out->temporary && err)
        sxs_temporary_remove(out->temporary);
    free(out->temporary);
    return err;
}
