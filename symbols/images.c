/* SPDX-License-Identifier: MIT */
#include "symbols/images.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/maps.h"
#include "base/session_state.h"

/* Addresses are looked up until up to that long after they were sampled. */
#define KEPT_NS UINT64_C(80000000)

/* Executable mappings, sorted by address. A process with four runtimes has some thousand. They are
 * kept because functions are looked up by the hundred, and reading the kernel's list for each would
 * take milliseconds in a process that maps and unmaps memory all the time. */
#define MAX_MAPPINGS 8192
static struct mapping {
    uintptr_t lo, hi;
    int       is_file;
} mappings[MAX_MAPPINGS];
static unsigned n_mappings;
static uint64_t looked_ns; /* when the mappings were read; 0: not yet */
SXS_SESSION_RESETS(mappings);
SXS_SESSION_RESETS(n_mappings);
SXS_SESSION_RESETS(looked_ns);

static int is_file(const struct sxs_mapping *m)
{
    return m->inode != 0 && m->path[0] == '/' && strncmp(m->path, "/memfd:", 7) != 0;
}

static int note_mapping(const struct sxs_mapping *m, void *unused)
{
    (void)unused;
    if (m->permissions[2] != 'x')
        return 0;
    mappings[n_mappings++] = (struct mapping){m->start, m->end, is_file(m)};
    return n_mappings == MAX_MAPPINGS;
}

static void read_mappings(void)
{
    n_mappings = 0;
    looked_ns = sxs_now_ns(CLOCK_MONOTONIC);
    sxs_maps_each(note_mapping, NULL);
}

static int mapping_holds(const void *ip, const void *mapping)
{
    const struct mapping *m = mapping;
    uintptr_t             at = *(const uintptr_t *)ip;
    return at < m->lo ? -1 : at >= m->hi;
}

static const struct mapping *find(uintptr_t ip)
{
    return bsearch(&ip, mappings, n_mappings, sizeof(mappings[0]), mapping_holds);
}

int sxs_images_hold(uintptr_t ip)
{
    const struct mapping *m = NULL;
    if (looked_ns && sxs_now_ns(CLOCK_MONOTONIC) - looked_ns <= KEPT_NS)
        m = find(ip);
    if (!m) {
        read_mappings();
        m = find(ip);
    }
    return m && m->is_file;
}
