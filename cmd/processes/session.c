/* SPDX-License-Identifier: MIT */
#include "cmd/processes/session.h"

#include "cmd/confined/confined.h"
#include "cmd/processes/identity.h"
#include "cmd/processes/maps.h"
#include "session/format/session.h"
#include "session/read/session_read.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
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

/* What is found among the files of a process. */
struct found {
    struct sxs_process_session *out;
    uint64_t                    inode; /* of the census that is mapped */
};

/* Takes the library, and the last census: a process may have had several sessions. */
static int take_file(void *arg, const struct sxs_mapped_file *f)
{
    struct found               *found = arg;
    struct sxs_process_session *out = found->out;
    size_t                      len = f->deleted || f->ambiguous ? 0 : session_length(f->path);
    out->library |= strcmp(strrchr(f->path, '/') + 1, LIBRARY) == 0;
    if (!len)
        return 0;
    free(out->dir);
    free(out->folder);
    found->inode = f->inode;
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
    uint64_t    inode; /* of the census that is mapped */
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

/* Tells whether @census is the file that the process has mapped. Overlay file systems number mapped files
 * otherwise. */
static bool is_mapped(int census, const struct claim *c)
{
    struct stat   st;
    struct statfs fs;
    return fstat(census, &st) == 0 && S_ISREG(st.st_mode) &&
           ((uint64_t)st.st_ino == c->inode ||
            (fstatfs(census, &fs) == 0 && fs.f_type == OVERLAYFS_SUPER_MAGIC));
}

/* Tells whether the process's folder in @session is one that only the process's user or root can have
 * made, with its census in it. */
static bool is_folder_of(int session, const struct claim *c)
{
    struct stat st;
    int         folder = open_plain(session, c->folder, O_DIRECTORY);
    bool        good = folder >= 0 && fstat(folder, &st) == 0 && !(st.st_mode & S_IWOTH) &&
                (st.st_uid == c->uid || st.st_uid == c->own || st.st_uid == 0);
    int census = good ? open_plain(folder, SXS_CENSUS_FILE, O_NOFOLLOW) : -1;
    good = census >= 0 && is_mapped(census, c);
    if (census >= 0)
        close(census);
    if (folder >= 0)
        close(folder);
    return good;
}

/* Opens the session's folder below the root folder of the process, or else the own one, if the process's
 * folder in it is what it shall be. Returns a descriptor (O_PATH), or -1. */
static int open_claimed(const struct claim *c)
{
    int session = -1;
    for (int i = 0; i < 2 && session < 0; i++) {
        int root = i == 0 ? openat(c->dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC)
                          : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        session = root >= 0 ? open_plain(root, c->session, O_DIRECTORY) : -1;
        if (session >= 0 && !is_folder_of(session, c)) {
            close(session);
            session = -1;
        }
        if (root >= 0)
            close(root);
    }
    return session;
}

static int check_claim(void *arg, int out_fd)
{
    (void)out_fd;
    return open_claimed(arg) >= 0 ? 0 : EPERM;
}

/* Returns the effective user of a process, or -1. */
static uid_t user_of(int dir)
{
    struct sxs_identity identity;
    return sxs_identity_read_users(dir, &identity) == 0 ? identity.uids[1] : (uid_t)-1;
}

/* Opens the folder that the process has named, if it is its session: first in the child, whose waiting for
 * the file system ends in time. Returns 0, EPERM or ENOMEM. */
static int open_session(int dir, struct sxs_process_session *s, uint64_t inode)
{
    static const struct sxs_confinement limits = {
        .memory = UINT64_C(64) << 20,
        .cpu_s = 5,
        .wall_ms = CLAIM_MS,
        .file_size = 1,
        .capabilities = UINT64_C(1) << CAP_SYS_PTRACE | UINT64_C(1) << CAP_DAC_READ_SEARCH,
        .calls = SXS_CONFINED_LOOK,
    };
    struct claim c = {dir, user_of(dir), geteuid(), inode, s->dir, s->folder};
    char         none[1];
    size_t       len;
    if (sxs_confined_run(&limits, check_claim, &c, none, sizeof(none), &len) == 0)
        s->fd = open_claimed(&c);
    if (s->fd < 0)
        return EPERM;
    if (c.uid != c.own && asprintf(&s->open, "/proc/self/fd/%d/.", s->fd) < 0)
        s->open = NULL;
    return c.uid == c.own || s->open ? 0 : ENOMEM;
}

int sxs_process_session_find(pid_t pid, struct sxs_process_session *out)
{
    int          dir = open_proc(pid);
    struct found found = {.out = out};
    *out = (struct sxs_process_session){.fd = -1};
    if (dir < 0)
        return -dir;
    int err = sxs_maps_each(dir, take_file, &found);
    if (!err && out->dir && (err = open_session(dir, out, found.inode)) == EPERM) {
        free(out->dir);
        free(out->folder);
        out->dir = out->folder = NULL;
        err = 0;
    }
    close(dir);
    if (!err && out->dir)
        err = find_folder(pid, out);
    if (!err && out->dir && !out->open && !(out->open = strdup(out->dir)))
        err = ENOMEM;
    return err == ENOENT ? ESRCH : err;
}

bool sxs_process_session_is_foreign(const struct sxs_process_session *s)
{
    return s->dir && strcmp(s->dir, s->open) != 0;
}

void sxs_process_session_free(struct sxs_process_session *s)
{
    free(s->dir);
    free(s->folder);
    free(s->open);
    if (s->fd >= 0)
        close(s->fd);
    *s = (struct sxs_process_session){.fd = -1};
}

/* ---- the processes of a census ---- */

struct census {
    const char *folder, *path;
    uint64_t    inode;
};

enum { FOUND = -1 }; /* no errno value */

static int find_census(void *arg, const struct sxs_mapped_file *f)
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
    int found = sxs_maps_each(dir, find_census, &census);
    close(dir);
    return found == FOUND;
}
