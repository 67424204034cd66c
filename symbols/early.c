/* SPDX-License-Identifier: MIT */
#include "symbols/early.h"

#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/pages.h"
#include "base/session_state.h"
#include "manager/module_info.h"
#include "symbols/early_il.h"
#include "symbols/tier_settings.h"

#define MAX_CODES                    (1u << 18) /* 8 MiB at most, until the session is started */
#define MAX_STARTS                   64u
#define IMPL_AGGRESSIVE_OPTIMIZATION 0x200u

/* The beginning of a piece of compiled code. */
struct early_code {
    uintptr_t                 start; /* address; 0: the entry is free */
    const struct sxs_runtime *rt;    /* only compared */
    uint64_t                  function;
    uint8_t                   how; /* enum sxs_early */
};

static struct {
    pthread_mutex_t lock;  /* guards the table; a leaf lock: no other is taken inside */
    /* A hash table with open addressing; cap is a power of two. Not base/index.h, because it is freed
     * while the process runs, and malloc() would keep the memory (base/pages.h). */
    struct early_code *codes;
    size_t          n, cap;
} early = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(early.lock);
SXS_SESSION_KEEPS(early); /* sxs_early_end() empties it */

/* ---- compiled code --------------------------------------------------------------------------- */

/* Returns the entry of the code @like, or the free entry where it must be inserted. */
static struct early_code *find_locked(const struct early_code *like)
{
    size_t at = (like->start >> 4 ^ like->function >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    for (;; at++) {
        struct early_code *c = &early.codes[at & (early.cap - 1)];
        if (!c->start ||
            (c->start == like->start && c->function == like->function && c->rt == like->rt))
            return c;
    }
}

static int make_room_locked(size_t more)
{
    struct early_code *old = early.codes;
    size_t             old_cap = early.cap, cap = old_cap ? old_cap : 1024;
    while (cap / 2 < early.n + more)
        cap *= 2;
    if (cap == old_cap)
        return 1;
    early.codes = cap <= MAX_CODES ? sxs_pages_alloc(cap * sizeof(*early.codes)) : NULL;
    if (!early.codes) {
        early.codes = old;
        return 0;
    }
    memset(early.codes, 0, cap * sizeof(*early.codes));
    early.cap = cap;
    for (size_t i = 0; i < old_cap; i++)
        if (old[i].start)
            *find_locked(&old[i]) = old[i];
    sxs_pages_free(old);
    return 1;
}

/* Whether the calling thread is the tiering worker. .NET names it ".NET Tiered Compilation
 * Worker", of which Linux keeps 15 characters. */
static int is_tiering_worker(void)
{
    static const char prefix[] = ".NET Tiered";
    char              name[16] = "";
    return prctl(PR_GET_NAME, name) == 0 && strncmp(name, prefix, sizeof(prefix) - 1) == 0;
}

static enum sxs_early how_compiled(size_t n_initial, size_t n_promoted, int on_worker)
{
    if (!on_worker)
        return n_initial || n_promoted ? SXS_EARLY_OSR : SXS_EARLY_INITIAL;
    return n_initial == 1 && !n_promoted ? SXS_EARLY_PROMOTED_ONCE : SXS_EARLY_PROMOTED;
}

/* Adds the new ones of the @n addresses @starts to the table and moves them to the front.
 * Returns their number, or -1 when there is no room. like->how receives how they were compiled. */
static int keep_new_locked(struct early_code *like, UINT_PTR *starts, size_t n, int on_worker)
{
    size_t n_initial = 0, n_promoted = 0, n_new = 0;
    if (!make_room_locked(n))
        return -1;
    for (size_t i = 0; i < n; i++) {
        like->start = starts[i];
        const struct early_code *c = find_locked(like);
        if (!c->start)
            starts[n_new++] = starts[i];
        n_initial += c->start && c->how == SXS_EARLY_INITIAL;
        n_promoted += c->start && c->how >= SXS_EARLY_PROMOTED_ONCE;
    }
    like->how = (uint8_t)how_compiled(n_initial, n_promoted, on_worker);
    for (size_t i = 0; i < n_new; i++) {
        like->start = starts[i];
        *find_locked(like) = *like;
        early.n++;
    }
    return (int)n_new;
}

static void add_pieces(sxs_function fn, UINT_PTR start, enum sxs_early how)
{
    COR_PRF_CODE_INFO   parts[16];
    ULONG32             n = 0;
    struct sxs_compiled piece = {.rt = fn.rt,
                                 .function = fn.id,
                                 .time_ns = sxs_now_ns(CLOCK_MONOTONIC),
                                 .early = (uint8_t)how};
    if (FAILED(sxs_info_GetCodeInfo4(fn.rt, start, ARRAY_LEN(parts), &n, parts)))
        return;
    for (ULONG32 i = 0; i < n && i < ARRAY_LEN(parts); i++) {
        piece.lo = (uintptr_t)parts[i].startAddress;
        piece.hi = piece.lo + (uintptr_t)parts[i].size;
        if (piece.hi > piece.lo)
            sxs_compiled_add(&piece);
    }
}

void sxs_early_compiled(sxs_function fn, uint64_t rejit)
{
    UINT_PTR          starts[MAX_STARTS];
    ULONG32           n = 0;
    struct early_code like = {.rt = fn.rt, .function = fn.id};
    int               n_new, on_worker = is_tiering_worker();
    sxs_rejit         version = {fn.rt, rejit};
    HRESULT hr = sxs_info_GetNativeCodeStartAddresses(fn.rt, fn, version, MAX_STARTS, &n, starts);
    if (FAILED(hr) || n > MAX_STARTS) {
        sxs_compiled_incomplete(fn.rt);
        return;
    }
    pthread_mutex_lock(&early.lock);
    n_new = keep_new_locked(&like, starts, n, on_worker);
    pthread_mutex_unlock(&early.lock);
    if (n_new < 0)
        sxs_compiled_incomplete(fn.rt);
    for (int i = 0; i < n_new; i++)
        add_pieces(fn, starts[i], (enum sxs_early)like.how);
}

/* Frees the entry at @i. Adds the entries after it, up to the next free one, again, because their
 * probe sequences may contain the freed entry. */
static void drop_locked(size_t i)
{
    size_t            mask = early.cap - 1;
    struct early_code moved;
    early.codes[i].start = 0;
    early.n--;
    while (early.codes[i = (i + 1) & mask].start) {
        moved = early.codes[i];
        early.codes[i].start = 0;
        *find_locked(&moved) = moved;
    }
}

/* Allocates nothing, so that entries of other runtimes cannot be lost. */
void sxs_early_end(const struct sxs_runtime *rt)
{
    struct early_code *unused = NULL;
    pthread_mutex_lock(&early.lock);
    for (size_t i = 0; i < early.cap; i++)
        while (early.codes[i].start && early.codes[i].rt == rt)
            drop_locked(i);
    if (!early.n) {
        unused = early.codes;
        early.codes = NULL;
        early.cap = 0;
    }
    pthread_mutex_unlock(&early.lock);
    sxs_pages_free(unused);
}

/* ---- tiers of early code --------------------------------------------------------------------- */

struct il {
    LPCBYTE bytes; /* NULL: there is none, or the runtime does not say */
    ULONG   size;
};

static struct il il_of(sxs_module module, mdToken token)
{
    struct il il = {NULL, 0};
    if (token && FAILED(sxs_info_GetILFunctionBody(module.rt, module, token, &il.bytes, &il.size)))
        il.bytes = NULL;
    return il;
}

/* The initial tier of a method that may take part in tiered compilation. */
static enum sxs_code_tier tier_by_metadata(sxs_module module, mdToken token, struct il il)
{
    IMetaDataImport2  *imp = sxs_module_import(module);
    DWORD              impl = 0;
    enum sxs_code_tier tier = SXS_TIER_UNKNOWN;
    if (!imp)
        return SXS_TIER_UNKNOWN;
    if (FAILED(imp->vtbl->GetMethodProps(imp, token, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL,
                                         &impl)))
        goto done;
    if (impl & IMPL_AGGRESSIVE_OPTIMIZATION)
        tier = sxs_runtime_facts(module.rt)->aggressive_is_tier_1 ? SXS_TIER_1 : SXS_TIER_OPTIMIZED;
    else if (sxs_import_is_entry(imp, token))
        tier = SXS_TIER_OPTIMIZED;
    else if (il.bytes)
        tier = sxs_early_il_tier(il.bytes, il.size);
done:
    imp->vtbl->Release(imp);
    return tier;
}

/* The initial tier of any method. Code of collectible assemblies takes no part in tiered
 * compilation. */
static enum sxs_code_tier initial_tier(sxs_module module, mdToken token, struct il il)
{
    if (sxs_module_is_collectible(module) == 1)
        return SXS_TIER_OPTIMIZED;
    return token ? tier_by_metadata(module, token, il) : SXS_TIER_UNKNOWN;
}

enum sxs_code_tier sxs_early_tier(enum sxs_early how, sxs_module module, mdToken token)
{
    enum sxs_tiering tiering = sxs_tier_settings_tiering();
    struct il        il = {NULL, 0};
    if (how != SXS_EARLY_NOT)
        il = il_of(module, token);
    if (il.bytes && sxs_early_il_is_large(il.bytes, il.size))
        return SXS_TIER_0; /* the event reports "minimal", which the tool events calls tier 0, too */
    if (tiering != SXS_TIERING_USUAL)
        return tiering == SXS_TIERING_OFF ? SXS_TIER_OPTIMIZED : SXS_TIER_UNKNOWN;
    switch (how) {
    case SXS_EARLY_INITIAL: return initial_tier(module, token, il);
    case SXS_EARLY_OSR: return SXS_TIER_OSR;
    case SXS_EARLY_PROMOTED_ONCE:
        return sxs_tier_settings_profiles(module.rt) ? SXS_TIER_0 : SXS_TIER_1;
    case SXS_EARLY_PROMOTED: return SXS_TIER_1;
    case SXS_EARLY_NOT: break;
    }
    return SXS_TIER_UNKNOWN;
}
