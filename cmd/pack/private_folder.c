/* SPDX-License-Identifier: MIT */
#include "cmd/pack/private_folder.h"

#include "base/tree.h"
#include "cmd/output/must.h"
#include "cmd/output/temporary.h"
#include "session/read/file_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PREFIX "sxsprof-pack-"
#define LOCK   ".lock"

enum { TRIES = 8, MAX_LEFT = 1000 };

static char *join(const char *folder, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        sxs_must(NULL);
    return path;
}

/* ---- folders whose process was killed -------------------------------------------------------- */

/* Returns true when the folder @fd was made here, by this user, and its process has ended: then nobody
 * holds the lock of its lock file any more. @lock: receives the lock file. */
static bool is_left(int fd, int *lock)
{
    struct stat st;
    *lock = -1;
    if (fstat(fd, &st) != 0 || st.st_uid != geteuid())
        return false;
    *lock = sxs_file_open_regular(SXS_FILES_OF(fd), LOCK, &st);
    return *lock >= 0 && st.st_uid == geteuid() && flock(*lock, LOCK_EX | LOCK_NB) == 0;
}

static void clean_folder(int dir_fd, const char *name)
{
    int lock = -1, fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && is_left(fd, &lock)) {
        sxs_tree_clear(fd, 2);
        unlinkat(dir_fd, name, AT_REMOVEDIR);
    }
    if (lock >= 0)
        close(lock);
    if (fd >= 0)
        close(fd);
}

void sxs_private_clean(void)
{
    DIR *d = opendir(sxs_temporary_folder());
    int  n = 0;
    for (struct dirent *e; d && n < MAX_LEFT && (e = readdir(d));)
        if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) == 0) {
            clean_folder(dirfd(d), e->d_name);
            n++;
        }
    if (d)
        closedir(d);
}

/* ---- a folder -------------------------------------------------------------------------------- */

/* The folders that there are now, with the descriptors that hold their locks. */
static struct held {
    const char *folder; /* borrowed */
    int         lock;
} * held;
static size_t n_held, cap_held;

/* Locks a new folder. The lock ends with the folder, or with this process, however it ends. Returns false
 * when another command has found the folder before it was locked, and removes it. */
static bool lock_folder(const char *folder)
{
    struct stat st;
    int         fd = sxs_private_file(folder, LOCK);
    if (fd < 0)
        return false;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink) {
        SXS_GROW(held, n_held, cap_held);
        held[n_held++] = (struct held){folder, fd};
        return true;
    }
    close(fd);
    return false;
}

/* Returns the descriptor that holds the lock of @folder, or -1; the caller owns it. */
static int take_lock(const char *folder)
{
    for (size_t i = 0; i < n_held; i++)
        if (held[i].folder == folder) {
            int lock = held[i].lock;
            held[i] = held[--n_held];
            return lock;
        }
    return -1;
}

const char *sxs_private_folder(void)
{
    sxs_private_clean();
    for (int i = 0; i < TRIES; i++) {
        char *path = join(sxs_temporary_folder(), PREFIX "XXXXXX");
        if (sxs_temporary_make(SXS_TEMPORARY_FOLDER, path, 0) != 0)
            return NULL;
        if (lock_folder(path))
            return path;
        sxs_private_remove(path);
    }
    errno = EAGAIN;
    return NULL;
}

int sxs_private_subfolder(const char *folder, const char *name)
{
    return sxs_temporary_make(SXS_TEMPORARY_SUBFOLDER, join(folder, name), 0) == 0 ||
                   errno == EEXIST
               ? 0
               : -1;
}

int sxs_private_file(const char *folder, const char *name)
{
    return sxs_temporary_make(SXS_TEMPORARY_FILE, join(folder, name), 0600);
}

uint64_t sxs_private_room(const char *folder)
{
    struct statvfs st;
    return statvfs(folder, &st) == 0 ? (uint64_t)st.f_bavail * st.f_frsize / 2 : 0;
}

void sxs_private_remove(const char *folder)
{
    int lock = take_lock(folder);
    sxs_temporary_remove(folder);
    if (lock >= 0)
        close(lock);
}
