/* SPDX-License-Identifier: MIT */
#include "stackwalk/shadow.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/session_state.h"
#include "stackwalk/walk_internal.h"

static _Atomic(sxs_shadow_fn) in_use[2]; /* index 1: the logical stack */
SXS_SESSION_RESETS(in_use);

void sxs_shadow_use(sxs_shadow_fn fn, sxs_shadow_fn logical)
{
    atomic_store(&in_use[0], fn);
    atomic_store(&in_use[1], logical);
}

int sxs_walk_shadow(struct sxs_walk *walk, int logical)
{
    sxs_shadow_fn fn = atomic_load(&in_use[logical]);
    sxs_walk_begin(walk);
    return fn ? fn(walk) : -ENODATA;
}
