/* SPDX-License-Identifier: MIT */
/* instr/config/memory.c - arenas, and the reference-counted files that configs share. */
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instr/config/config_internal.h"

#define CHUNK_SIZE 16384

struct config_chunk {
    struct config_chunk *next;
    size_t               size;
    alignas(max_align_t) char bytes[];
};

void *config_alloc(struct config_arena *arena, size_t size)
{
    size_t align = alignof(max_align_t), need = (size + align - 1) / align * align;
    if (arena->failed || need < size)
        return NULL;
    if (need > arena->left) {
        size_t               room = need > CHUNK_SIZE ? need : CHUNK_SIZE;
        struct config_chunk *chunk = calloc(1, sizeof(*chunk) + room);
        if (!chunk) {
            arena->failed = 1;
            return NULL;
        }
        chunk->size = room;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
        arena->left = room;
    }
    arena->left -= need;
    return arena->chunks->bytes + arena->left;
}

char *config_strndup(struct config_arena *arena, const char *s, size_t len)
{
    char *copy = config_alloc(arena, len + 1);
    if (copy)
        memcpy(copy, s, len);
    return copy;
}

char *config_strdup(struct config_arena *arena, const char *s)
{
    return config_strndup(arena, s, strlen(s));
}

char *config_vprintf(struct config_arena *arena, const char *format, va_list args)
{
    char *text = NULL, *copy;
    if (vasprintf(&text, format, args) < 0) {
        arena->failed = 1;
        return NULL;
    }
    copy = config_strdup(arena, text);
    free(text);
    return copy;
}

char *config_printf(struct config_arena *arena, const char *format, ...)
{
    va_list args;
    char   *text;
    va_start(args, format);
    text = config_vprintf(arena, format, args);
    va_end(args);
    return text;
}

void config_arena_clear(struct config_arena *arena)
{
    while (arena->chunks) {
        struct config_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
    memset(arena, 0, sizeof(*arena));
}

/* ---- files ----------------------------------------------------------------------------------- */

struct config_file *config_file_new(const char *path)
{
    struct config_file *file = calloc(1, sizeof(*file));
    if (!file)
        return NULL;
    atomic_init(&file->refs, 1);
    file->path = config_strdup(&file->arena, path);
    if (!file->path) {
        config_file_unref(file);
        return NULL;
    }
    return file;
}

void config_file_unref(struct config_file *file)
{
    if (!file || atomic_fetch_sub(&file->refs, 1) != 1)
        return;
    free(file->rules);
    config_arena_clear(&file->arena);
    free(file);
}

struct sxs_rule *config_file_add(struct config_file *file)
{
    if (file->n_rules == file->room) {
        uint32_t         room = file->room ? 2 * file->room : 16;
        struct sxs_rule *rules = reallocarray(file->rules, room, sizeof(*rules));
        if (!rules) {
            file->arena.failed = 1;
            return NULL;
        }
        file->rules = rules;
        file->room = room;
    }
    memset(&file->rules[file->n_rules], 0, sizeof(*file->rules));
    return &file->rules[file->n_rules++];
}
