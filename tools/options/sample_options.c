/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tools/options/list_options.h"
#include "tools/options/sample_options.h"

#define MAX_HZ 10000

static int read_hz(const char *text, unsigned *hz)
{
    char         *end;
    unsigned long n = strtoul(text, &end, 10);
    if (end == text || *end || n == 0 || n > MAX_HZ)
        return -1;
    *hz = (unsigned)n;
    return 0;
}

static int read_walker(const char *text, enum sxs_sample_walker *walker)
{
    if (strcmp(text, "fast") == 0)
        *walker = SXS_WALKER_FAST;
    else if (strcmp(text, "unwind") == 0)
        *walker = SXS_WALKER_UNWIND;
    else if (strcmp(text, "snapshot") == 0)
        *walker = SXS_WALKER_SNAPSHOT;
    else
        return -1;
    return 0;
}

static int read_item(const char *item, void *options)
{
    struct sxs_sampler_options *out = options;
    if (strncmp(item, "cpu=", 4) == 0) {
        out->mode = SXS_MODE_CPU;
        return read_hz(item + 4, &out->hz);
    }
    if (strncmp(item, "wall=", 5) == 0) {
        out->mode = SXS_MODE_WALL;
        return read_hz(item + 5, &out->hz);
    }
    if (strncmp(item, "walker=", 7) == 0)
        return read_walker(item + 7, &out->walker);
    if (strcmp(item, "tiers=on") != 0 && strcmp(item, "tiers=off") != 0)
        return -1;
    out->tiers = item[7] == 'n';
    return 0;
}

int sxs_sampler_parse(const char *text, struct sxs_sampler_options *out, char *bad, size_t size)
{
    *out = (struct sxs_sampler_options){SXS_MODE_CPU, SXS_WALKER_FAST, 199, 1};
    return sxs_list_parse(text, read_item, out, bad, size);
}
