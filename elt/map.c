/* SPDX-License-Identifier: MIT */
/*
 * map.c - the function ID mapper of a runtime whose hooks several users share, and its records.
 *
 * The JIT calls the mapper, on several threads at a time, and again for each compilation of a
 * function. Users are asked without a lock held. Records are added to lists by compare-and-swap:
 * two threads may make the same record twice, which wastes memory and nothing else.
 */
#include <stddef.h>
#include <stdlib.h>

#include "base/hash.h"
#include "elt/fan_out_offsets.h"
#include "elt/hooks_internal.h"

_Static_assert(offsetof(struct hooks_entry, passed) == ENTRY_PASSED, "fan_out_offsets.h");
_Static_assert(offsetof(struct hooks_entry, enter) == ENTRY_ENTER, "fan_out_offsets.h");
_Static_assert(offsetof(struct hooks_entry, leave) == ENTRY_LEAVE, "fan_out_offsets.h");
_Static_assert(offsetof(struct hooks_entry, tailcall) == ENTRY_TAILCALL, "fan_out_offsets.h");
_Static_assert(sizeof(struct hooks_entry) == ENTRY_SIZE, "fan_out_offsets.h");

/** A user that wants the function, and its client ID. */
struct user_answer {
    struct hooks_user *user;
    uint64_t           client;
};

UINT_PTR sxs_hooks_ask_directly(struct sxs_sub *sub, const struct sxs_hooks_mapper *mapper,
                                FunctionID fn, BOOL *hook)
{
    (void)sub;
    return mapper->two ? mapper->two(fn, mapper->data, hook) : mapper->one(fn, hook);
}

/* Returns 1 when the user wants the function. Without a mapper it wants every function. Then the
 * client ID is the FunctionID; hooks of version 2, which also get the FunctionID, get 0. */
static int ask_user(struct hooks_user *user, FunctionID fn, uint64_t *client)
{
    const struct sxs_hooks_mapper *mapper =
        atomic_load_explicit(&user->mapper, memory_order_acquire);
    BOOL hook = 1;
    *client = user->kind == SXS_HOOKS_2 ? 0 : fn;
    if (mapper->one || mapper->two)
        *client = user->ask(user->sub, mapper, fn, &hook);
    return hook && (user->hooks.enter || user->hooks.leave || user->hooks.tailcall);
}

static unsigned ask_users(struct sxs_hooks *h, FunctionID fn, struct user_answer *answers)
{
    unsigned n = 0;
    for (unsigned i = 0; i < h->n_users; i++) {
        struct hooks_user *user = &h->users[i];
        if (user->active && !atomic_load(&user->ended) && ask_user(user, fn, &answers[n].client))
            answers[n++].user = user;
    }
    return n;
}

static int is_record_of(const struct hooks_record *r, FunctionID fn,
                        const struct user_answer *answers, unsigned n)
{
    if (r->fn != fn || r->n != n)
        return 0;
    for (unsigned i = 0; i < n; i++)
        if (r->entries[i].user != answers[i].user || r->entries[i].client != answers[i].client)
            return 0;
    return 1;
}

static uintptr_t address(void (*function)(void))
{
    return (uintptr_t)function;
}

/* What an entry calls on the fast path. */
static void fill_entry(struct hooks_entry *e, FunctionID fn, const struct user_answer *answer)
{
    const struct sxs_hooks_functions *hooks = &answer->user->hooks;
    int       old = answer->user->kind == SXS_HOOKS_1 || answer->user->kind == SXS_HOOKS_2;
    uintptr_t none = address(sxs_hooks_nothing);
    e->user = answer->user;
    e->client = answer->client;
    e->passed = old ? (uintptr_t)e : answer->client;
    e->fn = fn;
    atomic_init(&e->enter, !hooks->enter ? none
                           : old         ? address(sxs_hooks_old_enter)
                                         : hooks->enter);
    atomic_init(&e->leave, !hooks->leave ? none
                           : old         ? address(sxs_hooks_old_leave)
                                         : hooks->leave);
    atomic_init(&e->tailcall, !hooks->tailcall ? none
                              : old            ? address(sxs_hooks_old_tailcall)
                                               : hooks->tailcall);
}

static void drop_entry(struct hooks_entry *e)
{
    atomic_store(&e->enter, address(sxs_hooks_nothing));
    atomic_store(&e->leave, address(sxs_hooks_nothing));
    atomic_store(&e->tailcall, address(sxs_hooks_nothing));
}

static struct hooks_record *make_record(_Atomic(struct hooks_record *) *bucket, FunctionID fn,
                                        const struct user_answer *answers, unsigned n)
{
    struct hooks_record *r = calloc(1, sizeof(*r) + (n + 1) * sizeof(r->entries[0]));
    if (!r)
        return NULL;
    r->fn = fn;
    r->n = n;
    for (unsigned i = 0; i < n; i++)
        fill_entry(&r->entries[i], fn, &answers[i]);
    r->next = atomic_load(bucket);
    while (!atomic_compare_exchange_weak(bucket, &r->next, r))
        continue;
    /* hooks_drop() may have passed before the record was in the list. */
    for (unsigned i = 0; i < n; i++)
        if (atomic_load(&answers[i].user->ended))
            drop_entry(&r->entries[i]);
    return r;
}

UINT_PTR hooks_map(FunctionID fn, void *data, BOOL *hook)
{
    struct sxs_hooks               *h = data;
    struct user_answer              answers[SXS_MAX_TOOLS];
    unsigned                        n = ask_users(h, fn, answers);
    _Atomic(struct hooks_record *) *bucket =
        &h->buckets[sxs_hash_id(fn) >> 32 & (HOOKS_BUCKETS - 1)];
    struct hooks_record *r = NULL;
    *hook = 0;
    if (!n)
        return fn;
    for (r = atomic_load(bucket); r && !is_record_of(r, fn, answers, n); r = r->next)
        continue;
    if (!r)
        r = make_record(bucket, fn, answers, n);
    if (!r) /* out of memory: the function is not hooked */
        return fn;
    *hook = 1;
    return (UINT_PTR)r->entries;
}

void hooks_drop(struct sxs_hooks *h, const struct hooks_user *user)
{
    for (unsigned b = 0; b < HOOKS_BUCKETS; b++)
        for (struct hooks_record *r = atomic_load(&h->buckets[b]); r; r = r->next)
            for (unsigned i = 0; i < r->n; i++)
                if (r->entries[i].user == user)
                    drop_entry(&r->entries[i]);
}
