/* SPDX-License-Identifier: MIT */
/* churn_host.c - starts and ends the stress of libsxsbridge.so. */
#include "harness/churn_host.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "harness/library.h"
#include "harness/self.h"

static int (*end_churn)(char *line, size_t size); /* NULL: no stress was started */

int sxs_churn_host_start(const char *what, char *why, size_t why_size)
{
    int (*start)(const char *text) = NULL;
    int (*end)(char *line, size_t size) = NULL;
    const struct sxs_export exports[] = {
        {"sxsbridge_churn_start", &start},
        {"sxsbridge_churn_end", &end},
    };
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/libsxsbridge.so", sxs_self_dir());
    if (sxs_library_load(path, exports, sizeof(exports) / sizeof(exports[0]),
                         "cannot load the bridge", why, why_size) != 0)
        return -1;
    if (start(what) != 0) {
        snprintf(why, why_size,
                 "--churn: '%s': expected words NAME=N, from: threads loads forks execs spawns waiters",
                 what);
        return -1;
    }
    end_churn = end;
    return 0;
}

size_t sxs_churn_host_end(void)
{
    char line[600];
    if (!end_churn)
        return 0;
    size_t bad = end_churn(line, sizeof(line)) != 0;
    printf("runsxs: %s\n", line);
    fflush(stdout);
    return bad;
}
