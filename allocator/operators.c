/* SPDX-License-Identifier: MIT */
/*
 * operators.c - the operators new and delete of C++.
 *
 * The operators of libstdc++ call malloc() and free(), which are counted in blocks.c. Those of
 * jemalloc, tcmalloc and mimalloc allocate by functions inside of their own libraries: nothing else
 * would count them. So the operators here stand before the next ones and do one of three things:
 *
 *   passed    the next operator belongs to libstdc++ or to the program: it is called, and what it
 *             allocates by malloc() is counted there.
 *   counted   the next operator belongs to the library of the next malloc(), and does not call the
 *             malloc() here: it is called and counted.
 *   plain     there is no next operator, because libraries for C++ come only later, by dlopen(), as in
 *             a program in C that hosts a runtime. Those libraries call the operators here, because
 *             preloaded libraries come first. The operators do then what libstdc++'s do: they call
 *             malloc(), aligned_alloc() or free(). When memory runs out, the operator that the caller
 *             would have called without this library throws the exception.
 *
 * This library never needs libstdc++. Exceptions pass through the frames here by their unwind tables.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "allocator/internal.h"
#include "allocator/live.h"

/* The functions of all operators are declared with the most parameters that any of them has: they are
 * passed in registers, and what a caller has not set is passed on unread. */
typedef void *allocating(size_t size, uintptr_t second, uintptr_t third);
typedef void  freeing(void *block, uintptr_t second, uintptr_t third);

/* The mangled names; the alignment of what an operator new allocates. */
#define ALL_NEW(OPERATOR)                                \
    OPERATOR(_Znwm, 0)                                   \
    OPERATOR(_Znam, 0)                                   \
    OPERATOR(_ZnwmRKSt9nothrow_t, 0)                     \
    OPERATOR(_ZnamRKSt9nothrow_t, 0)                     \
    OPERATOR(_ZnwmSt11align_val_t, second)               \
    OPERATOR(_ZnamSt11align_val_t, second)               \
    OPERATOR(_ZnwmSt11align_val_tRKSt9nothrow_t, second) \
    OPERATOR(_ZnamSt11align_val_tRKSt9nothrow_t, second)
#define ALL_DELETE(OPERATOR)                      \
    OPERATOR(_ZdlPv)                              \
    OPERATOR(_ZdaPv)                              \
    OPERATOR(_ZdlPvRKSt9nothrow_t)                \
    OPERATOR(_ZdaPvRKSt9nothrow_t)                \
    OPERATOR(_ZdlPvm)                             \
    OPERATOR(_ZdaPvm)                             \
    OPERATOR(_ZdlPvSt11align_val_t)               \
    OPERATOR(_ZdaPvSt11align_val_t)               \
    OPERATOR(_ZdlPvSt11align_val_tRKSt9nothrow_t) \
    OPERATOR(_ZdaPvSt11align_val_tRKSt9nothrow_t) \
    OPERATOR(_ZdlPvmSt11align_val_t)              \
    OPERATOR(_ZdaPvmSt11align_val_t)

/* ---- plain ----------------------------------------------------------------------------------- */

/* Defined by the linker: the first byte of this library, and the first after it. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static int is_here(const void *address)
{
    return (uintptr_t)address >= (uintptr_t)__ehdr_start && (uintptr_t)address < (uintptr_t)_end;
}

/* Calls the operator that the caller would have called without this library. It tries again, calls
 * the handler of the program, and throws. Returns NULL if there is none. An operator new[]() jumps to
 * operator new(), which then has this function as its caller. */
SXS_SLOW static void *fail_to_allocate(const char *name, size_t size, uintptr_t second,
                                       uintptr_t third, uintptr_t caller)
{
    Dl_info     info;
    void       *map = NULL, *library = NULL, *found = NULL;
    allocating *next;
    if (!is_here((const void *)caller))
        sxs_own.without_memory = caller;
    if (dladdr1((const void *)sxs_own.without_memory, &info, &map, RTLD_DL_LINKMAP) && map)
        library = dlopen(((const struct link_map *)map)->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (library)
        found = sxs_next_dlsym()(library, name);
    if (!found || is_here(found))
        return NULL;
    memcpy(&next, &found, sizeof(next));
    return next(size, second, third);
}

/* @align: 0: that of malloc(). */
static inline void *allocate_plain(const char *name, size_t align, size_t size, uintptr_t second,
                                   uintptr_t third, uintptr_t caller)
{
    size_t wanted = size ? size : 1, whole = align ? (wanted + align - 1) & ~(align - 1) : wanted;
    void  *block = NULL;
    if (whole >= wanted)
        block = align ? sxs_usual.aligned_alloc(align, whole) : sxs_usual.malloc(whole);
    return block ? block : fail_to_allocate(name, size, second, third, caller);
}

/* ---- counted --------------------------------------------------------------------------------- */

SXS_SLOW static void *allocate_counted(allocating *next, size_t size, uintptr_t second,
                                       uintptr_t third, uintptr_t caller)
{
    double n;
    int    taken = sxs_take(size, &n);
    void  *block = next(size, second, third);
    if (taken && block)
        sxs_report_block(block, size, n, caller);
    return block;
}

SXS_SLOW static void free_counted(freeing *next, void *block, uintptr_t second, uintptr_t third)
{
    if (!sxs_block_leaves(block))
        next(block, second, third);
}

/* ---- each operator --------------------------------------------------------------------------- */

static int find_operators(void);

/* For each operator: `next`, the next one; `now`, what a call does. All calls are jumps, so that the
 * return address stays that of the caller. */
#define DEFINE_NEW(symbol, align)                                                                 \
    static allocating *symbol##_next;                                                             \
    static void       *symbol##_plain(size_t size, uintptr_t second, uintptr_t third)             \
    {                                                                                             \
        return allocate_plain(#symbol, align, size, second, third, SXS_CALLER);                   \
    }                                                                                             \
    static void *symbol##_counted(size_t size, uintptr_t second, uintptr_t third)                 \
    {                                                                                             \
        return sxs_pass(size) ? symbol##_next(size, second, third)                                \
                              : allocate_counted(symbol##_next, size, second, third, SXS_CALLER); \
    }                                                                                             \
    static allocating          symbol##_first;                                                    \
    static allocating *_Atomic symbol##_now = symbol##_first;                                     \
    SXS_EXPORT void           *symbol(size_t size, uintptr_t second, uintptr_t third);            \
    SXS_EXPORT void           *symbol(size_t size, uintptr_t second, uintptr_t third)             \
    {                                                                                             \
        return atomic_load_explicit(&symbol##_now, memory_order_acquire)(size, second, third);    \
    }                                                                                             \
    static void *symbol##_first(size_t size, uintptr_t second, uintptr_t third)                   \
    {                                                                                             \
        return (find_operators() ? symbol##_now : symbol##_plain)(size, second, third);           \
    }

#define DEFINE_DELETE(symbol)                                                            \
    static freeing *symbol##_next;                                                       \
    static void     symbol##_plain(void *block, uintptr_t second, uintptr_t third)       \
    {                                                                                    \
        (void)second, (void)third;                                                       \
        sxs_usual.free(block);                                                           \
    }                                                                                    \
    static void symbol##_counted(void *block, uintptr_t second, uintptr_t third)         \
    {                                                                                    \
        if (SXS_RARELY(sxs_live_may_be(block)))                                          \
            free_counted(symbol##_next, block, second, third);                           \
        else                                                                             \
            symbol##_next(block, second, third);                                         \
    }                                                                                    \
    static freeing          symbol##_first;                                              \
    static freeing *_Atomic symbol##_now = symbol##_first;                               \
    SXS_EXPORT void         symbol(void *block, uintptr_t second, uintptr_t third);      \
    SXS_EXPORT void         symbol(void *block, uintptr_t second, uintptr_t third)       \
    {                                                                                    \
        atomic_load_explicit(&symbol##_now, memory_order_acquire)(block, second, third); \
    }                                                                                    \
    static void symbol##_first(void *block, uintptr_t second, uintptr_t third)           \
    {                                                                                    \
        (find_operators() ? symbol##_now : symbol##_plain)(block, second, third);        \
    }

ALL_NEW(DEFINE_NEW)
ALL_DELETE(DEFINE_DELETE)

/* ---- finding them ---------------------------------------------------------------------------- */

#define PROBED 64 /* bytes and alignment */

/* Tells whether a call of the operator @next is to be counted here: it is in the library of the next
 * malloc(), and does not call a function here, which would count. Calls it once, and @release. */
static int is_uncounted(allocating *next, freeing *release)
{
    static const uint64_t many = UINT64_C(1) << 30;
    uint64_t              before = sxs_own.remaining;
    void                 *block;
    int                   calls;
    if (!sxs_next_is_allocator((uintptr_t)next) || !release)
        return 0;
    sxs_own.remaining = many;
    block = next(PROBED, PROBED, 0);
    calls = sxs_own.remaining != many;
    sxs_own.remaining = before;
    release(block, PROBED, 0);
    return !calls;
}

static _Atomic int known; /* 1: every operator has its `now` */

/* The second parameter has the name `second` if it is an alignment: then the operators delete that
 * take one free the block. */
static void find_all(void)
{
    static const uintptr_t second = 1;
    int                    counts;
#define FIND(symbol, ...)                              \
    {                                                  \
        void *found = sxs_next_function(#symbol);      \
        memcpy(&symbol##_next, &found, sizeof(found)); \
    }
#define DECIDE_NEW(symbol, align)                                                             \
    counts = is_uncounted(symbol##_next, (align) ? _ZdlPvSt11align_val_t_next : _ZdlPv_next); \
    PUBLISH(symbol)
#define DECIDE_DELETE(symbol)                                 \
    counts = sxs_next_is_allocator((uintptr_t)symbol##_next); \
    PUBLISH(symbol)
#define PUBLISH(symbol)                                     \
    atomic_store_explicit(&symbol##_now,                    \
                          !symbol##_next ? symbol##_plain   \
                          : counts       ? symbol##_counted \
                                         : symbol##_next,         \
                          memory_order_release);
    ALL_NEW(FIND)
    ALL_DELETE(FIND)
    ALL_NEW(DECIDE_NEW)
    ALL_DELETE(DECIDE_DELETE)
#undef FIND
#undef DECIDE_NEW
#undef DECIDE_DELETE
#undef PUBLISH
}

/* Returns 1, or 0 if the next functions are not known yet, or if the search itself calls an operator.
 * Several threads may search at once: they find the same. */
static int find_operators(void)
{
    if (atomic_load_explicit(&known, memory_order_acquire))
        return 1;
    if (sxs_own.searching || !sxs_next_find())
        return 0;
    sxs_own.searching = 1;
    sxs_own.inside++;
    find_all();
    sxs_own.inside--;
    sxs_own.searching = 0;
    atomic_store_explicit(&known, 1, memory_order_release);
    return 1;
}

__attribute__((constructor)) static void start(void)
{
    find_operators();
}

void *sxs_operator_replace(uintptr_t found, const char *name)
{
#define REPLACE(symbol, ...)                                                     \
    if (found == (uintptr_t)symbol##_next && symbol##_now == symbol##_counted && \
        strcmp(name, #symbol) == 0)                                              \
        return (void *)(uintptr_t)symbol;
    ALL_NEW(REPLACE)
    ALL_DELETE(REPLACE)
#undef REPLACE
    return NULL;
}
