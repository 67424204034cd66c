/* SPDX-License-Identifier: MIT */
#include "sampling/stacks.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/maps.h"
#include "base/session_state.h"

/* Writable mappings, sorted by address. Three lists are kept: a handler uses the published one,
 * which is overwritten only if two more are made while the handler does not run. */
#define MAX_MAPPINGS 16384
struct mappings {
    unsigned  n;
    uintptr_t lo[MAX_MAPPINGS], hi[MAX_MAPPINGS];
};
static struct mappings  kept[3];
static _Atomic unsigned generation;
static _Atomic int      missed;
static _Atomic uint64_t looked_ns;

/* The first thread's stack grows down, so it may begin below its listed mapping. The kernel
 * keeps at least this much address space below the stack's end free of other mappings. */
#define FIRST_GROWS (UINT64_C(128) << 20)
static _Atomic uintptr_t first_hi; /* end of the first thread's stack; 0: not found yet */
SXS_SESSION_RESETS(kept);
SXS_SESSION_RESETS(generation);
SXS_SESSION_RESETS(missed);
SXS_SESSION_RESETS(looked_ns);
SXS_SESSION_RESETS(first_hi);

int sxs_stacks_missed(void)
{
    return atomic_exchange(&missed, 0);
}

uint64_t sxs_stacks_ns(void)
{
    return atomic_load(&looked_ns);
}

static int note_mapping(const struct sxs_mapping *mapping, void *arg)
{
    struct mappings *m = arg;
    if (mapping->permissions[0] != 'r' || mapping->permissions[1] != 'w')
        return 0;
    m->lo[m->n] = mapping->start;
    m->hi[m->n++] = mapping->end;
    if (strcmp(mapping->path, "[stack]") == 0)
        atomic_store(&first_hi, mapping->end);
    return m->n == MAX_MAPPINGS;
}

void sxs_stacks_refresh(void)
{
    unsigned         next = atomic_load(&generation) + 1;
    struct mappings *m = &kept[next % 3];
    uint64_t         now = sxs_now_ns(CLOCK_MONOTONIC);
    m->n = 0;
    if (sxs_maps_each(note_mapping, m) < 0)
        return;
    atomic_store_explicit(&generation, next, memory_order_release);
    atomic_store(&looked_ns, now);
}

SXS_SIGSAFE static int look_up(const struct mappings *m, uintptr_t sp, uintptr_t *hi)
{
    unsigned a = 0, b = m->n;
    while (a < b) {
        unsigned mid = (a + b) / 2;
        if (m->hi[mid] <= sp)
            a = mid + 1;
        else
            b = mid;
    }
    if (a >= m->n || m->lo[a] > sp)
        return 0;
    *hi = m->hi[a];
    return 1;
}

SXS_SIGSAFE static int look_up_latest(uintptr_t sp, uintptr_t *hi)
{
    unsigned now, seen = atomic_load(&generation);
    for (int i = 0; i < 3; i++) {
        int found = look_up(&kept[seen % 3], sp, hi);
        atomic_thread_fence(memory_order_acquire);
        now = atomic_load(&generation);
        /* Otherwise the list was overwritten while this thread did not run. */
        if (now - seen < 2)
            return found;
        seen = now;
    }
    return 0;
}

SXS_SIGSAFE enum sxs_stack_kind sxs_stacks_find(const struct sxs_thread_slot *t, int is_first,
                                                uintptr_t sp, uintptr_t *hi)
{
    uintptr_t lo = t ? atomic_load_explicit(&t->stack_lo, memory_order_relaxed) : 0;
    uintptr_t end = t ? atomic_load_explicit(&t->stack_hi, memory_order_relaxed) : 0;
    uintptr_t own = (uintptr_t)__builtin_thread_pointer();
    if (sp >= lo && sp < end) {
        *hi = end;
        return SXS_STACK_OWN;
    }
    end = is_first ? atomic_load_explicit(&first_hi, memory_order_relaxed) : 0;
    if (sp < end && end - sp < FIRST_GROWS) {
        *hi = end;
        return SXS_STACK_OWN;
    }
    if (!look_up_latest(sp, hi)) {
        atomic_store_explicit(&missed, 1, memory_order_relaxed);
        return SXS_STACK_UNKNOWN;
    }
    /* The C library stores its data of a thread at the old end of that thread's stack. Memory
     * beyond that belongs to another thread, even if the kernel reports both as one mapping. */
    if (own > sp && own < *hi)
        *hi = own & ~(uintptr_t)15;
    return SXS_STACK_LISTED;
}
