/* SPDX-License-Identifier: MIT */
/** rejit_internal.h - the table of methods with new IL, for the files of this folder. */
#ifndef SXS_REJIT_REJIT_INTERNAL_H
#define SXS_REJIT_REJIT_INTERNAL_H

#include <pthread.h>

#include "manager/runtime_internal.h"
#include "rejit/map.h"
#include "rejit/rejit.h"

/** IL of a method, with its header. Compared by address: memory of bodies in use is not reused. */
struct rejit_il {
    const uint8_t *bytes; /* NULL: none */
    uint32_t       size;
};

/** A body that a tool has set. Lives until the module is unloaded, because guests may keep its
 *  address. */
struct rejit_body {
    struct rejit_body *next;
    uint32_t           size;
    uint8_t            bytes[];
};

/** What one tool wants for one method. */
struct rejit_part {
    struct rejit_part *next; /* in the order of the subscriptions */
    struct sxs_sub    *sub;
    int                wanted;  /* 1: requested, and neither reverted nor failed */
    int                pending; /* 1: requested since the tool was asked last */
    int                failed;  /* 1: the runtime is about to raise its ReJITError */
    int                asked;   /* 1: what follows is what it has answered */
    struct rejit_il    start;   /* what its first_body() has returned last */
    struct rejit_il    input;   /* what it was shown */
    struct rejit_il    body;    /* what it has set; borrowed from the method's bodies */
    uint32_t           flags;   /* COR_PRF_CODEGEN_FLAGS */
    struct rejit_map   map;
};

struct rejit_first; /* see first.c */

struct rejit_method {
    struct rejit_method *next; /* in its bucket */
    ModuleID             module;
    mdMethodDef          token;
    struct rejit_part   *parts;
    struct rejit_body   *bodies;
    struct rejit_first  *firsts;
    uint64_t             asked;   /* bit i: subs[i] was asked in the latest GetReJITParameters */
    int                  is_new;  /* 1: the version of that call has not begun to compile */
    ReJITID              version; /* the latest version for which tools were asked */
    uint64_t             version_asked;
};

#define REJIT_BUCKETS 1024u
struct rejit_table {
    struct sxs_rejit_firsts firsts; /* first member, see rejit.h; used without the lock */
    struct sxs_sub         *own;    /* of the tool rejit; constant */
    pthread_mutex_t         lock;   /* guards what follows; nothing is called while it is held */
    struct rejit_method    *buckets[REJIT_BUCKETS]; /* lists: each method contains its link */
    uint64_t             with_inliners; /* bit i: subs[i] has requested inliners */
    uint64_t             left;          /* bit i: subs[i] must not be called any more */
};

_Static_assert(offsetof(struct rejit_table, firsts) == 0, "sxs_rejit_is_usual()");

/** What a tool finds in GetILFunctionBody while it is called for a method. On the stack. */
struct rejit_asking {
    const struct rejit_asking *outer;
    const struct sxs_sub      *sub;
    ModuleID                   module;
    mdMethodDef                token;
    struct rejit_il            input; /* no bytes: the runtime's body */
};

/** Begin and end the use of a frame on this thread. Between them the tool is called. */
void rejit_begin_asking(struct rejit_asking *frame);
void rejit_end_asking(const struct rejit_asking *frame);

/** rejit_table_of - return the runtime's table; NULL: it has none, or this is a forked child. */
struct rejit_table *rejit_table_of(struct sxs_runtime *rt);

/** Return the bit of a subscription in the masks above. */
static inline uint64_t rejit_bit(const struct sxs_sub *sub)
{
    return UINT64_C(1) << (sub - sub->rt->subs);
}

/** Find a method, or what a tool wants for it; NULL: not in the table. */
struct rejit_method *rejit_find_locked(struct rejit_table *t, ModuleID module, mdMethodDef token);
struct rejit_part   *rejit_part_locked(const struct rejit_method *m, const struct sxs_sub *sub);

/** rejit_make_locked - find what a tool wants for a method; an empty entry is added when there is
 *  none. Returns NULL without memory. */
struct rejit_part *rejit_make_locked(struct rejit_table *t, struct sxs_sub *sub, ModuleID module,
                                     mdMethodDef token);

/** rejit_first_before_parameters - report the first compilation of a method to the tools that have
 *  not requested it, if this is the first one. Called at the beginning of GetReJITParameters,
 *  without the lock. */
void rejit_first_before_parameters(struct rejit_table *t, sxs_module module, mdMethodDef token);

/** rejit_free_firsts - free m->firsts. */
void rejit_free_firsts(struct rejit_method *m);

#endif
