/* SPDX-License-Identifier: MIT */
#include "rejit/methods/rule_statistics.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/log.h"
#include "base/session_state.h"
#include "instr/metadata/text.h"
#include "instr/weave/nearest.h"
#include "session/write/instrument_write.h"

#define N_BUCKETS 1024u
#define NAMES_MAX 3 /* methods without IL, and parameter lists, that are shown for a rule */

/* A set of names that were seen, by their 64-bit hashes. */
struct seen_names {
    uint64_t        *hashes; /* owned */
    size_t           n, room;
    struct sxs_index index; /* of the hashes */
};

/* The statistics of one rule. Freed with the session. */
struct rule_stats {
    struct rule_stats    *next;        /* in its bucket */
    uint64_t              identity;    /* of the rule */
    uint32_t              number;      /* in the session file, from 0 */
    char                 *name, *file; /* owned */
    uint32_t              line;
    enum sxs_config_reach reach;
    struct sxs_nearest   *near;       /* existing names similar to the rule's; owned; NULL: none */
    char                  lists[300]; /* parameter lists of methods with the rule's name */
    unsigned              n_lists;    /* number of these */
    struct seen_names     seen_lists, seen_without_il;
    uint32_t              without_il; /* methods without IL that the rule matches */
    char                  names[300]; /* names of the first NAMES_MAX of these methods */
    /* Flags: must be recorded; methods without IL are logged; the rule is no longer in force; the
     * rule is in the config (scratch of sxs_rule_stats_config()). */
    int   changed, said, gone, seen;
    char *parts[3]; /* owned: assembly, type, method of the rule's first <match>; NULL: any */
};

static struct {
    pthread_mutex_t lock;
    struct rule_stats *buckets[N_BUCKETS];
    uint32_t        n;
} all_stats = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(all_stats.lock);
SXS_SESSION_RESETS(all_stats);

/* ---- the table -------------------------------------------------------------------------------- */

static struct rule_stats **bucket_of(const struct sxs_rule *rule)
{
    return &all_stats.buckets[rule->identity % N_BUCKETS];
}

static struct rule_stats *find_locked(const struct sxs_rule *rule)
{
    struct rule_stats *t = *bucket_of(rule);
    while (t && t->identity != rule->identity)
        t = t->next;
    return t;
}

static char *copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

static struct rule_stats *add_locked(const struct sxs_rule *rule)
{
    struct rule_stats *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->identity = rule->identity;
    t->number = all_stats.n++;
    t->name = copy_text(rule->name);
    t->file = copy_text(rule->file);
    t->line = rule->line;
    if (rule->n_matches) {
        t->parts[0] = copy_text(rule->matches[0].assembly.text);
        t->parts[1] = copy_text(rule->matches[0].type.text);
        t->parts[2] = copy_text(rule->matches[0].method.text);
    }
    t->changed = 1;
    t->next = *bucket_of(rule);
    *bucket_of(rule) = t;
    return t;
}

/* ---- names ------------------------------------------------------------------------------------ */

/* Adds @name to the set. Returns nonzero when it was not in the set; 0 also without memory. */
static int is_new(struct seen_names *seen, const char *name)
{
    uint64_t hash = sxs_hash_text(SXS_HASH_START, name);
    uint32_t short_hash = (uint32_t)(sxs_hash_id(hash) >> 32), number;
    size_t   at = short_hash;
    if (seen->n == seen->room) {
        size_t    room = seen->room ? 2 * seen->room : 16;
        uint64_t *more = reallocarray(seen->hashes, room, sizeof(*more));
        if (!more)
            return 0;
        seen->hashes = more;
        seen->room = room;
    }
    if (sxs_index_reserve(&seen->index) != 0)
        return 0;
    for (; (number = sxs_index_next(&seen->index, short_hash, &at)) != 0; at++)
        if (seen->hashes[number - 1] == hash)
            return 0;
    sxs_index_put(&seen->index, at, short_hash, seen->n);
    seen->hashes[seen->n++] = hash;
    return 1;
}

static void forget_names(struct seen_names *seen)
{
    free(seen->hashes);
    sxs_index_free(&seen->index);
    *seen = (struct seen_names){0};
}

/* ---- records ---------------------------------------------------------------------------------- */

static const char *part_of(const struct rule_stats *t, int which)
{
    return t->parts[which] ? t->parts[which] : "*";
}

/* Writes why the rule matches nothing. */
static void put_reason(const struct rule_stats *t, struct sxs_text *to)
{
    switch (t->reach) {
    case SXS_REACH_NOTHING:
        sxs_text_putf(
            to, "no assembly %s was loaded, or not of the version or in the runtime asked for",
            part_of(t, 0));
        break;
    case SXS_REACH_ASSEMBLY: sxs_text_putf(to, "there is no type %s", part_of(t, 1)); break;
    case SXS_REACH_TYPE:
        sxs_text_putf(to, "there is no method %s in the type", part_of(t, 2));
        break;
    case SXS_REACH_METHOD:
        sxs_text_putf(to, "the parameters of %s differ: there is %s", part_of(t, 2), t->lists);
        break;
    case SXS_REACH_PARAMETERS:
        sxs_text_putf(to,
                      "%s has no such attribute, or is no such part of an async method or iterator",
                      part_of(t, 2));
        break;
    case SXS_REACH_EXCLUDED: sxs_text_put(to, "all that it fits is excluded"); break;
    case SXS_REACH_ALL: break;
    }
    if (t->near)
        sxs_nearest_put(t->near, to);
}

static void record_locked(struct rule_stats *t)
{
    char               text[900];
    struct sxs_text    to = sxs_text_counted(text, sizeof(text));
    text[0] = '\0';
    if (t->reach != SXS_REACH_ALL)
        put_reason(t, &to);
    else if (t->without_il)
        sxs_text_putf(&to, "%s", t->names);
    t->changed = 0;
    sxs_instrument_rule(&(struct sxs_instrument_rule){.number = t->number,
                                                      .line = t->line,
                                                      .without_il = t->without_il,
                                                      .matched = t->reach == SXS_REACH_ALL,
                                                      .gone = (uint8_t)t->gone},
                        t->name ? t->name : "", t->file ? t->file : "", text);
}

static void say_locked(struct rule_stats *t)
{
    if (!t->without_il || t->said)
        return;
    t->said = 1;
    sxs_warn("tool instrument: %s:%u: rule %s: without IL and passed over: %s%s", t->file, t->line,
             t->name, t->names, t->without_il > NAMES_MAX ? " and more" : "");
}

void sxs_rule_stats_record(void)
{
    pthread_mutex_lock(&all_stats.lock);
    for (size_t b = 0; b < N_BUCKETS; b++)
        for (struct rule_stats *t = all_stats.buckets[b]; t; t = t->next) {
            if (t->changed)
                record_locked(t);
            say_locked(t);
        }
    pthread_mutex_unlock(&all_stats.lock);
}

/* ---- input ------------------------------------------------------------------------------------ */

void sxs_rule_stats_config(const struct sxs_config *config)
{
    pthread_mutex_lock(&all_stats.lock);
    for (size_t b = 0; b < N_BUCKETS; b++)
        for (struct rule_stats *t = all_stats.buckets[b]; t; t = t->next)
            t->seen = 0;
    for (uint32_t i = 0; i < config->n_rules; i++) {
        struct rule_stats *t = find_locked(config->rules[i]);
        if (!t)
            t = add_locked(config->rules[i]);
        if (!t)
            continue;
        t->changed |= t->gone;
        t->seen = 1;
        t->gone = 0;
    }
    for (size_t b = 0; b < N_BUCKETS; b++)
        for (struct rule_stats *t = all_stats.buckets[b]; t; t = t->next)
            if (!t->seen && !t->gone)
                t->gone = t->changed = 1;
    pthread_mutex_unlock(&all_stats.lock);
}

int sxs_rule_stats_wants(const struct sxs_rule *rule)
{
    const struct rule_stats *t;
    int                 wants;
    pthread_mutex_lock(&all_stats.lock);
    t = find_locked(rule);
    wants = t && t->reach != SXS_REACH_ALL;
    pthread_mutex_unlock(&all_stats.lock);
    return wants;
}

/* Appends @name to @names, a list with @n elements, unless it has NAMES_MAX elements or no room. */
static void add_name(char *names, size_t size, unsigned n, const char *name)
{
    size_t at = strlen(names);
    if (n < NAMES_MAX && at + strlen(name) + 4 < size) {
        memcpy(names + at, n ? "; " : "", n ? 3 : 1);
        strcat(names + at, name);
    }
}

/* A name came nearer than all before: drops the names that were recorded for the earlier @reach. */
static void come_nearer(struct rule_stats *t, enum sxs_config_reach reach)
{
    t->reach = reach;
    t->changed = 1;
    free(t->near);
    t->near = NULL;
    t->lists[0] = '\0';
    t->n_lists = 0;
    forget_names(&t->seen_lists);
}

/* Keeps @name if it is a parameter list, or similar to the rule's name. */
static void try_name(struct rule_stats *t, const char *name)
{
    const char *wanted = part_of(t, t->reach == SXS_REACH_ASSEMBLY ? 1 : 2);
    unsigned    n = t->near ? t->near->n : 0;
    if (t->reach == SXS_REACH_METHOD) {
        if (t->n_lists < NAMES_MAX && is_new(&t->seen_lists, name)) {
            add_name(t->lists, sizeof(t->lists), t->n_lists++, name);
            t->changed = 1;
        }
        return;
    }
    if (strpbrk(wanted, "*?"))
        return;
    if (!t->near) {
        t->near = calloc(1, sizeof(*t->near));
        if (!t->near)
            return;
        sxs_nearest_begin(t->near, wanted);
    }
    sxs_nearest_try(t->near, name);
    t->changed |= t->near->n != n;
}

void sxs_rule_stats_reach(const struct sxs_rule *rule, enum sxs_config_reach reach,
                          const char *name)
{
    struct rule_stats *t;
    pthread_mutex_lock(&all_stats.lock);
    t = find_locked(rule);
    if (t && t->reach < reach)
        come_nearer(t, reach);
    if (t && t->reach == reach && name && reach >= SXS_REACH_ASSEMBLY && reach <= SXS_REACH_METHOD)
        try_name(t, name);
    pthread_mutex_unlock(&all_stats.lock);
}

void sxs_rule_stats_without_il(const struct sxs_rule *rule, const char *name)
{
    struct rule_stats *t;
    pthread_mutex_lock(&all_stats.lock);
    t = find_locked(rule);
    if (t && is_new(&t->seen_without_il, name)) { /* once for all runtimes and loads */
        add_name(t->names, sizeof(t->names), t->without_il, name);
        t->without_il++;
        if (t->reach != SXS_REACH_ALL)
            come_nearer(t, SXS_REACH_ALL);
        t->changed = 1;
    }
    pthread_mutex_unlock(&all_stats.lock);
}

void sxs_rule_stats_end(void)
{
    pthread_mutex_lock(&all_stats.lock);
    for (size_t b = 0; b < N_BUCKETS; b++)
        while (all_stats.buckets[b]) {
            struct rule_stats *t = all_stats.buckets[b];
            all_stats.buckets[b] = t->next;
            forget_names(&t->seen_lists);
            forget_names(&t->seen_without_il);
            free(t->near);
            for (size_t i = 0; i < ARRAY_LEN(t->parts); i++)
                free(t->parts[i]);
            free(t->name);
            free(t->file);
            free(t);
        }
    all_stats.n = 0;
    pthread_mutex_unlock(&all_stats.lock);
}
