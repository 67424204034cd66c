/* SPDX-License-Identifier: MIT */
/* raise.c - raises a callback if the event mask includes it and both sides have the slot. */
#include "tests/fake/fake.h"

struct slot_mask {
    uint32_t low, high;
    bool always, known;
};

static const struct slot_mask masks[SXS_N_CALLBACK_SLOTS] = {
#define SXS_EVENT(slot, l, h, a) \
    [SXS_SLOT_##slot] = {.low = (l), .high = (h), .always = (a), .known = true},
#include "sxs_events.inc"
#undef SXS_EVENT
};

/* Number of slots in the vtable of each ICorProfilerCallback version. */
static const unsigned version_slots[FAKE_CALLBACK_LAST + 1] = {
#define SLOTS(v) [v] = sizeof(ICorProfilerCallback##v##Vtbl) / sizeof(void *)
    SLOTS(2), SLOTS(3), SLOTS(4), SLOTS(5), SLOTS(6), SLOTS(7), SLOTS(8), SLOTS(9), SLOTS(10),
    SLOTS(11),
};

/* Every argument of every callback is an integer or a pointer, and at most ten follow `self`. All
 * ten are passed; the callee reads as many as it declares. */
typedef HRESULT any_slot(void *self, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                         uint64_t, uint64_t, uint64_t, uint64_t);

static ICorProfilerCallback11 *callback_for(unsigned slot)
{
    int version = 2;
    while (version < FAKE_CALLBACK_LAST && slot >= version_slots[version])
        version++;
    return fake.callback[version];
}

bool fake_wants(unsigned slot)
{
    if (slot >= SXS_N_CALLBACK_SLOTS || atomic_load(&fake.phase) != FAKE_RUN)
        return false;
    if (slot == SXS_SLOT_Shutdown || slot == SXS_SLOT_ProfilerAttachComplete)
        return true; /* life cycle events do not depend on the mask */
    const struct slot_mask *m = &masks[slot];
    return m->known && (m->always || (m->low & atomic_load(&fake.mask_low)) ||
                        (m->high & atomic_load(&fake.mask_high)));
}

int fake_slot_by_name(const char *name)
{
    for (unsigned i = 3; i < SXS_N_CALLBACK_SLOTS; i++)
        if (strcmp(sxs_callback_name(i), name) == 0)
            return (int)i;
    return -1;
}

/* The callback is counted before the phase is read, so that the thread that ends the profiler waits
 * for it. */
HRESULT fake_raise(unsigned slot, bool forced, unsigned n, const uint64_t *args)
{
    HRESULT hr = S_FALSE;
    if (!forced && !fake_wants(slot))
        return hr;
    atomic_fetch_add(&fake.in_callbacks, 1);
    ICorProfilerCallback11 *cb = NULL;
    if (atomic_load(&fake.phase) == FAKE_RUN)
        cb = callback_for(slot);
    if (cb) {
        uint64_t a[10] = {0};
        memcpy(a, args, (n < 10 ? n : 10) * sizeof(a[0]));
        any_slot *call = NULL;
        memcpy(&call, (const char *)cb->vtbl + slot * sizeof(void *), sizeof(call));
        fake_in_callback++;
        hr = call(cb, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]);
        fake_in_callback--;
        atomic_fetch_add(&fake.raised[slot], 1);
    }
    atomic_fetch_sub(&fake.in_callbacks, 1);
    return hr;
}
