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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
struct process_look {
    struct sxs_identity identity;
    gid_t              *groups; /* owned */
    size_t              n_groups;
};

/* Reads the supplementary groups in @text, that of /proc/PID/status. Returns 0 or ENOMEM. */
static int read_groups(const char *text, struct process_look *out)
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
static int look_at(const struct sxs_process *p, struct process_look *out)
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
static void remember(const struct sxs_process *p, struct process_look *out)
{
    *out = (struct process_look){.identity = p->identity};
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
    /* The user namespace gives the right to join the network of the user's own container. */
    if (!root && p->other.user)
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
static bool is_own_user(const struct process_look *look)
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
static int change_user(const struct process_look *look)
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
    struct process_look look;
    bool                root = geteuid() == 0;
    int                 err = look_at(p, &look);
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
    if (!err && getppid() != parent) /* it ended while a change of the user had taken the signal back */
        err = ESRCH;
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

/* ---- rights ---------------------------------------------------------------------------------- */

struct access_question {
    char path[PATH_MAX];
    int  mode;
};

static int check_rights(int root, void *arg, int *fd)
{
    const struct access_question *r = arg;
    char                          named[40];
    (void)fd;
    int at = sxs_inside_open(root, r->path, O_PATH, 0);
    if (at < 0)
        return errno;
    snprintf(named, sizeof(named), "/proc/self/fd/%d", at);
    return faccessat(AT_FDCWD, named, r->mode, AT_EACCESS) == 0 ? 0 : errno;
}

int sxs_inside_can(const struct sxs_process *p, const char *path, int mode)
{
    struct access_question r = {.mode = mode};
    snprintf(r.path, sizeof(r.path), "%s", path);
    return sxs_inside_call(p, 0, check_rights, &r, NULL);
}
