/* SPDX-License-Identifier: MIT */
#include "base/code_path.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/user.h"

#define MAX_LINKS 40u /* as the kernel */

struct code_path_walk {
    char        at[PATH_MAX];   /* what was reached: no name in it is a link */
    char        rest[PATH_MAX]; /* what is not walked yet */
    struct stat folder;         /* the status of @at, while names follow */
    unsigned    links;          /* that were followed */
    const char *given;          /* the path that is tested */
    char       *why;
    size_t      size;
};

static int is_read_only(const char *path)
{
    struct statvfs fs;
    return statvfs(path, &fs) == 0 && (fs.f_flag & ST_RDONLY);
}

/* In a user namespace, the same number can stand for several users. */
static int is_trusted(const struct code_path_walk *w, uid_t owner)
{
    return owner == 0 ||
           ((owner == geteuid() || owner == w->folder.st_uid) && sxs_user_is_known(owner));
}

/* Refuses a file or folder that every user can write to, except a folder with the sticky bit: there, users cannot
 * replace entries of others. */
static int check_mode(const struct code_path_walk *w, const struct stat *st)
{
    if (!(st->st_mode & S_IWOTH) || S_ISLNK(st->st_mode) ||
        (S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX) || is_read_only(w->at))
        return 0;
    snprintf(w->why, w->size,
             "every user can write to %.200s (mode %04o), and it leads to code; expected "
             "chmod o-w, or a read-only mount",
             w->at, (unsigned)st->st_mode & 07777u);
    return 1;
}

/* Refuses an entry of another user in a folder where every user can make one. */
static int check_owner(const struct code_path_walk *w, const struct stat *st)
{
    if (!(w->folder.st_mode & S_IWOTH) || is_trusted(w, st->st_uid) || is_read_only(w->at))
        return 0;
    snprintf(w->why, w->size,
             "%.200s belongs to uid %u, in a folder where every user can make files; expected one "
             "of uid %u or root",
             w->at, (unsigned)st->st_uid, (unsigned)geteuid());
    return 1;
}

static int fail(const struct code_path_walk *w, int err)
{
    snprintf(w->why, w->size, "%.200s: %s; expected a file that can be read", w->given,
             strerror(err));
    return -1;
}

/* Appends the next name of w->rest to w->at. Returns 1, 0 when there is none, or -1 with a reason. */
static int take_name(struct code_path_walk *w)
{
    const char *name = w->rest + strspn(w->rest, "/");
    size_t      len = strcspn(name, "/"), used = strlen(w->at), slash = used > 1;
    if (!len)
        return 0;
    if (used + slash + len >= sizeof(w->at))
        return fail(w, ENAMETOOLONG);
    if (len == 2 && strncmp(name, "..", 2) == 0) {
        char *last = strrchr(w->at, '/');
        last[last == w->at] = '\0';
    } else if (len != 1 || *name != '.') {
        memcpy(w->at + used, "/", slash);
        memcpy(w->at + used + slash, name, len);
        w->at[used + slash + len] = '\0';
    }
    memmove(w->rest, name + len, strlen(name + len) + 1);
    return 1;
}

/* Puts the text of the link w->at before the names that are left. Returns 0, or -1 with a reason. */
static int follow_link(struct code_path_walk *w)
{
    char    text[PATH_MAX];
    ssize_t n = readlink(w->at, text, sizeof(text) - 1);
    size_t  left = strlen(w->rest);
    if (n <= 0 || (size_t)n + 1 + left >= sizeof(w->rest) || ++w->links > MAX_LINKS)
        return fail(w, n < 0 ? errno : w->links > MAX_LINKS ? ELOOP : ENAMETOOLONG);
    memmove(w->rest + n + 1, w->rest, left + 1);
    memcpy(w->rest, text, (size_t)n);
    w->rest[n] = '/';
    char *last = strrchr(w->at, '/');
    last[last == w->at] = '\0';
    if (*text == '/')
        memcpy(w->at, "/", 2);
    return 0;
}

static int begin(struct code_path_walk *w, const char *path)
{
    if (*path != '/' && !getcwd(w->rest, sizeof(w->rest)))
        return fail(w, errno);
    size_t used = *path == '/' ? 0 : strlen(w->rest);
    int    n = snprintf(w->rest + used, sizeof(w->rest) - used, "/%s", path);
    if (n < 0 || (size_t)n >= sizeof(w->rest) - used)
        return fail(w, ENAMETOOLONG);
    return stat("/", &w->folder) == 0 ? 0 : fail(w, errno);
}

/* What is found. */
enum { SAFE, LEADS_NOWHERE, OPEN };

static int test_path(const char *path, char *why, size_t size)
{
    struct code_path_walk w = {.at = "/", .given = path, .why = why, .size = size};
    struct stat           st;
    int                   more;
    if (begin(&w, path) != 0)
        return LEADS_NOWHERE;
    while ((more = take_name(&w)) == 1) {
        if (lstat(w.at, &st) != 0)
            return fail(&w, errno), LEADS_NOWHERE;
        if (check_owner(&w, &st) || check_mode(&w, &st))
            return OPEN;
        if (S_ISLNK(st.st_mode) && (follow_link(&w) != 0 || lstat(w.at, &st) != 0))
            return LEADS_NOWHERE;
        w.folder = st;
    }
    return more ? LEADS_NOWHERE : SAFE;
}

/* Tells whether every user could replace the library or the command that asks. */
static int is_open_itself(void)
{
    Dl_info own;
    char    why[512];
    return dladdr((void *)(uintptr_t)sxs_code_path_refused, &own) && own.dli_fname &&
           test_path(own.dli_fname, why, sizeof(why)) == OPEN;
}

int sxs_code_path_refused(const char *path, char *why, size_t size)
{
    int found = strchr(path, '/') ? test_path(path, why, size) : SAFE;
    return found == LEADS_NOWHERE || (found == OPEN && !is_open_itself());
}
