/* SPDX-License-Identifier: MIT */
/* registry.c - the users of a runtime's hooks, and the decision what the runtime gets. */
#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/session_state.h"
#include "elt/hooks_internal.h"

/* All registries, so that they stay reachable. Added to by compare-and-swap. */
static _Atomic(struct sxs_hooks *) all;
SXS_SESSION_KEEPS(all);

static const struct sxs_hooks_mapper no_mapper;

static void apply(struct sxs_runtime *rt);

/* ---- users -------------------------------------------------------------------------------------- */

static struct sxs_hooks *registry_of(struct sxs_runtime *rt)
{
    struct sxs_hooks *h = rt->hooks;
    if (h)
        return h;
    h = calloc(1, sizeof(*h));
    if (!h)
        return NULL;
    h->rt = rt;
    h->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &h->next, h))
        continue;
    rt->hooks = h;
    rt->apply_hooks = apply;
    return h;
}

static struct hooks_user *find_user(const struct sxs_sub *sub)
{
    struct sxs_hooks *h = sub->rt->hooks;
    for (unsigned i = 0; h && i < h->n_users; i++)
        if (h->users[i].sub == sub && !atomic_load(&h->users[i].ended))
            return &h->users[i];
    return NULL;
}

/* Returns the user, added now if it is not there; NULL without memory, and after Initialize. */
static struct hooks_user *user_of(struct sxs_sub *sub)
{
    struct sxs_hooks  *h = registry_of(sub->rt);
    struct hooks_user *user = find_user(sub);
    if (user || !h || h->mode != HOOKS_STARTING || h->n_users == SXS_MAX_TOOLS)
        return user;
    user = &h->users[h->n_users++];
    user->sub = sub;
    user->kinds = 0;
    user->needs_argument = 0;
    atomic_store(&user->ended, 0); /* the entry may be that of a user that was forgotten */
    user->ask = sxs_hooks_ask_directly;
    atomic_store(&user->mapper, &no_mapper);
    return user;
}

/* Returns 1 when the runtime has the method that takes hooks of this kind. */
static int has_method(const struct sxs_runtime *rt, enum sxs_hooks_kind kind)
{
    static const unsigned slots[SXS_HOOKS_KINDS] = {
        [SXS_HOOKS_1] = SXS_INFO_SLOT_SetEnterLeaveFunctionHooks,
        [SXS_HOOKS_2] = SXS_INFO_SLOT_SetEnterLeaveFunctionHooks2,
        [SXS_HOOKS_3] = SXS_INFO_SLOT_SetEnterLeaveFunctionHooks3,
        [SXS_HOOKS_3_INFO] = SXS_INFO_SLOT_SetEnterLeaveFunctionHooks3WithInfo,
    };
    return slots[kind] < rt->info_slots;
}

/* Returns 1 when the runtime refuses the combination of these hooks and this mask. */
static int is_refused(enum sxs_hooks_kind kind, uint32_t low)
{
    return (kind == SXS_HOOKS_3 && low & SXS_HOOKS_SLOW_FLAGS) ||
           (kind == SXS_HOOKS_3_INFO && !(low & SXS_HOOKS_SLOW_FLAGS));
}

HRESULT sxs_hooks_set(struct sxs_sub *sub, enum sxs_hooks_kind kind, uint32_t low,
                      const struct sxs_hooks_functions *hooks)
{
    struct hooks_user *user;
    if (!has_method(sub->rt, kind))
        return E_NOTIMPL;
    if (!hooks->enter && !hooks->leave && !hooks->tailcall)
        return E_INVALIDARG;
    if (is_refused(kind, low))
        return CORPROF_E_INCONSISTENT_WITH_FLAGS;
    user = user_of(sub);
    if (!user)
        return E_OUTOFMEMORY;
    user->set[kind] = *hooks;
    user->kinds |= 1u << kind;
    return S_OK;
}

HRESULT sxs_hooks_check_mask(const struct sxs_sub *sub, uint32_t low)
{
    const struct hooks_user *user = find_user(sub);
    for (int kind = SXS_HOOKS_1; user && kind < SXS_HOOKS_KINDS; kind++) {
        int is_3 = kind == SXS_HOOKS_3 || kind == SXS_HOOKS_3_INFO;
        if (user->kinds & 1u << kind && (is_refused((enum sxs_hooks_kind)kind, low) ||
                                         (is_3 && !(low & (uint32_t)COR_PRF_MONITOR_ENTERLEAVE))))
            return CORPROF_E_INCONSISTENT_WITH_FLAGS;
    }
    return S_OK;
}

/* Returns 1 when a mapper that @user (NULL: not a user) sets now goes to the runtime at once. */
static int is_passed_on(const struct sxs_hooks *h, const struct hooks_user *user)
{
    return h && (h->mode == HOOKS_NONE ||
                 (h->mode == HOOKS_DIRECT && h->alone == user && !h->maps_alone));
}

/* A mapper that a user has set. Another thread may be calling the previous one, so it is kept. */
struct mapper_copy {
    struct sxs_hooks_mapper        mapper;
    const struct sxs_hooks_mapper *previous;
};

/* Publishes a copy of the mapper. */
static HRESULT replace_mapper(struct hooks_user *user, const struct sxs_hooks_mapper *mapper)
{
    struct mapper_copy *copy = malloc(sizeof(*copy));
    if (!copy)
        return E_OUTOFMEMORY;
    copy->mapper = *mapper;
    copy->previous = atomic_load(&user->mapper);
    atomic_store_explicit(&user->mapper, &copy->mapper, memory_order_release);
    return S_OK;
}

/* Returns the answer to a tool or guest that sets a mapper after Initialize and has not registered, so that
 * ENTERLEAVE is not in its mask. A runtime accepts such a mapper and never calls it. */
static HRESULT no_user(const struct sxs_sub *sub)
{
    return sub->rt->hooks ? S_OK : E_OUTOFMEMORY;
}

HRESULT sxs_hooks_set_mapper(struct sxs_sub *sub, FunctionIDMapper *mapper)
{
    struct hooks_user      *user = user_of(sub);
    struct sxs_hooks_mapper changed;
    if (is_passed_on(sub->rt->hooks, user))
        return sxs_info_SetFunctionIDMapper(sub->rt, mapper);
    if (!user)
        return no_user(sub);
    changed = *atomic_load(&user->mapper);
    changed.one = mapper;
    return replace_mapper(user, &changed);
}

HRESULT sxs_hooks_set_mapper2(struct sxs_sub *sub, FunctionIDMapper2 *mapper, void *data)
{
    struct hooks_user      *user = user_of(sub);
    struct sxs_hooks_mapper changed;
    if (is_passed_on(sub->rt->hooks, user))
        return sxs_info_SetFunctionIDMapper2(sub->rt, mapper, data);
    if (!user)
        return no_user(sub);
    changed = *atomic_load(&user->mapper);
    changed.two = mapper;
    changed.data = data;
    return replace_mapper(user, &changed);
}

HRESULT sxs_hooks_set_ask(struct sxs_sub *sub, sxs_hooks_ask *ask)
{
    struct hooks_user *user = user_of(sub);
    if (!user)
        return E_OUTOFMEMORY;
    user->ask = ask;
    return S_OK;
}

HRESULT sxs_hooks_need_argument(struct sxs_sub *sub)
{
    struct hooks_user *user = user_of(sub);
    if (!user)
        return E_OUTOFMEMORY;
    user->needs_argument = 1;
    return S_OK;
}

/* The manager uses the subscription again for the next tool, so the user must be removed. It is the last
 * one, because tools start one after the other. */
void sxs_hooks_forget(const struct sxs_sub *sub)
{
    struct hooks_user *user = find_user(sub);
    struct sxs_hooks  *h = sub->rt->hooks;
    if (user && h->mode == HOOKS_STARTING) {
        user->sub = NULL;
        user->kinds = 0;
        h->n_users--;
    }
}

void sxs_hooks_end(const struct sxs_sub *sub)
{
    struct hooks_user *user = find_user(sub);
    if (!user || atomic_exchange(&user->ended, 1)) /* the manager uses @sub again: find no user by it */
        return;
    hooks_drop(sub->rt->hooks, user);
}

/* ---- the decision ------------------------------------------------------------------------------- */

/* Completes the user when its tool has started. */
static void complete_user(struct hooks_user *user)
{
    user->low = user->sub->low; /* 0 when the runtime has refused its mask */
    for (int kind = SXS_HOOKS_KINDS - 1; kind >= SXS_HOOKS_1; kind--)
        if (user->kinds & 1u << kind) {
            user->kind = (enum sxs_hooks_kind)kind;
            user->hooks = user->set[kind];
            break;
        }
    user->active = (user->low & (uint32_t)COR_PRF_MONITOR_ENTERLEAVE) != 0;
}

/* Gives hooks of one kind to the runtime. */
static HRESULT give_hooks(struct sxs_runtime *rt, enum sxs_hooks_kind kind,
                          const struct sxs_hooks_functions *f)
{
    switch (kind) {
    case SXS_HOOKS_1:
        return sxs_info_SetEnterLeaveFunctionHooks(rt, (FunctionEnter *)f->enter,
                                                   (FunctionLeave *)f->leave,
                                                   (FunctionTailcall *)f->tailcall);
    case SXS_HOOKS_2:
        return sxs_info_SetEnterLeaveFunctionHooks2(rt, (FunctionEnter2 *)f->enter,
                                                    (FunctionLeave2 *)f->leave,
                                                    (FunctionTailcall2 *)f->tailcall);
    case SXS_HOOKS_3:
        return sxs_info_SetEnterLeaveFunctionHooks3(rt, (FunctionEnter3 *)f->enter,
                                                    (FunctionLeave3 *)f->leave,
                                                    (FunctionTailcall3 *)f->tailcall);
    default:
        return sxs_info_SetEnterLeaveFunctionHooks3WithInfo(
            rt, (FunctionEnter3WithInfo *)f->enter, (FunctionLeave3WithInfo *)f->leave,
            (FunctionTailcall3WithInfo *)f->tailcall);
    }
}

/* The mapper of a user that is alone, had no mapper in Initialize, and wants to know the functions.
 * It asks the mapper that the user sets later. */
static UINT_PTR map_alone(FunctionID fn, void *data, BOOL *hook)
{
    struct hooks_user             *user = data;
    const struct sxs_hooks_mapper *mapper = atomic_load(&user->mapper);
    UINT_PTR                       client;
    *hook = 1;
    client = user->ask(user->sub, mapper, fn, hook);
    return user->kind == SXS_HOOKS_2 && !mapper->one && !mapper->two ? 0 : client;
}

/* Gives the runtime everything that its only user has set. */
static HRESULT give_alone(struct sxs_hooks *h)
{
    struct hooks_user             *user = h->alone;
    const struct sxs_hooks_mapper *mapper = atomic_load(&user->mapper);
    HRESULT                        hr = S_OK;
    h->mode = HOOKS_DIRECT;
    h->maps_alone = !mapper->one && !mapper->two && user->ask != sxs_hooks_ask_directly;
    if (h->maps_alone)
        hr = sxs_info_SetFunctionIDMapper2(h->rt, map_alone, user);
    if (mapper->one)
        hr = sxs_info_SetFunctionIDMapper(h->rt, mapper->one);
    if (SUCCEEDED(hr) && mapper->two)
        hr = sxs_info_SetFunctionIDMapper2(h->rt, mapper->two, mapper->data);
    for (int kind = SXS_HOOKS_1; SUCCEEDED(hr) && kind < SXS_HOOKS_KINDS; kind++)
        if (user->kinds & 1u << kind)
            hr = give_hooks(h->rt, (enum sxs_hooks_kind)kind, &user->set[kind]);
    return hr;
}

/* Gives the runtime this folder's mapper and fan-out hooks. A hook that no user has is left out. */
static HRESULT give_shared(struct sxs_hooks *h)
{
    int                        slow = (h->rt->low & SXS_HOOKS_SLOW_FLAGS) != 0;
    struct sxs_hooks_functions f = {(uintptr_t)sxs_hooks_fan_enter, (uintptr_t)sxs_hooks_fan_leave,
                                    (uintptr_t)sxs_hooks_fan_tailcall};
    int                        enter = 0, leave = 0, tailcall = 0;
    HRESULT                    hr;
    if (slow)
        f = (struct sxs_hooks_functions){(uintptr_t)hooks_slow_enter, (uintptr_t)hooks_slow_leave,
                                         (uintptr_t)hooks_slow_tailcall};
    for (unsigned i = 0; i < h->n_users; i++) {
        const struct hooks_user *user = &h->users[i];
        enter |= user->active && user->hooks.enter;
        leave |= user->active && user->hooks.leave;
        tailcall |= user->active && user->hooks.tailcall;
    }
    f = (struct sxs_hooks_functions){enter ? f.enter : 0, leave ? f.leave : 0,
                                     tailcall ? f.tailcall : 0};
    h->info = atomic_load(&h->rt->info);
    h->info->vtbl->AddRef(h->info);
    h->mode = HOOKS_SHARED;
    hr = sxs_info_SetFunctionIDMapper2(h->rt, hooks_map, h);
    if (SUCCEEDED(hr) && (enter || leave || tailcall))
        hr = give_hooks(h->rt, slow ? SXS_HOOKS_3_INFO : SXS_HOOKS_3, &f);
    return hr;
}

/* Returns 1 when flags of others would change what the hooks of this user receive. Hooks of version
 * 2 get the address of a result whenever stack snapshots are enabled. */
static int is_disturbed(const struct hooks_user *user, const struct sxs_runtime *rt)
{
    uint32_t flags = SXS_HOOKS_SLOW_FLAGS;
    if (user->kind == SXS_HOOKS_2)
        flags |= (uint32_t)COR_PRF_ENABLE_STACK_SNAPSHOT;
    return user->kinds && (user->low ^ rt->low) & flags;
}

/* Returns 1 when the user has hooks or a mapper now. Without, it may set a mapper later. */
static int has_something(const struct hooks_user *user)
{
    const struct sxs_hooks_mapper *mapper = atomic_load(&user->mapper);
    return user->kinds || mapper->one || mapper->two;
}

/* Called when tools have started. A runtime takes hooks in Initialize only, so only the first call
 * decides; later ones, for the tools of later sessions, change nothing. */
static void apply(struct sxs_runtime *rt)
{
    struct sxs_hooks *h = rt->hooks;
    unsigned          n_active = 0;
    HRESULT           hr;
    if (h->mode != HOOKS_STARTING)
        return;
    for (unsigned i = 0; i < h->n_users; i++) {
        complete_user(&h->users[i]);
        if (h->users[i].active) {
            h->alone = &h->users[i];
            n_active++;
        }
    }
    if (!n_active || (n_active == 1 && !has_something(h->alone))) {
        h->mode = HOOKS_NONE;
        return;
    }
    sxs_runtime_ref(rt); /* never dropped: hooks and mappers stay */
    if (n_active == 1 && !is_disturbed(h->alone, rt))
        hr = give_alone(h);
    else
        hr = give_shared(h);
    if (FAILED(hr))
        sxs_error("runtime %u (%s) refuses the enter and leave hooks of its tools and guests (%s "
                  "0x%08x)",
                  sxs_runtime_number(rt), rt->version, sxs_hresult_name(hr), (unsigned)hr);
}
