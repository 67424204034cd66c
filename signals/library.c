/* SPDX-License-Identifier: MIT */
/* library.c - the table of operations (struct sxs_signals) of this copy of the router. */
#include "signals/router.h"

#include <errno.h>

static void announce_owner(int owner)
{
    if (owner >= 0 && owner < SXS_MAX_OWNERS)
        atomic_store(&router.owners[owner].announced, 1);
}

SXS_SIGSAFE static void own_thread(int owner, int belongs)
{
    if (owner < 0 || owner >= SXS_MAX_OWNERS)
        return;
    if (belongs)
        sxs_thread_state.owners |= UINT64_C(1) << owner;
    else
        sxs_thread_state.owners &= ~(UINT64_C(1) << owner);
}

SXS_SIGSAFE static void library_thread(void)
{
    sxs_thread_state.is_library = 1;
}

static void count_into(int owner, _Atomic uint64_t *counter)
{
    if (owner < 0 || owner >= SXS_MAX_OWNERS)
        return;
    struct signal_owner *o = &router.owners[owner];
    if (counter) /* add the signals that were counted so far */
        atomic_fetch_add(counter, atomic_exchange(&o->own_counter, 0));
    atomic_store_explicit(&o->counter, counter, memory_order_release);
}

static void count_unwanted_into(_Atomic uint64_t *counter)
{
    if (counter)
        atomic_fetch_add(counter, atomic_exchange(&router.own_unwanted, 0));
    atomic_store_explicit(&router.unwanted, counter, memory_order_release);
}

static const char *path(int owner)
{
    return owner >= 0 && owner < atomic_load(&router.n_owners) ? router.owners[owner].path : "";
}

static int watch_crashes(sxs_crash_watcher *crashed)
{
    for (size_t i = 0; i < SXS_CRASH_WATCHERS; i++) {
        sxs_crash_watcher *none = NULL;
        if (atomic_compare_exchange_strong(&router.crashed[i], &none, crashed) || none == crashed)
            return 0;
    }
    return -ENOSPC;
}

static int adopt_address(uintptr_t addr, struct sxs_adoption *out)
{
    return router.off ? -ENOTSUP : owner_adopt(addr, out);
}

/* router_operations() fills in the missing members; read-only afterwards. */
static struct sxs_signals operations = {
    .version = SXS_SIGNALS_VERSION,
    .size = sizeof(struct sxs_signals),
    .adopt = adopt_address,
    .announces = announce_owner,
    .own_thread = own_thread,
    .count_into = count_into,
    .count_unwanted_into = count_unwanted_into,
    .find_ip = owner_of_code,
    .path = path,
    .watch_threads = threads_watch,
    .guard = guard_code,
    .sample_signal = sample_signal,
    .handle_samples = sample_handle,
    .check_samples = sample_check,
    .pass_on_sample = sample_pass_on,
    .sample_uses_stack = sample_on_stack,
    .unblock_samples = mask_unblock_samples,
    .watch_crashes = watch_crashes,
    .library_thread = library_thread,
    .harmless_sample = sample_harmless,
    .ended = terminate_ended,
};

const struct sxs_signals *router_operations(void)
{
    operations.preloaded = router.preloaded;
    operations.off = router.off;
    return &operations;
}
