/* SPDX-License-Identifier: MIT */
/* allocate.c - allocates native memory by each function of the C library. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/bridge/bridge.h"

/* Bytes of blocks after which a thread pauses for 1 ms: a GB a second is much for a program that uses
 * what it allocates. */
#define PAUSE_EVERY ((size_t)1 << 20)

static void pause_after(size_t bytes)
{
    static __thread size_t since;
    since += bytes;
    if (since < PAUSE_EVERY)
        return;
    since = 0;
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* Each returns a block of @bytes, or NULL. They are not inlined, so that stacks show them. */
#define ALLOCATE(name) __attribute__((noinline)) static void *by_##name(size_t bytes)

ALLOCATE(malloc)
{
    return malloc(bytes);
}

ALLOCATE(calloc)
{
    return bytes % 2 ? calloc(1, bytes) : calloc(bytes / 2, 2);
}

ALLOCATE(realloc)
{
    return realloc(NULL, bytes);
}

ALLOCATE(reallocarray)
{
    return reallocarray(NULL, bytes, 1);
}

ALLOCATE(memalign)
{
    return memalign(64, bytes);
}

ALLOCATE(aligned_alloc)
{
    return aligned_alloc(64, bytes);
}

ALLOCATE(posix_memalign)
{
    void *block;
    return posix_memalign(&block, 64, bytes) == 0 ? block : NULL;
}

ALLOCATE(valloc)
{
    return valloc(bytes);
}

ALLOCATE(pvalloc)
{
    return pvalloc(bytes);
}

ALLOCATE(mmap)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* A mapping of half the size that grows, and moves if it must. */
ALLOCATE(mremap)
{
    char *half = by_mmap(bytes / 2);
    void *at = half ? mremap(half, bytes / 2, bytes, MREMAP_MAYMOVE) : MAP_FAILED;
    return at == MAP_FAILED ? NULL : at;
}

/* Address space without memory. */
ALLOCATE(reserve)
{
    void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* The C library calls malloc() itself. */
ALLOCATE(strdup)
{
    char *text = malloc(bytes), *copy = NULL;
    if (text) {
        memset(text, 'x', bytes - 1);
        text[bytes - 1] = '\0';
        copy = strdup(text);
    }
    free(text);
    return copy;
}

/* A block that is moved a hundred times. */
ALLOCATE(chain)
{
    char *block = malloc(bytes);
    for (size_t i = 1; block && i <= 100; i++) {
        char *larger = realloc(block, bytes + i * 1000);
        if (!larger)
            free(block);
        block = larger;
        pause_after(bytes + i * 1000);
    }
    return block;
}

/* The block is allocated by the parent; a child that was forked allocates and frees as much again. */
ALLOCATE(fork)
{
    void *block = malloc(bytes);
    pid_t child = fork();
    if (child == 0) {
        free(block);
        for (int i = 0; i < 1000; i++)
            free(malloc(bytes));
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return block;
}

static const struct bridge_function {
    const char *name;
    void *(*allocate)(size_t bytes);
    int is_mapping;
} functions[] = {
    {"malloc", by_malloc, 0},
    {"calloc", by_calloc, 0},
    {"realloc", by_realloc, 0},
    {"reallocarray", by_reallocarray, 0},
    {"memalign", by_memalign, 0},
    {"aligned_alloc", by_aligned_alloc, 0},
    {"posix_memalign", by_posix_memalign, 0},
    {"valloc", by_valloc, 0},
    {"pvalloc", by_pvalloc, 0},
    {"strdup", by_strdup, 0},
    {"chain", by_chain, 0},
    {"fork", by_fork, 0},
    {"mmap", by_mmap, 1},
    {"mremap", by_mremap, 1},
    {"reserve", by_reserve, 1},
};

int sxsbridge_allocate(const char *function, long bytes, int n, int keep)
{
    const struct bridge_function *f = functions;
    while (f < functions + sizeof(functions) / sizeof(functions[0]) &&
           strcmp(f->name, function) != 0)
        f++;
    if (f == functions + sizeof(functions) / sizeof(functions[0]))
        return -1;
    for (int i = 0; i < n; i++) {
        void *volatile block = f->allocate((size_t)bytes);
        if (!block)
            return -1;
        pause_after((size_t)bytes);
        if (keep)
            continue;
        if (f->is_mapping)
            munmap(block, (size_t)bytes);
        else
            free(block);
    }
    return 0;
}
