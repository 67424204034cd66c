/* SPDX-License-Identifier: MIT */
/* calls_tree_read.c - reads the call tree of a thread, then its traced calls. */
#include "session/read/calls_read_internal.h"
#include "session/read/file_read.h"
#include "base/sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- paths --------------------------------------------------------------------------------- */

/* Add a thread's histogram of a function to @fn, once. */
static void add_histogram(struct sxs_calls_reader *r, sxs_calls_ref ref,
                          struct sxs_calls_read_function *fn)
{
    const struct sxs_calls_histogram *h = sxs_calls_cells_at(r, ref, sizeof(*h) / SXS_CALLS_CELL);
    if (!h || sxs_calls_index(r, ref) != SXS_CALLS_NONE)
        return; /* already added: all paths of a thread that end in @fn share the histogram */
    h = sxs_calls_take_cells(r, ref, sizeof(*h) / SXS_CALLS_CELL);
    if (!h)
        return;
    if (!fn->buckets)
        fn->buckets = calloc(SXS_CALLS_BUCKETS, sizeof(*fn->buckets));
    for (unsigned i = 0; fn->buckets && i < SXS_CALLS_OCTAVES; i++) {
        const struct sxs_calls_octave *o =
            h->octaves[i] ? sxs_calls_cells_at(r, h->octaves[i], 1) : NULL;
        for (unsigned k = 0; o && k < 8; k++)
            sxs_sum_add(&fn->buckets[i * 8 + k], o->n[k]);
    }
    if (h->max) {
        uint64_t min = sxs_calls_ns(r->c, h->min), max = sxs_calls_ns(r->c, h->max);
        fn->min_ns = fn->max_ns && fn->min_ns < min ? fn->min_ns : min;
        fn->max_ns = fn->max_ns > max ? fn->max_ns : max;
    }
}

void sxs_calls_add_pending(struct sxs_calls_reader *r, const struct sxs_calls_thread *t)
{
    const struct sxs_calls_histogram *h =
        sxs_calls_cells_at(r, t->pending_of, sizeof(*h) / SXS_CALLS_CELL);
    uint32_t             at = h ? sxs_calls_index(r, h->function) : SXS_CALLS_NONE;
    unsigned             octave = 63 - (unsigned)__builtin_clzll(t->pending | 8);
    struct sxs_calls_read_function *fn = at < r->c->n_fns ? &r->c->fns[at] : NULL;
    uint64_t             ns = sxs_calls_ns(r->c, t->pending);
    if (!fn || !fn->buckets || octave >= SXS_CALLS_OCTAVES)
        return;
    fn->buckets[octave * 8 + ((t->pending >> (octave - 3)) & 7)]++;
    fn->min_ns = fn->max_ns && fn->min_ns < ns ? fn->min_ns : ns;
    fn->max_ns = fn->max_ns > ns ? fn->max_ns : ns;
}

/* Return the index of a node's function; SXS_CALLS_NONE when the node does not refer to one. */
static uint32_t function_of(const struct sxs_calls_reader *r, const struct sxs_calls_node *n)
{
    uint32_t fn = n->function ? sxs_calls_index(r, n->function) : SXS_CALLS_NONE;
    return fn < r->c->n_fns ? fn : SXS_CALLS_NONE;
}

/* Add the path of a node. @fn and @parent are indexes; both are SXS_CALLS_NONE for a root. Returns
 * 0 or ENOMEM. */
static int add_path(struct sxs_calls_reader *r, sxs_calls_ref ref, const struct sxs_calls_node *n,
                    uint32_t fn, uint32_t parent, uint32_t thread)
{
    struct sxs_calls *c = r->c;
    void             *list = sxs_list_room(c->paths, c->n_paths, &r->cap_paths, sizeof(*c->paths));
    uint64_t          ticks = n->ticks;
    if (!list)
        return ENOMEM;
    c->paths = list;
    struct sxs_calls_path *p = &c->paths[c->n_paths];
    *p = (struct sxs_calls_path){.parent = parent, .fn = fn, .thread = thread, .calls = n->calls,
                                 .unwound = n->unwound, .active = n->entered || n->active,
                                 .awaits = c->head.mode == SXS_CALLS_TREE && n->self,
                                 .depth = parent == SXS_CALLS_NONE ? 0 : c->paths[parent].depth + 1};
    if (n->entered && r->last_tick > n->entered)
        ticks += r->last_tick - n->entered;
    p->total_ns = sxs_calls_ns(c, ticks);
    p->self_ns = sxs_calls_ns(c, n->self);
    if (fn != SXS_CALLS_NONE && n->histogram)
        add_histogram(r, n->histogram, &c->fns[fn]);
    sxs_calls_set_index(r, ref, (uint32_t)c->n_paths++);
    return 0;
}

/* Walks the tree depth first with a list of its own instead of recursion, so that a deep tree
 * cannot overflow the stack. */
int sxs_calls_read_tree(struct sxs_calls_reader *r, sxs_calls_ref root, uint32_t thread)
{
    struct { sxs_calls_ref ref; uint32_t parent; } *todo = NULL, *more;
    size_t n = 0, cap = 0;
    int    err = 0;
    more = sxs_list_room(NULL, 0, &cap, sizeof(*todo));
    if (!more)
        return ENOMEM;
    todo = more;
    todo[n].ref = root;
    todo[n++].parent = SXS_CALLS_NONE;
    while (n && !err) {
        sxs_calls_ref                ref = todo[--n].ref;
        uint32_t                     parent = todo[n].parent;
        const struct sxs_calls_node *node = sxs_calls_take_cells(r, ref, 1);
        if (!node)
            continue;
        bool     is_root = parent == SXS_CALLS_NONE;
        uint32_t fn = is_root ? SXS_CALLS_NONE : function_of(r, node), above = parent;
        if (is_root || fn != SXS_CALLS_NONE) {
            err = add_path(r, ref, node, fn, parent, thread);
            above = (uint32_t)r->c->n_paths - 1;
        } else {
            r->bad_refs++; /* the node is left out; its children become children of its parent */
        }
        for (int i = 0; i < 2 && !err; i++) {
            sxs_calls_ref next = i ? node->child : node->sibling;
            if (!next || (!i && is_root))
                continue;
            more = sxs_list_room(todo, n, &cap, sizeof(*todo));
            if (!more) {
                err = ENOMEM;
                break;
            }
            todo = more;
            todo[n].ref = next;
            todo[n++].parent = i ? above : parent;
        }
    }
    free(todo);
    return err;
}

/* ---- traced calls -------------------------------------------------------------------------- */

/* Add the beginning or the end of a call. A damaged event is counted. Returns 0 or ENOMEM. */
static int add_event(struct sxs_calls_reader *r, struct sxs_calls_read_thread *t,
                     const struct sxs_calls_event *e)
{
    uint32_t path = sxs_calls_index(r, e->node);
    uint64_t ns = sxs_calls_since_start(r->c, e->tick);
    if (path >= r->c->n_paths || path <= t->root || r->c->paths[path].fn == SXS_CALLS_NONE ||
        e->kind < SXS_CALLS_ENTER || e->kind > SXS_CALLS_UNWOUND) {
        r->bad_refs++;
        return 0;
    }
    void *list = sxs_list_room(t->events, t->n_events, &t->cap_events, sizeof(*t->events));
    if (!list)
        return ENOMEM;
    t->events = list;
    if (t->n_events && ns < t->events[t->n_events - 1].ns)
        ns = t->events[t->n_events - 1].ns;
    t->events[t->n_events++] = (struct sxs_calls_read_event){ns, path, e->kind};
    return 0;
}

/* Add the text whose bytes follow the event @e. @left: number of places for events after @e in its
 * block. @taken: receives the number of places that the text takes. A damaged text is counted.
 * Returns 0 or ENOMEM. */
static int add_text(struct sxs_calls_reader *r, struct sxs_calls_read_thread *t,
                    const struct sxs_calls_event *e, size_t left, size_t *taken)
{
    size_t   size = e->kind >> 8, slots = SXS_CALLS_TEXT_SLOTS(size);
    uint32_t path = sxs_calls_index(r, e->node);
    *taken = slots < left ? slots : left;
    if (size > SXS_CALLS_TEXT_MAX || slots > left || !t->n_events ||
        t->events[t->n_events - 1].path != path ||
        t->events[t->n_events - 1].kind == SXS_CALLS_UNWOUND ||
        (t->n_texts && t->texts[t->n_texts - 1].event == t->n_events - 1)) {
        r->bad_refs++;
        return 0;
    }
    void *list = sxs_list_room(t->texts, t->n_texts, &t->cap_texts, sizeof(*t->texts));
    if (!list)
        return ENOMEM;
    t->texts = list;
    t->texts[t->n_texts].event = t->n_events - 1;
    t->texts[t->n_texts].text = strndup((const char *)(e + 1), size);
    return t->texts[t->n_texts++].text ? 0 : ENOMEM;
}

static int read_block(struct sxs_calls_reader *r, struct sxs_calls_read_thread *t,
                      const struct sxs_calls_event *e)
{
    int err = 0;
    for (size_t i = 0, more = 0; i < SXS_CALLS_BLOCK_EVENTS && e[i].tick && !err; i += 1 + more) {
        more = 0;
        if ((e[i].kind & 0xff) == SXS_CALLS_TEXT)
            err = add_text(r, t, &e[i], SXS_CALLS_BLOCK_EVENTS - 1 - i, &more);
        else
            err = add_event(r, t, &e[i]);
    }
    return err;
}

void sxs_calls_free_events(struct sxs_calls_read_thread *t)
{
    for (size_t i = 0; i < t->n_texts; i++)
        free(t->texts[i].text);
    free(t->texts);
    free(t->events);
}

int sxs_calls_read_events(struct sxs_calls_reader *r, struct sxs_calls_read_thread *t,
                          sxs_calls_ref ref)
{
    int err = 0;
    while (ref && !err) {
        const struct sxs_calls_block *b = sxs_calls_take_cells(r, ref, SXS_CALLS_BLOCK_CELLS);
        if (!b)
            break;
        err = read_block(r, t, (const struct sxs_calls_event *)(const void *)(b + 1));
        ref = b->next;
    }
    return err;
}
