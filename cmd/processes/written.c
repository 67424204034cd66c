/* SPDX-License-Identifier: MIT */
#include "cmd/processes/written.h"

#include "base/held.h"
#include "base/tree.h"
#include "cmd/processes/asked.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { QUIET_S = 120 };

bool sxs_process_writes(pid_t pid, int folder)
{
    struct stat st;
    char        link[32], path[PATH_MAX], name[NAME_MAX + 1];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
    ssize_t n = readlink(link, path, sizeof(path) - sizeof("/" SXS_CENSUS_FILE));
    if (n < 0 || fstatat(folder, SXS_CENSUS_FILE, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
        return false;
    path[n] = '\0';
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof(name), "%.*s", NAME_MAX, slash ? slash + 1 : path);
    snprintf(path + n, sizeof(path) - (size_t)n, "/" SXS_CENSUS_FILE);
    return sxs_asked_census(pid, name, path, st.st_ino);
}

static bool changed_lately(int folder)
{
    struct stat st;
    bool        is_late = false;
    time_t      now = time(NULL);
    DIR        *d = sxs_tree_list(folder, ".");
    for (struct dirent *e; d && !is_late && (e = readdir(d));)
        is_late = fstatat(folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
                  now - st.st_mtime < QUIET_S;
    if (d)
        closedir(d);
    return is_late;
}

enum sxs_written sxs_process_written(int folder, const struct sxs_session_process *p)
{
    enum sxs_held held = p->held ? sxs_held_is(folder, SXS_CENSUS_FILE) : SXS_HELD_UNKNOWN;
    if (held != SXS_HELD_UNKNOWN)
        return held == SXS_HELD_YES ? SXS_WRITTEN_YES : SXS_WRITTEN_NO;
    if (p->pid && sxs_process_writes((pid_t)p->pid, folder))
        return SXS_WRITTEN_YES;
    if (!changed_lately(folder))
        return SXS_WRITTEN_NO;
    return sxs_process_writes(0, folder) ? SXS_WRITTEN_YES : SXS_WRITTEN_MAYBE;
}

enum sxs_written sxs_session_written(const char *dir, const struct sxs_session_process *p)
{
    char path[PATH_MAX];
    int  n = snprintf(path, sizeof(path), "%s/%s", dir, p->n_parts ? p->parts[p->n_parts - 1] : p->folder);
    int  folder = n < (int)sizeof(path) ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (folder < 0)
        return SXS_WRITTEN_NO;
    enum sxs_written written = sxs_process_written(folder, p);
    close(folder);
    return written;
}
