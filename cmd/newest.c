/* SPDX-License-Identifier: MIT */
#include "cmd/newest.h"

#include "cmd/output/segments.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Returns when the last process of session @dir started (CLOCK_REALTIME, ns); 0: no session. */
static uint64_t last_start(const char *dir)
{
    struct sxs_session s;
    uint64_t           last = 0;
    if (sxs_session_read_joined(dir, NULL, &s, NULL) == 0) {
        /* a process whose start is not known still makes the folder a session */
        last = s.n_processes || s.n_unread ? 1 : 0;
        for (size_t i = 0; i < s.n_processes; i++)
            if (s.processes[i].started_ns > last)
                last = s.processes[i].started_ns;
    }
    sxs_session_free(&s);
    return last;
}

/* Finds the newest session among the folders whose names begin with sxsprof- (@ours) or do not.
 * Returns when it started, or 0. */
static uint64_t find_newest(DIR *d, bool ours, char *name, size_t size)
{
    uint64_t newest = 0;
    rewinddir(d);
    for (struct dirent *e; (e = readdir(d));) {
        struct stat st;
        uint64_t    started;
        if (e->d_name[0] == '.' || (strncmp(e->d_name, "sxsprof-", 8) == 0) != ours ||
            stat(e->d_name, &st) != 0 || !S_ISDIR(st.st_mode))
            continue;
        started = last_start(e->d_name);
        if (started <= newest)
            continue;
        newest = started;
        snprintf(name, size, "%s", e->d_name);
    }
    return newest;
}

int sxs_newest_session(char *name, size_t size)
{
    DIR *d = opendir(".");
    int  found = d && (find_newest(d, true, name, size) || find_newest(d, false, name, size));
    if (d)
        closedir(d);
    if (!found && last_start(".")) {
        snprintf(name, size, ".");
        found = 1;
    }
    return found ? 0 : -1;
}
