/* SPDX-License-Identifier: MIT */
/**
 * graph.h - the objects of one runtime and their references, from a heap snapshot.
 *
 * Objects have numbers: 0, 1, 2... in the order of their addresses. About 40 bytes per object and
 * 4 bytes per reference are needed, so that 10^7 objects fit into 1 GiB.
 */
#ifndef SXS_CMD_HEAP_GRAPH_H
#define SXS_CMD_HEAP_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/output/strings.h"
#include "session/read/heap_read.h"

#define SXS_NO_OBJECT     UINT32_MAX
#define SXS_N_GENERATIONS 6u /* 0 to 2, large, pinned, frozen */

/** A type of objects. Types of equal names are one. */
struct sxs_heap_type {
    uint32_t name, module; /* numbers in the snapshot's strings */
    uint32_t flags;        /* enum sxs_heap_type_flag */
};

/** Something outside of the heap that refers to an object. */
struct sxs_heap_root {
    uint32_t object; /* number */
    uint32_t name;   /* number in the snapshot's strings; 0: none */
    uint8_t  kind;   /* enum sxs_heap_root_kind */
    uint8_t  flags;  /* enum sxs_heap_root_flag */
};

/** A dependent handle: @secondary is kept alive by @primary. */
struct sxs_heap_pair {
    uint32_t primary, secondary; /* numbers of objects */
};

struct sxs_heap_fields;

/** The objects of one runtime. */
struct sxs_heap_graph {
    uint32_t                 runtime;     /* number */
    uint32_t                 version;     /* number in the snapshot's strings */
    uint64_t                 how, server; /* as in the RUNTIME block; how 0: the block is missing */
    bool                     ended; /* false: the runtime's part of the snapshot is incomplete */
    struct sxs_heap_end_item end;   /* zero without `ended` */

    uint32_t  n;          /* number of objects */
    uint64_t *address;    /* of each object; ascending */
    uint64_t *size;       /* of each object, in bytes */
    uint32_t *type;       /* of each object: index in `types` */
    uint8_t  *generation; /* of each object: 0 to 5 */
    uint32_t *first;      /* n + 1 elements: object i refers to to[first[i]] to to[first[i+1]-1] */
    uint32_t *to;         /* numbers of objects, dependent handles included */

    struct sxs_heap_type *types;
    uint32_t              n_types;
    struct sxs_heap_root *roots; /* ordered by object, then the best to show first */
    uint32_t              n_roots;
    struct sxs_heap_pair *dependent; /* ordered by primary, then by secondary */
    uint32_t              n_dependent;
    struct sxs_heap_fields *fields;             /* fields.h; owned; NULL: the snapshot names none */
    uint64_t              unknown_references; /* to addresses where the snapshot has no object */
    uint64_t              unknown_roots;
};

/** A heap snapshot. */
struct sxs_heap_snapshot {
    struct sxs_heap_head   head;
    struct sxs_heap_graph *graphs; /* one for each runtime, ordered by its number */
    size_t                 n;
    struct sxs_strings     strings;  /* texts without control characters */
    char                 **problems; /* lines that describe the damage in the file */
    size_t                 n_problems;
};

/**
 * sxs_heap_load - read a snapshot.
 * @folder_fd: the folder of the process; borrowed. @number: of the snapshot.
 * @runtime: number of a runtime; 0: all runtimes.
 * @out: overwritten; free it by sxs_heap_free() if 0 is returned.
 * @why: receives one line about a failure.
 * Returns 0 or an errno value, as sxs_heap_reader_open() does.
 */
int  sxs_heap_load(int folder_fd, uint32_t number, uint32_t runtime, struct sxs_heap_snapshot *out,
                   char *why, size_t why_size);
void sxs_heap_free(struct sxs_heap_snapshot *s);

/** sxs_heap_find - return the number of the object at @address, or SXS_NO_OBJECT. @inside: whether
 *  an address inside an object is allowed. */
uint32_t sxs_heap_find(const struct sxs_heap_graph *g, uint64_t address, bool inside);

/** sxs_heap_strong - return whether a root keeps its object alive. */
static inline bool sxs_heap_strong(const struct sxs_heap_root *r)
{
    return !(r->flags & SXS_HEAP_ROOT_WEAK);
}

/** sxs_heap_root_of - return the index in g->roots of the strong root of an object that is the best
 *  to show, or UINT32_MAX when no root refers to it. */
uint32_t sxs_heap_root_of(const struct sxs_heap_graph *g, uint32_t object);

/** sxs_heap_is_dependent - return whether @primary refers to @secondary by a dependent handle. */
bool sxs_heap_is_dependent(const struct sxs_heap_graph *g, uint32_t primary, uint32_t secondary);
/** sxs_heap_n_dependent - return the number of dependent handles whose primary is this object. They
 *  stand after its references. */
uint32_t sxs_heap_n_dependent(const struct sxs_heap_graph *g, uint32_t primary);

/** sxs_heap_type_name - return the name of a type; borrowed. */
static inline const char *sxs_heap_type_name(const struct sxs_heap_snapshot *s,
                                             const struct sxs_heap_graph *g, uint32_t type)
{
    return sxs_strings_text(&s->strings, g->types[type].name);
}

/** Return the texts of codes in the file: "static field", "pinned handle"...; "gen 0", "large"...;
 *  "a signal"... Static strings. */
const char *sxs_heap_root_text(uint8_t kind, uint8_t flags);
const char *sxs_heap_generation_text(unsigned generation);
const char *sxs_heap_trigger_text(uint32_t trigger);

#endif
