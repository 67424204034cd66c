/* SPDX-License-Identifier: MIT */
/*
 * failing.c - a preloaded library that makes memory allocations of libsxsprof.so fail.
 *
 *   FAILING=17          the 17th allocation fails
 *   FAILING=17+         the 17th and all later allocations fail
 *   FAILING_XML=1       allocations of libxml2 count and fail, too; libxml2 2.9 itself crashes when
 *                       some of them fail
 *   FAILING_SAID=FILE   FILE receives a line for each failure, and the number of allocations
 *
 * The return address of the call of malloc() tells which library allocates.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);

static unsigned long         nth; /* 0: no allocation fails */
static int                   on, xml, said = -1;
static _Atomic unsigned long asked;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAILING"), *path = getenv("FAILING_SAID");
    char       *end;
    if (path)
        said = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    xml = getenv("FAILING_XML") != NULL;
    if (text) {
        nth = strtoul(text, &end, 10);
        on = *end == '+';
    }
}

__attribute__((destructor)) static void end(void)
{
    if (said >= 0)
        dprintf(said, "asked %lu\n", atomic_load(&asked));
}

static int is_theirs(void *from, struct dl_find_object *object)
{
    const char *name, *slash;
    if (_dl_find_object(from, object) || !object->dlfo_link_map)
        return 0;
    name = object->dlfo_link_map->l_name;
    slash = strrchr(name, '/');
    return slash &&
           (!strcmp(slash, "/libsxsprof.so") || (xml && !strncmp(slash, "/libxml2.so", 11)));
}

/* Must not allocate, so the line is formatted on the stack. */
static int refuse(void *from, size_t size)
{
    struct dl_find_object object;
    unsigned long         n;
    char                  line[160];
    int                   length;
    if (!is_theirs(from, &object))
        return 0;
    n = atomic_fetch_add(&asked, 1) + 1;
    if (!nth || (on ? n < nth : n != nth))
        return 0;
    length = snprintf(line, sizeof(line), "refused %lu: %zu bytes at %.60s+0x%lx\n", n, size,
                      strrchr(object.dlfo_link_map->l_name, '/') + 1,
                      (unsigned long)((uintptr_t)from - object.dlfo_link_map->l_addr));
    if (said >= 0 && write(said, line, (size_t)length) < 0)
        said = -1;
    errno = ENOMEM;
    return 1;
}

#define HERE   __builtin_return_address(0)
#define EXPORT __attribute__((visibility("default")))

/* Libraries that use their own symbols first would not call the functions below. */
EXPORT void *dlopen(const char *path, int flags)
{
    void *(*next)(const char *, int);
    *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    return next(path, flags & ~RTLD_DEEPBIND);
}

EXPORT void *malloc(size_t size)
{
    return refuse(HERE, size) ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
    return refuse(HERE, n * size) ? NULL : __libc_calloc(n, size);
}

EXPORT void *realloc(void *old, size_t size)
{
    return size && refuse(HERE, size) ? NULL : __libc_realloc(old, size);
}

EXPORT void *reallocarray(void *old, size_t n, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(n, size, &all) || (all && refuse(HERE, all)))
        return NULL;
    return __libc_realloc(old, all);
}

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    if (refuse(HERE, size))
        return ENOMEM;
    *out = __libc_memalign(align, size);
    return *out ? 0 : ENOMEM;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
    return refuse(HERE, size) ? NULL : __libc_memalign(align, size);
}

EXPORT char *strndup(const char *text, size_t most)
{
    size_t n = strnlen(text, most);
    char  *copy = refuse(HERE, n + 1) ? NULL : __libc_malloc(n + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

EXPORT char *strdup(const char *text)
{
    size_t n = strlen(text) + 1;
    char  *copy = refuse(HERE, n) ? NULL : __libc_malloc(n);
    return copy ? memcpy(copy, text, n) : NULL;
}
