/* SPDX-License-Identifier: MIT */
/*
 * reserved.c - record address space that modules reserve before they are known to be runtimes.
 *
 * A CLR reserves the address space for its code before it registers handlers. The hook for mmap()
 * cannot tell such a call from a call by an allocator that holds its lock. So the hook only records
 * the range and the caller's address, by a few atomic stores. When a module becomes an owner, the
 * ranges whose caller lies in the module become code of the owner.
 */
#include "signals/router.h"

enum { FREE, BUSY, SET };

/* One reservation. A thread that has changed the state to BUSY owns the other fields until it
 * changes the state again. */
struct note {
    _Atomic int       state;          /* FREE, BUSY or SET */
    _Atomic uintptr_t caller, lo, hi; /* caller of mmap(); the range, half-open */
};

#define N_NOTES 256
static struct note      notes[N_NOTES];
static _Atomic unsigned next_note; /* the next note to overwrite when all are set, modulo N_NOTES */
static _Atomic unsigned n_set;     /* number of notes in use */
static _Atomic unsigned n_lost;    /* number of reservations that found no free note */

/* Changes @n from @state to BUSY. Returns 1, or 0 if its state is another. */
SXS_SIGSAFE static int take_note(struct note *n, int state)
{
    return atomic_load_explicit(&n->state, memory_order_relaxed) == state &&
           atomic_compare_exchange_strong(&n->state, &state, BUSY);
}

SXS_SIGSAFE static void drop_note(struct note *n)
{
    atomic_fetch_sub(&n_set, 1);
    atomic_store_explicit(&n->state, FREE, memory_order_release);
}

SXS_SIGSAFE static void set_note(struct note *n, uintptr_t caller, uintptr_t lo, uintptr_t hi)
{
    atomic_store(&n->caller, caller);
    atomic_store(&n->lo, lo);
    atomic_store(&n->hi, hi);
    atomic_store_explicit(&n->state, SET, memory_order_release);
}

SXS_SIGSAFE int reserved_any(void)
{
    return atomic_load_explicit(&n_set, memory_order_relaxed) != 0;
}

SXS_SIGSAFE void reserved_note(uintptr_t caller, uintptr_t lo, uintptr_t hi)
{
    struct note *oldest;
    for (int i = 0; i < N_NOTES; i++) {
        if (take_note(&notes[i], FREE)) {
            atomic_fetch_add(&n_set, 1);
            set_note(&notes[i], caller, lo, hi);
            return;
        }
    }
    atomic_fetch_add(&n_lost, 1);
    oldest = &notes[atomic_fetch_add(&next_note, 1) % N_NOTES];
    if (take_note(oldest, SET))
        set_note(oldest, caller, lo, hi);
}

SXS_SIGSAFE void reserved_forget(uintptr_t lo, uintptr_t hi)
{
    for (int i = 0; i < N_NOTES; i++) {
        struct note *n = &notes[i];
        if (atomic_load(&n->lo) < lo || atomic_load(&n->hi) > hi || !take_note(n, SET))
            continue;
        if (atomic_load(&n->lo) >= lo && atomic_load(&n->hi) <= hi)
            drop_note(n);
        else
            atomic_store_explicit(&n->state, SET, memory_order_release);
    }
}

void reserved_give(const struct loaded_module *m, int owner)
{
    for (int i = 0; i < N_NOTES; i++) {
        struct note *n = &notes[i];
        if (!take_note(n, SET))
            continue;
        if (atomic_load(&n->caller) >= m->lo && atomic_load(&n->caller) < m->hi) {
            sxs_ranges_add(&router.ranges, atomic_load(&n->lo), atomic_load(&n->hi), owner,
                           SXS_RANGE_CODE);
            drop_note(n);
        } else {
            atomic_store_explicit(&n->state, SET, memory_order_release);
        }
    }
}

int reserved_lost(void)
{
    return atomic_load(&n_lost) != 0;
}
