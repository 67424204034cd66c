/* SPDX-License-Identifier: MIT */
#include "cmd/output/shown.h"

#include <stddef.h>
#include <string.h>

enum { MAX_SHOWN = 2 }; /* diff reads two sessions */

static struct {
    const char *dir, *name;
} all[MAX_SHOWN];
static size_t n;

void sxs_show_as(const char *dir, const char *name)
{
    if (n < MAX_SHOWN) {
        all[n].dir = dir;
        all[n++].name = name;
    }
}

const char *sxs_shown(const char *dir)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].dir, dir) == 0)
            return all[i].name;
    return dir;
}
