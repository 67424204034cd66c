/* SPDX-License-Identifier: MIT */
/* old2.c - a profiler made for the first CLRs: its callback object has ICorProfilerCallback2
 * and no later version. */
#include "tests/guests/names.h"

const char     prof_clsid[] = "{5E5C0001-0000-4000-8000-0000000000B2}";
const char     prof_name[] = "old2";
const unsigned prof_callback_version = 2;

HRESULT prof_initialize(struct prof *p)
{
    return p->info->vtbl->SetEventMask(p->info, COR_PRF_MONITOR_EXCEPTIONS | COR_PRF_MONITOR_GC |
                                                    COR_PRF_MONITOR_THREADS);
}

/* A profiler without ICorProfilerCallback3 cannot be detached. */
HRESULT prof_ExceptionThrown(ICorProfilerCallback11 *self, ObjectID object)
{
    struct prof *p = prof_of(self);
    (void)object;
    if (p->counts[SXS_SLOT_ExceptionThrown]++ == 0)
        prof_say(p, "detach 0x%08x", (unsigned)p->info->vtbl->RequestProfilerDetach(p->info, 100));
    return S_OK;
}

void prof_shutdown(struct prof *p)
{
    static const unsigned seen[] = {SXS_SLOT_MovedReferences,
                                    SXS_SLOT_RootReferences,
                                    SXS_SLOT_ObjectReferences,
                                    SXS_SLOT_ObjectsAllocatedByClass,
                                    SXS_SLOT_ThreadCreated,
                                    SXS_SLOT_ThreadNameChanged,
                                    SXS_SLOT_GarbageCollectionStarted,
                                    SXS_SLOT_RootReferences2,
                                    SXS_SLOT_HandleCreated,
                                    SXS_SLOT_SurvivingReferences,
                                    SXS_SLOT_MovedReferences2,
                                    SXS_SLOT_SurvivingReferences2,
                                    SXS_SLOT_ConditionalWeakTableElementReferences};
    prof_say(p, "ExceptionThrown %llu", (unsigned long long)p->counts[SXS_SLOT_ExceptionThrown]);
    prof_say(p, "ExceptionCatcherEnter %llu",
             (unsigned long long)p->counts[SXS_SLOT_ExceptionCatcherEnter]);
    for (unsigned i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
        prof_say(p, "%s %s", prof_names[seen[i]], p->counts[seen[i]] ? "yes" : "no");
}
