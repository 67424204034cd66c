/* SPDX-License-Identifier: MIT */
#include "base/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE ((size_t)64 << 10)
#define PAGE  ((size_t)4096)

/* In front of each block. */
struct head {
    size_t size;   /* bytes of the block, without the head */
    size_t mapped; /* bytes of the mapping; 0: from malloc() */
};
_Static_assert(sizeof(struct head) == 16, "blocks are aligned to 16 bytes");

static struct head *head_of(void *block)
{
    return (struct head *)block - 1;
}

void *sxs_pages_alloc(size_t size)
{
    struct head *head;
    size_t       mapped = 0;
    if (size > SIZE_MAX / 2)
        return NULL;
    if (size >= LARGE) {
        mapped = (size + sizeof(*head) + PAGE - 1) & ~(PAGE - 1);
        head = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (head == MAP_FAILED)
            return NULL;
    } else {
        head = malloc(sizeof(*head) + size);
        if (!head)
            return NULL;
    }
    *head = (struct head){size, mapped};
    return head + 1;
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

void sxs_pages_free(void *block)
{
    struct head *head;
    if (!block)
        return;
    head = head_of(block);
    if (head->mapped)
        munmap(head, head->mapped);
    else
        free(head);
}
