/* SPDX-License-Identifier: MIT */
/** tests/unit/heap_fixture.h - reads a heap snapshot for unit tests, sharing no code with readers or
 *  writers. */
#ifndef SXS_TESTS_HEAP_FIXTURE_H
#define SXS_TESTS_HEAP_FIXTURE_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/format/heap.h"

#define READ_MAX 400000u /* items of one kind */

struct read_object {
    uint64_t address, type, size, n_refs, sum; /* sum: of the references */
};

/** What a snapshot holds, in the order of the file. */
static struct {
    struct sxs_heap_header head;
    struct read_object     objects[READ_MAX];
    uint64_t               roots[READ_MAX][5], dependent[READ_MAX][3], bounds[1000][3], end[10];
    char                   names[1000][64], types[1000][64];
    uint64_t               type_flags[1000], type_sizes[1000];
    size_t n_objects, n_roots, n_dependent, n_bounds, n_names, n_types, n_ends, n_blocks, largest;
    uint64_t               how;
    int                    bad; /* a block is wrong */
} was;

struct reading {
    const unsigned char *at, *end;
};

static inline uint64_t next_number(struct reading *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (r->at >= r->end || shift > 63) {
            was.bad = 1;
            return 0;
        }
        value |= (uint64_t)(*r->at & 0x7f) << shift;
        if (!(*r->at++ & 0x80))
            return value;
    }
}

static inline uint64_t next_address(struct reading *r, uint64_t base)
{
    uint64_t n = next_number(r);
    return base + 8 * ((n >> 1) ^ -(n & 1));
}

static inline void next_text(struct reading *r, char *out)
{
    uint64_t size = next_number(r);
    if (size > (uint64_t)(r->end - r->at)) {
        was.bad = 1;
        return;
    }
    memcpy(out, r->at, size < 63 ? size : 63);
    out[size < 63 ? size : 63] = '\0';
    r->at += size;
}

static inline uint64_t next_object(struct reading *r, uint64_t last)
{
    struct read_object *o = &was.objects[was.n_objects++];
    uint64_t            type;
    o->address = next_address(r, last);
    type = next_number(r);
    o->type = type >> 1;
    o->size = type & 1 ? next_number(r) : 0;
    o->n_refs = next_number(r);
    o->sum = 0;
    for (uint64_t i = 0; i < o->n_refs && !was.bad; i++)
        o->sum += next_address(r, o->address);
    return o->address;
}

static inline uint64_t next_root(struct reading *r, uint64_t last)
{
    uint64_t *root = was.roots[was.n_roots++];
    root[0] = next_number(r);
    root[1] = next_number(r);
    root[2] = next_address(r, last);
    root[3] = next_number(r);
    root[4] = next_number(r);
    return root[2];
}

static inline void next_type(struct reading *r)
{
    char     module[64];
    uint64_t number = next_number(r), flags = next_number(r), size = next_number(r);
    next_number(r);
    was.n_types++;
    if (number >= 1000) {
        was.bad = 1;
        return;
    }
    was.type_flags[number] = flags;
    was.type_sizes[number] = size;
    next_text(r, was.types[number]);
    next_text(r, module);
}

static inline uint64_t next_item(struct reading *r, unsigned kind, uint64_t last)
{
    char     text[64];
    uint64_t number;
    switch (kind) {
    case SXS_HEAP_RUNTIME:
        was.how = next_number(r);
        next_number(r);
        next_number(r);
        next_text(r, text);
        next_text(r, text);
        return 0;
    case SXS_HEAP_TYPES: next_type(r); return 0;
    case SXS_HEAP_OBJECTS: return next_object(r, last);
    case SXS_HEAP_ROOTS: return next_root(r, last);
    case SXS_HEAP_NAMES:
        number = next_number(r);
        next_text(r, was.names[number < 1000 ? number : 0]);
        was.n_names++;
        return 0;
    case SXS_HEAP_DEPENDENT:
        was.dependent[was.n_dependent][0] = last = next_address(r, last);
        was.dependent[was.n_dependent][1] = next_address(r, last);
        was.dependent[was.n_dependent++][2] = next_number(r);
        return last;
    case SXS_HEAP_BOUNDS:
        for (int i = 0; i < 3; i++)
            was.bounds[was.n_bounds][i] = next_number(r);
        was.n_bounds++;
        return 0;
    case SXS_HEAP_END:
        for (int i = 0; i < 10; i++)
            was.end[i] = next_number(r);
        was.n_ends++;
        return 0;
    default: was.bad = 1; return 0;
    }
}

/** Reads the file @name in the folder @fd. Returns 0, or -1 when it is not as the format says. */
static inline int read_snapshot(int fd, const char *name)
{
    int            file = openat(fd, name, O_RDONLY);
    struct stat    st;
    unsigned char *bytes;
    memset(&was, 0, sizeof(was));
    if (file < 0 || fstat(file, &st) != 0 || !(bytes = malloc((size_t)st.st_size)) ||
        read(file, bytes, (size_t)st.st_size) != st.st_size)
        return -1;
    close(file);
    memcpy(&was.head, bytes, sizeof(was.head));
    for (uint64_t at = SXS_HEAP_HEADER_SIZE; at < was.head.used && !was.bad;) {
        struct sxs_heap_block block;
        struct reading        r;
        uint64_t              last = 0;
        memcpy(&block, bytes + at, sizeof(block));
        if (block.magic != SXS_HEAP_BLOCK_MAGIC || block.size % 8 || block.size < sizeof(block) ||
            block.size > SXS_HEAP_BLOCK_MAX || at + block.size > (uint64_t)st.st_size)
            was.bad = 1;
        r = (struct reading){bytes + at + sizeof(block), bytes + at + block.size};
        for (uint32_t i = 0; i < block.count && !was.bad; i++)
            last = next_item(&r, block.kind, last);
        if (block.size > was.largest)
            was.largest = block.size;
        was.n_blocks++;
        at += block.size;
    }
    free(bytes);
    return was.bad ? -1 : 0;
}

#endif
