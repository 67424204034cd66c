/* SPDX-License-Identifier: MIT */
/* activities_request.c - finds the request of ASP.NET Core to which an Activity belongs. In signal handlers.
 *
 * An Activity has no reference to its request. The request (an object of the server Kestrel) has one to
 * its Activity. While code works for a request, references to the request are on the stack of its
 * thread, or can be reached from the tasks there: a task has a reference to what continues after it, and
 * the last of them is the server's own.
 *
 * The search starts at every word of the stack that may be the address of an object, and most of them
 * are not. It calls no runtime, and only an object whose class derives from the server's, and whose
 * Activity is the one searched for, is its result. So a stale word can make the search fail, but cannot
 * give it another request. */
#include "sampling/activities_internal.h"

#include <string.h>

#include "base/guarded.h"
#include "base/hash.h"

#define WORD        sizeof(uintptr_t)
#define STACK_BYTES (64u << 10) /* of the oldest part of the stack */
#define PARENT_AT   0x10u       /* in a class: the class from which it derives */
#define MAX_PARENTS 5u
#define MAX_OBJECT  1024u /* bytes of an object that are searched */
#define MAX_LINK    128u
#define MAX_ITEMS   8u
#define MAX_PENDING 48u
#define N_VISITED   128u /* a power of two */
#define CLASS_BITS  7u
#define HAS_ITEMS   0x80000000u /* flag of a class: arrays and strings */
#define LINK_DEPTH  2
#define SEED_LOADS  600u /* from one word of the stack: more is a graph of other objects */
#define ITEMS_AT    16u

/* What objects of a class are good for. Part of the table: below CLASS_BITS + 1. */
enum object_kind {
    KIND_OTHER,
    KIND_HOLDER,  /* may have a reference to the request: a context */
    KIND_TASK,    /* the same, and a reference to what continues after it */
    KIND_REQUEST, /* a request of the server */
    KIND_NONE,    /* not a class */
};

struct pending_object {
    uintptr_t        object;
    enum object_kind kind;
    int              depth; /* KIND_OTHER: how many more such objects are followed from it */
};

struct request_search {
    struct sxs_activities           *a;
    const struct sxs_activity_stack *stack;
    const uintptr_t                 *activities;
    unsigned                         n_activities;
    unsigned                         n_loads;
    unsigned                         n_pending;
    struct pending_object            pending[MAX_PENDING];
    uintptr_t                        visited[N_VISITED];
};

/* Returns 0 if the word cannot be read; a word of ones counts as none. */
SXS_SIGSAFE static int load(struct request_search *s, uintptr_t at, uintptr_t *out)
{
    uintptr_t word;
    s->n_loads++;
    SXS_GUARDED_TRY(word, at, 0);
    *out = word;
    return word != SXS_GUARDED_GONE;
}

SXS_SIGSAFE static uintptr_t word_at(struct request_search *s, uintptr_t at)
{
    uintptr_t word;
    return load(s, at, &word) ? word : 0;
}

/* Returns 1 if a word may be the address of an object or of a class. */
SXS_SIGSAFE static int may_be_address(const struct request_search *s, uintptr_t word)
{
    return !(word & (WORD - 1)) && word > UINT32_MAX && word < UINT64_C(0x7fffffffffff) &&
           (word < s->stack->from - STACK_BYTES || word >= s->stack->to);
}

/* ---- classes --------------------------------------------------------------------------------- */

SXS_SIGSAFE static enum object_kind derive_kind(struct request_search *s, uintptr_t cls)
{
    const struct sxs_request_layout *r = &s->a->requests;
    for (unsigned i = 0; i < MAX_PARENTS && may_be_address(s, cls); i++) {
        if (cls == r->request)
            return KIND_REQUEST;
        if (cls == r->task)
            return KIND_TASK;
        if (cls == r->context)
            return KIND_HOLDER;
        if (!load(s, cls + PARENT_AT, &cls))
            return KIND_NONE;
    }
    return KIND_OTHER;
}

/* Returns the kind of an object; *@cls receives its class. The table says it for classes that were met
 * before. If such a class was unloaded, and its memory used otherwise, an object is searched for and not found. */
SXS_SIGSAFE static enum object_kind kind_of(struct request_search *s, uintptr_t object,
                                            uintptr_t *cls)
{
    _Atomic uintptr_t *slot;
    uintptr_t          known;
    enum object_kind   kind;
    if (!load(s, object, cls) || !may_be_address(s, *cls))
        return KIND_NONE;
    slot = &s->a->kinds[(size_t)(sxs_hash_id(*cls) >> 32) % SXS_CLASS_KINDS];
    known = atomic_load_explicit(slot, memory_order_relaxed);
    if ((known & ~(uintptr_t)CLASS_BITS) == *cls)
        return (enum object_kind)(known & CLASS_BITS);
    kind = derive_kind(s, *cls);
    atomic_store_explicit(slot, *cls | (uintptr_t)kind, memory_order_relaxed);
    return kind;
}

/* ---- objects --------------------------------------------------------------------------------- */

/* Returns 1 the first time that an object is met, as far as the table has room. */
SXS_SIGSAFE static int is_new(struct request_search *s, uintptr_t object)
{
    uintptr_t *slot = &s->visited[(size_t)(sxs_hash_id(object) >> 32) % N_VISITED];
    if (*slot == object)
        return 0;
    *slot = object;
    return 1;
}

SXS_SIGSAFE static void push(struct request_search *s, uintptr_t object, enum object_kind kind,
                             int depth)
{
    if (s->n_pending < MAX_PENDING)
        s->pending[s->n_pending++] = (struct pending_object){object, kind, depth};
}

/* Returns 1 if the request has one of the Activities. */
SXS_SIGSAFE static int is_request_of(struct request_search *s, uintptr_t request)
{
    const struct sxs_request_layout *r = &s->a->requests;
    uintptr_t                        feature = word_at(s, request + r->feature_at), activity;
    if (!feature || word_at(s, feature) != r->feature)
        return 0;
    activity = word_at(s, feature + r->activity_at);
    for (unsigned i = 0; i < s->n_activities; i++)
        if (s->activities[i] == activity)
            return 1;
    return 0;
}

/* Looks at a word. @depth: how many objects of other classes are followed from it. Returns 1 if it is
 * the address of the request. */
SXS_SIGSAFE static int take_word(struct request_search *s, uintptr_t word, int depth)
{
    uintptr_t        cls;
    enum object_kind kind;
    if (!may_be_address(s, word) || !is_new(s, word))
        return 0;
    kind = kind_of(s, word, &cls);
    if (kind == KIND_REQUEST)
        return is_request_of(s, word);
    if (kind == KIND_TASK || kind == KIND_HOLDER || (kind == KIND_OTHER && depth > 0))
        push(s, word, kind, depth);
    return 0;
}

/* Returns how many bytes of an object are searched; *@from receives where they begin. */
SXS_SIGSAFE static uintptr_t extent_of(struct request_search *s, const struct pending_object *p,
                                       uintptr_t *from)
{
    uintptr_t cls = word_at(s, p->object), head = cls ? word_at(s, cls) : 0, items;
    uint32_t  size = (uint32_t)(head >> 32), flags = (uint32_t)head;
    *from = p->object + WORD;
    if (!(flags & HAS_ITEMS)) {
        uint32_t max = p->kind == KIND_OTHER ? MAX_LINK : MAX_OBJECT;
        return size > 2 * WORD && size <= max ? size - 2 * WORD : 0;
    }
    if ((flags & 0xffff) != WORD) /* its items are not references */
        return 0;
    *from = p->object + ITEMS_AT;
    items = word_at(s, p->object + WORD) & UINT32_MAX;
    return (items < MAX_ITEMS ? items : MAX_ITEMS) * WORD;
}

/* Searches the references of an object. Returns the request, or 0. */
SXS_SIGSAFE static uintptr_t search_object(struct request_search *s, const struct pending_object *p)
{
    uintptr_t from, size = extent_of(s, p, &from), next = 0;
    int       depth = p->kind == KIND_OTHER ? p->depth - 1 : 0;
    for (uintptr_t at = 0; at < size; at += WORD) {
        uintptr_t word = word_at(s, from + at);
        if (p->kind == KIND_TASK && from + at == p->object + s->a->requests.continuation_at)
            next = word;
        else if (word && take_word(s, word, depth))
            return word;
    }
    return next && take_word(s, next, LINK_DEPTH) ? next : 0; /* pushed last: searched first */
}

/* Searches everything that can be reached from a word of the stack. */
SXS_SIGSAFE static uintptr_t search_from(struct request_search *s, uintptr_t word)
{
    unsigned last = s->n_loads + SEED_LOADS;
    s->n_pending = 0;
    if (take_word(s, word, 0))
        return word;
    while (s->n_pending && s->n_loads < last) {
        struct pending_object p = s->pending[--s->n_pending];
        uintptr_t             found = search_object(s, &p);
        if (found)
            return found;
    }
    return 0;
}

SXS_SIGSAFE int sxs_activities_request(struct sxs_activities           *a,
                                       const struct sxs_activity_stack *stack,
                                       const uintptr_t *activities, unsigned n,
                                       struct sxs_found_request *out)
{
    const struct sxs_request_layout *r = &a->requests;
    struct request_search            s;
    uintptr_t                        at, from, found = 0, word;
    if (!atomic_load_explicit(&r->known, memory_order_acquire))
        return 0;
    s.a = a;
    s.stack = stack;
    s.activities = activities;
    s.n_activities = n;
    s.n_loads = s.n_pending = 0;
    memset(s.visited, 0, sizeof(s.visited));
    from = stack->to - stack->from > STACK_BYTES ? stack->to - STACK_BYTES : stack->from;
    from = (from + WORD - 1) & ~(uintptr_t)(WORD - 1);
    /* The oldest frames are those of the server or of the pool of threads. */
    for (at = (stack->to & ~(uintptr_t)(WORD - 1)) - WORD;
         at >= from && !found && s.n_loads < SXS_REQUEST_LOADS; at -= WORD) {
        SXS_GUARDED_TRY(word, at, 0);
        if (may_be_address(&s, word)) /* SXS_GUARDED_GONE is none */
            found = search_from(&s, word);
    }
    if (!found)
        return 0;
    out->endpoint = word_at(&s, found + r->endpoint_feature_at) == found
                        ? word_at(&s, found + r->endpoint_at)
                        : 0;
    out->base = r->base_at ? word_at(&s, found + r->base_at) : 0;
    out->path = r->path_at ? word_at(&s, found + r->path_at) : 0;
    return 1;
}

/* ---- paths ----------------------------------------------------------------------------------- */

SXS_SIGSAFE static int is_digit(uint16_t c)
{
    return c >= '0' && c <= '9';
}

SXS_SIGSAFE static int is_hex(uint16_t c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Returns 1 if @n units are a GUID: 32 hexadecimal digits, with or without its four dashes. */
SXS_SIGSAFE static int is_guid(const uint16_t *c, unsigned n)
{
    if (n != 32 && n != 36)
        return 0;
    for (unsigned i = 0; i < n; i++) {
        int is_dash = n == 36 && (i == 8 || i == 13 || i == 18 || i == 23);
        if (is_dash ? c[i] != '-' : !is_hex(c[i]))
            return 0;
    }
    return 1;
}

SXS_SIGSAFE static int is_number(const uint16_t *c, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!is_digit(c[i]))
            return 0;
    return n != 0;
}

SXS_SIGSAFE void sxs_activities_fold(struct sxs_activity_text *path)
{
    uint16_t folded[SXS_ACTIVITY_UNITS] = {0};
    unsigned n = 0, at = 0;
    while (at < path->n && n < SXS_ACTIVITY_UNITS) {
        const uint16_t *segment = path->units + at;
        const char     *instead = NULL;
        unsigned        size = 0;
        while (at + size < path->n && segment[size] != '/')
            size++;
        if (is_guid(segment, size)) /* before numbers: one may consist of digits */
            instead = "{guid}";
        else if (is_number(segment, size))
            instead = "{number}";
        for (unsigned i = 0; n < SXS_ACTIVITY_UNITS && (instead ? instead[i] != '\0' : i < size);
             i++)
            folded[n++] = instead ? (uint16_t)instead[i] : segment[i];
        at += size;
        if (at < path->n && n < SXS_ACTIVITY_UNITS) {
            folded[n++] = '/';
            at++;
        }
    }
    memcpy(path->units, folded, n * sizeof(folded[0]));
    path->n = n;
}
