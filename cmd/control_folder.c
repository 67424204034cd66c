/* SPDX-License-Identifier: MIT */
/* Opens the folder that a process names in an answer. The folder is used only if it belongs to a session of that
 * process. */
#include "cmd/control.h"

#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/processes/inside.h"
#include "cmd/processes/session.h"
#include "session/format/session.h"
#include "session/read/session_read.h"

#define MAX_ENTRIES 65536u

/* Shared with the child that is the user of the process. */
struct folder_look {
    char        path[PATH_MAX]; /* as the process sees it */
    bool        with_bytes;
    struct stat folder, census;
    uint64_t    bytes; /* of the disk, in the files of the folder */
};

static uint64_t count_bytes(int dir)
{
    DIR           *d = sxs_tree_list(dir, ".");
    struct dirent *e;
    struct stat    st;
    uint64_t       bytes = 0;
    for (unsigned n = 0; d && n < MAX_ENTRIES && (e = readdir(d)); n++)
        if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            bytes += (uint64_t)st.st_blocks * 512;
    if (d)
        closedir(d);
    return bytes;
}

/* In the child: opens the folder with the rights of the process, and looks at it. A folder that never
 * answers keeps only the child. */
static int look_inside(int root, void *arg, int *fd)
{
    struct folder_look *look = arg;
    *fd = sxs_inside_open(root, look->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (*fd < 0 || fstat(*fd, &look->folder) != 0 ||
        fstatat(*fd, SXS_CENSUS_FILE, &look->census, AT_SYMLINK_NOFOLLOW) != 0)
        return errno;
    if (look->with_bytes)
        look->bytes = count_bytes(*fd);
    return 0;
}

static bool is_foreign(const struct sxs_process *p)
{
    return p->uid != geteuid() || sxs_process_is_apart(p);
}

/* Tells whether the process has the census of this folder mapped: it is its session now. */
static bool is_recorded_into(const struct sxs_process *p, const struct folder_look *look)
{
    char        census[PATH_MAX + sizeof(SXS_CENSUS_FILE) + 1];
    const char *folder = strrchr(look->path, '/') + 1;
    snprintf(census, sizeof(census), "%s/%s", look->path, SXS_CENSUS_FILE);
    return sxs_process_has_census(p->pid, folder, census, (uint64_t)look->census.st_ino);
}

/* Returns NULL, or the reason why the folder is not that of a session of @p. */
static const char *refuse(const struct sxs_process *p, const struct folder_look *look, bool now)
{
    if (!sxs_session_names_process(strrchr(look->path, '/') + 1))
        return "its name is not that of a process's folder";
    if (look->folder.st_uid != p->uid || look->census.st_uid != p->uid)
        return "it does not belong to the user of the process";
    if (look->folder.st_mode & (S_IWGRP | S_IWOTH))
        return "others may write into it";
    if (!S_ISREG(look->census.st_mode))
        return "its census is no file";
    if (now && is_foreign(p) && !is_recorded_into(p, look))
        return "the process does not record into it";
    return NULL;
}

/* As sxs_control_folder_open(); @look is shared. */
static int open_folder(const struct sxs_control_target *t, struct folder_look *look, bool now,
                       const char **why)
{
    const char *out = sxs_message_get(&t->answer.message, "out");
    int         fd = -1, err;
    *why = "the answer names none";
    errno = 0;
    if (!out || *out != '/' || strlen(out) >= sizeof(look->path) || !strcmp(out, "/"))
        return -1;
    snprintf(look->path, sizeof(look->path), "%s", out);
    err = sxs_inside_call(&t->process, 0, look_inside, look, &fd);
    *why = err ? strerror(err) : refuse(&t->process, look, now);
    if (*why && fd >= 0) {
        close(fd);
        fd = -1;
    }
    errno = err;
    return fd;
}

int sxs_control_folder_open(const struct sxs_control_target *t, bool now, uint64_t *bytes,
                            const char **why)
{
    struct folder_look *look =
        mmap(NULL, sizeof(*look), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int fd;
    *why = strerror(ENOMEM);
    errno = ENOMEM;
    if (look == MAP_FAILED)
        return -1;
    look->with_bytes = bytes != NULL;
    fd = open_folder(t, look, now, why);
    if (bytes)
        *bytes = fd >= 0 ? look->bytes : 0;
    munmap(look, sizeof(*look));
    return fd;
}
