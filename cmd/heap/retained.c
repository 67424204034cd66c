/* SPDX-License-Identifier: MIT */
/*
 * A group is all objects of a type, or all roots of a kind. What is lost without a group are
 * subtrees of the tree of dominators: those of the group's own objects, and those of objects that
 * several of them keep together. The latter are found in two steps:
 *
 * 1. Candidates. An object whose dominator refers to it is lost only with its dominator. Any other
 *    is a candidate for a group if the shortest paths to all objects that refer to it have members
 *    of the group, and it is kept by none of them alone. Most groups have no or few candidates.
 * 2. Of the candidates of a group, those survive that an object which is not lost refers to: one
 *    that is neither below a member of the group nor below a candidate; then those that an object
 *    below a surviving candidate refers to, and so on. The others are lost.
 *
 * Nothing is recursive, because lists of millions of objects are common.
 */
#include "cmd/heap/retained.h"

#include <stdlib.h>

#include "cmd/output/must.h"

#define NONE UINT32_MAX

/* A tree of objects in preorder: every subtree is a range of positions. */
struct object_preorder {
    uint32_t *object; /* by position */
    uint32_t *at;     /* by object: its position */
    uint32_t *below;  /* by object: size of its subtree, itself included */
    uint32_t  n;
};

/* The members of each group that have no member of the same group above them, by position. */
struct tops {
    uint32_t *first; /* by group: index in `at`; one more at the end */
    uint32_t *at;    /* positions in the tree */
};

/* The object of a group on the path from a root that was entered last, to be restored. */
struct entered {
    uint32_t newer, last;
};

struct retained_search {
    const struct sxs_heap_graph      *g;
    const struct sxs_heap_dominators *d;
    const struct sxs_heap_paths      *p;
    uint32_t                          n_groups;
    struct object_preorder            kept, reached; /* trees of dominators, of shortest paths */
    struct tops                       kept_tops, reached_tops;
    uint32_t                         *first, *from; /* referrers of an object, if they can matter */
    uint32_t *paths; /* by object: group_bit() of each group on the shortest path to it */

    /* The types on the path to the current object, ordered by their last object on it. */
    uint32_t        head, *newer, *older; /* by type */
    uint32_t       *last;                 /* by type: that object; NONE: no object on the path */
    struct entered *entered;
    size_t          n_entered, cap_entered;
    unsigned        kind; /* of the only roots of the object where the path begins; or NONE */

    uint64_t *candidates; /* group << 32 | position in the tree of dominators */
    size_t    n_candidates, cap_candidates;
};

/* ---- trees ----------------------------------------------------------------------------------- */

/* @object: the list; owned by the result, or borrowed. @above: by object; SXS_NO_OBJECT: none. */
static struct object_preorder number(uint32_t *object, uint32_t n, const uint32_t *above,
                                     uint32_t n_objects)
{
    struct object_preorder p = {object, sxs_must_zeroed(n_objects, sizeof(uint32_t)),
                                sxs_must_zeroed(n_objects, sizeof(uint32_t)), n};
    for (uint32_t i = n; i-- > 0;) {
        p.at[object[i]] = i;
        p.below[object[i]]++;
        if (above[object[i]] != SXS_NO_OBJECT)
            p.below[above[object[i]]] += p.below[object[i]];
    }
    return p;
}

static void free_numbers(struct object_preorder *p)
{
    free(p->at);
    free(p->below);
}

/* Returns the kind of the strong roots that refer to @object, or NONE if they are of several. */
static unsigned kind_of(const struct sxs_heap_graph *g, uint32_t object)
{
    uint32_t i = sxs_heap_root_of(g, object);
    unsigned kind = i == UINT32_MAX ? NONE : sxs_heap_kind(&g->roots[i]);
    for (; i < g->n_roots && g->roots[i].object == object; i++)
        if (sxs_heap_strong(&g->roots[i]) && sxs_heap_kind(&g->roots[i]) != kind)
            return NONE;
    return kind;
}

/* Calls @use for each position and group of which the object there is the top. */
static void each_top(const struct retained_search *s, const struct object_preorder *p,
                     const uint32_t *above, struct tops *t,
                     void (*use)(struct tops *t, uint32_t group, uint32_t at))
{
    uint32_t *end = sxs_must_zeroed(s->n_groups, sizeof(*end)); /* of the group's last subtree */
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t object = p->object[i], type = s->g->type[object];
        unsigned kind = above && above[object] == SXS_NO_OBJECT ? kind_of(s->g, object) : NONE;
        if (i >= end[type]) {
            end[type] = i + p->below[object];
            use(t, type, i);
        }
        if (kind != NONE)
            use(t, s->g->n_types + kind, i);
    }
    free(end);
}

static void count_top(struct tops *t, uint32_t group, uint32_t at)
{
    (void)at;
    t->first[group + 1]++;
}

static void put_top(struct tops *t, uint32_t group, uint32_t at)
{
    t->at[t->first[group]++] = at;
}

/* @above: by object, the object above it, if kinds of roots are wanted, too; else NULL. */
static struct tops tops_of(const struct retained_search *s, const struct object_preorder *p,
                           const uint32_t *above)
{
    struct tops t = {.first = sxs_must_zeroed((size_t)s->n_groups + 1, sizeof(uint32_t))};
    each_top(s, p, above, &t, count_top);
    for (uint32_t i = 0; i < s->n_groups; i++)
        t.first[i + 1] += t.first[i];
    t.at = sxs_must_zeroed(t.first[s->n_groups], sizeof(*t.at));
    each_top(s, p, above, &t, put_top);
    for (uint32_t i = s->n_groups; i > 0; i--) /* put_top() has moved each to its end */
        t.first[i] = t.first[i - 1];
    t.first[0] = 0;
    return t;
}

static void free_tops(struct tops *t)
{
    free(t->first);
    free(t->at);
}

/* Returns whether @object is below or is a member of @group. */
static bool is_in(const struct object_preorder *p, const struct tops *t, uint32_t group,
                  uint32_t object)
{
    uint32_t low = t->first[group], high = t->first[group + 1], at = p->at[object];
    uint32_t begin = low;
    while (low < high) { /* the first one after it is in low..high */
        uint32_t middle = low + (high - low) / 2;
        if (t->at[middle] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low > begin && at - t->at[low - 1] < p->below[p->object[t->at[low - 1]]];
}

/* ---- referrers of an object ------------------------------------------------------------------ */

/* An object whose dominator refers to it is lost only with that. */
static bool can_be_candidate(const struct retained_search *s, uint32_t object)
{
    return s->d->of[object] != SXS_NOT_REACHED &&
           (s->p->from[object] != s->d->of[object] || s->p->from[object] == SXS_NO_OBJECT);
}

static void turn_references(struct retained_search *s)
{
    const struct sxs_heap_graph *g = s->g;
    uint32_t                     sum = 0;
    s->first = sxs_must_zeroed((size_t)g->n + 2, sizeof(*s->first));
    uint32_t *end = s->first + 1; /* afterwards the end of the object's list */
    for (uint32_t i = 0; i < g->n; i++)
        for (uint32_t k = g->first[i]; k < g->first[i + 1] && s->d->of[i] != SXS_NOT_REACHED; k++)
            end[g->to[k]] += g->to[k] != i && can_be_candidate(s, g->to[k]);
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t here = end[i];
        end[i] = sum;
        sum += here;
    }
    s->from = sxs_must_zeroed(sum, sizeof(*s->from));
    for (uint32_t i = 0; i < g->n; i++)
        for (uint32_t k = g->first[i]; k < g->first[i + 1] && s->d->of[i] != SXS_NOT_REACHED; k++)
            if (g->to[k] != i && can_be_candidate(s, g->to[k]))
                s->from[end[g->to[k]]++] = i;
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* The path to an object has one more object: its type becomes the first in the list. */
static void enter(struct retained_search *s, uint32_t object)
{
    uint32_t type = s->g->type[object];
    if (s->head != type) {
        SXS_GROW(s->entered, s->n_entered, s->cap_entered);
        s->entered[s->n_entered++] = (struct entered){s->newer[type], s->last[type]};
        if (s->last[type] != NONE) {
            s->older[s->newer[type]] = s->older[type];
            if (s->older[type] != NONE)
                s->newer[s->older[type]] = s->newer[type];
        }
        s->older[type] = s->head;
        s->newer[type] = NONE;
        if (s->head != NONE)
            s->newer[s->head] = type;
        s->head = type;
    }
    s->last[type] = object;
}

/* Undoes enter(). */
static void leave(struct retained_search *s, uint32_t object)
{
    uint32_t type = s->g->type[object], parent = s->p->from[object];
    if (parent != SXS_NO_OBJECT && s->g->type[parent] == type) {
        s->last[type] = parent;
        return;
    }
    struct entered was = s->entered[--s->n_entered];
    s->head = s->older[type];
    if (s->head != NONE)
        s->newer[s->head] = NONE;
    s->last[type] = was.last;
    if (was.last == NONE)
        return;
    s->newer[type] = was.newer;
    s->older[type] = s->older[was.newer];
    s->older[was.newer] = type;
    if (s->older[type] != NONE)
        s->newer[s->older[type]] = type;
}

/* A path whose bits lack that of a group has no member of it. Several groups share a bit. */
static uint32_t group_bit(uint32_t group)
{
    return UINT32_C(1) << (group * UINT32_C(0x9e3779b1) >> 27);
}

static void note_path(struct retained_search *s, uint32_t object)
{
    uint32_t parent = s->p->from[object], bit = group_bit(s->g->type[object]);
    uint32_t kind = s->kind != NONE ? group_bit(s->g->n_types + s->kind) : 0;
    s->paths[object] = bit | (parent == SXS_NO_OBJECT ? kind : s->paths[parent]);
}

/* Returns the bits that the paths to all objects that refer to @object have. */
static uint32_t bits_of_all(const struct retained_search *s, uint32_t object)
{
    uint32_t bits = UINT32_MAX;
    for (uint32_t k = s->first[object]; k < s->first[object + 1] && bits; k++)
        bits &= s->paths[s->from[k]];
    return bits;
}

/* Adds a candidate, unless a reference from an object whose path has no member of the group keeps
 * it alive. */
static void note_candidate(struct retained_search *s, uint32_t group, uint32_t object)
{
    for (uint32_t k = s->first[object]; k < s->first[object + 1]; k++)
        if (!is_in(&s->reached, &s->reached_tops, group, s->from[k]))
            return;
    SXS_GROW(s->candidates, s->n_candidates, s->cap_candidates);
    s->candidates[s->n_candidates++] = (uint64_t)group << 32 | s->kept.at[object];
}

static void consider(struct retained_search *s, uint32_t object)
{
    uint32_t dominator = s->d->of[object], bits;
    if (!can_be_candidate(s, object) || !(bits = bits_of_all(s, object)))
        return;
    for (uint32_t type = s->head; type != NONE; type = s->older[type]) {
        /* No more than what is between the dominator and the object. */
        if (dominator != SXS_NO_OBJECT && s->reached.at[s->last[type]] <= s->reached.at[dominator])
            break;
        if (bits & group_bit(type) && type != s->g->type[object] &&
            !is_in(&s->kept, &s->kept_tops, type, object))
            note_candidate(s, type, object);
    }
    if (dominator == SXS_NO_OBJECT && s->kind != NONE && bits & group_bit(s->g->n_types + s->kind))
        note_candidate(s, s->g->n_types + s->kind, object);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Lists the candidates of all groups, by group, then by position. */
static void find_candidates(struct retained_search *s)
{
    uint32_t here = SXS_NO_OBJECT, n_types = s->g->n_types;
    s->head = NONE;
    s->paths = sxs_must_zeroed(s->g->n, sizeof(*s->paths));
    s->newer = sxs_must_zeroed(n_types, sizeof(*s->newer));
    s->older = sxs_must_zeroed(n_types, sizeof(*s->older));
    s->last = sxs_must_zeroed(n_types, sizeof(*s->last));
    for (uint32_t i = 0; i < n_types; i++)
        s->newer[i] = s->older[i] = s->last[i] = NONE;
    for (uint32_t i = 0; i < s->reached.n; i++) {
        uint32_t object = s->reached.object[i];
        if (s->p->from[object] == SXS_NO_OBJECT)
            s->kind = kind_of(s->g, object);
        note_path(s, object);
    }
    for (uint32_t i = 0; i < s->reached.n; i++) {
        uint32_t object = s->reached.object[i];
        while (here != s->p->from[object]) {
            leave(s, here);
            here = s->p->from[here];
        }
        if (here == SXS_NO_OBJECT)
            s->kind = kind_of(s->g, object);
        consider(s, object);
        enter(s, object);
        here = object;
    }
    free(s->newer);
    free(s->older);
    free(s->last);
    free(s->paths);
    free(s->entered);
    if (s->n_candidates)
        qsort(s->candidates, s->n_candidates, sizeof(*s->candidates), by_number);
}

/* ---- the candidates of one group ------------------------------------------------------------- */

/* From position @at to that of the next one: below candidate number @candidate and no closer one. */
struct position_range {
    uint32_t at, candidate; /* candidate NONE: below none */
};

struct trial {
    const struct retained_search *s;
    uint32_t                      group, n;
    const uint64_t               *candidates; /* their positions in the low halves */
    bool                         *alive;      /* by candidate */
    struct position_range        *parts;
    uint32_t                      n_parts;
    /* Candidates that objects below candidate i refer to: to[first[i]] to to[end[i] - 1]. */
    uint32_t *first, *end, *to;
    uint32_t *stack, n_stack;
};

static uint32_t candidate_object(const struct trial *t, uint32_t i)
{
    return t->s->kept.object[(uint32_t)t->candidates[i]];
}

static uint32_t candidate_end(const struct trial *t, uint32_t i)
{
    return (uint32_t)t->candidates[i] + t->s->kept.below[candidate_object(t, i)];
}

/* Adds a part; of several at the same position, the last one counts. */
static void add_part(struct trial *t, uint32_t at, uint32_t candidate)
{
    if (t->n_parts && t->parts[t->n_parts - 1].at == at)
        t->n_parts--;
    t->parts[t->n_parts++] = (struct position_range){at, candidate};
}

/* The subtrees of candidates are in one another, or apart. */
static void divide(struct trial *t)
{
    uint32_t *open = t->stack, n = 0;
    t->parts = sxs_must_zeroed((size_t)t->n * 2 + 1, sizeof(*t->parts));
    add_part(t, 0, NONE);
    for (uint32_t i = 0; i <= t->n; i++) {
        while (n && (i == t->n || candidate_end(t, open[n - 1]) <= (uint32_t)t->candidates[i])) {
            uint32_t end = candidate_end(t, open[--n]);
            add_part(t, end, n ? open[n - 1] : NONE);
        }
        if (i == t->n)
            break;
        add_part(t, (uint32_t)t->candidates[i], i);
        open[n++] = i;
    }
}

/* Returns the closest candidate that @object is below, or that it is. */
static uint32_t candidate_above(const struct trial *t, uint32_t object)
{
    uint32_t low = 0, high = t->n_parts, at = t->s->kept.at[object];
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->parts[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return t->parts[low].candidate;
}

static void survive(struct trial *t, uint32_t i)
{
    if (t->alive[i])
        return;
    t->alive[i] = true;
    t->stack[t->n_stack++] = i;
}

/* Calls @use for each reference to a candidate that is not surely lost. */
static void each_reference(struct trial *t, void (*use)(struct trial *t, uint32_t by, uint32_t i))
{
    const struct retained_search *s = t->s;
    bool                          by_type = t->group < s->g->n_types;
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t object = candidate_object(t, i);
        for (uint32_t k = s->first[object]; k < s->first[object + 1] && !t->alive[i]; k++) {
            uint32_t by = s->from[k];
            if (!by_type || !is_in(&s->kept, &s->kept_tops, t->group, by))
                use(t, candidate_above(t, by), i);
        }
    }
}

static void count_reference(struct trial *t, uint32_t by, uint32_t i)
{
    if (by == NONE)
        survive(t, i);
    else if (by != i)
        t->first[by + 1]++;
}

static void put_reference(struct trial *t, uint32_t by, uint32_t i)
{
    if (by != NONE && by != i)
        t->to[t->end[by]++] = i;
}

/* Finds which candidates of a group survive. */
static void try_candidates(struct trial *t)
{
    t->stack = sxs_must_zeroed(t->n, sizeof(*t->stack));
    t->alive = sxs_must_zeroed(t->n, sizeof(*t->alive));
    t->first = sxs_must_zeroed((size_t)t->n + 1, sizeof(*t->first));
    t->end = sxs_must_zeroed(t->n, sizeof(*t->end));
    divide(t);
    each_reference(t, count_reference);
    for (uint32_t i = 0; i < t->n; i++) {
        t->first[i + 1] += t->first[i];
        t->end[i] = t->first[i];
    }
    t->to = sxs_must_zeroed(t->first[t->n], sizeof(*t->to));
    each_reference(t, put_reference); /* without those to candidates that survive already */
    while (t->n_stack) {
        uint32_t by = t->stack[--t->n_stack];
        for (uint32_t k = t->first[by]; k < t->end[by]; k++)
            survive(t, t->to[k]);
    }
}

static void free_trial(struct trial *t)
{
    free(t->stack);
    free(t->alive);
    free(t->parts);
    free(t->first);
    free(t->end);
    free(t->to);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Adds up the subtrees of the group's own objects and of its lost candidates, each object once. */
static uint64_t add_up(const struct trial *t)
{
    const struct retained_search *s = t->s;
    const struct object_preorder *kept = &s->kept;
    bool                          by_type = t->group < s->g->n_types;
    uint32_t                      own = by_type ? s->kept_tops.first[t->group] : 0, i = 0, end = 0;
    uint32_t                      own_end = by_type ? s->kept_tops.first[t->group + 1] : 0;
    uint64_t                      sum = 0;
    while (own < own_end || i < t->n) {
        uint32_t at = own < own_end ? s->kept_tops.at[own] : NONE;
        if (i < t->n && (uint32_t)t->candidates[i] < at) {
            at = t->alive[i] ? NONE : (uint32_t)t->candidates[i];
            i++;
        } else {
            own++;
        }
        if (at == NONE || at < end)
            continue;
        end = at + kept->below[kept->object[at]];
        sum += s->d->retained[kept->object[at]];
    }
    return sum;
}

static uint64_t sum_of(const struct retained_search *s, uint32_t group, size_t *at)
{
    struct trial t = {.s = s, .group = group, .candidates = s->candidates + *at};
    while (*at < s->n_candidates && s->candidates[*at] >> 32 == group) {
        t.n++;
        ++*at;
    }
    if (t.n)
        try_candidates(&t);
    uint64_t sum = add_up(&t);
    free_trial(&t);
    return sum;
}

void sxs_heap_retained(const struct sxs_heap_graph *g, const struct sxs_heap_dominators *d,
                       const struct sxs_heap_paths *p, uint64_t *by_type, uint64_t *by_kind)
{
    struct retained_search s = {.g = g, .d = d, .p = p, .n_groups = g->n_types + SXS_HEAP_N_KINDS};
    size_t                 at = 0;
    s.kept = number(d->order, d->n, d->of, g->n);
    s.reached = number(sxs_heap_preorder(p->order, p->n, p->from, g->n), p->n, p->from, g->n);
    s.kept_tops = tops_of(&s, &s.kept, NULL);
    s.reached_tops = tops_of(&s, &s.reached, p->from);
    turn_references(&s);
    find_candidates(&s);
    free(s.reached.object);
    free_numbers(&s.reached);
    free_tops(&s.reached_tops);
    for (uint32_t i = 0; i < s.n_groups; i++)
        *(i < g->n_types ? &by_type[i] : &by_kind[i - g->n_types]) = sum_of(&s, i, &at);
    free_numbers(&s.kept);
    free_tops(&s.kept_tops);
    free(s.first);
    free(s.from);
    free(s.candidates);
}
