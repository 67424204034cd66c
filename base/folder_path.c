/* SPDX-License-Identifier: MIT */
#include "base/folder_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define STEP      (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define MAX_LINKS 40u /* as the kernel */

struct folder_path_walk {
    int         fd;    /* the folder that was reached */
    char       *real;  /* its path, PATH_MAX bytes */
    unsigned    how;   /* of folder_path.h */
    unsigned    links; /* that were followed */
    int         made;
    char       *why;
    size_t      size;
    const char *given;          /* the path that is walked */
    char        rest[PATH_MAX]; /* names that are not walked yet */
};

static int fail(const struct folder_path_walk *w, int err)
{
    snprintf(w->why, w->size, "%s", strerror(err));
    return -err;
}

/* Takes the ownership of @fd. */
static void move_to(struct folder_path_walk *w, int fd)
{
    close(w->fd);
    w->fd = fd;
}

/* ---- the path of the folder that was reached --------------------------------------------------- */

static int append_name(struct folder_path_walk *w, const char *name)
{
    size_t len = strlen(w->real), more = strlen(name), slash = len > 1;
    if (len + slash + more >= PATH_MAX)
        return fail(w, ENAMETOOLONG);
    memcpy(w->real + len, "/", slash);
    memcpy(w->real + len + slash, name, more + 1);
    return 0;
}

static void drop_name(struct folder_path_walk *w)
{
    char *slash = strrchr(w->real, '/');
    slash[slash == w->real] = '\0';
}

/* ---- links ------------------------------------------------------------------------------------- */

static int is_trusted(const struct stat *st)
{
    return st->st_uid == 0 || st->st_uid == geteuid();
}

/* Tells whether the link is the kernel's /proc/self or /proc/thread-self, which has no owner in a user
 * namespace without the machine's root. */
static int is_self(const struct folder_path_walk *w, const char *name)
{
    enum { PROC_ROOT = 1 }; /* inode */
    struct statfs fs;
    struct stat   st;
    return (strcmp(name, "self") == 0 || strcmp(name, "thread-self") == 0) &&
           fstatfs(w->fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC && fstat(w->fd, &st) == 0 &&
           st.st_ino == PROC_ROOT;
}

/* Tells whether the link, whose descriptor is @link, may be followed. Returns 0 or -errno. */
static int check_link(struct folder_path_walk *w, int link, const char *name, int is_last)
{
    struct stat st, folder;
    if (fstat(link, &st) != 0 || fstat(w->fd, &folder) != 0)
        return fail(w, errno);
    if (!S_ISLNK(st.st_mode))
        return fail(w, ENOTDIR);
    if (is_last && !(w->how & SXS_FOLDER_PATH_LAST_LINK)) {
        snprintf(w->why, w->size, "it is a symbolic link; expected the folder itself");
        return -ENOTDIR;
    }
    if (!is_self(w, name) && (!is_trusted(&st) || !is_trusted(&folder))) {
        snprintf(w->why, w->size,
                 "%s%s%s is a symbolic link that another user (uid %u) can change; expected a path "
                 "without it",
                 w->real, w->real[1] ? "/" : "", name,
                 (unsigned)(is_trusted(&st) ? folder.st_uid : st.st_uid));
        return -EACCES;
    }
    return ++w->links > MAX_LINKS ? fail(w, ELOOP) : 0;
}

/* Follows a link of /proc, whose text is not what it leads to. */
static int follow_kernel_link(struct folder_path_walk *w, const char *name, const char *text)
{
    struct stat there, by_text;
    int         fd = openat(w->fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC), err;
    if (fd < 0)
        return fail(w, errno);
    if (*text == '/' && strlen(text) < PATH_MAX && fstat(fd, &there) == 0 &&
        stat(text, &by_text) == 0 && there.st_dev == by_text.st_dev &&
        there.st_ino == by_text.st_ino)
        err = snprintf(w->real, PATH_MAX, "%s", text) < 0;
    else
        err = append_name(w, name);
    move_to(w, fd);
    return err;
}

/* Puts the text of a link before the names that are left. */
static int expand_link(struct folder_path_walk *w, const char *text)
{
    size_t len = strlen(text), left = strlen(w->rest);
    int    fd = *text == '/' ? open("/", STEP) : -1;
    if (*text == '/' && fd < 0)
        return fail(w, errno);
    if (fd >= 0) {
        move_to(w, fd);
        memcpy(w->real, "/", 2);
    }
    if (!len || len + 1 + left >= sizeof(w->rest))
        return fail(w, len ? ENAMETOOLONG : ENOENT);
    memmove(w->rest + len + 1, w->rest, left + 1);
    memcpy(w->rest, text, len);
    w->rest[len] = '/';
    return 0;
}

static int follow_link(struct folder_path_walk *w, const char *name, int is_last)
{
    char          text[PATH_MAX];
    struct statfs fs = {0};
    ssize_t       n = 0;
    int           link = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), err;
    if (link < 0)
        return fail(w, errno);
    err = check_link(w, link, name, is_last);
    if (!err && ((n = readlinkat(link, "", text, sizeof(text) - 1)) < 0 || fstatfs(link, &fs) != 0))
        err = fail(w, errno);
    close(link);
    if (err)
        return err;
    text[n] = '\0';
    return fs.f_type == PROC_SUPER_MAGIC ? follow_kernel_link(w, name, text) : expand_link(w, text);
}

/* ---- names ------------------------------------------------------------------------------------- */

/* Takes the next name off w->rest. Returns 1, 0 if there is none, or -errno. */
static int take_name(struct folder_path_walk *w, char name[NAME_MAX + 1], int *is_last)
{
    const char *at = w->rest + strspn(w->rest, "/");
    size_t      len = strcspn(at, "/");
    if (len > NAME_MAX)
        return fail(w, ENAMETOOLONG);
    memcpy(name, at, len);
    name[len] = '\0';
    at += len;
    at += strspn(at, "/");
    *is_last = !*at;
    memmove(w->rest, at, strlen(at) + 1);
    return len != 0;
}

static int enter(struct folder_path_walk *w, const char *name, int is_last)
{
    int fd;
    if (strcmp(name, ".") == 0)
        return 0;
    fd = openat(w->fd, name, STEP);
    if (fd < 0 && errno == ENOENT && is_last && w->how & SXS_FOLDER_PATH_MAKE) {
        w->made = mkdirat(w->fd, name, 0700) == 0;
        if (!w->made && errno != EEXIST)
            return fail(w, errno);
        fd = openat(w->fd, name, STEP);
    }
    if (fd < 0)
        return errno == ENOTDIR || errno == ELOOP ? follow_link(w, name, is_last) : fail(w, errno);
    move_to(w, fd);
    if (strcmp(name, "..") != 0)
        return append_name(w, name);
    drop_name(w);
    return 0;
}

static int begin(struct folder_path_walk *w)
{
    if (!*w->given || strlen(w->given) >= sizeof(w->rest))
        return fail(w, *w->given ? ENAMETOOLONG : ENOENT);
    memcpy(w->rest, w->given, strlen(w->given) + 1);
    if (*w->given == '/')
        memcpy(w->real, "/", 2);
    else if (!getcwd(w->real, PATH_MAX))
        return fail(w, errno);
    w->fd = open(*w->given == '/' ? "/" : ".", STEP);
    return w->fd < 0 ? fail(w, errno) : 0;
}

int sxs_folder_path_open(const char *path, unsigned how, char real[PATH_MAX], int *made, char *why,
                         size_t size)
{
    struct folder_path_walk w = {
        .fd = -1, .real = real, .how = how, .why = why, .size = size, .given = path};
    char name[NAME_MAX + 1];
    int  is_last, more, err = begin(&w), fd = -1;
    while (!err && (more = take_name(&w, name, &is_last)) != 0)
        err = more < 0 ? more : enter(&w, name, is_last);
    if (!err) {
        fd = openat(w.fd, ".",
                    how & SXS_FOLDER_PATH_ENTER ? STEP : O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        err = fd < 0 ? fail(&w, errno) : 0;
    }
    if (w.fd >= 0)
        close(w.fd);
    if (made)
        *made = w.made;
    return err ? err : fd;
}
