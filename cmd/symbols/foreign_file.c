/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/foreign_file.h"

#include "session/format/samples.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/magic.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534u

#define CONFIGFS_MAGIC 0x62656570
#define FUSE_MAGIC     0x65735546 /* the headers of older kernels lack these two */

/* File systems whose files are not data on a disk: reading one asks the kernel or a driver. */
static const unsigned long of_kernel[] = {
    PROC_SUPER_MAGIC, SYSFS_MAGIC,    DEVPTS_SUPER_MAGIC, DEBUGFS_MAGIC,        TRACEFS_MAGIC,
    SECURITYFS_MAGIC, SELINUX_MAGIC,  SMACK_MAGIC,        CGROUP_SUPER_MAGIC,   CGROUP2_SUPER_MAGIC,
    BPF_FS_MAGIC,     PSTOREFS_MAGIC, EFIVARFS_MAGIC,     RDTGROUP_SUPER_MAGIC, NSFS_MAGIC,
    BINFMTFS_MAGIC,   CONFIGFS_MAGIC, XENFS_SUPER_MAGIC,  AAFS_MAGIC,
};

static void take_user(uid_t uid, struct sxs_file_owner *owner)
{
    struct passwd entry, *found = NULL;
    char          text[4096];
    int           n = SXS_OWNER_GROUPS;
    owner->uid = uid;
    owner->gid = NOBODY;
    if (getpwuid_r(uid, &entry, text, sizeof(text), &found) != 0 || !found)
        return;
    owner->gid = entry.pw_gid;
    if (getgrouplist(entry.pw_name, entry.pw_gid, owner->groups, &n) < 0)
        n = SXS_OWNER_GROUPS; /* a user of more groups: the first ones */
    owner->n_groups = n > 0 ? (uint32_t)n : 0;
}

void sxs_session_owner(int session_fd, int process_fd, struct sxs_file_owner *owner)
{
    struct stat st[3];
    memset(st, 0, sizeof(st));
    memset(owner, 0, sizeof(*owner));
    if (geteuid() != 0)
        return;
    fstatat(process_fd, SXS_SAMPLES_FILE, &st[0], AT_SYMLINK_NOFOLLOW);
    fstat(process_fd, &st[1]);
    fstat(session_fd, &st[2]);
    for (size_t i = 0; i < sizeof(st) / sizeof(st[0]); i++)
        if (st[i].st_uid != 0) {
            take_user(st[i].st_uid, owner);
            return;
        }
}

/* ---- rights ----------------------------------------------------------------------------------- */

/* These are the system calls, because the functions of the C library change all threads. Without
 * its file system user 0, the kernel ignores the capabilities of root that open any file. */
static void set_rights(uid_t uid, gid_t gid, size_t n_groups, const gid_t *groups)
{
    int   at_end = 0; /* the signal for the end of the parent; the kernel forgets it with the user */
    pid_t parent = getppid();
    prctl(PR_GET_PDEATHSIG, &at_end);
    if (uid == 0)
        syscall(SYS_setfsuid, uid);
    syscall(SYS_setgroups, n_groups, groups);
    syscall(SYS_setfsgid, gid);
    if (uid != 0)
        syscall(SYS_setfsuid, uid);
    if (at_end)
        prctl(PR_SET_PDEATHSIG, at_end);
    if (at_end && getppid() != parent) /* it ended meanwhile */
        raise(at_end);
}

struct group_rights {
    gid_t groups[NGROUPS_MAX];
    int   n;
};

/* Takes the rights of @owner. Returns false when this process may not. */
static bool take_rights(const struct sxs_file_owner *owner, struct group_rights *before)
{
    before->n = getgroups(NGROUPS_MAX, before->groups);
    if (before->n < 0)
        return false;
    set_rights(owner->uid, owner->gid, owner->n_groups, owner->groups);
    return (uid_t)syscall(SYS_setfsuid, -1) == owner->uid;
}

static void give_back(const struct group_rights *before)
{
    if (before->n >= 0)
        set_rights(geteuid(), getegid(), (size_t)before->n, before->groups);
}

/* ---- opening ---------------------------------------------------------------------------------- */

static bool is_of_kernel(int fd)
{
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0)
        return true;
    for (size_t i = 0; i < sizeof(of_kernel) / sizeof(of_kernel[0]); i++)
        if ((unsigned long)fs.f_type == of_kernel[i])
            return true;
    return false;
}

/* Returns why an open() has failed. */
static const char *failure(bool is_other)
{
    return is_other && errno == EACCES ? "not readable by the owner of the session"
                                       : "cannot be opened any more";
}

static int open_regular(const char *path, bool is_other, struct stat *st, const char **why)
{
    char name[64];
    int  fd = -1, at = open(path, O_PATH | O_CLOEXEC);
    if (at < 0) {
        *why = failure(is_other);
        return -1;
    }
    if (fstat(at, st) != 0 || !S_ISREG(st->st_mode)) {
        *why = "not a regular file";
    } else if (is_of_kernel(at)) {
        *why = "a file of the kernel";
    } else {
        snprintf(name, sizeof(name), "/proc/self/fd/%d", at);
        fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd < 0)
            *why = failure(is_other);
    }
    close(at);
    return fd;
}

int sxs_foreign_open(const char *path, const struct sxs_file_owner *owner, struct stat *st,
                     const char **why)
{
    static struct group_rights before;
    struct stat                own;
    int                        fd = -1;
    bool                       is_other = owner->uid != 0;
    if (!st)
        st = &own;
    if (is_other && !take_rights(owner, &before))
        *why = "the rights of the owner of the session cannot be taken";
    else
        fd = open_regular(path, is_other, st, why);
    if (is_other)
        give_back(&before);
    return fd;
}

bool sxs_foreign_is_ours(int fd)
{
    struct stat   st;
    struct statfs fs;
    return fstat(fd, &st) == 0 && fstatfs(fd, &fs) == 0 && fs.f_type != FUSE_MAGIC &&
           (st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}
