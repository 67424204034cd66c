/* SPDX-License-Identifier: MIT */
/*
 * make_hostile.c - writes a session whose file "calls" costs its reader much time or memory for its size.
 * Each reference in the file is valid.
 *
 *   make_hostile DIR chain      a path of DEPTH calls, each call with a function and runtime of its own
 *   make_hostile DIR deep       a path of DEPTH / 3 calls, each with time of its own
 *   make_hostile DIR jumps      two paths of DEPTH / 3 calls, and events that alternate between their ends
 *   make_hostile DIR overlap    functions and notes whose names and texts overlap in the same cells
 */
#include "session/format/calls.h"
#include "tests/profile/census_file.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PID    4242u
#define DEPTH  300000u
#define CHUNKS 1300u

static struct sxs_calls_header head;
static unsigned char          *cells;
static uint32_t                next_cell = 1;

/* Takes @n cells of one chunk. Returns the reference of the first. */
static sxs_calls_ref take(unsigned n)
{
    sxs_calls_ref ref;
    if (next_cell % SXS_CALLS_CELLS + n > SXS_CALLS_CELLS)
        next_cell = (next_cell / SXS_CALLS_CELLS + 1) * SXS_CALLS_CELLS;
    next_cell += next_cell % SXS_CALLS_CELLS == 0;
    ref = next_cell;
    next_cell += n;
    if (next_cell > CHUNKS * SXS_CALLS_CELLS)
        exit(2);
    return ref;
}

static void *cell(sxs_calls_ref ref)
{
    return cells + (size_t)ref * SXS_CALLS_CELL;
}

static sxs_calls_ref add_function(uint32_t number)
{
    sxs_calls_ref              ref = take(1);
    struct sxs_calls_function *f = cell(ref);
    f->next = head.functions;
    f->number = number;
    f->runtime = number + 1;
    f->name_size = (uint16_t)snprintf((char *)&f->tail_left, 16, "A.F%u", number);
    head.functions = ref;
    return ref;
}

/* Adds a path of @depth nodes below @parent. Returns the last node. */
static sxs_calls_ref add_chain(sxs_calls_ref parent, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++) {
        sxs_calls_ref          ref = take(1), function = add_function(i);
        struct sxs_calls_node *n = cell(ref), *up = cell(parent);
        n->parent = parent;
        n->function = function;
        n->calls = 1;
        n->sibling = up->child;
        up->child = ref;
        parent = ref;
    }
    return parent;
}

/* Gives the call @ref and each of its callers a time that is longer than that of its callee. */
static void add_times(sxs_calls_ref ref)
{
    uint64_t ticks = 1;
    for (; ref; ref = ((struct sxs_calls_node *)cell(ref))->parent)
        ((struct sxs_calls_node *)cell(ref))->ticks = ticks++;
}

static struct sxs_calls_thread *add_thread(void)
{
    sxs_calls_ref            ref = take(2);
    struct sxs_calls_thread *t = cell(ref);
    head.threads = ref;
    t->root = take(1);
    t->tid = 100;
    strcpy(t->name, "main");
    return t;
}

static void add_jumps(struct sxs_calls_thread *t, const sxs_calls_ref ends[2])
{
    for (uint64_t block = 0; block < 20; block++) {
        sxs_calls_ref           ref = take(SXS_CALLS_BLOCK_CELLS);
        struct sxs_calls_block *b = cell(ref);
        struct sxs_calls_event *e = (void *)(b + 1);
        for (uint64_t i = 0; i < SXS_CALLS_BLOCK_EVENTS; i++)
            e[i] = (struct sxs_calls_event){1 + block * SXS_CALLS_BLOCK_EVENTS + i, ends[i & 1], SXS_CALLS_ENTER};
        b->next = t->events;
        t->events = ref;
    }
}

/* Adds functions and notes, each one cell after the previous one. Each text ends with the chunk. */
static void add_overlapping(void)
{
    for (uint32_t i = 0; i < 400 * SXS_CALLS_CELLS; i++) {
        sxs_calls_ref ref = take(1);
        uint32_t      left = (SXS_CALLS_CELLS - ref % SXS_CALLS_CELLS) * SXS_CALLS_CELL;
        if (ref % 2) {
            struct sxs_calls_function *f = cell(ref);
            f->next = head.functions;
            f->name_size = (uint16_t)(left - offsetof(struct sxs_calls_function, tail_left));
            memset(&f->tail_left, 'f', 16);
            head.functions = ref;
        } else {
            struct sxs_calls_note *n = cell(ref);
            n->next = head.notes;
            n->kind = SXS_CALLS_NOTE_DYNAMIC;
            n->size = left - (uint32_t)offsetof(struct sxs_calls_note, text);
            memset(n->text, 'n', sizeof(n->text));
            head.notes = ref;
        }
    }
}

static int write_file(const char *dir)
{
    static char page[SXS_CALLS_HEADER];
    char        path[4200];
    memcpy(page, &head, sizeof(head));
    snprintf(path, sizeof(path), "%s/%u/" SXS_CALLS_FILE, dir, PID);
    FILE *f = fopen(path, "w");
    return !f || fwrite(page, sizeof(page), 1, f) != 1 ||
           fwrite(cells, SXS_CALLS_CHUNK, CHUNKS, f) != CHUNKS || fclose(f) != 0;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 64;
    cells = calloc(CHUNKS, SXS_CALLS_CHUNK);
    if (!cells)
        return 1;
    write_census(argv[1], PID);
    head = (struct sxs_calls_header){.magic = SXS_CALLS_MAGIC,
                                     .version = SXS_CALLS_VERSION_2,
                                     .chunk_size = SXS_CALLS_CHUNK,
                                     .pid = PID,
                                     .mode = SXS_CALLS_TREE,
                                     .started_ns = 1,
                                     .seen_ns = 1000000,
                                     .seen_tick = 1000000,
                                     .n_chunks = CHUNKS,
                                     .n_taken = CHUNKS,
                                     .max_chunks = CHUNKS,
                                     .max_blocks = 32};
    struct sxs_calls_thread *t = add_thread();
    sxs_calls_ref            ends[2];
    if (strcmp(argv[2], "overlap") == 0) {
        add_overlapping();
        return write_file(argv[1]);
    }
    uint32_t depth = strcmp(argv[2], "chain") == 0 ? DEPTH : DEPTH / 3;
    ends[0] = ends[1] = add_chain(t->root, depth);
    if (strcmp(argv[2], "deep") == 0)
        add_times(ends[0]);
    if (strcmp(argv[2], "jumps") == 0) {
        ends[1] = add_chain(t->root, depth);
        add_jumps(t, ends);
    }
    return write_file(argv[1]);
}
