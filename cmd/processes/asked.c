/* SPDX-License-Identifier: MIT */
#include "cmd/processes/asked.h"

#include "cmd/confined/helper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum question_kind { CENSUS, SESSION };

struct asked_question {
    uint32_t kind, pid;
    uint64_t inode;                                /* CENSUS */
    char     folder[NAME_MAX + 1], path[PATH_MAX]; /* CENSUS */
};

struct answer {
    int32_t err; /* CENSUS: 1 when it is mapped */
    uint8_t library, has_session;
    char    dir[PATH_MAX + 32], folder[NAME_MAX + 1];
};

_Static_assert(sizeof(struct asked_question) <= SXS_HELPER_MESSAGE &&
                   sizeof(struct answer) <= SXS_HELPER_MESSAGE,
               "a message of the helper");

/* ---- looking ---------------------------------------------------------------------------------- */

static bool has_census(pid_t pid, const char *folder, const char *path, uint64_t inode)
{
    if (pid)
        return sxs_process_has_census(pid, folder, path, inode);
    DIR *d = opendir("/proc");
    bool found = false;
    for (struct dirent *e; d && !found && (e = readdir(d));)
        found = e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
                sxs_process_has_census((pid_t)strtol(e->d_name, NULL, 10), folder, path, inode);
    if (d)
        closedir(d);
    return found;
}

static void find_session(pid_t pid, struct answer *a, int *fd)
{
    struct sxs_process_session s;
    a->err = sxs_process_session_find(pid, &s);
    a->library = s.library;
    if (!a->err && s.dir &&
        (strlen(s.dir) >= sizeof(a->dir) || strlen(s.folder) >= sizeof(a->folder))) {
        a->err = ENAMETOOLONG;
    } else if (!a->err && s.dir) {
        a->has_session = true;
        snprintf(a->dir, sizeof(a->dir), "%s", s.dir);
        snprintf(a->folder, sizeof(a->folder), "%s", s.folder);
        *fd = fcntl(s.fd, F_DUPFD_CLOEXEC, 3);
    }
    sxs_process_session_free(&s);
}

size_t sxs_asked_answer(void *arg, const void *question, size_t size, void *answer, int *fd)
{
    static struct asked_question q;
    struct answer               *a = answer;
    const pid_t                 *only = arg;
    memset(a, 0, sizeof(*a));
    a->err = EPERM;
    if (size != sizeof(q))
        return sizeof(*a);
    memcpy(&q, question, sizeof(q));
    q.folder[sizeof(q.folder) - 1] = q.path[sizeof(q.path) - 1] = '\0';
    if (q.kind == CENSUS)
        a->err = has_census((pid_t)q.pid, q.folder, q.path, q.inode);
    else if (q.kind == SESSION && only && *only > 0 && q.pid == (uint32_t)*only)
        find_session(*only, a, fd);
    return sizeof(*a);
}

/* ---- asking ----------------------------------------------------------------------------------- */

static bool ask(const struct asked_question *q, struct answer *a, int *fd)
{
    return sxs_helper_ask(q, sizeof(*q), a, sizeof(*a), fd) == (ssize_t)sizeof(*a);
}

bool sxs_asked_census(pid_t pid, const char *folder, const char *path, uint64_t inode)
{
    static struct answer  a;
    struct asked_question q = {.kind = CENSUS, .pid = (uint32_t)pid, .inode = inode};
    int                   fd;
    if (!sxs_helper_runs())
        return has_census(pid, folder, path, inode);
    if (strlen(folder) >= sizeof(q.folder) || strlen(path) >= sizeof(q.path))
        return false;
    snprintf(q.folder, sizeof(q.folder), "%s", folder);
    snprintf(q.path, sizeof(q.path), "%s", path);
    return ask(&q, &a, &fd) && a.err == 1;
}

int sxs_asked_session(pid_t pid, struct sxs_process_session *out)
{
    static struct answer        a;
    const struct asked_question q = {.kind = SESSION, .pid = (uint32_t)pid};
    int                         fd;
    if (!sxs_helper_runs())
        return sxs_process_session_find(pid, out);
    *out = (struct sxs_process_session){.fd = -1};
    if (!ask(&q, &a, &fd))
        return ESRCH;
    out->fd = fd;
    out->library = a.library;
    if (a.err || !a.has_session || fd < 0)
        return a.err;
    out->dir = strdup(a.dir);
    out->folder = strdup(a.folder);
    if (asprintf(&out->open, "/proc/self/fd/%d/.", fd) < 0)
        out->open = NULL;
    return out->dir && out->folder && out->open ? 0 : ENOMEM;
}
