/* SPDX-License-Identifier: MIT */
#include "sampler/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "manager/base/clock.h"
#include "manager/base/proc.h"

#define KEPT_NS UINT64_C(80000000) /* what is asked about was sampled up to that long ago, too */

/* Executable mappings in order of address. A process with four runtimes has some thousand. Functions are asked about by the
 * hundred: to read the kernel's list for each would take milliseconds in a process that maps and unmaps all the time. */
#define MAX_MAPPINGS 8192
static struct mapping {
    uintptr_t lo, hi;
    int       is_file;
} mappings[MAX_MAPPINGS];
static unsigned n_mappings;
static uint64_t looked_ns; /* 0: not yet */

static int is_file(const char *after_range)
{
    unsigned long inode = 0;
    int           path = 0;
    return sscanf(after_range, " %*s %*x %*s %lu %n", &inode, &path) == 1 && inode != 0 && path &&
           after_range[path] == '/' && strncmp(after_range + path, "/memfd:", 7) != 0;
}

static int note_mapping(char *line, void *unused)
{
    char     *at;
    uintptr_t lo = strtoul(line, &at, 16), hi = *at == '-' ? strtoul(at + 1, &at, 16) : 0;
    (void)unused;
    if (!hi || strlen(at) < 5 || at[3] != 'x') /* " r-xp" */
        return 0;
    mappings[n_mappings++] = (struct mapping){lo, hi, is_file(at)};
    return n_mappings == MAX_MAPPINGS;
}

static void look(void)
{
    n_mappings = 0;
    looked_ns = sxs_now_ns(CLOCK_MONOTONIC);
    sxs_proc_lines("/proc/self/maps", note_mapping, NULL);
}

static int holds(const void *ip, const void *mapping)
{
    const struct mapping *m = mapping;
    uintptr_t             at = *(const uintptr_t *)ip;
    return at < m->lo ? -1 : at >= m->hi;
}

static const struct mapping *find(uintptr_t ip)
{
    return bsearch(&ip, mappings, n_mappings, sizeof(mappings[0]), holds);
}

int sxs_images_hold(uintptr_t ip)
{
    const struct mapping *m = NULL;
    if (looked_ns && sxs_now_ns(CLOCK_MONOTONIC) - looked_ns <= KEPT_NS)
        m = find(ip);
    if (!m) {
        look();
        m = find(ip);
    }
    return m && m->is_file;
}
