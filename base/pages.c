/* SPDX-License-Identifier: MIT */
#include "base/pages.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fork.h"
#include "base/session_state.h"

#define LARGE ((size_t)16 << 10) /* blocks of this size and more have a mapping of their own */
#define SLAB  ((size_t)64 << 10)
#define PAGE  ((size_t)4096)

/* A mapping that small blocks share. They are cut off one after the other; what is freed is not used
 * again before the whole mapping is free. */
struct slab {
    size_t used;     /* bytes, with this struct */
    size_t n_blocks; /* not freed */
};

/* In front of each block. */
struct block_head {
    size_t       size; /* bytes of the block, without the head */
    struct slab *slab; /* NULL: a mapping of its own */
};
_Static_assert(sizeof(struct block_head) == 16 && sizeof(struct slab) == 16,
               "blocks are aligned to 16 bytes");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);
static struct slab *current; /* guarded by lock: the newest slab; NULL: none has room */
SXS_SESSION_KEEPS(current);

static struct block_head *head_of(void *block)
{
    return (struct block_head *)block - 1;
}

static size_t mapped_size(size_t size)
{
    return (size + sizeof(struct block_head) + PAGE - 1) & ~(PAGE - 1);
}

static void *map(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static struct block_head *cut_off_locked(size_t size)
{
    struct block_head *head;
    size = (size + sizeof(*head) + 15) & ~(size_t)15;
    if (!current || SLAB - current->used < size) {
        struct slab *fresh = map(SLAB);
        if (!fresh)
            return NULL;
        fresh->used = sizeof(*fresh);
        current = fresh;
    }
    head = (struct block_head *)(void *)((char *)current + current->used);
    current->used += size;
    current->n_blocks++;
    return head;
}

void *sxs_pages_alloc(size_t size)
{
    struct block_head *head;
    if (size > SIZE_MAX / 2)
        return NULL;
    if (size >= LARGE) {
        head = map(mapped_size(size));
        if (!head)
            return NULL;
        *head = (struct block_head){size, NULL};
        return head + 1;
    }
    pthread_mutex_lock(&lock);
    head = cut_off_locked(size);
    if (head)
        *head = (struct block_head){size, current};
    pthread_mutex_unlock(&lock);
    return head ? head + 1 : NULL;
}

void *sxs_pages_zeroed(size_t size)
{
    return sxs_pages_alloc(size); /* zero already: no part of a mapping is used twice */
}

void *sxs_pages_realloc(void *block, size_t size)
{
    void  *more = sxs_pages_alloc(size);
    size_t had = block ? head_of(block)->size : 0;
    if (!more || !block)
        return more;
    memcpy(more, block, had < size ? had : size);
    sxs_pages_free(block);
    return more;
}

static void free_small_locked(struct slab *slab)
{
    if (--slab->n_blocks)
        return;
    if (slab == current)
        current = NULL;
    munmap(slab, SLAB);
}

void sxs_pages_free(void *block)
{
    struct block_head *head;
    if (!block)
        return;
    head = head_of(block);
    if (!head->slab) {
        munmap(head, mapped_size(head->size));
        return;
    }
    pthread_mutex_lock(&lock);
    free_small_locked(head->slab);
    pthread_mutex_unlock(&lock);
}
