/* SPDX-License-Identifier: MIT */
#include "stackwalk/shadow.h"

#include <errno.h>
#include <stdatomic.h>

#include "stackwalk/walk_internal.h"

static _Atomic(sxs_shadow_fn) in_use;

void sxs_shadow_use(sxs_shadow_fn fn)
{
    atomic_store(&in_use, fn);
}

int sxs_walk_shadow(struct sxs_walk *walk)
{
    sxs_shadow_fn fn = atomic_load(&in_use);
    sxs_walk_begin(walk);
    return fn ? fn(walk) : -ENODATA;
}
