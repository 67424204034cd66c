/* SPDX-License-Identifier: MIT */
#include "cmd/processes/identity.h"

#include "base/stat_field.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MAX_STATUS (1u << 20) /* bytes: 65,536 groups are 720 KB */

char *sxs_proc_text(int dir, const char *name, size_t most, size_t *len)
{
    int     fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), err = fd < 0 ? errno : 0;
    char   *text = NULL;
    size_t  room = 0, used = 0;
    ssize_t n = 1;
    while (!err && n > 0) {
        if (room - used < 2) {
            size_t more = room ? 2 * room : 8192;
            char  *grown = used < most ? realloc(text, more) : NULL;
            err = grown ? 0 : used < most ? ENOMEM : EFBIG;
            text = grown ? grown : text;
            room = grown ? more : room;
            continue;
        }
        n = read(fd, text + used, room - used - 1);
        err = n < 0 && errno != EINTR ? errno : 0;
        used += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    if (err) {
        free(text);
        errno = err;
        return NULL;
    }
    text[used] = '\0';
    if (len)
        *len = used;
    return text;
}

const char *sxs_status_value(const char *text, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = text; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
        if (strncmp(at, name, len) == 0 && at[len] == ':')
            return at + len + 1 + strspn(at + len + 1, "\t ");
    return NULL;
}

int sxs_identity_of_status(const char *text, struct sxs_identity *out)
{
    const char *uids = sxs_status_value(text, "Uid"), *gids = sxs_status_value(text, "Gid");
    const char *caps = sxs_status_value(text, "CapPrm");
    uid_t      *u = out->uids;
    gid_t      *g = out->gids;
    if (!uids || !gids || sscanf(uids, "%u %u %u %u", &u[0], &u[1], &u[2], &u[3]) != 4 ||
        sscanf(gids, "%u %u %u %u", &g[0], &g[1], &g[2], &g[3]) != 4)
        return EPROTO;
    out->capabilities = caps ? strtoull(caps, NULL, 16) : 0;
    return 0;
}

/* Identifies the program by what is known of its file already: a file system that another process
 * serves is not asked. */
static void read_program(int dir, struct sxs_identity *out)
{
    struct statx st;
    if (statx(dir, "exe", AT_STATX_DONT_SYNC, STATX_INO, &st) != 0)
        return;
    out->exe_dev = makedev(st.stx_dev_major, st.stx_dev_minor);
    out->exe_ino = st.stx_ino;
}

/* The kernel gives the private files of a process to root when the process must not be looked into by
 * its own user (prctl(2), PR_SET_DUMPABLE). */
static bool is_guarded(int dir, const struct sxs_identity *identity)
{
    struct stat st;
    return fstatat(dir, "environ", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           (st.st_uid != identity->uids[1] || st.st_gid != identity->gids[1]);
}

int sxs_identity_read_users(int dir, struct sxs_identity *out)
{
    memset(out, 0, sizeof(*out));
    char *status = sxs_proc_text(dir, "status", MAX_STATUS, NULL);
    int   err = status ? sxs_identity_of_status(status, out) : errno;
    free(status);
    return err == ENOENT ? ESRCH : err;
}

int sxs_identity_read(int dir, struct sxs_identity *out)
{
    int   err = sxs_identity_read_users(dir, out);
    char *stat = err ? NULL : sxs_proc_text(dir, "stat", MAX_STATUS, NULL);
    if (!err)
        err = !stat ? errno : sxs_stat_field(stat, SXS_STAT_START) ? 0 : ESRCH;
    if (!err)
        out->start_ticks = sxs_stat_number(stat, SXS_STAT_START);
    free(stat);
    if (!err) {
        read_program(dir, out);
        out->guarded = is_guarded(dir, out);
    }
    return err == ENOENT ? ESRCH : err;
}

bool sxs_identity_is_same(const struct sxs_identity *a, const struct sxs_identity *b)
{
    return a->start_ticks == b->start_ticks && memcmp(a->uids, b->uids, sizeof(a->uids)) == 0 &&
           memcmp(a->gids, b->gids, sizeof(a->gids)) == 0 && a->exe_dev == b->exe_dev &&
           a->exe_ino == b->exe_ino;
}

bool sxs_identity_is_mixed(const struct sxs_identity *identity)
{
    for (int i = 1; i < 4; i++)
        if (identity->uids[i] != identity->uids[0] || identity->gids[i] != identity->gids[0])
            return true;
    return false;
}

const char *sxs_identity_problem(const struct sxs_identity *identity)
{
    if (sxs_identity_is_mixed(identity))
        return "its real, effective and saved user or group differ, as in a set-user-ID program; "
               "expected a process with the rights of one user";
    if (identity->guarded)
        return "its own user may not look into it: it runs a set-user-ID program or one with "
               "capabilities, has changed its user, or forbids it (prctl PR_SET_DUMPABLE); "
               "expected "
               "a process that its user controls";
    return NULL;
}
