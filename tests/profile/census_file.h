/* SPDX-License-Identifier: MIT */
/* census_file.h - writes a census of three runtimes for tests. session/format/session.h has the format. */
#ifndef SXS_TESTS_PROFILE_CENSUS_FILE_H
#define SXS_TESTS_PROFILE_CENSUS_FILE_H

#include "session/format/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const versions[] = {"8.0.29", "9.0.18", "10.0.11"};

/* Makes the folders DIR and DIR/PID, and the file DIR/PID/census. */
static inline void write_census(const char *dir, uint32_t pid)
{
    static struct sxs_census c;
    char                     path[4200];
    mkdir(dir, 0700);
    snprintf(path, sizeof(path), "%s/%u", dir, pid);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/%u/" SXS_CENSUS_FILE, dir, pid);
    FILE *f = fopen(path, "w");
    memcpy(c.magic, SXS_CENSUS_MAGIC, sizeof(c.magic));
    c.version = SXS_CENSUS_VERSION;
    c.size = sizeof(c);
    c.row_size = sizeof(c.runtimes[0]);
    c.pid = pid;
    c.n_runtimes = 3;
    for (uint32_t i = 0; i < 3; i++) {
        c.runtimes[i].number = i + 1;
        c.runtimes[i].state = SXS_STATE_PICKED;
        snprintf(c.runtimes[i].version, sizeof(c.runtimes[i].version), "%s", versions[i]);
        snprintf(c.runtimes[i].path, sizeof(c.runtimes[i].path), "/net/%s/libcoreclr.so",
                 versions[i]);
    }
    if (!f || fwrite(&c, sizeof(c), 1, f) != 1 || fclose(f) != 0)
        exit(1);
}

#endif
