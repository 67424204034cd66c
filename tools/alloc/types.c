/* SPDX-License-Identifier: MIT */
#include "tools/alloc/types.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/pages.h"
#include "sampling/cost.h"
#include "symbols/names.h"

#define SLOT_BITS    16u
#define SLOTS        (1u << SLOT_BITS)
#define MAX_PROBES   64u
#define MAX_REPLACED (1u << 18) /* 24 MiB */
#define MAX_NAMES    (1u << 16) /* the recorder does not distinguish more either */

struct sxs_alloc_types {
    struct sxs_runtime   *rt;         /* borrowed: the runtime outlives its table */
    _Atomic uint32_t      generation; /* a type of an older one has a name to be checked */
    _Atomic uint64_t      uncounted;
    int                   lacks_boxed;
    struct sxs_alloc_type unnamed; /* for all that have no room or no name */
    /* Open addressing. Not base/index.h, because callbacks of all threads search and fill it without a
     * lock. */
    _Atomic(struct sxs_alloc_type *)   slots[SLOTS];
    _Atomic(struct sxs_alloc_counts *) counts[MAX_NAMES + 1]; /* by number of the name */
    _Atomic(struct older *)            replaced; /* list of types whose slot was used again */
    _Atomic uint32_t                   n_replaced;
};

/* A type that is in no slot any more, but may still be in use by a thread. */
struct older {
    struct older          *next;
    struct sxs_alloc_type *type;
};

/* ---- counts ----------------------------------------------------------------------------------- */

static struct sxs_alloc_counts *counts_of(struct sxs_alloc_types *types, uint32_t name)
{
    _Atomic(struct sxs_alloc_counts *) *at = &types->counts[name <= MAX_NAMES ? name : 0];
    struct sxs_alloc_counts            *found = atomic_load(at), *made;
    if (found)
        return found;
    made = calloc(1, sizeof(*made));
    if (!made)
        return NULL;
    if (atomic_compare_exchange_strong(at, &found, made))
        return made;
    free(made); /* another thread was first */
    return found;
}

/* Of two records that are made at the same time one stays 0. */
static struct sxs_record_total *total_of(struct sxs_alloc_types      *types,
                                         const struct sxs_alloc_type *type, uint8_t flags)
{
    _Atomic(struct sxs_record_total *) *at = &type->counts->totals[flags];
    struct sxs_record_total            *found = atomic_load_explicit(at, memory_order_acquire);
    struct sxs_record_total            *made;
    if (found)
        return found;
    made = sxs_recorder_total(SXS_COST_ALLOCATION, sxs_runtime_number(types->rt), type->name,
                              (uint8_t)(flags | (type->at_least ? SXS_COST_AT_LEAST : 0)));
    if (!made || atomic_compare_exchange_strong(at, &found, made))
        return made;
    return found;
}

void sxs_alloc_types_count(struct sxs_alloc_types *types, struct sxs_alloc_type *type,
                           uint64_t size, uint8_t flags)
{
    struct sxs_record_total *total = type->counts ? total_of(types, type, flags) : NULL;
    if (!total) {
        atomic_fetch_add_explicit(&types->uncounted, 1, memory_order_relaxed);
        return;
    }
    atomic_fetch_add_explicit(&total->n, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&total->value, size, memory_order_relaxed);
}

uint64_t sxs_alloc_types_uncounted(const struct sxs_alloc_types *types)
{
    return atomic_load(&types->uncounted);
}

/* ---- names ------------------------------------------------------------------------------------ */

/* Makes a namer for each name instead of sharing one under a lock: see
 * tools/events_file/names.c. */
static uint32_t name_of(struct sxs_alloc_types *types, uint64_t id, int *is_string)
{
    struct sxs_namer *namer = sxs_namer_new();
    char              text[1024];
    if (!namer)
        return 0;
    sxs_namer_class(namer, (sxs_class){types->rt, id}, text, sizeof(text));
    sxs_namer_free(namer);
    *is_string = strcmp(text, "System.String") == 0;
    return sxs_recorder_name(sxs_runtime_number(types->rt), text, strlen(text));
}

static int is_array(const struct sxs_alloc_types *types, uint64_t id)
{
    CorElementType element;
    sxs_class      element_class;
    ULONG          rank;
    return sxs_info_IsArrayClass(types->rt, (sxs_class){types->rt, id}, &element, &element_class,
                                 &rank) != S_FALSE;
}

/* Returns 1 if objects of the class are boxed values or delegates: what it extends is one of the runtime's
 * classes for these. */
static int is_boxed_or_delegate(struct sxs_alloc_types *types, uint64_t id)
{
    static const char *const bases[] = {"System.ValueType", "System.Enum",
                                        "System.MulticastDelegate"};
    sxs_class                parent = {types->rt, 0};
    sxs_module               module = {types->rt, 0};
    mdTypeDef                token = 0;
    struct sxs_namer        *namer;
    char                     text[64];
    int                      found = 0;
    if (FAILED(sxs_info_GetClassIDInfo2(types->rt, (sxs_class){types->rt, id}, &module, &token,
                                        &parent, 0, NULL, NULL)) ||
        !parent.id || !(namer = sxs_namer_new()))
        return 0;
    sxs_namer_class(namer, parent, text, sizeof(text));
    sxs_namer_free(namer);
    for (size_t i = 0; i < ARRAY_LEN(bases); i++)
        found |= strcmp(text, bases[i]) == 0;
    return found;
}

/* Names the ClassID. If @older has the same name, its check is renewed and it is returned. */
static struct sxs_alloc_type *make_type(struct sxs_alloc_types *types, uint64_t id,
                                        struct sxs_alloc_type *older)
{
    uint32_t               generation = atomic_load(&types->generation); /* before naming */
    int                    is_string = 0;
    uint32_t               name = name_of(types, id, &is_string);
    struct sxs_alloc_type *type;
    if (older && older->id == id && older->name == name) {
        atomic_store(&older->generation, generation);
        return older;
    }
    type = calloc(1, sizeof(*type));
    if (!type)
        return NULL;
    type->id = id;
    type->name = name;
    type->varies = is_string || is_array(types, id);
    type->at_least = types->lacks_boxed && !type->varies && is_boxed_or_delegate(types, id);
    type->counts = counts_of(types, name);
    atomic_init(&type->generation, generation);
    return type;
}

/* ---- the table -------------------------------------------------------------------------------- */

struct sxs_alloc_types *sxs_alloc_types_new(struct sxs_runtime *rt, int lacks_boxed)
{
    struct sxs_alloc_types *types = sxs_pages_zeroed(sizeof(*types)); /* 1 MiB, touched as needed */
    if (!types)
        return NULL;
    types->rt = rt;
    types->lacks_boxed = lacks_boxed;
    types->unnamed.varies = 1;
    types->unnamed.counts = counts_of(types, 0);
    return types;
}

void sxs_alloc_types_free(struct sxs_alloc_types *types)
{
    if (!types)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        free(atomic_load(&types->slots[i]));
    for (size_t i = 0; i <= MAX_NAMES; i++)
        free(atomic_load(&types->counts[i]));
    for (struct older *next, *at = atomic_load(&types->replaced); at; at = next) {
        next = at->next;
        free(at->type);
        free(at);
    }
    sxs_pages_free(types);
}

void sxs_alloc_types_unloading(struct sxs_alloc_types *types)
{
    atomic_fetch_add(&types->generation, 1);
}

/* Keeps a type that was in a slot, because a thread may still use it. */
static void keep_older(struct sxs_alloc_types *types, struct older *kept,
                       struct sxs_alloc_type *type)
{
    kept->type = type;
    atomic_fetch_add(&types->n_replaced, 1);
    kept->next = atomic_load(&types->replaced);
    while (!atomic_compare_exchange_weak(&types->replaced, &kept->next, kept))
        ;
}

/* Puts the type of @id into the slot @at, which has @older or is empty. *@again: set to 1 when another
 * thread was first. */
static struct sxs_alloc_type *fill_slot(struct sxs_alloc_types *types, uint64_t id,
                                        _Atomic(struct sxs_alloc_type *) *at,
                                        struct sxs_alloc_type *older, int *again)
{
    struct sxs_alloc_type *made = make_type(types, id, older);
    struct older          *kept = NULL;
    if (!made || made == older)
        return made ? made : &types->unnamed;
    if (older && !(kept = malloc(sizeof(*kept)))) {
        free(made);
        return &types->unnamed;
    }
    if (atomic_compare_exchange_strong(at, &older, made)) {
        if (kept)
            keep_older(types, kept, older);
        return made;
    }
    free(made);
    free(kept);
    *again = 1;
    return &types->unnamed;
}

/* When all slots for @id are taken, one of a type that may have been unloaded is used again. */
static struct sxs_alloc_type *find_once(struct sxs_alloc_types *types, uint64_t id, int *again)
{
    uint32_t now = atomic_load_explicit(&types->generation, memory_order_acquire);
    uint32_t first = (uint32_t)(sxs_hash_id(id) >> (64 - SLOT_BITS));
    _Atomic(struct sxs_alloc_type *) *stale_at = NULL;
    struct sxs_alloc_type            *stale = NULL;
    for (uint32_t i = 0; i < MAX_PROBES; i++) {
        _Atomic(struct sxs_alloc_type *) *at = &types->slots[(first + i) % SLOTS];
        struct sxs_alloc_type            *type = atomic_load_explicit(at, memory_order_acquire);
        int is_stale = type && atomic_load_explicit(&type->generation, memory_order_relaxed) != now;
        if (!type || (type->id == id && is_stale))
            return fill_slot(types, id, at, type, again);
        if (type->id == id)
            return type;
        if (is_stale && !stale) {
            stale_at = at;
            stale = type;
        }
    }
    if (!stale || atomic_load(&types->n_replaced) >= MAX_REPLACED)
        return &types->unnamed;
    return fill_slot(types, id, stale_at, stale, again);
}

struct sxs_alloc_type *sxs_alloc_types_find(struct sxs_alloc_types *types, uint64_t id)
{
    struct sxs_alloc_type *type;
    int                    again;
    do {
        again = 0;
        type = find_once(types, id, &again);
    } while (again);
    return type;
}
