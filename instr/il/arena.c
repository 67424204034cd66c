/* SPDX-License-Identifier: MIT */
/* instr/il/arena.c - the memory of a body: blocks that are filled one after the other. Clearing the
 * body keeps the blocks. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instr/il/internal.h"

#define BLOCK_BYTES (16u << 10)
#define ALIGNMENT 16u

struct block {
    struct block *next;
    size_t        size; /* of `bytes` */
    char          bytes[] __attribute__((aligned(16)));
};

struct sxs_il_arena {
    struct block *first, *current;
    size_t        used; /* bytes of the current block */
};

struct sxs_il_body *sxs_il_new(void)
{
    struct sxs_il_body *body = calloc(1, sizeof(*body));
    if (!body)
        return NULL;
    body->arena = calloc(1, sizeof(*body->arena));
    if (!body->arena) {
        free(body);
        return NULL;
    }
    return body;
}

void sxs_il_clear(struct sxs_il_body *body)
{
    struct sxs_il_arena *arena = body->arena;
    arena->current = arena->first;
    arena->used = 0;
    memset(body, 0, sizeof(*body));
    body->arena = arena;
}

void sxs_il_free(struct sxs_il_body *body)
{
    struct block *block, *next;
    if (!body)
        return;
    for (block = body->arena->first; block; block = next) {
        next = block->next;
        free(block);
    }
    free(body->arena);
    free(body);
}

static struct block *add_block(struct sxs_il_arena *arena, size_t size)
{
    struct block *block = malloc(sizeof(*block) + size);
    if (!block)
        return NULL;
    block->size = size;
    if (arena->current) {
        block->next = arena->current->next;
        arena->current->next = block;
    } else {
        block->next = arena->first;
        arena->first = block;
    }
    return block;
}

/* Makes a block of at least @size bytes the current one: the first block after the current one
 * that is large enough, moved directly after it, or a new block. Smaller blocks that were skipped
 * stay in the list for smaller allocations. Returns 0, or -1 without memory. */
static int next_block(struct sxs_il_arena *arena, size_t size)
{
    struct block **at = arena->current ? &arena->current->next : &arena->first, **place = at, *next;
    while (*at && (*at)->size < size)
        at = &(*at)->next;
    next = *at;
    if (next) {
        *at = next->next;
        next->next = *place;
        *place = next;
    } else {
        next = add_block(arena, size > BLOCK_BYTES ? size + size / 2 : BLOCK_BYTES);
    }
    if (!next)
        return -1;
    arena->current = next;
    arena->used = 0;
    return 0;
}

void *sxs_il_alloc(struct sxs_il_body *body, size_t size)
{
    struct sxs_il_arena *arena = body->arena;
    void                *at;
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (!arena->current || arena->current->size - arena->used < size)
        if (next_block(arena, size) != 0)
            return NULL;
    at = arena->current->bytes + arena->used;
    arena->used += size;
    return at;
}

void sxs_il_give_back(struct sxs_il_body *body, const void *at, size_t size, size_t used)
{
    struct sxs_il_arena *arena = body->arena;
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    used = (used + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if ((const char *)at + size == arena->current->bytes + arena->used)
        arena->used -= size - used;
}

void sxs_il_set_error(struct sxs_il_error *error, enum sxs_il_status status, uint32_t offset,
                      const char *format, ...)
{
    va_list args;
    if (!error)
        return;
    error->status = status;
    error->offset = offset;
    va_start(args, format);
    vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
}
