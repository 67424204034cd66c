/* SPDX-License-Identifier: MIT */
/* table.c - the table of methods with new IL: its life, and what is looked up in it. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/log.h"
#include "rejit/rejit_internal.h"

struct rejit_table *rejit_table_of(struct sxs_runtime *rt)
{
    if (sxs_runtime_is_inherited(rt)) /* a thread of the parent may have held the lock */
        return NULL;
    return rt->rejit;
}

static unsigned bucket_of(ModuleID module, mdMethodDef token)
{
    return (unsigned)(sxs_hash_id(module + token) >> 54) % REJIT_BUCKETS;
}

struct rejit_method *rejit_find_locked(struct rejit_table *t, ModuleID module, mdMethodDef token)
{
    struct rejit_method *m = t->buckets[bucket_of(module, token)];
    while (m && (m->module != module || m->token != token))
        m = m->next;
    return m;
}

struct rejit_part *rejit_part_locked(const struct rejit_method *m, const struct sxs_sub *sub)
{
    struct rejit_part *p = m->parts;
    while (p && p->sub != sub)
        p = p->next;
    return p;
}

static struct rejit_part *make_part(struct rejit_method *m, struct sxs_sub *sub)
{
    struct rejit_part **at = &m->parts, *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    while (*at && (*at)->sub < sub) /* subscriptions are elements of one array */
        at = &(*at)->next;
    p->sub = sub;
    p->next = *at;
    *at = p;
    return p;
}

struct rejit_part *rejit_make_locked(struct rejit_table *t, struct sxs_sub *sub, ModuleID module,
                                     mdMethodDef token)
{
    struct rejit_method *m = rejit_find_locked(t, module, token);
    struct rejit_part   *p;
    if (!m) {
        struct rejit_method **bucket = &t->buckets[bucket_of(module, token)];
        m = calloc(1, sizeof(*m));
        if (!m)
            return NULL;
        *m = (struct rejit_method){.next = *bucket, .module = module, .token = token};
        *bucket = m;
    }
    p = rejit_part_locked(m, sub);
    return p ? p : make_part(m, sub);
}

static void free_method(struct rejit_method *m)
{
    while (m->parts) {
        struct rejit_part *p = m->parts;
        m->parts = p->next;
        free(p->map.rows);
        free(p);
    }
    while (m->bodies) {
        struct rejit_body *b = m->bodies;
        m->bodies = b->next;
        free(b);
    }
    rejit_free_firsts(m);
    free(m);
}

/* Removes the methods of a module; of all modules when @all is nonzero. */
static void drop_methods(struct rejit_table *t, ModuleID module, int all)
{
    pthread_mutex_lock(&t->lock);
    for (unsigned i = 0; i < REJIT_BUCKETS; i++)
        for (struct rejit_method **at = &t->buckets[i]; *at;) {
            struct rejit_method *m = *at;
            if (all || m->module == module) {
                *at = m->next;
                free_method(m);
            } else {
                at = &m->next;
            }
        }
    pthread_mutex_unlock(&t->lock);
}

/* ---- lookups ---------------------------------------------------------------------------------- */

int sxs_rejit_is_asked(struct sxs_sub *sub, sxs_function fn, ReJITID version)
{
    struct rejit_table  *t = rejit_table_of(sub->rt);
    struct rejit_method *m;
    sxs_class            cls;
    sxs_module           module;
    mdToken              token;
    uint64_t             asked;
    if (!t || FAILED(sxs_info_GetFunctionInfo(sub->rt, fn, &cls, &module, &token)))
        return 1;
    pthread_mutex_lock(&t->lock);
    m = rejit_find_locked(t, module.id, token);
    if (m && m->is_new && m->version != version) {
        m->is_new = 0;
        m->version = version;
        m->version_asked = m->asked;
    }
    /* For a method that is compiled because it inlines another one, no tool is asked. */
    asked = m && m->version == version ? m->version_asked : t->with_inliners;
    pthread_mutex_unlock(&t->lock);
    return (asked & rejit_bit(sub)) != 0;
}

void sxs_rejit_leave(struct sxs_sub *sub)
{
    struct rejit_table *t = rejit_table_of(sub->rt);
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->left |= rejit_bit(sub);
    t->with_inliners &= ~rejit_bit(sub);
    pthread_mutex_unlock(&t->lock);
}

HRESULT sxs_rejit_permit(struct sxs_runtime *rt, int permitted)
{
    struct rejit_table *t = rejit_table_of(rt);
    uint32_t            low = COR_PRF_MONITOR_MODULE_LOADS;
    if (!t)
        return CORPROF_E_RUNTIME_UNINITIALIZED;
    return sxs_sub_set_mask(t->own, permitted ? low | COR_PRF_ENABLE_REJIT : low, 0);
}

/* Takes out what the tool wanted for a method. */
static void forget_part(struct rejit_method *m, const struct sxs_sub *sub)
{
    for (struct rejit_part **at = &m->parts; *at; at = &(*at)->next) {
        struct rejit_part *p = *at;
        if (p->sub != sub)
            continue;
        *at = p->next;
        free(p->map.rows);
        free(p);
        return;
    }
}

void sxs_rejit_forget(struct sxs_sub *sub)
{
    struct rejit_table *t = rejit_table_of(sub->rt);
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    for (unsigned i = 0; i < REJIT_BUCKETS; i++)
        for (struct rejit_method *m = t->buckets[i]; m; m = m->next)
            forget_part(m, sub);
    t->with_inliners &= ~rejit_bit(sub);
    pthread_mutex_unlock(&t->lock);
}

/* ---- the tool --------------------------------------------------------------------------------- */

static HRESULT start_table(struct sxs_sub *sub, const char *options)
{
    struct rejit_table *t = calloc(1, sizeof(*t));
    (void)options;
    if (!t)
        return E_OUTOFMEMORY;
    pthread_mutex_init(&t->lock, NULL);
    t->own = sub;
    sub->state = t;
    sub->rt->rejit = t;
    sub->low = COR_PRF_MONITOR_MODULE_LOADS;
    return S_OK;
}

/* The runtime goes on without the library: threads that come now find no table. */
static void stop_table(struct sxs_sub *sub, int how)
{
    if (how == SXS_STOP_SESSION)
        sub->rt->rejit = NULL;
}

static void release_table(struct sxs_sub *sub)
{
    struct rejit_table *t = sub->state;
    if (!t)
        return;
    sub->rt->rejit = NULL;
    drop_methods(t, 0, 1);
    pthread_mutex_destroy(&t->lock);
    free(t);
    sub->state = NULL;
}

static HRESULT module_unloaded(struct sxs_sub *sub, sxs_module module, HRESULT status)
{
    (void)status;
    drop_methods(sub->state, module.id, 0);
    return S_OK;
}

static const struct sxs_events events = {.ModuleUnloadFinished = module_unloaded};

const struct sxs_tool sxs_rejit_tool = {
    .name = "rejit", .always = 1, .on = &events, .start = start_table, .stop = stop_table,
    .release = release_table};
