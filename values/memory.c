/* SPDX-License-Identifier: MIT */
#include "values/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/safe_read.h"

/* Returns the index of the first piece that begins after @address. */
static size_t behind(const struct sxs_memory *memory, uint64_t address)
{
    size_t low = 0, high = memory->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->all[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int make_room(struct sxs_memory *memory)
{
    size_t                   more = memory->max ? 2 * memory->max : 64;
    struct sxs_memory_piece *grown;
    if (memory->n < memory->max)
        return 0;
    grown = reallocarray(memory->all, more, sizeof(*grown));
    if (!grown)
        return -1;
    memory->all = grown;
    memory->max = more;
    return 0;
}

int sxs_memory_add(struct sxs_memory *memory, uint64_t address, size_t size, int is_object)
{
    size_t         at = behind(memory, address);
    unsigned char *bytes;
    if (at && memory->all[at - 1].address == address && memory->all[at - 1].size >= size)
        return 1;
    if (!size || size > SXS_MEMORY_BYTES - memory->bytes || memory->n == SXS_MEMORY_PIECES ||
        make_room(memory) != 0)
        return -1;
    bytes = malloc(size);
    if (!bytes)
        return -1;
    if (sxs_safe_read(bytes, address, size) != size) {
        free(bytes);
        return -1;
    }
    memmove(&memory->all[at + 1], &memory->all[at], (memory->n - at) * sizeof(*memory->all));
    memory->all[at] = (struct sxs_memory_piece){address, size, bytes, is_object};
    memory->n++;
    memory->bytes += size;
    return 0;
}

/* Looks at a few pieces before @from: pieces overlap only if one object was copied twice. */
size_t sxs_memory_read(const struct sxs_memory *memory, void *to, uint64_t from, size_t size)
{
    size_t at = behind(memory, from);
    for (unsigned tries = 0; at > 0 && tries < 4; tries++) {
        const struct sxs_memory_piece *piece = &memory->all[--at];
        uint64_t                       into = from - piece->address;
        if (into <= piece->size && size <= piece->size - into) {
            memcpy(to, piece->bytes + into, size);
            return size;
        }
    }
    return 0;
}

void sxs_memory_free(struct sxs_memory *memory)
{
    for (size_t i = 0; i < memory->n; i++)
        free(memory->all[i].bytes);
    free(memory->all);
    *memory = (struct sxs_memory){0};
}
