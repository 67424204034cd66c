/* SPDX-License-Identifier: MIT */
#include "tools/heap/bulk.h"

#include <stdlib.h>
#include <string.h>

#include "base/payload.h"

#define PART 4096u /* references of an object that are written as soon as they have come */

/* Numbers of the events. Each begins with: index (4 bytes; not in STATIC_FIELDS), count (4), and
 * the number of the CLR instance (2); the values follow, packed. */
enum {
    EVENT_ROOTS = 16,         /* object 8, kind 1, flags 4, id 8 */
    EVENT_DEPENDENT = 17,     /* primary 8, secondary 8, id 8 */
    EVENT_NODES = 18,         /* address 8, size 8, type 8, number of references 8 */
    EVENT_EDGES = 19,         /* address 8, field 4 */
    EVENT_MOVED = 22,         /* from 8, to 8, size 8 */
    EVENT_STATIC_FIELDS = 38, /* count 4, AppDomain 8, instance 2; id 8, object 8, type 8, flags 4,
                               * name (UTF-16 with its zero) */
};

enum { STATIC_OF_THREAD = 1 };

/* ---- objects and references ------------------------------------------------------------------ */

/* Makes room for @more elements after *n, of which *next have been used. Returns 0 or -1. */
static int make_room(void **array, size_t *n, size_t *next, size_t *max, size_t more, size_t size)
{
    size_t wanted = *max ? *max : 4096;
    void  *grown;
    if (*next) { /* drop what was used */
        memmove(*array, (char *)*array + *next * size, (*n - *next) * size);
        *n -= *next;
        *next = 0;
    }
    while (wanted < *n + more)
        wanted *= 2;
    if (wanted == *max)
        return 0;
    grown = realloc(*array, wanted * size);
    if (!grown)
        return -1;
    *array = grown;
    *max = wanted;
    return 0;
}

static void write_node(struct sxs_heap_sink *sink, struct sxs_bulk_node *node,
                       const uint64_t *edges, size_t n)
{
    if (node->begun)
        sxs_heap_sink_more(sink, node->address, node->cls, node->size, edges, n);
    else
        sxs_heap_sink_object(sink, node->address, node->cls, node->size, edges, n);
    node->begun = 1;
    node->n -= n;
}

/* Writes the objects whose references have come. */
static void match(struct sxs_bulk *bulk, struct sxs_heap_sink *sink)
{
    while (bulk->next_node < bulk->n_nodes) {
        struct sxs_bulk_node *node = &bulk->nodes[bulk->next_node];
        size_t                left = bulk->n_edges - bulk->next_edge;
        size_t                n = node->n < left ? (size_t)node->n : left;
        if (n < node->n && n < PART)
            return;
        write_node(sink, node, bulk->edges + bulk->next_edge, n);
        bulk->next_edge += n;
        if (node->n)
            return;
        bulk->next_node++;
    }
}

static void read_nodes(struct sxs_bulk *bulk, struct sxs_heap_sink *sink, struct sxs_payload *c,
                       uint32_t count)
{
    bulk->objects = 1;
    if (c->left / 32 < count ||
        make_room((void **)&bulk->nodes, &bulk->n_nodes, &bulk->next_node, &bulk->max_nodes, count,
                  sizeof(*bulk->nodes)) != 0) {
        sink->totals.lacking |= SXS_HEAP_SOME_OBJECTS;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct sxs_bulk_node node = {.begun = 0};
        node.address = sxs_payload_take(c, 8);
        node.size = sxs_payload_take(c, 8);
        node.cls = sxs_payload_take(c, 8);
        node.n = sxs_payload_take(c, 8);
        if (node.n)
            bulk->nodes[bulk->n_nodes++] = node;
        else /* the order in the file does not matter */
            sxs_heap_sink_object(sink, node.address, node.cls, node.size, NULL, 0);
    }
    match(bulk, sink);
}

static void read_edges(struct sxs_bulk *bulk, struct sxs_heap_sink *sink, struct sxs_payload *c,
                       uint32_t count)
{
    if (c->left / 12 < count ||
        make_room((void **)&bulk->edges, &bulk->n_edges, &bulk->next_edge, &bulk->max_edges, count,
                  sizeof(*bulk->edges)) != 0) {
        sink->totals.lacking |= SXS_HEAP_SOME_OBJECTS;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        bulk->edges[bulk->n_edges++] = sxs_payload_take(c, 8);
        sxs_payload_take(c, 4);
    }
    match(bulk, sink);
}

/* ---- roots ----------------------------------------------------------------------------------- */

static void read_roots(struct sxs_heap_sink *sink, struct sxs_payload *c, uint32_t count)
{
    static const enum sxs_heap_root_kind kinds[] = {SXS_HEAP_ROOT_STACK, SXS_HEAP_ROOT_FINALIZER,
                                                    SXS_HEAP_ROOT_HANDLE, SXS_HEAP_ROOT_OTHER};
    for (uint32_t i = 0; i < count && !c->is_cut; i++) {
        uint64_t object = sxs_payload_take(c, 8), kind = sxs_payload_take(c, 1), flags = sxs_payload_take(c, 4), id = sxs_payload_take(c, 8);
        if (!c->is_cut)
            sxs_heap_sink_root(sink, kind < 4 ? kinds[kind] : SXS_HEAP_ROOT_OTHER,
                               (uint32_t)flags & 15u, object, id, 0);
    }
}

static void read_dependent(struct sxs_heap_sink *sink, struct sxs_payload *c, uint32_t count)
{
    for (uint32_t i = 0; i < count && !c->is_cut; i++) {
        uint64_t primary = sxs_payload_take(c, 8), secondary = sxs_payload_take(c, 8), id = sxs_payload_take(c, 8);
        if (!c->is_cut)
            sxs_heap_sink_dependent(sink, primary, secondary, id);
    }
}

static void read_static_fields(struct sxs_heap_sink *sink, struct sxs_payload *c, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        WCHAR    name[512];
        size_t   n = 0;
        uint64_t id = sxs_payload_take(c, 8), object = sxs_payload_take(c, 8), flags, unit;
        uint64_t type = sxs_payload_take(c, 8);
        flags = sxs_payload_take(c, 4);
        while ((unit = sxs_payload_take(c, 2)) != 0)
            if (n < sizeof(name) / sizeof(name[0]))
                name[n++] = (WCHAR)unit;
        if (c->is_cut)
            return;
        sxs_heap_sink_static(sink, (flags & STATIC_OF_THREAD) != 0, object, (ClassID)type, id, name,
                             n);
    }
}

static void read_moves(struct sxs_heap_sink *sink, struct sxs_payload *c, uint32_t count)
{
    for (uint32_t i = 0; i < count && !c->is_cut; i++) {
        ObjectID from = (ObjectID)sxs_payload_take(c, 8), to = (ObjectID)sxs_payload_take(c, 8);
        SIZE_T   size = (SIZE_T)sxs_payload_take(c, 8);
        if (!c->is_cut)
            sxs_heap_answers_move(sink->answers, 1, &from, &to, &size);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

void sxs_bulk_event(struct sxs_bulk *bulk, struct sxs_heap_sink *sink, int objects, uint32_t id,
                    const uint8_t *data, size_t size)
{
    struct sxs_payload c = {data, size, 0};
    uint32_t      count;
    if (id == EVENT_STATIC_FIELDS) {
        count = (uint32_t)sxs_payload_take(&c, 4);
        sxs_payload_take(&c, 8);
        sxs_payload_take(&c, 2);
        read_static_fields(sink, &c, count);
        return;
    }
    if (id == EVENT_MOVED) {
        sxs_payload_take(&c, 4);
        count = (uint32_t)sxs_payload_take(&c, 4);
        sxs_payload_take(&c, 2);
        read_moves(sink, &c, count);
        return;
    }
    if (!objects || id < EVENT_ROOTS || id > EVENT_EDGES)
        return;
    sxs_payload_take(&c, 4);
    count = (uint32_t)sxs_payload_take(&c, 4);
    sxs_payload_take(&c, 2);
    if (id == EVENT_ROOTS)
        read_roots(sink, &c, count);
    else if (id == EVENT_DEPENDENT)
        read_dependent(sink, &c, count);
    else if (id == EVENT_NODES)
        read_nodes(bulk, sink, &c, count);
    else
        read_edges(bulk, sink, &c, count);
}

void sxs_bulk_end(struct sxs_bulk *bulk, struct sxs_heap_sink *sink)
{
    if (bulk->next_node < bulk->n_nodes)
        sink->totals.lacking |= SXS_HEAP_SOME_OBJECTS;
    for (; bulk->next_node < bulk->n_nodes; bulk->next_node++) {
        struct sxs_bulk_node *node = &bulk->nodes[bulk->next_node];
        size_t                left = bulk->n_edges - bulk->next_edge;
        size_t                n = node->n < left ? (size_t)node->n : left;
        write_node(sink, node, bulk->edges + bulk->next_edge, n);
        bulk->next_edge += n;
    }
    free(bulk->nodes);
    free(bulk->edges);
    *bulk = (struct sxs_bulk){.objects = bulk->objects};
}
