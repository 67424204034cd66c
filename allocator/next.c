/* SPDX-License-Identifier: MIT */
/*
 * next.c - find the functions that this library stands before.
 *
 * The first call may come from the dynamic loader, before any constructor has run. dlsym(), which
 * finds the functions, may itself allocate: such memory, and what other threads allocate meanwhile,
 * comes from a small array and is never freed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "allocator/internal.h"
#include "allocator/live.h"

/* ---- early blocks ---------------------------------------------------------------------------- */

#define EARLY_ALIGN 16u
#define EARLY_MAX   1000u /* blocks; see sxs_live_mark() */

static _Alignas(EARLY_ALIGN) char early[64 * 1024];
static _Atomic size_t   early_used;
static _Atomic unsigned n_early;

/* Each block stands after its size. The array is all zero and no part of it is used twice. */
static void *allocate_early(size_t size)
{
    size_t whole, at;
    char  *block;
    if (size > sizeof(early) || atomic_fetch_add(&n_early, 1) >= EARLY_MAX) {
        errno = ENOMEM;
        return NULL;
    }
    whole = EARLY_ALIGN + (size + EARLY_ALIGN - 1) / EARLY_ALIGN * EARLY_ALIGN;
    at = atomic_fetch_add(&early_used, whole);
    if (at + whole > sizeof(early)) {
        errno = ENOMEM;
        return NULL;
    }
    block = early + at + EARLY_ALIGN;
    memcpy(block - EARLY_ALIGN, &size, sizeof(size));
    sxs_live_mark(block);
    return block;
}

size_t sxs_early_size(const void *block)
{
    size_t size;
    if ((const char *)block < early || (const char *)block >= early + sizeof(early))
        return 0;
    memcpy(&size, (const char *)block - EARLY_ALIGN, sizeof(size));
    return size ? size : 1;
}

/* ---- functions before the next ones are known ---------------------------------------------------- */

static void *first_malloc(size_t size)
{
    return sxs_next_find() ? sxs_next.malloc(size) : allocate_early(size);
}

static void *first_calloc(size_t n, size_t size)
{
    size_t all;
    if (sxs_next_find())
        return sxs_next.calloc(n, size);
    if (__builtin_mul_overflow(n, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return allocate_early(all);
}

static void *first_realloc(void *block, size_t size)
{
    if (sxs_next_find())
        return sxs_next.realloc(block, size);
    return block ? NULL : allocate_early(size);
}

static void *first_memalign(size_t align, size_t size)
{
    return sxs_next_find()        ? sxs_next.memalign(align, size)
           : align <= EARLY_ALIGN ? allocate_early(size)
                                  : NULL;
}

static void *first_aligned_alloc(size_t align, size_t size)
{
    return sxs_next_find()        ? sxs_next.aligned_alloc(align, size)
           : align <= EARLY_ALIGN ? allocate_early(size)
                                  : NULL;
}

static int first_posix_memalign(void **out, size_t align, size_t size)
{
    return sxs_next_find() ? sxs_next.posix_memalign(out, align, size) : ENOMEM;
}

static void *first_valloc(size_t size)
{
    return sxs_next_find() ? sxs_next.valloc(size) : NULL;
}

static void *first_pvalloc(size_t size)
{
    return sxs_next_find() ? sxs_next.pvalloc(size) : NULL;
}

/* A block that is freed while the functions are being found stays allocated. */
static void first_free(void *block)
{
    if (block && sxs_next_find())
        sxs_next.free(block);
}

/* The three functions for mappings are system calls until the next ones are known, because an
 * allocator may call them with its lock held. */
static void *kernel_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
}

static int kernel_munmap(void *addr, size_t len)
{
    return (int)syscall(SYS_munmap, addr, len);
}

static void *kernel_mremap(void *addr, size_t old_len, size_t new_len, int flags, ...)
{
    __builtin_va_list more;
    void             *to;
    __builtin_va_start(more, flags);
    to = flags & MREMAP_FIXED ? __builtin_va_arg(more, void *) : NULL;
    __builtin_va_end(more);
    return (void *)syscall(SYS_mremap, addr, old_len, new_len, flags, to);
}

struct sxs_next sxs_next = {
    .malloc = first_malloc,
    .calloc = first_calloc,
    .realloc = first_realloc,
    .memalign = first_memalign,
    .aligned_alloc = first_aligned_alloc,
    .posix_memalign = first_posix_memalign,
    .valloc = first_valloc,
    .pvalloc = first_pvalloc,
    .free = first_free,
    .mmap = kernel_mmap,
    .munmap = kernel_munmap,
    .mremap = kernel_mremap,
};

struct sxs_usual sxs_usual = {malloc, aligned_alloc, free, NULL};

/* ---- finding them ---------------------------------------------------------------------------- */

/* The library of the next malloc(), half-open; empty if it is not known. */
static _Atomic uintptr_t allocator_lo, allocator_hi;

int sxs_next_is_allocator(uintptr_t address)
{
    return address >= atomic_load_explicit(&allocator_lo, memory_order_relaxed) &&
           address < atomic_load_explicit(&allocator_hi, memory_order_relaxed);
}

/* Finds the addresses of the library that @address is in. */
static void find_allocator(uintptr_t address)
{
    Dl_info info;
    void   *map = NULL;
    const ElfW(Phdr) * headers;
    const ElfW(Ehdr) * elf;
    uintptr_t hi = 0;
    if (!dladdr1((const void *)address, &info, &map, RTLD_DL_LINKMAP) || !map)
        return;
    elf = info.dli_fbase;
    headers = (const void *)((const char *)info.dli_fbase + elf->e_phoff);
    for (unsigned i = 0; i < elf->e_phnum; i++)
        if (headers[i].p_type == PT_LOAD && headers[i].p_vaddr + headers[i].p_memsz > hi)
            hi = headers[i].p_vaddr + headers[i].p_memsz;
    atomic_store(&allocator_hi, ((const struct link_map *)map)->l_addr + hi);
    atomic_store(&allocator_lo, (uintptr_t)info.dli_fbase);
}

void *(*sxs_next_dlsym(void))(void *, const char *)
{
    static void *_Atomic found;
    void *(*function)(void *, const char *);
    void *next = atomic_load(&found);
    if (!next && !(next = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34")))
        next = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    atomic_store(&found, next);
    memcpy(&function, &next, sizeof(function));
    return function;
}

void *sxs_next_function(const char *name)
{
    return sxs_next_dlsym()(RTLD_NEXT, name);
}

static void set(void *function, const void *found)
{
    if (found)
        memcpy(function, &found, sizeof(found));
}

/* Replaces @*function by the next one of this name; leaves it if there is none. */
static void find_one(void *function, const char *name)
{
    set(function, sxs_next_function(name));
}

/* The same by the first function of this name in the program. */
static void find_usual(void *function, const char *name)
{
    set(function, sxs_next_dlsym()(RTLD_DEFAULT, name));
}

enum { UNKNOWN, SEARCHING, KNOWN };
static _Atomic int state;

/* malloc() and free() come last, because while one of them is missing, blocks are early ones. */
static void find_all(void)
{
    struct sxs_next next = sxs_next;
    find_one(&next.calloc, "calloc");
    find_one(&next.realloc, "realloc");
    find_one(&next.memalign, "memalign");
    find_one(&next.aligned_alloc, "aligned_alloc");
    find_one(&next.posix_memalign, "posix_memalign");
    find_one(&next.valloc, "valloc");
    find_one(&next.pvalloc, "pvalloc");
    find_one(&next.mallocx, "mallocx");
    find_one(&next.rallocx, "rallocx");
    find_one(&next.xallocx, "xallocx");
    find_one(&next.dallocx, "dallocx");
    find_one(&next.sdallocx, "sdallocx");
    find_usual(&sxs_usual.malloc, "malloc");
    find_usual(&sxs_usual.aligned_alloc, "aligned_alloc");
    find_usual(&sxs_usual.free, "free");
    find_usual(&sxs_usual.usable_size, "malloc_usable_size");
    find_one(&next.mmap, "mmap");
    find_one(&next.munmap, "munmap");
    find_one(&next.mremap, "mremap");
    find_one(&next.free, "free");
    find_one(&next.malloc, "malloc");
    find_allocator((uintptr_t)next.malloc);
    sxs_next = next;
}

int sxs_next_find(void)
{
    int expected = UNKNOWN;
    if (atomic_load_explicit(&state, memory_order_acquire) == KNOWN)
        return 1;
    if (!atomic_compare_exchange_strong(&state, &expected, SEARCHING))
        return expected == KNOWN;
    sxs_own.inside++;
    find_all();
    sxs_own.inside--;
    atomic_store_explicit(&state, KNOWN, memory_order_release);
    return 1;
}

__attribute__((constructor)) static void start(void)
{
    sxs_next_find();
}
