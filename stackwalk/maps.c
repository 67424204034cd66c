/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "manager/base/proc.h"
#include "stackwalk/maps_internal.h"

/* "7f00-7f10 r-xp 00000000 00:00 1234    /path": the name is the sixth field, and may have blanks. */
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

struct search {
    uintptr_t           address;
    struct sxs_mapping *out;
};

static int is_at_address(char *line, void *arg)
{
    const struct search *search = arg;
    return parse(line, search->out) == 0 && search->address >= search->out->start &&
           search->address < search->out->end;
}

int sxs_maps_find(uintptr_t address, struct sxs_mapping *out)
{
    struct search search = {address, out};
    return sxs_proc_lines("/proc/self/maps", is_at_address, &search) > 0 ? 0 : -1;
}
