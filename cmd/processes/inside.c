/* SPDX-License-Identifier: MIT */
#include "cmd/processes/inside.h"

#include "cmd/confined/confined.h"
#include "cmd/confined/descriptors.h"
#include "cmd/processes/deadline.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORK_LIMIT_MS 10000
#define STEP_MS       100
#define CLEAN_MS      500
#define MAX_STATUS    (1u << 20) /* bytes of /proc/PID/status */

int sxs_inside_open(int root, const char *path, int flags, unsigned mode)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
        .mode = mode,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/* ---- becoming the user of a process ---------------------------------------------------------- */

/* What /proc says of a process at one moment. */
struct look {
    struct sxs_identity identity;
    gid_t              *groups; /* owned */
    size_t              n_groups;
};

/* Reads the supplementary groups in @text, that of /proc/PID/status. Returns 0 or ENOMEM. */
static int read_groups(const char *text, struct look *out)
{
    const char *at = sxs_status_value(text, "Groups");
    size_t      len = at ? strcspn(at, "\n") : 0;
    const char *end = at + len;
    out->groups = calloc(len / 2 + 1, sizeof(*out->groups)); /* a digit and a blank each */
    if (!out->groups)
        return ENOMEM;
    while (len && at < end) {
        char         *next;
        unsigned long g = strtoul(at, &next, 10);
        if (next == at || next > end)
            break;
        out->groups[out->n_groups++] = (gid_t)g;
        at = next + strspn(next, " ");
    }
    return 0;
}

/* Looks at the process, and compares it with what was read of it. User, groups and capabilities are of
 * one moment. Returns 0 or an errno value: ESRCH when it has ended or is another program. */
static int look_at(const struct sxs_process *p, struct look *out)
{
    memset(out, 0, sizeof(*out));
    int   err = sxs_identity_read(p->dir, &out->identity);
    char *text = err ? NULL : sxs_proc_text(p->dir, "status", MAX_STATUS, NULL);
    if (!err)
        err = text ? sxs_identity_of_status(text, &out->identity) : errno;
    if (!err)
        err = read_groups(text, out);
    free(text);
    if (!err && (!sxs_identity_is_same(&out->identity, &p->identity) || !sxs_process_is_same(p)))
        err = ESRCH;
    return err;
}

/* The process as it was, for a work that may come after its end. */
static void remember(const struct sxs_process *p, struct look *out)
{
    *out = (struct look){.identity = p->identity};
    out->identity.capabilities = 0;
}

static int join(const struct sxs_process *p, const char *name, int type)
{
    int fd = openat(p->dir, name, O_RDONLY | O_CLOEXEC);
    int err = fd < 0 || setns(fd, type) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return err;
}

static int join_network(const struct sxs_process *p, bool root)
{
    int err = 0;
    if (!p->other.net)
        return 0;
    if (!root && p->other.user) /* gives the right to join the network of one's own container */
        err = join(p, "ns/user", CLONE_NEWUSER);
    return err ? err : join(p, "ns/net", CLONE_NEWNET);
}

static bool is_in_own_user_namespace(const struct sxs_process *p)
{
    struct stat own, other;
    return stat("/proc/self/ns/user", &own) == 0 && fstatat(p->dir, "ns/user", &other, 0) == 0 &&
           own.st_ino == other.st_ino && own.st_dev == other.st_dev;
}

/* Keeps of this command's capabilities those of @capabilities that work with files. */
static int limit_capabilities(uint64_t capabilities)
{
    return sxs_confined_keep_capabilities(
        capabilities & (1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH |
                        1u << CAP_FOWNER | 1u << CAP_FSETID));
}

/* Returns true when this command has the user and the groups already: in a user namespace it may not
 * set them, even to the same values. */
static bool is_own_user(const struct look *look)
{
    uid_t uid = look->identity.uids[1], uids[3];
    gid_t gid = look->identity.gids[1], gids[3], *groups = NULL;
    int   n = getgroups(0, NULL);
    bool  same = getresuid(&uids[0], &uids[1], &uids[2]) == 0 &&
                getresgid(&gids[0], &gids[1], &gids[2]) == 0 && n >= 0 &&
                (size_t)n == look->n_groups;
    for (int i = 0; i < 3; i++)
        same = same && uids[i] == uid && gids[i] == gid;
    if (same && n) {
        groups = calloc((size_t)n, sizeof(*groups));
        same = groups && getgroups(n, groups) == n &&
               memcmp(groups, look->groups, (size_t)n * sizeof(*groups)) == 0;
        free(groups);
    }
    return same;
}

/* Takes the user and the groups of the process. */
static int change_user(const struct look *look)
{
    uid_t uid = look->identity.uids[1], uids[3];
    gid_t gid = look->identity.gids[1], gids[3];
    if (setgroups(look->n_groups, look->groups) != 0 || setresgid(gid, gid, gid) != 0 ||
        setresuid(uid, uid, uid) != 0 || getresuid(&uids[0], &uids[1], &uids[2]) != 0 ||
        getresgid(&gids[0], &gids[1], &gids[2]) != 0)
        return errno;
    for (int i = 0; i < 3; i++)
        if (uids[i] != uid || gids[i] != gid)
            return EPERM;
    return 0;
}

/* Makes sure that the child gets no rights again, and that nobody with its new user looks into it. */
static int lock_up(void)
{
    umask(0077);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0
               ? errno
               : 0;
}

/* In the child: becomes the user of the process, and joins its network. */
static int become(const struct sxs_process *p, unsigned flags)
{
    struct look look;
    bool        root = geteuid() == 0;
    int         err = look_at(p, &look);
    if (err == ESRCH && (flags & SXS_INSIDE_ENDED)) {
        remember(p, &look);
        err = 0;
    }
    if (!err && (sxs_identity_is_mixed(&look.identity) || (!root && p->uid != geteuid())))
        err = EPERM;
    if (!err && !is_in_own_user_namespace(p)) /* its capabilities are none here */
        look.identity.capabilities = 0;
    if (!err && (flags & SXS_INSIDE_NET))
        err = join_network(p, root);
    if (!err && root && !is_own_user(&look))
        err = change_user(&look);
    if (!err)
        err = limit_capabilities(look.identity.capabilities);
    if (!err)
        err = lock_up();
    if (!err) /* a change of the user has taken it back */
        err = prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 ? errno : 0;
    return err;
}

static bool contains(const int *fds, size_t n, int fd)
{
    for (size_t i = 0; i < n; i++)
        if (fds[i] == fd)
            return true;
    return false;
}

int sxs_inside_seclude(int *keep, size_t n, pid_t parent)
{
    const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    int       null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3 && null >= 0; i++)
        if (!contains(keep, n, i))
            dup2(null, i);
    sxs_confined_close_others(keep, n);
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
    alarm(0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
        return errno;
    return getppid() == parent ? 0 : ESRCH; /* it has ended already */
}

/* ---- the child ------------------------------------------------------------------------------- */

/* Waits for the end of the child. Returns false when the time is over. */
static bool wait_result(int from, unsigned flags)
{
    int64_t began = sxs_deadline_now_ms();
    for (;;) {
        int64_t       spent = sxs_deadline_now_ms() - began;
        unsigned      left = sxs_deadline_left(STEP_MS);
        struct pollfd ready = {.fd = from, .events = POLLIN};
        if (!left && (flags & SXS_INSIDE_CLEAN) && spent < CLEAN_MS)
            left = STEP_MS;
        int n = poll(&ready, 1, (int)left);
        if (n > 0)
            return true;
        if (!left || spent >= WORK_LIMIT_MS)
            return false;
    }
}

/* Receives the result and the descriptor, if there is one. Returns the result, or an errno value when
 * the child sent none. */
static int receive_result(int from, unsigned flags, int *fd)
{
    int err = EPIPE;
    if (!wait_result(from, flags))
        return ETIMEDOUT;
    return sxs_confined_receive(from, &err, sizeof(err), fd) == (ssize_t)sizeof(err) ? err : EPIPE;
}

static void __attribute__((noreturn))
run_child(const struct sxs_process *p, const struct sxs_inside_work *work, int to, pid_t parent)
{
    int keep[SXS_INSIDE_KEEP + 3] = {to, p->dir, p->root}, opened = -1;
    for (size_t i = 0; i < work->n_keep; i++)
        keep[3 + i] = work->keep[i];
    int err = sxs_inside_seclude(keep, 3 + work->n_keep, parent);
    if (!err)
        err = become(p, work->flags);
    if (!err)
        err = work->run(p->root, work->arg, &opened);
    (void)sxs_confined_send(to, &err, sizeof(err), opened);
    _exit(0);
}

/* Ends the child. One that waits for a file system that does not answer cannot be killed: it is left
 * behind, and ends when that file system does. */
static void end_child(pid_t child, bool late)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    if (late)
        kill(child, SIGKILL);
    for (int i = 0; i < 100 && waitpid(child, NULL, WNOHANG) == 0; i++)
        nanosleep(&pause, NULL);
}

int sxs_inside_run(const struct sxs_process *p, const struct sxs_inside_work *work, int *fd)
{
    int   io[2], got = -1, err = p->root < 0 ? EACCES : 0;
    pid_t parent = getpid();
    if (fd)
        *fd = -1;
    if (!err && (work->n_keep > SXS_INSIDE_KEEP ||
                 socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, io) != 0))
        err = work->n_keep > SXS_INSIDE_KEEP ? EINVAL : errno;
    if (err)
        return err;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_child(p, work, io[1], parent);
    err = child < 0 ? errno : 0;
    close(io[1]);
    if (!err)
        err = receive_result(io[0], work->flags, &got);
    close(io[0]);
    if (child > 0)
        end_child(child, err == ETIMEDOUT);
    if (fd)
        *fd = got;
    else if (got >= 0)
        close(got);
    return err;
}

int sxs_inside_call(const struct sxs_process *p, unsigned            flags,
                    int (*work)(int root, void *arg, int *fd), void *arg, int *fd)
{
    const struct sxs_inside_work w = {.run = work, .arg = arg, .flags = flags};
    return sxs_inside_run(p, &w, fd);
}

/* ---- sockets --------------------------------------------------------------------------------- */

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

struct sockets {
    const struct sxs_inside_socket *items; /* borrowed */
    size_t                          n;
};

static int unlink_sockets(int root, void *arg, int *fd)
{
    const struct sockets *s = arg;
    int                   err = 0;
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
    struct sockets s = {sockets, n};
    return n ? sxs_inside_call(p, SXS_INSIDE_ENDED | SXS_INSIDE_CLEAN, unlink_sockets, &s, NULL)
             : 0;
}

/* ---- rights ---------------------------------------------------------------------------------- */

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
