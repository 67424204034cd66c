/* SPDX-License-Identifier: MIT */
/**
 * elt.h - what the test profilers with enter, leave and tailcall hooks share: the functions that
 * they count. Each profiler is one file that includes this one.
 *
 * Counted are methods of the types whose names elt_is_chosen() accepts, in the apps of the tests.
 */
#ifndef SXS_TESTS_GUESTS_ELT_H
#define SXS_TESTS_GUESTS_ELT_H

#include "tests/guests/profiler.h"

#define ELT_MAX  4096u /* power of 2 */
#define ELT_MASK (COR_PRF_MONITOR_ENTERLEAVE | COR_PRF_DISABLE_INLINING)

/** A counted function. Hooks in assembly use the offsets of the counters. */
struct elt_function {
    _Atomic uint64_t enters, leaves, tailcalls;
    _Atomic uint64_t bad; /* calls of hooks whose stack pointer was none */
    _Atomic uint64_t sum; /* of arguments and results that are 32-bit integers */
    _Atomic uint64_t ids; /* FunctionID; written last. 0: free */
    char             name[256];
};
_Static_assert(offsetof(struct elt_function, bad) == 24, "used in assembly");

static struct elt_runtime {
    struct prof        *p;
    struct elt_function functions[ELT_MAX]; /* by FunctionID */
} elt_runtimes[8];
static atomic_uint elt_n_runtimes;

/** Returns 1 for a method to count; defined by each profiler. */
static int elt_is_chosen(const char *type, const char *method);

static inline uint32_t elt_slot(FunctionID id)
{
    return (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (ELT_MAX - 1);
}

/** Finds a function that was added, in this or, with NULL, in any runtime. Returns NULL for others. */
static inline struct elt_function *elt_find(struct elt_runtime *rt, FunctionID id)
{
    for (unsigned r = 0; r < 8; r++)
        for (uint32_t i = elt_slot(id); !rt || rt == &elt_runtimes[r]; i++) {
            struct elt_function *f = &elt_runtimes[r].functions[i % ELT_MAX];
            uint64_t             has = atomic_load(&f->ids);
            if (has == id)
                return f;
            if (!has)
                break;
        }
    return NULL;
}

static inline void elt_narrow(char *out, size_t size, const WCHAR *in)
{
    size_t i = 0;
    for (; in[i] && i + 1 < size; i++)
        out[i] = (char)in[i];
    out[i] = 0;
}

/** Stores "Type.Method"; returns 0 when it cannot be had. */
static inline int elt_name(ICorProfilerInfo15 *info, FunctionID id, char type[128],
                           char method[128])
{
    IMetaDataImport *import = NULL;
    mdToken          token = 0, cls = 0;
    WCHAR            name[128] = {0}, of[128] = {0};
    ULONG            size = 0, flags = 0;
    int              ok;
    if (FAILED(info->vtbl->GetTokenAndMetaDataFromFunction(info, id, &IID_IMetaDataImport,
                                                           (IUnknown **)(void *)&import, &token)))
        return 0;
    ok = SUCCEEDED(import->vtbl->GetMethodProps(import, token, &cls, name, 128, &size, NULL, NULL,
                                                NULL, NULL, NULL)) &&
         SUCCEEDED(import->vtbl->GetTypeDefProps(import, cls, of, 128, &size, &flags, NULL));
    import->vtbl->Release(import);
    elt_narrow(type, 128, of);
    elt_narrow(method, 128, name);
    return ok;
}

static pthread_mutex_t elt_lock = PTHREAD_MUTEX_INITIALIZER; /* guards adding of functions */

/** Returns the function, added now if it is chosen; NULL if it is not. */
static inline struct elt_function *elt_add(struct elt_runtime *rt, FunctionID id)
{
    char                 type[128], method[128];
    struct elt_function *f = elt_find(rt, id);
    if (f || !elt_name(rt->p->info, id, type, method) || !elt_is_chosen(type, method))
        return f;
    pthread_mutex_lock(&elt_lock);
    f = elt_find(rt, id);
    for (uint32_t i = elt_slot(id); !f; i++)
        if (!atomic_load(&rt->functions[i % ELT_MAX].ids)) {
            f = &rt->functions[i % ELT_MAX];
            snprintf(f->name, sizeof(f->name), "%s.%s", type, method);
            atomic_store(&f->ids, id);
        }
    pthread_mutex_unlock(&elt_lock);
    return f;
}

/** Defines JITCompilationStarted: adds the function, before a mapper is asked about it. */
#define ELT_LEARN                                                                           \
    HRESULT prof_JITCompilationStarted(ICorProfilerCallback11 *self, FunctionID functionId, \
                                       BOOL fIsSafeToBlock);                                \
    HRESULT prof_JITCompilationStarted(ICorProfilerCallback11 *self, FunctionID functionId, \
                                       BOOL fIsSafeToBlock)                                 \
    {                                                                                       \
        (void)fIsSafeToBlock;                                                               \
        elt_add(prof_of(self)->own, functionId);                                            \
        return S_OK;                                                                        \
    }

/** Makes the profiler's state of a runtime. Call in prof_initialize(). */
static inline struct elt_runtime *elt_begin(struct prof *p)
{
    struct elt_runtime *rt = &elt_runtimes[atomic_fetch_add(&elt_n_runtimes, 1) % 8];
    rt->p = p;
    p->own = rt;
    return rt;
}

static int elt_compare(const void *a, const void *b)
{
    const struct elt_function *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/** Prints the counters by name; functions of one name (generic instances) are added up. */
static inline void elt_report(struct prof *p)
{
    static struct elt_function *sorted[ELT_MAX];
    struct elt_runtime         *rt = p->own;
    unsigned                    n = 0;
    for (unsigned i = 0; i < ELT_MAX; i++)
        if (atomic_load(&rt->functions[i].ids))
            sorted[n++] = &rt->functions[i];
    qsort(sorted, n, sizeof(sorted[0]), elt_compare);
    for (unsigned i = 0, next; i < n; i = next) {
        uint64_t sums[5] = {0};
        for (next = i; next < n && strcmp(sorted[next]->name, sorted[i]->name) == 0; next++) {
            sums[0] += sorted[next]->enters;
            sums[1] += sorted[next]->leaves;
            sums[2] += sorted[next]->tailcalls;
            sums[3] += sorted[next]->bad;
            sums[4] += sorted[next]->sum;
        }
        if (sums[0] + sums[1] + sums[2])
            prof_say(p, "%s enters %llu leaves %llu tailcalls %llu bad %llu sum %llu",
                     sorted[i]->name, (unsigned long long)sums[0], (unsigned long long)sums[1],
                     (unsigned long long)sums[2], (unsigned long long)sums[3],
                     (unsigned long long)sums[4]);
    }
}

static inline void elt_count(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/** Adds a value of 4 bytes to the function's sum. */
static inline void elt_sum(struct elt_function *f, const COR_PRF_FUNCTION_ARGUMENT_RANGE *range)
{
    uint32_t value;
    if (range->length != sizeof(value) || !range->startAddress)
        return;
    memcpy(&value, (const void *)range->startAddress, sizeof(value));
    atomic_fetch_add_explicit(&f->sum, value, memory_order_relaxed);
}

#endif
