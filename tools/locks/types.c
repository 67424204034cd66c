/* SPDX-License-Identifier: MIT */
#include "tools/locks/types.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/fork.h"
#include "base/hash.h"
#include "base/session_state.h"
#include "sampling/cost.h"
#include "symbols/names.h"

#define N_TYPES      4096u /* a power of two */
#define MAX_PROBES   64u
#define MAX_RUNTIMES 64u
#define NAME_SIZE    1024

/* A ClassID is an address of less than 48 bits; above it the runtime's number. */
#define RUNTIME_SHIFT 48
#define FORGOTTEN     UINT64_C(1) /* the key of an entry whose type was unloaded; not used again */

enum entry_state { EMPTY, UNNAMED, NAMED };

/* Written by the thread that claims the entry: `type` first, then `state`. Entries are not reused,
 * since a thread may be reading one at any time. Not base/index.h, because signal handlers search
 * and claim entries without a lock. */
struct lock_type_entry {
    _Atomic uint64_t     key; /* 0: the entry is free */
    _Atomic uint32_t     state;
    struct sxs_lock_type type;
};

static struct lock_type_entry entries[N_TYPES];
SXS_SESSION_RESETS(entries);

static struct {
    pthread_mutex_t     lock; /* guards all members; runtimes are called while it is held */
    struct sxs_runtime *runtimes[MAX_RUNTIMES]; /* borrowed until they stop; NULL: free */
    struct sxs_namer   *namer;
} types = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(types.lock);
SXS_SESSION_RESETS(types);

static _Atomic int any_unnamed;
SXS_SESSION_RESETS(any_unnamed);

SXS_SIGSAFE static uint64_t key_of(unsigned runtime, uint64_t class_id)
{
    return class_id | (uint64_t)runtime << RUNTIME_SHIFT;
}

static unsigned runtime_of(uint64_t key)
{
    return (unsigned)(key >> RUNTIME_SHIFT);
}

SXS_SIGSAFE static struct sxs_lock_type fill_entry(struct lock_type_entry *e, unsigned runtime)
{
    e->type.name = sxs_recorder_name_number();
    e->type.total = sxs_recorder_total(SXS_COST_LOCK, runtime, e->type.name, 0);
    atomic_store(&e->state, UNNAMED);
    atomic_store(&any_unnamed, 1);
    return e->type;
}

SXS_SIGSAFE struct sxs_lock_type sxs_lock_type_find(unsigned runtime, uint64_t class_id)
{
    uint64_t key = key_of(runtime, class_id);
    uint32_t at = (uint32_t)(sxs_hash_id(key) >> 32);
    for (uint32_t i = 0; i < MAX_PROBES; i++) {
        struct lock_type_entry *e = &entries[(at + i) % N_TYPES];
        uint64_t                found = atomic_load(&e->key);
        if (found == key && atomic_load(&e->state) != EMPTY)
            return e->type;
        if (!found && atomic_compare_exchange_strong(&e->key, &found, key))
            return fill_entry(e, runtime);
    }
    return (struct sxs_lock_type){0};
}

/* ---- names ----------------------------------------------------------------------------------- */

static void name_entry_locked(struct lock_type_entry *e, struct sxs_runtime *rt, uint64_t class_id)
{
    char name[NAME_SIZE] = "System.Threading.Lock";
    if (class_id != SXS_CLASS_OF_LOCK) {
        if (!types.namer)
            types.namer = sxs_namer_new();
        if (!types.namer)
            return;
        sxs_namer_class(types.namer, (sxs_class){rt, class_id}, name, sizeof(name));
    }
    sxs_recorder_name_as(e->type.name, sxs_runtime_number(rt), name, strlen(name));
    atomic_store(&e->state, NAMED);
}

static struct sxs_runtime *find_runtime_locked(unsigned number)
{
    for (unsigned i = 0; i < MAX_RUNTIMES; i++)
        if (types.runtimes[i] && sxs_runtime_number(types.runtimes[i]) == number)
            return types.runtimes[i];
    return NULL;
}

/* @only: NULL, or the runtime whose types are named. */
static void name_all_locked(const struct sxs_runtime *only)
{
    for (unsigned i = 0; i < N_TYPES; i++) {
        struct lock_type_entry *e = &entries[i];
        uint64_t                key = atomic_load(&e->key);
        struct sxs_runtime     *rt;
        if (atomic_load(&e->state) != UNNAMED || key == FORGOTTEN)
            continue;
        rt = find_runtime_locked(runtime_of(key));
        if (rt && (!only || rt == only))
            name_entry_locked(e, rt, key & ((UINT64_C(1) << RUNTIME_SHIFT) - 1));
    }
}

void sxs_lock_types_name(void)
{
    if (!atomic_exchange(&any_unnamed, 0))
        return;
    pthread_mutex_lock(&types.lock);
    name_all_locked(NULL);
    pthread_mutex_unlock(&types.lock);
}

/* ---- runtimes -------------------------------------------------------------------------------- */

void sxs_lock_types_start(struct sxs_runtime *rt)
{
    pthread_mutex_lock(&types.lock);
    for (unsigned i = 0; i < MAX_RUNTIMES; i++) {
        if (!types.runtimes[i]) {
            types.runtimes[i] = rt;
            break;
        }
    }
    pthread_mutex_unlock(&types.lock);
}

void sxs_lock_types_stop(struct sxs_runtime *rt, int ask)
{
    pthread_mutex_lock(&types.lock);
    if (ask)
        name_all_locked(rt);
    for (unsigned i = 0; i < MAX_RUNTIMES; i++)
        if (types.runtimes[i] == rt)
            types.runtimes[i] = NULL;
    if (types.namer)
        sxs_namer_reset(types.namer);
    pthread_mutex_unlock(&types.lock);
}

void sxs_lock_types_unload(const struct sxs_runtime *rt)
{
    pthread_mutex_lock(&types.lock);
    for (unsigned i = 0; i < N_TYPES; i++) {
        uint64_t key = atomic_load(&entries[i].key);
        if (key > FORGOTTEN && runtime_of(key) == sxs_runtime_number(rt) &&
            (key & ((UINT64_C(1) << RUNTIME_SHIFT) - 1)) != SXS_CLASS_OF_LOCK)
            atomic_store(&entries[i].key, FORGOTTEN);
    }
    if (types.namer)
        sxs_namer_reset(types.namer);
    pthread_mutex_unlock(&types.lock);
}

void sxs_lock_types_end(void)
{
    sxs_namer_free(types.namer);
    types.namer = NULL;
}
