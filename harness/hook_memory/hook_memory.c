// SPDX-License-Identifier: MIT
/*
 * hook_memory.c - a library preloaded by tests that finds allocations made by the profiler's hooks.
 *
 * Every call of the allocator walks the chain of frame pointers of its callers. When one of the
 * functions in HOOK_FUNCTIONS is on the stack, the allocation was made within a hook. At exit, a
 * line on standard error for each distinct caller shows where, and a last line shows how many there
 * were.
 *
 * HOOK_FUNCTIONS: "START-SIZE,START-SIZE...", hexadecimal offsets in libsxsprof.so, as `nm -S`
 * prints them. The library is compiled with frame pointers, and so are the runtimes.
 */
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN         __attribute__((visibility("default")))
#define MAX_FUNCTIONS 32
#define MAX_CALLERS   32
#define MAX_FRAMES    64
#define KEYS          40 /* glibc allocates a thread's space for key values in blocks of 32 */
#define FRAME_MAX     (256u << 10) /* bytes; a larger distance is not a frame */

static struct {
    uintptr_t start, size;
} functions[MAX_FUNCTIONS];
static unsigned          n_functions;
static _Atomic uintptr_t base; /* load address of libsxsprof.so; 0: not loaded yet */
static _Atomic uint64_t  n_own, n_runtime, n_looked;

/* A distinct caller of the allocator. */
static struct caller {
    _Atomic uintptr_t ip; /* return address of the call of the allocator */
    /* The youngest return address in libsxsprof.so; equal to `ip` if that library is the caller. */
    _Atomic uintptr_t ours;
} callers[MAX_CALLERS];
static uintptr_t size_of_library;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void  __libc_free(void *);

static void note_caller(uintptr_t ip, uintptr_t ours)
{
    for (unsigned i = 0; i < MAX_CALLERS; i++) {
        uintptr_t there = 0;
        if (atomic_load(&callers[i].ip) == ip && atomic_load(&callers[i].ours) == ours)
            return;
        if (atomic_compare_exchange_strong(&callers[i].ip, &there, ip)) {
            atomic_store(&callers[i].ours, ours);
            return;
        }
    }
}

static int is_hook(uintptr_t ip, uintptr_t at)
{
    for (unsigned i = 0; i < n_functions; i++)
        if (ip - at - functions[i].start < functions[i].size)
            return 1;
    return 0;
}

/* Records an allocation if a hook is on the stack. @frame: the frame of the replaced function,
 * whose return address lies in the caller. */
static void look(const uintptr_t *frame)
{
    uintptr_t at = atomic_load_explicit(&base, memory_order_acquire), caller = frame[1], ours = 0;
    if (!at)
        return;
    atomic_fetch_add_explicit(&n_looked, 1, memory_order_relaxed);
    for (unsigned i = 0; i < MAX_FRAMES; i++) {
        const uintptr_t *next = (const uintptr_t *)frame[0];
        if (!ours && frame[1] - at < size_of_library)
            ours = frame[1];
        if (is_hook(frame[1], at)) {
            atomic_fetch_add(ours == caller ? &n_own : &n_runtime, 1);
            note_caller(caller, ours);
            return;
        }
        if (next <= frame || (uintptr_t)next - (uintptr_t)frame > FRAME_MAX ||
            ((uintptr_t)next & 7))
            return;
        frame = next;
    }
}

/* The frame of this library's pthread_setspecific() while the thread is in it, else NULL. libc has
 * no frame pointers, so a walk through the real function would fail. */
static __thread const uintptr_t *through __attribute__((tls_model("initial-exec")));
#define LOOK() look(through ? through : (const uintptr_t *)__builtin_frame_address(0))

SHOWN void *malloc(size_t size)
{
    LOOK();
    return __libc_malloc(size);
}

SHOWN void *calloc(size_t n, size_t size)
{
    LOOK();
    return __libc_calloc(n, size);
}

SHOWN void *realloc(void *at, size_t size)
{
    LOOK();
    return __libc_realloc(at, size);
}

SHOWN void *reallocarray(void *at, size_t n, size_t size)
{
    LOOK();
    return size && n > SIZE_MAX / size ? NULL : __libc_realloc(at, n * size);
}

SHOWN void *memalign(size_t align, size_t size)
{
    LOOK();
    return __libc_memalign(align, size);
}

SHOWN void free(void *at)
{
    if (at)
        LOOK();
    __libc_free(at);
}

SHOWN char *strdup(const char *s)
{
    size_t size = strlen(s) + 1;
    char  *copy;
    LOOK();
    copy = __libc_malloc(size);
    return copy ? memcpy(copy, s, size) : NULL;
}

/* glibc allocates memory when a thread sets its 33rd key or a later one. */
SHOWN int pthread_setspecific(pthread_key_t key, const void *value)
{
    static int (*next)(pthread_key_t, const void *);
    int          err;
    if (!next)
        next = (int (*)(pthread_key_t, const void *))dlsym(RTLD_NEXT, "pthread_setspecific");
    through = __builtin_frame_address(0);
    err = next(key, value);
    through = NULL;
    return err;
}

/* Bytes from the library's base to the end of its last segment. */
static uintptr_t code_size(uintptr_t at)
{
    const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)at;
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)(at + elf->e_phoff);
    uintptr_t size = 0;
    for (unsigned i = 0; i < elf->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr + segments[i].p_memsz > size)
            size = segments[i].p_vaddr + segments[i].p_memsz;
    return size;
}

/* Creates keys as a host with many libraries does, so that the keys of the profiler are in another
 * block than those of the runtimes. */
static void take_keys(void)
{
    pthread_key_t taken;
    for (int i = 0; i < KEYS; i++)
        pthread_key_create(&taken, NULL);
}

/* Runtimes load the profiler with dlopen(). */
SHOWN void *dlopen(const char *path, int flags)
{
    static void *(*next)(const char *, int);
    struct link_map *map = NULL;
    void            *library;
    if (!next)
        next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    library = next(path, flags);
    if (library && path && strstr(path, "libsxsprof.so") &&
        dlinfo(library, RTLD_DI_LINKMAP, (void *)&map) == 0) {
        take_keys();
        size_of_library = code_size(map->l_addr);
        atomic_store_explicit(&base, map->l_addr, memory_order_release);
    }
    return library;
}

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("HOOK_FUNCTIONS");
    while (at && *at && n_functions < MAX_FUNCTIONS) {
        char *after;
        functions[n_functions].start = strtoul(at, &after, 16);
        functions[n_functions].size = *after == '-' ? strtoul(after + 1, &after, 16) : 0;
        n_functions++;
        at = *after == ',' ? after + 1 : NULL;
    }
}

static void say_where(const char *what, uintptr_t ip)
{
    Dl_info info;
    if (ip && dladdr((void *)ip, &info))
        dprintf(2, " %s %s+0x%zx", what, strrchr(info.dli_fname, '/') + 1,
                (size_t)(ip - (uintptr_t)info.dli_fbase));
}

__attribute__((destructor)) static void end(void)
{
    for (unsigned i = 0; i < MAX_CALLERS && atomic_load(&callers[i].ip); i++) {
        dprintf(2, "hook_memory:");
        say_where("called by", atomic_load(&callers[i].ip));
        say_where("below", atomic_load(&callers[i].ours));
        dprintf(2, "\n");
    }
    if (atomic_load(&base))
        dprintf(2,
                "hook_memory: %llu of %llu calls of the allocator are made by hooks, %llu by "
                "runtimes within hooks\n",
                (unsigned long long)atomic_load(&n_own), (unsigned long long)atomic_load(&n_looked),
                (unsigned long long)atomic_load(&n_runtime));
}
