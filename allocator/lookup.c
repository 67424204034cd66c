/* SPDX-License-Identifier: MIT */
/*
 * lookup.c - dlsym(), for programs that look up the functions of the C library by their names.
 *
 * A P/Invoke of malloc() in "libc" makes a runtime call dlsym() with the C library's own handle,
 * which finds its functions and not those before them. This dlsym() returns the function here in
 * place of the one that it would call. Other libraries may stand before the C library's functions,
 * too, and look up the real ones in this way: if such a library stands after this one, it is the
 * next one, so what it finds is not replaced; if it stands before this one, the function here calls
 * the real one.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "allocator/internal.h"

extern void  *memalign(size_t align, size_t size);
extern void  *pvalloc(size_t size);
extern void   cfree(void *block);
extern void  *mallocx(size_t size, int flags);
extern void  *rallocx(void *block, size_t size, int flags);
extern size_t xallocx(void *block, size_t size, size_t extra, int flags);
extern void   dallocx(void *block, int flags);
extern void   sdallocx(void *block, size_t size, int flags);

/* Returns the function here that calls @found, or @found. The C library's reallocarray() calls
 * realloc() like any other code, so it may be found. The names below are those of this library, because it
 * is linked with -Bsymbolic. */
static void *replace(void *found, const char *name)
{
    const struct {
        const char *name;
        uintptr_t   next, own;
    } all[] = {
        {"malloc", (uintptr_t)sxs_next.malloc, (uintptr_t)malloc},
        {"calloc", (uintptr_t)sxs_next.calloc, (uintptr_t)calloc},
        {"realloc", (uintptr_t)sxs_next.realloc, (uintptr_t)realloc},
        {"memalign", (uintptr_t)sxs_next.memalign, (uintptr_t)memalign},
        {"aligned_alloc", (uintptr_t)sxs_next.aligned_alloc, (uintptr_t)aligned_alloc},
        {"posix_memalign", (uintptr_t)sxs_next.posix_memalign, (uintptr_t)posix_memalign},
        {"valloc", (uintptr_t)sxs_next.valloc, (uintptr_t)valloc},
        {"pvalloc", (uintptr_t)sxs_next.pvalloc, (uintptr_t)pvalloc},
        {"free", (uintptr_t)sxs_next.free, (uintptr_t)free},
        {"cfree", (uintptr_t)sxs_next.free, (uintptr_t)cfree},
        {"mallocx", (uintptr_t)sxs_next.mallocx, (uintptr_t)mallocx},
        {"rallocx", (uintptr_t)sxs_next.rallocx, (uintptr_t)rallocx},
        {"xallocx", (uintptr_t)sxs_next.xallocx, (uintptr_t)xallocx},
        {"dallocx", (uintptr_t)sxs_next.dallocx, (uintptr_t)dallocx},
        {"sdallocx", (uintptr_t)sxs_next.sdallocx, (uintptr_t)sdallocx},
        {"mmap", (uintptr_t)sxs_next.mmap, (uintptr_t)sxs_mmap_noted},
        {"mmap64", (uintptr_t)sxs_next.mmap, (uintptr_t)sxs_mmap_noted},
        {"munmap", (uintptr_t)sxs_next.munmap, (uintptr_t)sxs_munmap_noted},
        {"mremap", (uintptr_t)sxs_next.mremap, (uintptr_t)mremap},
    };
    void *own;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i].next && (uintptr_t)found == all[i].next && strcmp(name, all[i].name) == 0)
            return (void *)all[i].own;
    own = sxs_operator_replace((uintptr_t)found, name);
    return own ? own : found;
}

/* With these handles the result depends on the calling library, so the call is passed on by a jump. */
static int depends_on_caller(const void *handle)
{
    return handle == RTLD_NEXT || handle == RTLD_DEFAULT;
}

SXS_EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    void *(*next)(void *, const char *) = sxs_next_dlsym();
    void *found;
    if (depends_on_caller(handle))
        return next(handle, name);
    found = next(handle, name);
    return found ? replace(found, name) : NULL;
}
