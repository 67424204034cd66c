/* SPDX-License-Identifier: MIT */
#include "cmd/processes/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORK_LIMIT_MS 10000
#define MAX_GROUPS    256

int sxs_inside_open(int root, const char *path, int flags, unsigned mode)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
        .mode = mode,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/* Reads the supplementary groups of the process. Returns their number. */
static size_t read_groups(const struct sxs_process *p, gid_t groups[MAX_GROUPS])
{
    int    fd = openat(p->dir, "status", O_RDONLY | O_CLOEXEC);
    FILE  *from = fd >= 0 ? fdopen(fd, "r") : NULL;
    char  *line = NULL;
    size_t room = 0, n = 0;
    while (from && getline(&line, &room, from) > 0)
        if (strncmp(line, "Groups:", 7) == 0) {
            char *at = line + 7, *end;
            for (unsigned long g; n < MAX_GROUPS && (g = strtoul(at, &end, 10), end != at);
                 at = end)
                groups[n++] = (gid_t)g;
        }
    free(line);
    if (from)
        fclose(from);
    return n;
}

static int join(const struct sxs_process *p, const char *name, int type)
{
    int fd = openat(p->dir, name, O_RDONLY | O_CLOEXEC);
    int err = fd < 0 || setns(fd, type) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return err;
}

/* In the child: becomes the user of the process, and joins its network. */
static int become(const struct sxs_process *p, unsigned flags)
{
    gid_t groups[MAX_GROUPS];
    bool  root = geteuid() == 0;
    int   err = 0;
    if ((flags & SXS_INSIDE_NET) && p->other.net) {
        if (!root && p->other.user) /* gives the right to join the network of one's own container */
            err = join(p, "ns/user", CLONE_NEWUSER);
        if (!err)
            err = join(p, "ns/net", CLONE_NEWNET);
    }
    if (err || !root || p->uid == geteuid())
        return err;
    size_t n = read_groups(p, groups);
    if (setgroups(n, groups) != 0 || setresgid(p->gid, p->gid, p->gid) != 0 ||
        setresuid(p->uid, p->uid, p->uid) != 0)
        return errno;
    return 0;
}

/* Sends the result, and the descriptor if there is one. */
static void send_result(int to, int err, int fd)
{
    char          control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec  bytes = {&err, sizeof(err)};
    struct msghdr m = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (fd >= 0) {
        m.msg_control = control;
        m.msg_controllen = sizeof(control);
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    }
    sendmsg(to, &m, MSG_NOSIGNAL);
}

/* Receives them. Returns the result, or an errno value when the child sent none. */
static int receive_result(int from, int *fd)
{
    char          control[CMSG_SPACE(sizeof(int))];
    int           err = EPIPE;
    struct iovec  bytes = {&err, sizeof(err)};
    struct msghdr m = {.msg_iov = &bytes,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof(control)};
    struct pollfd ready = {.fd = from, .events = POLLIN};
    int           n;
    while ((n = poll(&ready, 1, WORK_LIMIT_MS)) < 0 && errno == EINTR)
        ;
    if (n == 0)
        return ETIMEDOUT;
    if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(err))
        return EPIPE;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(fd, CMSG_DATA(c), sizeof(*fd));
    return err;
}

int sxs_inside_call(const struct sxs_process *p, unsigned            flags,
                    int (*work)(int root, void *arg, int *fd), void *arg, int *fd)
{
    int   io[2], got = -1, err = p->root < 0 ? EACCES : 0;
    pid_t child = -1;
    if (!err && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, io) != 0)
        err = errno;
    if (err)
        return err;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        int opened = -1;
        err = become(p, flags);
        if (!err)
            err = work(p->root, arg, &opened);
        send_result(io[1], err, opened);
        _exit(0);
    }
    err = child < 0 ? errno : 0;
    close(io[1]);
    if (!err)
        err = receive_result(io[0], &got);
    close(io[0]);
    if (err == ETIMEDOUT)
        kill(child, SIGKILL);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (fd)
        *fd = got;
    else if (got >= 0)
        close(got);
    return err;
}

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

static int connect_path(int root, void *arg, int *fd)
{
    const char        *path = arg;
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    socklen_t          size = sizeof(a);
    if (*path == '@') {
        size_t len = strlen(path + 1);
        if (len >= sizeof(a.sun_path))
            return ENAMETOOLONG;
        memcpy(a.sun_path + 1, path + 1, len);
        size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
    } else if (address_of(root, path, &a) < 0) {
        return errno;
    }
    *fd = new_socket();
    return *fd < 0 || connect(*fd, (struct sockaddr *)&a, size) != 0 ? errno : 0;
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

static int listen_path(int root, void *arg, int *fd)
{
    struct sockaddr_un a;
    if (address_of(root, arg, &a) < 0)
        return errno;
    umask(0177);
    *fd = new_socket();
    return *fd < 0 || bind(*fd, (struct sockaddr *)&a, sizeof(a)) != 0 || listen(*fd, 64) != 0
               ? errno
               : 0;
}

int sxs_inside_listen(const struct sxs_process *p, const char *path, int *fd)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof(copy), "%s", path);
    int err = sxs_inside_call(p, 0, listen_path, copy, fd);
    if (err && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return err;
}

static int unlink_path(int root, void *arg, int *fd)
{
    struct sockaddr_un a;
    (void)fd;
    return address_of(root, arg, &a) < 0 || unlink(a.sun_path) != 0 ? errno : 0;
}

int sxs_inside_unlink(const struct sxs_process *p, const char *path)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof(copy), "%s", path);
    return sxs_inside_call(p, 0, unlink_path, copy, NULL);
}

struct rights {
    char path[PATH_MAX];
    int  mode;
};

static int check_rights(int root, void *arg, int *fd)
{
    const struct rights *r = arg;
    char                 named[40];
    (void)fd;
    int at = sxs_inside_open(root, r->path, O_PATH, 0);
    if (at < 0)
        return errno;
    snprintf(named, sizeof(named), "/proc/self/fd/%d", at);
    return faccessat(AT_FDCWD, named, r->mode, AT_EACCESS) == 0 ? 0 : errno;
}

int sxs_inside_can(const struct sxs_process *p, const char *path, int mode)
{
    struct rights r = {.mode = mode};
    snprintf(r.path, sizeof(r.path), "%s", path);
    return sxs_inside_call(p, 0, check_rights, &r, NULL);
}
