/* SPDX-License-Identifier: MIT */
/* Loads costs into a model: each stack with its type is a path of the tree; types and call sites are
 * summed up beside it. */
#include "base/sum.h"
#include "cmd/costs/costs.h"
#include "cmd/costs/facts.h"
#include "cmd/output/must.h"
#include "cmd/output/table_hash.h"
#include "cmd/report/cost_stacks.h"
#include "cmd/report/costs.h"
#include "cmd/report/loader.h"
#include "cmd/report/slices.h"

#include <string.h>

#define MAX_TYPES      (64u << 10) /* rows of types; all further ones are one */
#define MAX_CALL_SITES (64u << 10) /* further ones are one for each type: that of unknown stacks */

/* The call site of the thread that held a lock when a wait began. */
struct owner {
    uint64_t wait; /* id of the wait */
    uint32_t call_site;
};

/* A wait that a thread caused by holding a lock. */
struct caused {
    uint64_t id, value;
    uint32_t name;
    uint16_t runtime;
    uint8_t  flags;
};

struct costs {
    struct sxs_loader      *l;
    struct sxs_model       *m;
    struct sxs_model_costs *c;
    struct sxs_cost_facts   facts;
    uint64_t                end_ns; /* of the recording, for ages */
    struct owner           *owners; /* owned; by wait */
    size_t                  n_owners, cap_owners;
    struct caused          *caused; /* owned; of owners: the waits, by id */
    size_t                  n_caused, cap_caused;
    bool                    partial; /* the options select a part of the process's costs */
};

/* ---- types ------------------------------------------------------------------------------------ */

static struct sxs_cost_type *type_row(struct costs *k, uint32_t name, uint16_t runtime,
                                      uint8_t flags)
{
    static const char      rest[] = "[types beyond the limit of a report]";
    struct sxs_cost_types *types = &k->c->types;
    size_t                 size;
    const char            *text = sxs_cost_type_name(&k->facts, name, k->c->kind, flags, &size);
    uint32_t               index = runtime ? sxs_addresses_runtime(k->l->names, runtime) : 0;
    uint32_t               of = k->l->process << 16 | index;
    uint32_t               string = sxs_strings_add(&k->m->strings, text, size);
    if (types->n >= MAX_TYPES && !sxs_cost_types_find(types, string, of, k->c->kind)) {
        if (!k->c->full)
            sxs_model_note(k->m, "more than %u types: the others are counted as one", MAX_TYPES);
        k->c->full = true;
        string = sxs_strings_add(&k->m->strings, rest, sizeof(rest) - 1);
        of = 0;
    }
    return sxs_cost_types_row(types, string, of, k->c->kind);
}

static struct sxs_cost_type *row_of_total(void *arg, const struct sxs_cost_total *t)
{
    struct costs *k = arg;
    if (k->l->o->runtime && k->l->o->runtime != t->runtime)
        return NULL;
    return type_row(k, t->name, t->runtime, t->flags);
}

/* The frame that stands for a type, below the function that allocated or waited. */
static uint32_t type_frame(struct sxs_model *m, const struct sxs_cost_type *t)
{
    static const char      file[] = "[type]";
    struct sxs_model_frame f = {
        .name = t->name,
        .file = sxs_strings_add(&m->strings, file, sizeof(file) - 1),
        .runtime = sxs_costs_type_runtime(t),
        .flags = SXS_FRAME_TYPE,
    };
    return sxs_model_frame(m, &f);
}

/* ---- owners of locks -------------------------------------------------------------------------- */

static int by_wait(const void *a, const void *b)
{
    const struct owner *x = a, *y = b;
    return (x->wait > y->wait) - (x->wait < y->wait);
}

static void take_owner(struct costs *k, const struct sxs_record_cost *v)
{
    struct sxs_named frames[SXS_MAX_STACK];
    uint32_t         call_site, callee;
    for (size_t i = 0; i < v->n_ips; i++)
        frames[i] = sxs_addresses_name(k->l->names, v->ips[i] - (i > 0), v->time_ns);
    size_t young = sxs_cost_stack_begin(k->m, frames, v->n_ips, v->kind);
    sxs_cost_stack_call_site(k->m, frames + young, v->n_ips - young, &call_site, &callee);
    SXS_GROW(k->owners, k->n_owners, k->cap_owners);
    k->owners[k->n_owners++] = (struct owner){v->related, call_site};
}

static void read_owners(struct costs *k, struct sxs_samples *reader)
{
    struct sxs_samples_record r;
    while (sxs_samples_next(reader, &r))
        if (r.type == SXS_RECORD_COST && r.cost->kind == SXS_COST_LOCK_OWNER)
            take_owner(k, r.cost);
    if (k->n_owners)
        qsort(k->owners, k->n_owners, sizeof(*k->owners), by_wait);
    sxs_samples_rewind(reader);
}

static int by_id(const void *a, const void *b)
{
    const struct caused *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static void read_caused(struct costs *k, struct sxs_samples *reader)
{
    struct sxs_samples_record r;
    while (sxs_samples_next(reader, &r)) {
        if (r.type != SXS_RECORD_COST || r.cost->kind != SXS_COST_LOCK)
            continue;
        SXS_GROW(k->caused, k->n_caused, k->cap_caused);
        k->caused[k->n_caused++] = (struct caused){r.cost->id, r.cost->value, r.cost->name,
                                                   r.cost->runtime, r.cost->flags};
    }
    if (k->n_caused)
        qsort(k->caused, k->n_caused, sizeof(*k->caused), by_id);
    sxs_samples_rewind(reader);
}

/* Copies to @out the record of an owner without its IPs, with the time, type and runtime of the wait
 * that it caused; a time of 0 when the wait was not recorded. */
static void add_wait(const struct costs *k, const struct sxs_record_cost *v,
                     struct sxs_record_cost *out)
{
    const struct caused  key = {.id = v->related};
    const struct caused *wait =
        k->n_caused ? bsearch(&key, k->caused, k->n_caused, sizeof(key), by_id) : NULL;
    memcpy(out, v, sizeof(*out));
    out->value = wait && v->n * (double)wait->value < 0x1p63 ? wait->value : 0;
    out->name = wait ? wait->name : 0;
    out->runtime = wait ? wait->runtime : v->runtime;
    out->flags = wait ? wait->flags : 0;
}

static uint32_t owner_of(const struct costs *k, uint64_t wait)
{
    const struct owner  key = {.wait = wait};
    const struct owner *found =
        wait && k->n_owners ? bsearch(&key, k->owners, k->n_owners, sizeof(key), by_wait) : NULL;
    return found ? found->call_site : UINT32_MAX;
}

/* ---- call sites ------------------------------------------------------------------------------ */

/* Returns the call site of @key; NULL: it is not in the table and has no place. */
static struct sxs_cost_call_site *call_site_of(struct sxs_model_costs *c, const uint32_t key[4])
{
    bool     unknown = key[0] == UINT32_MAX;
    uint32_t hash = (uint32_t)sxs_table_hash(key, 4 * sizeof(*key), 8), number;
    size_t   at = hash;
    if (sxs_index_reserve(&c->call_site_index) != 0)
        sxs_must(NULL);
    for (; (number = sxs_index_next(&c->call_site_index, hash, &at)) != 0; at++) {
        struct sxs_cost_call_site *s = &c->call_sites[number - 1];
        if (s->call_site == key[0] && s->callee == key[1] && s->type == key[2] &&
            s->owner == key[3])
            return s;
    }
    if (c->n_call_sites >= MAX_CALL_SITES && !unknown)
        return NULL;
    SXS_GROW(c->call_sites, c->n_call_sites, c->cap_call_sites);
    sxs_index_put(&c->call_site_index, at, hash, c->n_call_sites);
    c->call_sites[c->n_call_sites] = (struct sxs_cost_call_site){
        .call_site = key[0], .callee = key[1], .type = key[2], .owner = key[3]};
    return &c->call_sites[c->n_call_sites++];
}

static void add_age(const struct costs *k, struct sxs_cost_call_site *s,
                    const struct sxs_record_cost *v)
{
    const struct sxs_record_live *live = sxs_cost_live_of(&k->facts, v->id);
    unsigned                      generation = live && live->generation < SXS_COST_GENERATIONS - 1
                                                   ? live->generation
                                                   : SXS_COST_GENERATIONS - 1;
    uint64_t                      age = k->end_ns > v->time_ns ? k->end_ns - v->time_ns : 0;
    s->by_generation[generation] += v->n * (double)v->value;
    s->age_sum += v->n * (double)age;
    s->oldest_ns = age > s->oldest_ns ? age : s->oldest_ns;
    s->youngest_ns = s->sum.records == 1 || age < s->youngest_ns ? age : s->youngest_ns;
}

static void add_call_site(struct costs *k, const struct sxs_loaded_stack *stack, uint32_t type,
                          const struct sxs_record_cost *v, enum sxs_cost_fate fate)
{
    const uint32_t             key[4] = {stack->call_site, stack->callee, type,
                             k->c->kind == SXS_COST_LOCK ? owner_of(k, v->id) : UINT32_MAX};
    const uint32_t             unknown[4] = {UINT32_MAX, UINT32_MAX, type, UINT32_MAX};
    struct sxs_cost_call_site *s = call_site_of(k->c, key);
    if (!s)
        s = call_site_of(k->c, unknown);
    sxs_cost_sum_add(&s->sum, v->n, v->value);
    s->longest = v->value > s->longest ? v->value : s->longest;
    s->open += (v->flags & SXS_COST_OPEN) != 0;
    if (fate == SXS_COST_UNCHECKED)
        s->unchecked += v->n * (double)v->value;
    if (k->c->live)
        add_age(k, s, v);
}

/* ---- costs ------------------------------------------------------------------------------------ */

static struct sxs_cost_node *node_of(struct sxs_model_costs *c, size_t node)
{
    if (node >= c->n_nodes) {
        size_t n = node * 2 + 1024;
        c->nodes = sxs_must(reallocarray(c->nodes, n, sizeof(*c->nodes)));
        memset(c->nodes + c->n_nodes, 0, (n - c->n_nodes) * sizeof(*c->nodes));
        if (c->keep_sums) {
            c->sums = sxs_must(reallocarray(c->sums, n, sizeof(*c->sums)));
            memset(c->sums + c->n_nodes, 0, (n - c->n_nodes) * sizeof(*c->sums));
        }
        c->n_nodes = n;
    }
    return &c->nodes[node];
}

static void add_to_tree(struct costs *k, const struct sxs_loaded_stack *stack,
                        const struct sxs_record_cost *v, bool gone)
{
    struct sxs_model     *m = k->m;
    struct sxs_cost_node *node = node_of(k->c, stack->node);
    double                value = v->n * (double)v->value;
    uint64_t              weight = sxs_cost_round(k->c->by_count ? v->n : value);
    node->n += v->n;
    node->value += value;
    if (!gone) {
        node->live_n += v->n;
        node->live_value += value;
    }
    if (k->l->o->slices)
        sxs_slices_cost(k->l->o->slices, &m->processes[k->l->process].head, v->time_ns, stack->node,
                        v->n, value);
    if (gone && k->c->live)
        return;
    if (k->c->keep_sums)
        sxs_cost_sum_add(&k->c->sums[stack->node], v->n, v->value);
    if (stack->line) {
        m->lines[stack->line - 1].self += sxs_cost_round(v->n);
        m->lines[stack->line - 1].self_ns += weight;
    }
    m->ends[v->end]++;
    sxs_loader_period(&m->first_ns, &m->last_ns, v->time_ns);
    sxs_loader_period(&m->processes[k->l->process].first_ns, &m->processes[k->l->process].last_ns,
                      v->time_ns);
    if (k->l->detail & SXS_DETAIL_TIMELINE)
        sxs_loader_keep(k->l, v->time_ns, stack->node, weight, false);
}

/* @ips: the IPs of the record, of which @v may be a copy without them. */
static void take_cost(struct costs *k, const struct sxs_record_cost *v, const uint64_t *ips)
{
    struct sxs_model *m = k->m;
    uint32_t          thread = sxs_model_thread(m, k->l->process, v->tid);
    enum sxs_cost_fate fate = sxs_cost_fate(&k->facts, k->l->head, v);
    bool               gone = fate == SXS_COST_GONE;
    uint32_t          only = k->l->o->runtime;
    if (gone && v->id && k->c->live && !(k->l->detail & SXS_DETAIL_GONE))
        return;
    if (!sxs_loader_thread(k->l, thread) || (only && v->runtime && v->runtime != only)) {
        m->filtered_out++;
        return;
    }
    if (!v->id && k->c->live) {
        sxs_cost_sum_add(&k->c->unfollowed, v->n, v->value);
        if (!(k->l->detail & SXS_DETAIL_GONE))
            return;
    }
    struct sxs_cost_type           *type = type_row(k, v->name, v->runtime, v->flags);
    uint32_t                        index = (uint32_t)(type - k->c->types.all);
    const struct sxs_recorded_stack stack = {.ips = ips,
                                             .n = v->n_ips,
                                             .thread = thread,
                                             .time_ns = v->time_ns,
                                             .type = type_frame(m, type),
                                             .kind = k->c->kind,
                                             .selected = only && v->runtime == only};
    struct sxs_loaded_stack         spare;
    const struct sxs_loaded_stack  *found = sxs_loader_stack(k->l, &stack, &spare);
    if (found->node == SXS_NO_NODE) {
        m->filtered_out++;
        return;
    }
    sxs_cost_type_add(type, v, fate);
    sxs_cost_sum_add(&k->c->all, v->n, v->value);
    if (!gone) {
        sxs_cost_sum_add(&k->c->alive, v->n, v->value);
        sxs_cost_sum_add(fate == SXS_COST_ALIVE ? &k->c->known : &k->c->unchecked, v->n, v->value);
    }
    if (!gone || !k->c->live)
        add_call_site(k, found, index, v, fate);
    add_to_tree(k, found, v, gone);
}

/* The costs of a process are recorded with the same interval; the largest of several is reported. */
static void note_head(struct sxs_model_costs *c, const struct sxs_samples_header *h)
{
    c->n_processes++;
    c->live_known |= h->cost_live[c->kind] != 0;
    c->dropped += sxs_costs_dropped(h, c->kind);
    c->interval = h->cost_interval[c->kind] > c->interval ? h->cost_interval[c->kind] : c->interval;
}

void sxs_load_costs(struct sxs_loader *l, struct sxs_samples *reader)
{
    struct costs                     k = {.l = l,
                                          .m = l->m,
                                          .c = l->m->costs,
                                          .partial = l->o->thread || l->o->only || !sxs_period_is_all(&l->o->period)};
    struct sxs_samples_record        r;
    const struct sxs_samples_header *h = l->head;
    note_head(k.c, h);
    sxs_cost_facts_read(reader, &k.facts);
    k.end_ns = atomic_load_explicit(&h->ended_ns, memory_order_relaxed);
    k.end_ns = k.facts.last_ns > k.end_ns ? k.facts.last_ns : k.end_ns;
    if (k.c->kind == SXS_COST_LOCK)
        read_owners(&k, reader);
    if (k.c->kind == SXS_COST_LOCK_OWNER)
        read_caused(&k, reader);
    while (sxs_samples_next(reader, &r)) {
        struct sxs_record_cost owner;
        if (r.type != SXS_RECORD_COST || r.cost->kind != k.c->kind ||
            !sxs_loader_in_period(l, r.cost->time_ns))
            continue;
        if (k.n_caused)
            add_wait(&k, r.cost, &owner);
        take_cost(&k, k.n_caused ? &owner : r.cost, r.cost->ips);
    }
    if (!k.partial && !k.c->live)
        k.c->exact |= sxs_costs_exact(&k.facts, k.c->kind, row_of_total, &k);
    sxs_cost_facts_free(&k.facts);
    free(k.owners);
    free(k.caused);
}

void sxs_load_costs_end(struct sxs_model *m)
{
    struct sxs_model_costs *c = m->costs;
    double                  rest[4] = {0};
    if (c->parted)
        c->live_known = false;
    for (size_t i = 0; i < m->n_nodes; i++) {
        struct sxs_cost_node    *from = node_of(c, i);
        struct sxs_model_node   *to = &m->nodes[i];
        struct sxs_model_thread *t = &m->threads[to->thread];
        const double             all[] = {from->n, from->value, from->live_n, from->live_value};
        for (int k = 0; k < 4; k++)
            from->whole[k] = sxs_cost_whole(all[k], &rest[k]);
        to->self = from->whole[c->live ? 2 : 0];
        to->self_ns = c->by_count ? to->self : from->whole[c->live ? 3 : 1];
        sxs_sum_add(&t->samples, to->self);
        sxs_sum_add(&t->weight_ns, to->self_ns);
        sxs_sum_add(&m->total, to->self);
        sxs_sum_add(&m->total_ns, to->self_ns);
    }
}

void sxs_model_costs_free(struct sxs_model_costs *c)
{
    if (!c)
        return;
    sxs_cost_types_free(&c->types);
    sxs_index_free(&c->call_site_index);
    free(c->nodes);
    free(c->sums);
    free(c->call_sites);
    free(c);
}
