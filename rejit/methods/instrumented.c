/* SPDX-License-Identifier: MIT */
#include "rejit/methods/instrumented.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/session_state.h"
#include "session/write/instrument_write.h"
#include "instr/weave/refused.h"

#define N_BUCKETS 4096u
#define N_MODULES 1024u

/* An instrumented method. Never freed, because compiled code contains the address of its marker.
 * When its module is unloaded it moves to `retired`, until the same method is loaded in another
 * module: its address and its number still stand for that method. */
struct instrumented_method {
    struct instrumented_method *next; /* in a bucket of `buckets` or of `retired` */
    struct instrumented_method *next_of_module;
    struct sxs_marker       marker;
    struct sxs_instrumented_key key;
    struct sxs_plan        *plan;  /* a reference; NULL: no rules, the original IL */
    const struct sxs_rule **rules; /* owned array of rules of the plan */
    size_t                  n_rules;
    uint64_t                identity; /* hash of all rules in their order; 0: no rules */
    uint32_t                seen;     /* generation of the last plan that wanted the method */
    enum sxs_instrumented_state state;
    enum sxs_instrumented_once  once;
    int                     labelled; /* nonzero: a label is recorded */
    int                     is_recorded;
    unsigned                session;  /* number of the session in whose file the method is */
    int                     compiled; /* nonzero: recorded that the active new IL is compiled */
    char                   *assembly, *name; /* owned */
};

/* A loaded module that has instrumented methods. */
struct instrumented_module {
    struct instrumented_module *next; /* in its bucket */
    sxs_module     module;
    struct instrumented_method *first;
};

static struct {
    pthread_mutex_t lock;               /* guards all fields but @any */
    /* Lists, not base/index.h: a method moves from one table to the other without memory. */
    struct instrumented_method *buckets[N_BUCKETS]; /* methods of loaded modules, by key */
    struct instrumented_method
                   *retired[N_BUCKETS]; /* of unloaded modules, by token, assembly and name */
    struct instrumented_module *modules[N_MODULES];
    uint32_t        n;   /* instrumented methods so far, retired ones included */
    _Atomic int     any; /* 1: there is at least one */
} instrumented = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(instrumented.lock);
SXS_SESSION_KEEPS(instrumented); /* methods of an earlier session are in `retired` */
uint32_t sxs_instrumented_limit = SXS_INSTRUMENTED_MAX;
SXS_SESSION_KEEPS(sxs_instrumented_limit);

/* ---- the table -------------------------------------------------------------------------------- */

static struct instrumented_method **bucket_of(struct sxs_instrumented_key key)
{
    uint64_t h = sxs_hash_id((uint64_t)key.module.id >> 4 ^ (uint64_t)key.token << 20);
    return &instrumented.buckets[h >> 52 & (N_BUCKETS - 1)];
}

static struct instrumented_method *find_locked(struct sxs_instrumented_key key)
{
    for (struct instrumented_method *s = *bucket_of(key); s; s = s->next)
        if (s->key.module.id == key.module.id && s->key.module.rt == key.module.rt &&
            s->key.token == key.token)
            return s;
    return NULL;
}

static struct instrumented_module **module_bucket(sxs_module module)
{
    return &instrumented.modules[sxs_hash_id(module.id) >> 54 & (N_MODULES - 1)];
}

static struct instrumented_module *find_module_locked(sxs_module module)
{
    for (struct instrumented_module *m = *module_bucket(module); m; m = m->next)
        if (m->module.id == module.id && m->module.rt == module.rt)
            return m;
    return NULL;
}

static struct instrumented_module *module_locked(sxs_module module)
{
    struct instrumented_module *m = find_module_locked(module);
    if (m)
        return m;
    m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->module = module;
    m->next = *module_bucket(module);
    *module_bucket(module) = m;
    return m;
}

static struct instrumented_method **retired_bucket(mdToken token, const char *assembly,
                                                   const char *name)
{
    uint64_t h = sxs_hash_text(sxs_hash_text(token, name), assembly);
    return &instrumented.retired[(h ^ h >> 32) & (N_BUCKETS - 1)];
}

/* Takes out of `retired` the entry of the same method in an unloaded module. NULL: none. */
static struct instrumented_method *take_retired_locked(struct sxs_instrumented_key key,
                                                       const char *assembly, const char *name)
{
    for (struct instrumented_method **at = retired_bucket(key.token, assembly, name), *s;
         (s = *at) != NULL; at = &s->next)
        if (s->key.token == key.token && s->key.module.rt == key.module.rt &&
            !strcmp(s->name, name) && !strcmp(s->assembly, assembly)) {
            *at = s->next;
            return s;
        }
    return NULL;
}

static void put_aside_locked(struct instrumented_method *s)
{
    struct instrumented_method **at = retired_bucket(s->key.token, s->assembly, s->name);
    s->next = *at;
    *at = s;
}

static struct instrumented_method *new_locked(struct sxs_instrumented_key key, const char *assembly,
                                              const char *name)
{
    struct instrumented_method *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->assembly = strdup(assembly);
    s->name = strdup(name);
    if (!s->assembly || !s->name) {
        free(s->assembly);
        free(s->name);
        free(s);
        return NULL;
    }
    s->key = key;
    s->marker = (struct sxs_marker){{sxs_runtime_number(key.module.rt), key.token,
                                     sxs_runtime_version(key.module.rt), s->assembly, s->name},
                                    0,
                                    0};
    sxs_marker_set(&s->marker, instrumented.n++);
    return s;
}

/* Records the method, once in each session. */
static void record_locked(struct instrumented_method *s)
{
    sxs_instrument_method(s->marker.method_number, s->marker.method.runtime, s->key.token,
                          s->assembly, s->name);
    s->session = sxs_session_generation();
    s->labelled = 0;
    s->is_recorded = 1;
}

/* The number of struct instrumented_method is limited because they are never freed: otherwise a
 * host that keeps loading assemblies with new names would use more and more memory. */
static int is_full_locked(void)
{
    static int said;
    SXS_SESSION_KEEPS(said);
    if (instrumented.n < sxs_instrumented_limit)
        return 0;
    if (!said)
        sxs_warn("tool instrument: %u methods have been instrumented in this process: further ones "
                 "stay as they are",
                 instrumented.n);
    said = 1;
    return 1;
}

/* Adds an entry for the method @key, or reuses a retired one. Returns NULL when the limit is
 * reached (*full is set then) or when there is no memory. */
static struct instrumented_method *add_locked(struct sxs_instrumented_key key, const char *assembly,
                                              const char *name, int *full)
{
    struct instrumented_method *s = take_retired_locked(key, assembly, name);
    struct instrumented_module *m;
    *full = !s && is_full_locked();
    if (!s && !*full)
        s = new_locked(key, assembly, name);
    m = s ? module_locked(key.module) : NULL;
    if (!m) {
        if (s)
            put_aside_locked(s);
        return NULL;
    }
    s->key = key;
    s->seen = 0;
    s->once = SXS_ONCE_NOT;
    if (!s->is_recorded || s->session != sxs_session_generation())
        record_locked(s);
    s->next = *bucket_of(key);
    *bucket_of(key) = s;
    s->next_of_module = m->first;
    m->first = s;
    atomic_store(&instrumented.any, 1);
    return s;
}

static void set_state_locked(struct instrumented_method *s, enum sxs_instrumented_state state,
                             HRESULT hr, const char *text)
{
    s->state = state;
    s->compiled = 0;
    sxs_instrument_state(s->marker.method_number, state, (uint32_t)hr, text);
}

static void set_label_locked(struct instrumented_method *s, const char *label)
{
    if (!*label && !s->labelled)
        return;
    s->labelled = *label != 0;
    sxs_instrument_label(s->marker.method_number, label);
}

static uint64_t identity_of(const struct sxs_rule *const *rules, size_t n)
{
    uint64_t id = SXS_HASH_START;
    for (size_t i = 0; i < n; i++)
        id = sxs_hash_add(id, rules[i]->identity);
    return id ? id : 1;
}

static void names_of(const struct sxs_rule *const *rules, size_t n, char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%s", i ? ", " : "", rules[i]->name);
}

/* The label of the action that weaving chooses among those that count, time or trace. */
static const char *label_of(const struct sxs_rule *const *rules, size_t n)
{
    const struct sxs_action *strongest = NULL;
    for (size_t r = 0; r < n; r++)
        for (uint32_t i = 0; i < rules[r]->n_actions; i++) {
            const struct sxs_action *a = &rules[r]->actions[i];
            if (a->kind <= SXS_ACTION_TRACE && (!strongest || a->kind > strongest->kind))
                strongest = a;
        }
    return strongest && strongest->label ? strongest->label : "";
}

int sxs_instrumented_want(struct sxs_instrumented_key key, const char *assembly, const char *name,
                          struct sxs_plan *plan, const struct sxs_rule *const *rules, size_t n)
{
    const struct sxs_rule **copy;
    struct instrumented_method *s;
    uint64_t                identity = identity_of(rules, n);
    char                    text[512];
    int                     changed = -1, full = 0;
    copy = calloc(n, sizeof(*copy));
    if (!copy)
        return -1;
    memcpy(copy, rules, n * sizeof(*copy));
    pthread_mutex_lock(&instrumented.lock);
    s = find_locked(key);
    if (!s)
        s = add_locked(key, assembly, name, &full);
    if (full)
        changed = 0;
    if (s) {
        changed = s->identity != identity;
        sxs_plan_unref(s->plan);
        free(s->rules);
        s->plan = sxs_plan_ref(plan);
        s->rules = copy;
        s->n_rules = n;
        s->identity = identity;
        s->seen = plan->generation;
        copy = NULL;
        if (changed) {
            names_of(rules, n, text, sizeof(text));
            set_state_locked(s, SXS_INSTRUMENTED_PENDING, 0, text);
            set_label_locked(s, label_of(rules, n));
        }
    }
    pthread_mutex_unlock(&instrumented.lock);
    free(copy);
    return changed;
}

void sxs_instrumented_keep(struct sxs_instrumented_key key, uint32_t generation)
{
    struct instrumented_method *s;
    pthread_mutex_lock(&instrumented.lock);
    s = find_locked(key);
    if (s && s->seen < generation)
        s->seen = generation;
    pthread_mutex_unlock(&instrumented.lock);
}

static void unwant_locked(struct instrumented_method *s)
{
    sxs_plan_unref(s->plan);
    free(s->rules);
    s->plan = NULL;
    s->rules = NULL;
    s->n_rules = 0;
    s->identity = 0;
}

static size_t take_outdated_locked(const struct instrumented_module *m, uint32_t generation,
                                   struct sxs_instrumented_key *out, size_t room)
{
    size_t n = 0;
    for (struct instrumented_method *s = m->first; s && n < room; s = s->next_of_module)
        if (s->identity && s->seen < generation) {
            unwant_locked(s);
            out[n++] = s->key;
        }
    return n;
}

size_t sxs_instrumented_drop_outdated(sxs_module module, uint32_t generation,
                                      struct sxs_instrumented_key *out, size_t room)
{
    const struct instrumented_module *m;
    size_t                            n = 0;
    pthread_mutex_lock(&instrumented.lock);
    m = find_module_locked(module);
    if (m)
        n = take_outdated_locked(m, generation, out, room);
    pthread_mutex_unlock(&instrumented.lock);
    return n;
}

int sxs_instrumented_get_work(struct sxs_instrumented_key key, struct sxs_instrumented_work *work)
{
    struct instrumented_method *s;
    pthread_mutex_lock(&instrumented.lock);
    s = find_locked(key);
    if (s) {
        work->marker = &s->marker;
        work->plan = s->plan ? sxs_plan_ref(s->plan) : NULL;
        work->identity = s->identity;
        work->n_rules = s->n_rules < SXS_INSTRUMENTED_RULES ? s->n_rules : SXS_INSTRUMENTED_RULES;
        if (s->rules)
            memcpy(work->rules, s->rules, work->n_rules * sizeof(*s->rules));
    }
    pthread_mutex_unlock(&instrumented.lock);
    return s != NULL;
}

void sxs_instrumented_work_done(struct sxs_instrumented_work *work)
{
    sxs_plan_unref(work->plan);
}

int sxs_instrumented_any(void)
{
    return atomic_load_explicit(&instrumented.any, memory_order_relaxed);
}

enum sxs_instrumented_once sxs_instrumented_set_once(struct sxs_instrumented_key key)
{
    enum sxs_instrumented_once  was = SXS_ONCE_NOT;
    struct instrumented_method *s;
    pthread_mutex_lock(&instrumented.lock);
    s = find_locked(key);
    if (s) {
        was = s->once;
        if (was == SXS_ONCE_NOT)
            s->once = SXS_ONCE_OPEN;
    }
    pthread_mutex_unlock(&instrumented.lock);
    return was;
}

int sxs_instrumented_set_compiling(struct sxs_instrumented_key key)
{
    struct instrumented_method *s;
    int          now;
    pthread_mutex_lock(&instrumented.lock);
    s = find_locked(key);
    now = s && s->once == SXS_ONCE_OPEN;
    if (now)
        s->once = SXS_ONCE_DONE;
    pthread_mutex_unlock(&instrumented.lock);
    return now;
}

int sxs_instrumented_is_wanted(struct sxs_instrumented_key key)
{
    struct instrumented_method *s;
    int          wanted;
    if (!sxs_instrumented_any())
        return 0;
    pthread_mutex_lock(&instrumented.lock);
    s = find_locked(key);
    wanted = s && s->identity;
    pthread_mutex_unlock(&instrumented.lock);
    return wanted;
}

static void came_to_locked(struct instrumented_method *s, enum sxs_instrumented_state state,
                           HRESULT hr, const char *text)
{
    set_state_locked(s, state, hr, text);
    if (state == SXS_INSTRUMENTED_FAILED)
        sxs_refused(&s->marker.method, text);
}

void sxs_instrumented_set_state(struct sxs_instrumented_key key, enum sxs_instrumented_state state,
                                HRESULT hr, const char *text)
{
    struct instrumented_method *s;
    pthread_mutex_lock(&instrumented.lock);
    s = find_locked(key);
    if (s)
        came_to_locked(s, state, hr, text);
    pthread_mutex_unlock(&instrumented.lock);
}

void sxs_instrumented_set_woven(struct sxs_instrumented_key         key,
                                const struct sxs_instrumented_work *work,
                                enum sxs_instrumented_state state, HRESULT hr, const char *text)
{
    struct instrumented_method *s;
    pthread_mutex_lock(&instrumented.lock);
    s = find_locked(key);
    if (s && s->identity == work->identity)
        came_to_locked(s, state, hr, text);
    pthread_mutex_unlock(&instrumented.lock);
}

void sxs_instrumented_set_compiled(struct sxs_instrumented_key key, int first)
{
    struct instrumented_method *s;
    pthread_mutex_lock(&instrumented.lock);
    s = find_locked(key);
    if (s && s->state == SXS_INSTRUMENTED_ACTIVE && !s->compiled &&
        (!first || s->once == SXS_ONCE_DONE)) {
        s->compiled = 1;
        sxs_instrument_state(s->marker.method_number, SXS_INSTRUMENTED_ACTIVE, 0,
                             SXS_INSTRUMENT_COMPILED);
    }
    pthread_mutex_unlock(&instrumented.lock);
}

/* @is_reported: nonzero: record the state "unloaded". */
static void retire_locked(struct instrumented_method *s, int is_reported)
{
    struct instrumented_method **at = bucket_of(s->key);
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    unwant_locked(s);
    if (is_reported)
        set_state_locked(s, SXS_INSTRUMENTED_UNLOADED, 0, "");
    put_aside_locked(s);
}

/* Removes the module at *@at and retires its methods. */
static void unload_locked(struct instrumented_module **at, int is_reported)
{
    struct instrumented_module *m = *at;
    struct instrumented_method *next;
    *at = m->next;
    for (struct instrumented_method *s = m->first; s; s = next) {
        next = s->next_of_module;
        retire_locked(s, is_reported);
    }
    free(m);
}

void sxs_instrumented_set_unloaded(sxs_module module)
{
    size_t first = module.id ? (size_t)(module_bucket(module) - instrumented.modules) : 0;
    size_t end = module.id ? first + 1 : N_MODULES;
    pthread_mutex_lock(&instrumented.lock);
    for (size_t b = first; b < end; b++)
        for (struct instrumented_module **at = &instrumented.modules[b]; *at;)
            if ((*at)->module.rt == module.rt && (!module.id || (*at)->module.id == module.id))
                unload_locked(at, module.id != 0);
            else
                at = &(*at)->next;
    pthread_mutex_unlock(&instrumented.lock);
}
