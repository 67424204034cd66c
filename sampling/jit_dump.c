/* SPDX-License-Identifier: MIT */
#include "sampling/jit_dump.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/maps.h"

#define MAGIC      0x4a695444u /* "JiTD", as a number */
#define CODE_LOAD  0u
#define MAX_HEADER 4096u

struct dump_search {
    char           name[32]; /* "/jit-PID.dump" */
    char          *path;
    size_t         size;
    unsigned long *inode;
};

static int is_marker(const struct sxs_mapping *m, void *arg)
{
    struct dump_search *s = arg;
    size_t              len = strlen(m->path), name = strlen(s->name);
    if (m->permissions[2] != 'x' || !m->inode || m->path[0] != '/' || len < name ||
        len >= s->size || strcmp(m->path + len - name, s->name) != 0)
        return 0;
    memcpy(s->path, m->path, len + 1);
    *s->inode = m->inode;
    return 1;
}

int sxs_jit_dump_path(char *path, size_t size, unsigned long *inode)
{
    struct dump_search s = {.path = path, .size = size, .inode = inode};
    snprintf(s.name, sizeof(s.name), "/jit-%d.dump", (int)getpid());
    return sxs_maps_each(is_marker, &s) == 1;
}

static uint32_t u32_at(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof(value));
    return value;
}

static uint64_t u64_at(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof(value));
    return value;
}

uint32_t sxs_jit_dump_header(const uint8_t *bytes)
{
    uint32_t size = u32_at(bytes + 8);
    return u32_at(bytes) == MAGIC && u32_at(bytes + 4) == 1 && size >= SXS_JIT_DUMP_HEADER &&
                   size <= MAX_HEADER
               ? size
               : 0;
}

int sxs_jit_dump_record(const uint8_t *bytes, size_t n, struct sxs_jit_record *out)
{
    uint64_t room;
    memset(out, 0, sizeof(*out));
    out->size = u32_at(bytes + 4);
    if (out->size < SXS_JIT_DUMP_PREFIX)
        return -1;
    if (u32_at(bytes) != CODE_LOAD || out->size <= SXS_JIT_DUMP_LOAD)
        return 1;
    if (n < SXS_JIT_DUMP_LOAD)
        return 0;
    out->lo = u64_at(bytes + 32);
    out->code_size = u64_at(bytes + 40);
    room = out->size - SXS_JIT_DUMP_LOAD;
    out->is_load = out->code_size < room;
    out->name_room = out->is_load ? room - out->code_size : 0;
    return 1;
}
