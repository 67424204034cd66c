/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/maps_internal.h"

/* "7f00-7f10 r-xp 00000000 00:00 1234    /path": the name is the sixth field and may contain
 * blanks. */
#define FIELDS_BEFORE_NAME 5

static const char *skip_fields(const char *at, int n)
{
    for (; n > 0; n--) {
        at += strcspn(at, " \n");
        at += strspn(at, " ");
    }
    return at;
}

static int parse(const char *line, struct sxs_mapping *out)
{
    char *at = NULL;

    out->start = strtoull(line, &at, 16);
    if (*at != '-')
        return -1;
    out->end = strtoull(at + 1, &at, 16);
    if (*at != ' ' || strlen(at) < sizeof(" r-xp"))
        return -1;
    out->executable = at[3] == 'x';
    const char *name = skip_fields(line, FIELDS_BEFORE_NAME);
    size_t      len = strcspn(name, "\n");
    if (len >= sizeof(out->name))
        len = sizeof(out->name) - 1;
    memcpy(out->name, name, len);
    out->name[len] = '\0';
    return 0;
}

int sxs_maps_find(uintptr_t address, struct sxs_mapping *out)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t cap = 0;
    int   rc = -1;

    if (!maps)
        return -1;
    while (rc != 0 && getline(&line, &cap, maps) > 0)
        if (parse(line, out) == 0 && address >= out->start && address < out->end)
            rc = 0;
    free(line);
    (void)fclose(maps);
    return rc;
}
