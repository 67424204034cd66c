/* SPDX-License-Identifier: MIT */
/**
 * costs.h - costs in a model: allocations, native memory and waits for locks, with their stacks.
 *
 * A stack of costs ends with a frame of the type (SXS_FRAME_TYPE): the allocated object, or the
 * object waited for; "malloc" and "mmap" for native memory. Frames of the runtime that delivered the
 * event, at the young end of the stack, are left out.
 *
 * A recorded cost stands for n costs, which need not be an integer. The sums are kept here as they
 * are; a node's `self` and `self_ns` are the same numbers, rounded.
 */
#ifndef SXS_CMD_REPORT_COSTS_H
#define SXS_CMD_REPORT_COSTS_H

#include "cmd/costs/sums.h"
#include "cmd/costs/types.h"

#include <stdbool.h>

/** Sums of a node of the tree: of all costs with exactly that stack. */
struct sxs_cost_node {
    double n, value;           /* all */
    double live_n, live_value; /* those not gone */
    /* The same as integers, in this order. Their sums over all nodes are the rounded sums: what rounding
     * leaves at one node is added to the next. */
    uint64_t whole[4];
};

#define SXS_COST_GENERATIONS 7u /* 0 to 2, large, pinned, frozen; the last: not known */

/**
 * Costs of one call site and type. The call site is the youngest frame of the program's own code: no
 * frame of a framework's assembly. */
struct sxs_cost_call_site {
    uint32_t            call_site; /* frame; UINT32_MAX: the stack is not known */
    uint32_t            callee;    /* the youngest frame, which may be the call site; as above */
    uint32_t            type;  /* index of its row in `types` */
    uint32_t            owner; /* locks: call site of the owner; UINT32_MAX: not known */
    struct sxs_cost_sum sum;
    double              unchecked;                           /* live: bytes that may be garbage */
    double              by_generation[SXS_COST_GENERATIONS]; /* live: bytes */
    double              age_sum;                             /* live: of age * n, ns */
    uint64_t            longest, oldest_ns, youngest_ns;     /* longest: of one wait */
    uint64_t            open;                                /* waits that had not ended */
};

struct sxs_model_costs {
    enum sxs_cost_kind         kind;
    bool                       live;       /* only what is not gone */
    bool                       live_known; /* some process recorded what is gone */
    bool                       parted; /* a process has several files, each with ids of its own */
    bool                       exact;      /* there are exact counts */
    bool                       by_count;
    bool                       full;    /* there are more types than fit into `types` */
    struct sxs_cost_sum        all, alive; /* of what the options select */
    struct sxs_cost_sum known, unchecked;  /* of `alive`: without, and with what may be garbage */
    struct sxs_cost_sum        unfollowed; /* of what may be gone or alive: nobody followed it */
    struct sxs_cost_node      *nodes;      /* owned; by node of the tree */
    size_t                     n_nodes;    /* elements of `nodes` */
    bool                       keep_sums;  /* the options ask for `sums` */
    struct sxs_cost_sum
        *sums; /* owned; by node, with variances; of what is alive if `live`; NULL: not kept */
    struct sxs_cost_types      types;      /* name: string; runtime: process << 16 | index + 1 */
    struct sxs_cost_call_site *call_sites; /* owned */
    size_t                     n_call_sites, cap_call_sites;
    struct sxs_index           call_site_index;
    size_t                     n_processes; /* that recorded such costs */
    uint64_t                   dropped;     /* not recorded because the file had no room */
    uint64_t                   interval; /* bytes from one recorded cost to the next, on average; 1:
                                        * every cost was recorded */
};

/** sxs_costs_type_runtime - return the runtime of a type: index + 1 in the model; 0: none. */
static inline uint16_t sxs_costs_type_runtime(const struct sxs_cost_type *t)
{
    return (uint16_t)t->runtime;
}

/** sxs_costs_type_process - return the process of a type: its index in the model. */
static inline uint32_t sxs_costs_type_process(const struct sxs_cost_type *t)
{
    return t->runtime >> 16;
}

/** sxs_costs_are_waits - return true for waits for locks, of the waiting threads or of the owners. */
static inline bool sxs_costs_are_waits(const struct sxs_model_costs *c)
{
    return c->kind == SXS_COST_LOCK || c->kind == SXS_COST_LOCK_OWNER;
}

/** sxs_model_costs_free - release @c; NULL is allowed. */
void sxs_model_costs_free(struct sxs_model_costs *c);

#endif
