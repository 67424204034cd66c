/* SPDX-License-Identifier: MIT */
#include "sampler/stacks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "manager/base/clock.h"
#include "manager/base/proc.h"

/* Writable mappings in order of address. Three generations: a handler uses the one published, and is
 * overtaken only when it does not run while two more are made. */
#define MAX_MAPPINGS 16384
struct mappings {
    unsigned  n;
    uintptr_t lo[MAX_MAPPINGS], hi[MAX_MAPPINGS];
};
static struct mappings  kept[3];
static _Atomic unsigned generation;
static _Atomic int      missed;
static _Atomic uint64_t looked_ns;

/* The first thread's stack grows down: its mapping may begin below what the list says. The kernel keeps
 * at least this much address space below its end free of other mappings. */
#define FIRST_GROWS (UINT64_C(128) << 20)
static _Atomic uintptr_t first_hi; /* its end; 0: not seen */

int sxs_stacks_missed(void)
{
    return atomic_exchange(&missed, 0);
}

uint64_t sxs_stacks_ns(void)
{
    return atomic_load(&looked_ns);
}

static int note_mapping(char *line, void *arg)
{
    struct mappings *m = arg;
    char            *at; /* sscanf would take longer than the kernel does to write the line */
    uintptr_t        lo = strtoul(line, &at, 16);
    uintptr_t        hi = *at == '-' ? strtoul(at + 1, &at, 16) : 0;
    if (!hi || strncmp(at, " rw", 3) != 0)
        return 0;
    m->lo[m->n] = lo;
    m->hi[m->n++] = hi;
    if (strstr(line, "[stack]"))
        atomic_store(&first_hi, hi);
    return m->n == MAX_MAPPINGS;
}

void sxs_stacks_refresh(void)
{
    unsigned         next = atomic_load(&generation) + 1;
    struct mappings *m = &kept[next % 3];
    uint64_t         now = sxs_now_ns(CLOCK_MONOTONIC);
    m->n = 0;
    if (sxs_proc_lines("/proc/self/maps", note_mapping, m) < 0)
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
        if (now - seen < 2) /* else it was written anew while this thread did not run */
            return found;
        seen = now;
    }
    return 0;
}

SXS_SIGSAFE enum sxs_stack_kind sxs_stacks_find(const struct sxs_sampled_thread *t, int is_first,
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
    /* The C library keeps what it knows of a thread at the old end of that thread's stack. What lies
     * beyond is another's, though the kernel may tell of both as one mapping. */
    if (own > sp && own < *hi)
        *hi = own & ~(uintptr_t)15;
    return SXS_STACK_LISTED;
}
