/* SPDX-License-Identifier: MIT */
#include "cmd/processes/session.h"

#include "cmd/confined/confined.h"
#include "cmd/processes/maps.h"
#include "session/format/session.h"
#include "session/read/session_read.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIBRARY "libsxsprof.so"

/* Opens /proc/PID. Returns a descriptor, or -errno. */
static int open_proc(pid_t pid)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    int fd = pid > 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    return fd >= 0 ? fd : pid > 0 && errno != ENOENT ? -errno : -ESRCH;
}

/* If @path is that of a census in the folder of a process, "SESSION/123/census", returns the length
 * of "SESSION"; else 0. */
static size_t session_length(const char *path)
{
    const char *census = strrchr(path, '/'), *name = census;
    char        folder[64];
    while (name && name > path && name[-1] != '/')
        name--;
    if (!name || name - path < 2 || strcmp(census + 1, SXS_CENSUS_FILE) != 0 ||
        (size_t)(census - name) >= sizeof(folder))
        return 0;
    memcpy(folder, name, (size_t)(census - name));
    folder[census - name] = '\0';
    return sxs_session_names_process(folder) ? (size_t)(name - 1 - path) : 0;
}

/* Takes the library, and the last census: a process may have had several sessions. */
static int take_file(void *arg, const struct sxs_mapped_file *f)
{
    struct sxs_process_session *out = arg;
    size_t                      len = f->deleted || f->ambiguous ? 0 : session_length(f->path);
    out->library |= strcmp(strrchr(f->path, '/') + 1, LIBRARY) == 0;
    if (!len)
        return 0;
    free(out->dir);
    free(out->folder);
    out->dir = strndup(f->path, len);
    out->folder = strndup(f->path + len + 1, strcspn(f->path + len + 1, "/"));
    return out->dir && out->folder ? 0 : ENOMEM;
}

/* Returns true when @path is the same folder for this process and for process @pid. */
static bool is_here(const char *path, const char *there)
{
    struct stat a, b;
    return stat(path, &a) == 0 &&
           (stat(there, &b) != 0 || (a.st_dev == b.st_dev && a.st_ino == b.st_ino));
}

/* Makes the name of the session's folder one that this process can open: a process in a container
 * has its own root. Returns 0 or ENOMEM. */
static int find_folder(pid_t pid, struct sxs_process_session *out)
{
    char *here = NULL, *there = NULL, *outside = NULL;
    int   err = 0;
    if (asprintf(&here, "%s/%s", out->dir, out->folder) < 0)
        here = NULL;
    if (asprintf(&there, "/proc/%d/root%s/%s", (int)pid, out->dir, out->folder) < 0)
        there = NULL;
    if (!here || !there) {
        err = ENOMEM;
    } else if (!is_here(here, there)) {
        outside = strndup(there, strlen(there) - strlen(out->folder) - 1);
        err = outside ? 0 : ENOMEM;
    }
    if (outside) {
        free(out->dir);
        out->dir = outside;
    }
    free(here);
    free(there);
    return err;
}

/* ---- is it a session of the process ---- */

/* What is checked in a confined child: names of a stranger are looked up, in file systems of his. */
struct claim {
    int         dir; /* /proc/PID */
    uid_t       uid, own;
    const char *session, *folder;
};

enum { CLAIM_MS = 3000 };

static int open_plain(int root, const char *path, uint64_t flags)
{
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC | flags,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/* Tells whether a folder below @root is one that only the process's user or root can have made, with a
 * census in it. */
static bool is_folder_of(int root, const struct claim *c, const char *path)
{
    struct stat st;
    int         folder = root >= 0 ? open_plain(root, path, O_DIRECTORY) : -1;
    bool        good = folder >= 0 && fstat(folder, &st) == 0 && !(st.st_mode & S_IWOTH) &&
                (st.st_uid == c->uid || st.st_uid == c->own || st.st_uid == 0);
    int census = good ? open_plain(folder, SXS_CENSUS_FILE, O_NOFOLLOW) : -1;
    good = census >= 0 && fstat(census, &st) == 0 && S_ISREG(st.st_mode);
    if (census >= 0)
        close(census);
    if (folder >= 0)
        close(folder);
    return good;
}

static int check_claim(void *arg, int out_fd)
{
    const struct claim *c = arg;
    char                path[PATH_MAX];
    int                 theirs = openat(c->dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int                 ours = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    (void)out_fd;
    if (snprintf(path, sizeof(path), "%s/%s", c->session, c->folder) >= (int)sizeof(path))
        return ENAMETOOLONG;
    return is_folder_of(theirs, c, path) || is_folder_of(ours, c, path) ? 0 : EPERM;
}

/* Returns the effective user of a process, or -1. */
static uid_t user_of(int dir)
{
    char        text[2048];
    unsigned    user = (unsigned)-1;
    int         fd = openat(dir, "status", O_RDONLY | O_CLOEXEC);
    ssize_t     n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    const char *at;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    at = strstr(text, "\nUid:");
    if (at)
        sscanf(at, "\nUid: %*u %u", &user);
    return user;
}

/* Tells whether the folder that the process has named is its session. */
static bool is_session(int dir, const struct sxs_process_session *s)
{
    static const struct sxs_confinement limits = {
        .memory = UINT64_C(64) << 20,
        .cpu_s = 5,
        .wall_ms = CLAIM_MS,
        .file_size = 1,
        .capabilities = UINT64_C(1) << CAP_SYS_PTRACE | UINT64_C(1) << CAP_DAC_READ_SEARCH,
        .calls = SXS_CONFINED_LOOK,
    };
    struct claim c = {dir, user_of(dir), geteuid(), s->dir, s->folder};
    char         none[1];
    size_t       len;
    return sxs_confined_run(&limits, check_claim, &c, none, sizeof(none), &len) == 0;
}

int sxs_process_session_find(pid_t pid, struct sxs_process_session *out)
{
    int dir = open_proc(pid);
    *out = (struct sxs_process_session){0};
    if (dir < 0)
        return -dir;
    int err = sxs_maps_each(dir, take_file, out);
    if (!err && out->dir && !is_session(dir, out)) {
        free(out->dir);
        free(out->folder);
        out->dir = out->folder = NULL;
    }
    close(dir);
    if (!err && out->dir)
        err = find_folder(pid, out);
    return err == ENOENT ? ESRCH : err;
}

void sxs_process_session_free(struct sxs_process_session *s)
{
    free(s->dir);
    free(s->folder);
    *s = (struct sxs_process_session){0};
}

/* ---- the processes of a census ---- */

struct census {
    const char *folder, *path;
    uint64_t    inode;
};

enum { FOUND = -1 }; /* no errno value */

static int is_census(void *arg, const struct sxs_mapped_file *f)
{
    const struct census *c = arg;
    size_t               len = f->deleted ? 0 : session_length(f->path), folder = strlen(c->folder);
    if (!len || strncmp(f->path + len + 1, c->folder, folder) != 0 ||
        f->path[len + 1 + folder] != '/')
        return 0;
    return f->inode == c->inode || strcmp(f->path, c->path) == 0 ? FOUND : 0;
}

bool sxs_process_has_census(pid_t pid, const char *folder, const char *path, uint64_t inode)
{
    struct census census = {folder, path, inode};
    int           dir = open_proc(pid);
    if (dir < 0)
        return false;
    int found = sxs_maps_each(dir, is_census, &census);
    close(dir);
    return found == FOUND;
}
