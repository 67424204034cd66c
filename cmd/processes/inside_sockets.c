/* SPDX-License-Identifier: MIT */
#include "cmd/processes/inside_sockets.h"

#include "cmd/processes/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Opens the folder of @path, and writes the address of the socket in it. The name of an address is
 * short, so the folder is named by its descriptor. Returns the folder, or -1 with errno. */
static int address_of(int root, const char *path, struct sockaddr_un *out)
{
    char        folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash || strlen(path) >= sizeof(folder)) {
        errno = EINVAL;
        return -1;
    }
    snprintf(folder, sizeof(folder), "%.*s/", (int)(slash - path), path);
    int dir = sxs_inside_open(root, folder, O_PATH | O_DIRECTORY, 0);
    if (dir < 0)
        return -1;
    memset(out, 0, sizeof(*out));
    out->sun_family = AF_UNIX;
    int n = snprintf(out->sun_path, sizeof(out->sun_path), "/proc/self/fd/%d/%s", dir, slash + 1);
    if (n < (int)sizeof(out->sun_path))
        return dir;
    close(dir);
    errno = ENAMETOOLONG;
    return -1;
}

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* Connects to an abstract name. */
static int connect_abstract(const char *name, int fd)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t             len = strlen(name);
    if (len >= sizeof(a.sun_path))
        return ENAMETOOLONG;
    memcpy(a.sun_path + 1, name, len);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
    return connect(fd, (struct sockaddr *)&a, size) == 0 ? 0 : errno;
}

/* Connects to the socket that the descriptor @at stands for: whatever has its name by now. */
static int connect_opened(int at, int fd)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct stat        st;
    if (fstat(at, &st) != 0)
        return errno;
    if (!S_ISSOCK(st.st_mode))
        return ENOTSOCK;
    snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d", at);
    return connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 ? 0 : errno;
}

static int connect_path(int root, void *arg, int *fd)
{
    const char *path = arg;
    *fd = new_socket();
    if (*fd < 0)
        return errno;
    if (*path == '@')
        return connect_abstract(path + 1, *fd);
    int at = sxs_inside_open(root, path, O_PATH | O_NOFOLLOW, 0);
    return at < 0 ? errno : connect_opened(at, *fd);
}

int sxs_inside_connect(const struct sxs_process *p, const char *path, int *fd)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof(copy), "%s", path);
    int err = sxs_inside_call(p, *path == '@' ? SXS_INSIDE_NET : 0, connect_path, copy, fd);
    if (err && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return err;
}

/* A socket's name, and what is found there. Shared by the child and this command. */
static struct sxs_inside_socket *new_place(const char *path)
{
    struct sxs_inside_socket *place =
        mmap(NULL, sizeof(*place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED)
        return NULL;
    snprintf(place->path, sizeof(place->path), "%s", path);
    return place;
}

/* Finds out what has the name of the socket in the folder @dir. Returns 0 or an errno value. */
static int look_at_name(int dir, const char *path, struct sxs_inside_file *out)
{
    struct stat st;
    *out = (struct sxs_inside_file){0};
    if (fstatat(dir, strrchr(path, '/') + 1, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno;
    *out = (struct sxs_inside_file){st.st_mode, st.st_uid, st.st_dev, st.st_ino};
    return 0;
}

static bool is_same_file(const struct sxs_inside_file *a, const struct sxs_inside_file *b)
{
    return a->dev == b->dev && a->ino == b->ino;
}

/* Removes the name of the socket @file in the folder @dir. Nobody but the user of the process and those
 * who may change the folder can put another file there meanwhile, and this child may remove
 * nothing that the user may not. */
static int remove_socket(int dir, const char *path, const struct sxs_inside_file *file)
{
    struct sxs_inside_file now;
    int                    err = look_at_name(dir, path, &now);
    if (err)
        return err;
    if (!S_ISSOCK(now.mode) || now.owner != geteuid() || !is_same_file(&now, file))
        return ESTALE;
    return unlinkat(dir, strrchr(path, '/') + 1, 0) == 0 ? 0 : errno;
}

/* Makes room for a socket: removes one of this user at which nobody listens. Returns 0 or an errno
 * value that says what is in the way. */
static int remove_dead(int dir, struct sxs_inside_socket *place)
{
    const char *name = strrchr(place->path, '/') + 1;
    int         err = look_at_name(dir, place->path, &place->made);
    if (err)
        return err == ENOENT ? 0 : err;
    if (!S_ISSOCK(place->made.mode))
        return ENOTSOCK;
    if (place->made.owner != geteuid())
        return EPERM;
    int at = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd = new_socket();
    if (at < 0 || fd < 0)
        return errno;
    err = connect_opened(at, fd);
    close(at);
    close(fd);
    if (err != ECONNREFUSED)
        return EADDRINUSE;
    return remove_socket(dir, place->path, &place->made);
}

static int listen_path(int root, void *arg, int *fd)
{
    struct sxs_inside_socket *place = arg;
    struct sockaddr_un        a;
    int                       dir = address_of(root, place->path, &a), err = 0;
    if (dir < 0)
        return errno;
    umask(0177);
    *fd = new_socket();
    if (*fd < 0)
        return errno;
    if (bind(*fd, (struct sockaddr *)&a, sizeof(a)) != 0)
        err = errno == EADDRINUSE ? remove_dead(dir, place) : errno;
    else
        return listen(*fd, 64) == 0 ? look_at_name(dir, place->path, &place->made) : errno;
    if (!err && (bind(*fd, (struct sockaddr *)&a, sizeof(a)) != 0 || listen(*fd, 64) != 0))
        err = errno;
    return err ? err : look_at_name(dir, place->path, &place->made);
}

int sxs_inside_listen(const struct sxs_process *p, const char *path, int *fd,
                      struct sxs_inside_file *file)
{
    struct sxs_inside_socket *place = new_place(path);
    *file = (struct sxs_inside_file){0};
    *fd = -1;
    if (!place)
        return ENOMEM;
    int err = sxs_inside_call(p, 0, listen_path, place, fd);
    *file = place->made;
    munmap(place, sizeof(*place));
    if (err && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return err;
}

struct unlinked_sockets {
    const struct sxs_inside_socket *items; /* borrowed */
    size_t                          n;
};

static int unlink_sockets(int root, void *arg, int *fd)
{
    const struct unlinked_sockets *s = arg;
    int                            err = 0;
    (void)fd;
    for (size_t i = 0; i < s->n; i++) {
        struct sockaddr_un a;
        int                dir = address_of(root, s->items[i].path, &a);
        int failed = dir < 0 ? errno : remove_socket(dir, s->items[i].path, &s->items[i].made);
        if (failed)
            err = failed;
    }
    return err;
}

int sxs_inside_unlink(const struct sxs_process *p, const struct sxs_inside_socket *sockets,
                      size_t n)
{
    struct unlinked_sockets s = {sockets, n};
    return n ? sxs_inside_call(p, SXS_INSIDE_ENDED | SXS_INSIDE_CLEAN, unlink_sockets, &s, NULL)
             : 0;
}
