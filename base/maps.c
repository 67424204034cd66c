/* SPDX-License-Identifier: MIT */
#include "base/maps.h"

#include <stdio.h>
#include <string.h>

#include "base/proc.h"

/* Not by strtoul() or sscanf(): sscanf() takes longer than the kernel needs to write the line. */
static const char *parse_hex(const char *at, uintptr_t *out)
{
    for (*out = 0;; at++) {
        unsigned char c = (unsigned char)*at;
        if (c >= '0' && c <= '9')
            *out = *out << 4 | (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *out = *out << 4 | (uintptr_t)(c - 'a' + 10);
        else
            return at;
    }
}

static const char *skip_field(const char *at)
{
    while (*at && *at != ' ')
        at++;
    return *at ? at + 1 : at;
}

/* "7f00-7f10 r-xp 00000000 00:00 1234    /path": the path may contain blanks. */
int sxs_maps_parse(const char *line, struct sxs_mapping *out)
{
    const char *at = parse_hex(line, &out->start);
    if (at == line || *at != '-')
        return -1;
    at = parse_hex(at + 1, &out->end);
    if (*at++ != ' ' || strnlen(at, sizeof(out->permissions)) < sizeof(out->permissions))
        return -1;
    memcpy(out->permissions, at, sizeof(out->permissions));
    at = skip_field(skip_field(skip_field(at))); /* permissions, offset, device */
    for (out->inode = 0; *at >= '0' && *at <= '9'; at++)
        out->inode = out->inode * 10 + (unsigned long)(*at - '0');
    while (*at == ' ')
        at++;
    out->path = at;
    return 0;
}

struct mapping_visit {
    int (*mapping)(const struct sxs_mapping *m, void *arg);
    void *arg;
};

static int visit_line(char *line, void *arg)
{
    const struct mapping_visit *each = arg;
    struct sxs_mapping          m;
    return sxs_maps_parse(line, &m) == 0 ? each->mapping(&m, each->arg) : 0;
}

int sxs_maps_each(int (*mapping)(const struct sxs_mapping *m, void *arg), void *arg)
{
    struct mapping_visit each = {mapping, arg};
    return sxs_proc_lines("/proc/self/maps", visit_line, &each);
}

struct mapping_search {
    uintptr_t           address;
    struct sxs_mapping *out;
    char               *path;
    size_t              size; /* bytes of @path */
};

static int match_address(const struct sxs_mapping *m, void *arg)
{
    const struct mapping_search *search = arg;
    if (search->address < m->start || search->address >= m->end)
        return 0;
    *search->out = *m;
    snprintf(search->path, search->size, "%s", m->path);
    search->out->path = search->size ? search->path : "";
    return 1;
}

int sxs_maps_find(uintptr_t address, struct sxs_mapping *out, char *path, size_t size)
{
    struct mapping_search search = {address, out, path, size};
    return sxs_maps_each(match_address, &search) > 0 ? 0 : -1;
}
