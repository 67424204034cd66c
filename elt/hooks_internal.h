/* SPDX-License-Identifier: MIT */
/** hooks_internal.h - the registry of one runtime, for this folder only. */
#ifndef SXS_ELT_HOOKS_INTERNAL_H
#define SXS_ELT_HOOKS_INTERNAL_H

#include <stdatomic.h>

#include "elt/hooks.h"
#include "manager/runtime_internal.h"

#define HOOKS_BUCKETS 4096u /* power of 2 */

/** A tool or guest that has set hooks or a mapper on this runtime. */
struct hooks_user {
    struct sxs_sub            *sub;
    struct sxs_hooks_functions set[SXS_HOOKS_KINDS]; /* as set */
    unsigned                   kinds;                /* bit k: set[k] was set */
    uint32_t                   low;    /* its event mask; known when all users have started */
    enum sxs_hooks_kind        kind;   /* the kind in use */
    struct sxs_hooks_functions hooks;  /* set[kind]; all 0: none */
    int                        active; /* 1: it has ENTERLEAVE in its mask */
    int                        needs_argument; /* see sxs_hooks_need_argument() */
    _Atomic int                ended;
    sxs_hooks_ask             *ask;
    _Atomic(const struct sxs_hooks_mapper *)
        mapper; /* never NULL; replaced as a whole, not freed */
};

/** A user in the record of a function. The offsets are in fan_out_offsets.h. */
struct hooks_entry {
    uint64_t           passed; /* what the fast path passes as the client ID: `client`, or for
                                * hooks of version 1 and 2 the address of the entry */
    _Atomic uintptr_t  enter, leave, tailcall; /* what the fast path calls; never 0, but enter of
                                                * the entry that ends a record */
    uint64_t           client;                 /* client ID for this user's hooks */
    struct hooks_user *user;
    FunctionID         fn;
};

/** The users that want one function, in order. Compiled code holds the address of `entries`, so a
 *  record is never freed. */
struct hooks_record {
    struct hooks_record *next; /* in its bucket */
    FunctionID           fn;
    unsigned             n;
    struct hooks_entry   entries[]; /* n, and the one that ends the record */
};

enum hooks_mode {
    HOOKS_STARTING, /* users register */
    HOOKS_NONE,     /* nobody wants hooks */
    HOOKS_DIRECT,   /* the runtime has the hooks and the mapper of `alone` */
    HOOKS_SHARED,   /* the runtime has the hooks and the mapper of this folder */
};

/** The registry of one runtime. Never freed: mapper and compiled code keep its address. */
struct sxs_hooks {
    struct sxs_hooks              *next; /* all registries */
    struct sxs_runtime            *rt;   /* one reference if `mode` is not HOOKS_NONE */
    ICorProfilerInfo15            *info; /* the runtime's Info, one reference, in HOOKS_SHARED */
    enum hooks_mode                mode; /* written in Initialize only */
    struct hooks_user             *alone;
    int maps_alone; /* 1: in HOOKS_DIRECT, the runtime has map_alone() as its mapper */
    unsigned                       n_users;
    struct hooks_user              users[SXS_MAX_TOOLS];
    _Atomic(struct hooks_record *) buckets[HOOKS_BUCKETS]; /* lists that only grow, by FunctionID */
};

/** hooks_map - the mapper of the runtime in HOOKS_SHARED. @data: the registry. */
UINT_PTR hooks_map(FunctionID fn, void *data, BOOL *hook);

/** hooks_drop - replace the hooks of an ended user in all records. */
void hooks_drop(struct sxs_hooks *h, const struct hooks_user *user);

/* ---- called by the runtime: with information, C functions (slow.c); without, assembly ---------- */

void hooks_slow_enter(FunctionIDOrClientID id, COR_PRF_ELT_INFO info);
void hooks_slow_leave(FunctionIDOrClientID id, COR_PRF_ELT_INFO info);
void hooks_slow_tailcall(FunctionIDOrClientID id, COR_PRF_ELT_INFO info);
void sxs_hooks_fan_enter(void);
void sxs_hooks_fan_leave(void);
void sxs_hooks_fan_tailcall(void);

/* ---- in entries of records (arch/x86_64/elt/fan_out.S) ---------------------------------------- */

void sxs_hooks_nothing(void);   /* return at once */
void sxs_hooks_old_enter(void); /* save the registers and call hooks_old_enter() */
void sxs_hooks_old_leave(void);
void sxs_hooks_old_tailcall(void);

/** Call hooks of version 1 and 2, which are C functions, without information (slow.c). */
void hooks_old_enter(const struct hooks_entry *e);
void hooks_old_leave(const struct hooks_entry *e);
void hooks_old_tailcall(const struct hooks_entry *e);

/** Call a hook of version 3 without information from C. @sp: the caller's stack pointer.
 *  @first: the function's first argument. */
void sxs_hooks_call_enter(uintptr_t hook, uint64_t client, uintptr_t sp, uint64_t first);
void sxs_hooks_call_leave(uintptr_t hook, uint64_t client, uintptr_t sp);

#endif
