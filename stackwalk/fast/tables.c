/* SPDX-License-Identifier: MIT */
#include "stackwalk/fast/tables.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf_notes.h"
#include "base/fork.h"
#include "base/loader.h"
#include "base/session_state.h"
#include "stackwalk/fast/unwind_table.h"

#define MAX_RETIRED 64 /* if more indexes wait to be freed, further ones are leaked */

/* An unwind table and the identity of its file. Owned by the list `entries`, and freed when no
 * index uses it any more. */
struct table_entry {
    struct table_entry      *next;
    struct sxs_unwind_table *table;           /* owned */
    uintptr_t                lo_offset, size; /* of the file's code; the offset is from the bias */
    uintptr_t                bias;            /* identifies files that have no build ID */
    char                    *path;
    uint8_t                  build_id[20], build_id_size;
    unsigned                 used; /* generation of the last index that uses the entry */
};

struct sxs_file_index {
    unsigned          generation;
    size_t            n;
    struct sxs_module at[];
};

/* Lock order: sxs_loader_hold(), refresh_lock, then the loader's lock. */
static struct {
    pthread_mutex_t                  refresh_lock; /* guards all members but live and readers */
    _Atomic(struct sxs_file_index *) live;
    atomic_uint                      readers;
    struct table_entry              *entries;
    uint64_t               changes; /* sxs_elf_changes() when the index was made, plus 1 */
    unsigned               generation;
    struct sxs_file_index *retired[MAX_RETIRED];
    size_t                 n_retired;
} tables = {.refresh_lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(tables.refresh_lock);
SXS_SESSION_KEEPS(tables); /* sxs_tables_forget() empties it */

SXS_SIGSAFE const struct sxs_file_index *sxs_tables_enter(void)
{
    /* Sequentially consistent, like the exchange in publish_locked(): either the writer sees
     * this reader, or this reader sees the writer's index. */
    atomic_fetch_add(&tables.readers, 1);
    return atomic_load(&tables.live);
}

SXS_SIGSAFE void sxs_tables_leave(void)
{
    atomic_fetch_sub_explicit(&tables.readers, 1, memory_order_release);
}

SXS_SIGSAFE unsigned sxs_tables_generation(const struct sxs_file_index *index)
{
    return index ? index->generation : 0;
}

SXS_SIGSAFE const struct sxs_module *sxs_tables_find(const struct sxs_file_index *index,
                                                     uintptr_t                    address)
{
    size_t lo = 0, hi = index ? index->n : 0;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (index->at[mid].hi <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return index && lo < index->n && address >= index->at[lo].lo ? &index->at[lo] : NULL;
}

SXS_SIGSAFE struct sxs_unwind_rule sxs_tables_rule(const struct sxs_module *module,
                                                   uintptr_t                address)
{
    return sxs_unwind_table_find(module->table, address, module->bias);
}

struct found_file {
    struct sxs_module   module;
    struct table_entry *entry;
};

struct file_scan {
    struct found_file *files; /* owned */
    size_t             n, room;
};

static int is_same(const struct table_entry *e, const struct sxs_elf *elf)
{
    if (e->lo_offset != elf->lo - elf->bias || e->size != elf->hi - elf->lo ||
        e->build_id_size != elf->build_id_size)
        return 0;
    if (elf->build_id_size)
        return !memcmp(e->build_id, elf->build_id, elf->build_id_size);
    return e->bias == elf->bias && !strcmp(e->path, elf->path);
}

static struct table_entry *known_locked(const struct sxs_elf *elf)
{
    for (struct table_entry *e = tables.entries; e; e = e->next)
        if (is_same(e, elf))
            return e;
    return NULL;
}

static void free_entry(struct table_entry *e)
{
    sxs_unwind_table_free(e->table);
    free(e->path);
    free(e);
}

static struct table_entry *make_entry_locked(const struct sxs_elf *elf)
{
    struct table_entry *e = calloc(1, sizeof(*e));
    if (!e)
        return NULL;
    e->path = strdup(elf->path);
    e->table = sxs_unwind_table_make(elf);
    if (!e->path || !e->table) {
        free_entry(e);
        return NULL;
    }
    e->lo_offset = elf->lo - elf->bias;
    e->size = elf->hi - elf->lo;
    e->bias = elf->bias;
    e->build_id_size = elf->build_id_size;
    memcpy(e->build_id, elf->build_id, sizeof(e->build_id));
    e->next = tables.entries;
    tables.entries = e;
    return e;
}

static int on_file(const struct sxs_elf *elf, void *user)
{
    struct file_scan  *scan = user;
    struct found_file *f;
    if (scan->n == scan->room) {
        size_t room = scan->room ? scan->room * 2 : 64;
        f = realloc(scan->files, room * sizeof(*f));
        if (!f)
            return -1;
        scan->files = f;
        scan->room = room;
    }
    f = &scan->files[scan->n];
    f->entry = known_locked(elf);
    if (!f->entry)
        f->entry = make_entry_locked(elf);
    if (!f->entry)
        return -1;
    f->module = (struct sxs_module){elf->lo, elf->hi, elf->bias, f->entry->table};
    scan->n++;
    return 0;
}

static int by_lo(const void *a, const void *b)
{
    const struct sxs_module *x = a, *y = b;
    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static void free_unused_locked(void)
{
    for (struct table_entry **at = &tables.entries; *at;) {
        struct table_entry *e = *at;
        if (e->used == tables.generation) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        free_entry(e);
    }
}

/* Frees the replaced indexes if there is no reader at this moment. New readers get the live
 * index only, so one moment without readers is enough. */
static void reclaim_locked(void)
{
    if (!tables.n_retired || atomic_load(&tables.readers))
        return;
    while (tables.n_retired)
        free(tables.retired[--tables.n_retired]);
    free_unused_locked();
}

static int publish_locked(struct file_scan *scan)
{
    struct sxs_file_index *next = malloc(sizeof(*next) + scan->n * sizeof(next->at[0]));
    struct sxs_file_index *old;
    if (!next)
        return -1;
    next->generation = ++tables.generation;
    next->n = scan->n;
    for (size_t i = 0; i < scan->n; i++) {
        next->at[i] = scan->files[i].module;
        scan->files[i].entry->used = tables.generation;
    }
    qsort(next->at, next->n, sizeof(next->at[0]), by_lo);
    old = atomic_exchange(&tables.live, next);
    if (old && tables.n_retired < MAX_RETIRED)
        tables.retired[tables.n_retired++] = old;
    return 0;
}

static int rebuild_locked(void)
{
    struct file_scan scan = {0};
    int              failed = sxs_elf_each(on_file, &scan) || publish_locked(&scan);
    free(scan.files);
    return failed ? -1 : 1;
}

int sxs_tables_refresh(void)
{
    int      rc = 0;
    uint64_t changes;
    sxs_loader_hold(); /* first, because a caller may hold it already */
    pthread_mutex_lock(&tables.refresh_lock);
    /* Read before the scan, so that a file loaded during the scan is found by the next refresh. */
    changes = sxs_elf_changes() + 1;
    if (changes != tables.changes) {
        rc = rebuild_locked();
        if (rc > 0)
            tables.changes = changes;
    }
    reclaim_locked();
    pthread_mutex_unlock(&tables.refresh_lock);
    sxs_loader_release();
    return rc;
}

void sxs_tables_forget(void)
{
    struct sxs_file_index *old;
    pthread_mutex_lock(&tables.refresh_lock);
    old = atomic_exchange(&tables.live, NULL);
    if (old && tables.n_retired < MAX_RETIRED)
        tables.retired[tables.n_retired++] = old;
    tables.generation++; /* no table is in use any more */
    tables.changes = 0;
    reclaim_locked();
    pthread_mutex_unlock(&tables.refresh_lock);
}

void sxs_tables_stats(struct sxs_tables_stats *out)
{
    memset(out, 0, sizeof(*out));
    pthread_mutex_lock(&tables.refresh_lock);
    const struct sxs_file_index *live = atomic_load(&tables.live);
    out->n_modules = live ? live->n : 0;
    out->n_retired = tables.n_retired;
    for (struct table_entry *e = tables.entries; e; e = e->next) {
        out->n_tables++;
        out->n_functions += e->table->n_functions;
        out->size += sxs_unwind_table_size(e->table);
    }
    pthread_mutex_unlock(&tables.refresh_lock);
}
