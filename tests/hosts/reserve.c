/* SPDX-License-Identifier: MIT */
/** reserve.c - libreserve.so, an allocator to preload. Like several allocators, it reserves 64 MiB
 * at a time by mmap(PROT_NONE) while it holds its own lock. A replaced mmap() that allocates memory
 * or looks up symbols therefore deadlocks. */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 16, RESERVED = 64 << 20, STEP = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the three pointers below */
static char           *next, *usable, *end;

/* Returns a block that is never freed. Its size is stored in the 16 bytes before it. */
static void *take(size_t size, size_t alignment)
{
    size_t space = size + alignment + 2 * ALIGNMENT;
    char  *result = NULL;

    if (size > PTRDIFF_MAX / 2 || alignment > RESERVED)
        return NULL;
    pthread_mutex_lock(&lock);
    if (!next || (size_t)(end - next) < space) {
        size_t len = space > RESERVED ? (space + STEP) & ~(size_t)(STEP - 1) : RESERVED;
        char  *map = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map == MAP_FAILED)
            goto out;
        next = usable = map;
        end = map + len;
    }
    result = (char *)(((uintptr_t)next + ALIGNMENT + alignment - 1) & ~(alignment - 1));
    if (result + size > usable) {
        size_t more = (size_t)(result + size - usable + STEP - 1) & ~(size_t)(STEP - 1);
        if (more > (size_t)(end - usable))
            more = (size_t)(end - usable);
        if (mprotect(usable, more, PROT_READ | PROT_WRITE)) {
            result = NULL;
            goto out;
        }
        usable += more;
    }
    memcpy(result - sizeof(size), &size, sizeof(size));
    next = result + size;
out:
    pthread_mutex_unlock(&lock);
    return result;
}

static size_t size_of(const void *memory)
{
    size_t size;

    memcpy(&size, (const char *)memory - sizeof(size), sizeof(size));
    return size;
}

static size_t valid(size_t alignment)
{
    return alignment < ALIGNMENT ? ALIGNMENT : alignment;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    void *memory = take(size, ALIGNMENT);

    if (!memory)
        errno = ENOMEM;
    return memory;
}

__attribute__((visibility("default"))) void free(void *memory)
{
    (void)memory;
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
    size_t all;

    if (__builtin_mul_overflow(n, size, &all))
        return NULL;
    return malloc(all); /* new pages are zero, and no memory is used twice */
}

__attribute__((visibility("default"))) void *realloc(void *memory, size_t size)
{
    void *other = malloc(size);

    if (other && memory)
        memcpy(other, memory, size < size_of(memory) ? size : size_of(memory));
    return other;
}

__attribute__((visibility("default"))) void *memalign(size_t alignment, size_t size)
{
    return take(size, valid(alignment));
}

__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t size)
{
    return take(size, valid(alignment));
}

__attribute__((visibility("default"))) int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *memory = take(size, valid(alignment));

    if (!memory)
        return ENOMEM;
    *out = memory;
    return 0;
}

__attribute__((visibility("default"))) size_t malloc_usable_size(void *memory)
{
    return memory ? size_of(memory) : 0;
}
