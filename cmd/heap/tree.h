/* SPDX-License-Identifier: MIT */
/**
 * tree.h - a tree of objects in which those of the same type below the same node are one node.
 *
 * Such trees are small, whatever the number of objects. Two are made: one of dominators ("what is
 * kept alive by what") and one of shortest paths ("how is it reached"). Below the top are nodes of
 * kinds of roots, and below some of these, nodes of the names of static fields or functions. In the
 * tree of paths, objects that are in different fields of the parent are different nodes. An
 * object of the same type as a node a few levels above is counted there, so that a list of any
 * length is one node.
 */
#ifndef SXS_CMD_HEAP_TREE_H
#define SXS_CMD_HEAP_TREE_H

#include "base/index.h"
#include "cmd/heap/fields.h"
#include "cmd/heap/paths.h"

/** What a node stands for. */
enum sxs_heap_what {
    SXS_HEAP_TOP,       /* everything; node 0 */
    SXS_HEAP_KIND,      /* roots of a kind; number: kind * 16 + flags */
    SXS_HEAP_ROOT_NAME, /* roots with a name; number: of the string */
    SXS_HEAP_SEVERAL,   /* objects that several roots keep, none of which refers to them */
    SXS_HEAP_NO_ROOT,   /* objects that no root leads to */
    SXS_HEAP_TYPE,      /* objects of a type; number: index of the type */
};

struct sxs_heap_node {
    uint8_t  what;      /* enum sxs_heap_what */
    bool     list;      /* objects of this node keep one another */
    bool     dependent; /* dependent handles lead from the parent's objects to these */
    uint16_t depth;
    uint32_t number, parent;   /* parent: a lower index; of node 0: 0 */
    struct sxs_heap_field field;   /* of a type in the tree of paths: in which field the parent's
                                  * objects have these. Index: if all are the same element */
    struct sxs_heap_field next;    /* of a list: in which field its objects have one another; not
                                  * known if in several */
    uint32_t              next_in; /* of a list: the type that has `next` */
    uint64_t n, bytes;         /* its own objects */
    uint64_t all_n, all_bytes; /* those of the nodes below it, too */
};

struct sxs_heap_tree {
    struct sxs_heap_node *nodes; /* owned; parents before their children */
    uint32_t              n, cap;
    struct sxs_index      index;
};

/** Build the tree of dominators, which has all objects, or that of paths, which has those that are
 *  reached. Free it by sxs_heap_tree_free(). */
void sxs_heap_tree_of_dominators(const struct sxs_heap_graph      *g,
                                 const struct sxs_heap_dominators *d, struct sxs_heap_tree *out);
void sxs_heap_tree_of_paths(const struct sxs_heap_graph *g, const struct sxs_heap_paths *p,
                            struct sxs_heap_tree *out);
void sxs_heap_tree_free(struct sxs_heap_tree *t);

/** sxs_heap_node_text - return the text of a node: a type's name, "static fields"... Borrowed. */
const char *sxs_heap_node_text(const struct sxs_heap_snapshot *s, const struct sxs_heap_graph *g,
                               const struct sxs_heap_node *node);

/** sxs_heap_list_text - format in which field the objects of a list have one another: "next",
 *  "[*].next", "Type.next" if that type is between them; "": not known, or in several. Returns
 *  @buf. */
const char *sxs_heap_list_text(const struct sxs_heap_snapshot *s, const struct sxs_heap_graph *g,
                               const struct sxs_heap_node *node, char *buf, size_t size);

/**
 * sxs_heap_tree_sorted - return the nodes, each one after its parent and the siblings by falling
 * bytes: a preorder. Owned by the caller; t->n elements.
 */
uint32_t *sxs_heap_tree_sorted(const struct sxs_heap_tree *t);

#endif
