/* SPDX-License-Identifier: MIT */
/* notify.c - a profiler that asks to be loaded for notifications only. */
#include "tests/guests/names.h"

const char prof_clsid[] = "{5E5C0001-0000-4000-8000-0000000000C6}";
const char prof_name[] = "notify";

HRESULT prof_LoadAsNotificationOnly(ICorProfilerCallback11 *self, BOOL *notification_only)
{
    (void)self;
    *notification_only = 1;
    return S_OK;
}

HRESULT prof_initialize(struct prof *p)
{
    ICorProfilerInfo15 *info = p->info;
    DWORD               low = 0;
    prof_say(p, "ENTERLEAVE 0x%08x",
             (unsigned)info->vtbl->SetEventMask(info, COR_PRF_MONITOR_ENTERLEAVE));
    prof_say(p, "ENABLE_REJIT 0x%08x",
             (unsigned)info->vtbl->SetEventMask(info, COR_PRF_ENABLE_REJIT));
    prof_say(p, "GC 0x%08x", (unsigned)info->vtbl->SetEventMask(info, COR_PRF_MONITOR_GC));
    prof_say(p, "DISABLE_TIERED_COMPILATION 0x%08x",
             (unsigned)info->vtbl->SetEventMask2(info, COR_PRF_MONITOR_GC,
                                                 COR_PRF_HIGH_DISABLE_TIERED_COMPILATION));
    prof_say(p, "ENABLE_OBJECT_ALLOCATED 0x%08x",
             (unsigned)info->vtbl->SetEventMask(info, COR_PRF_ENABLE_OBJECT_ALLOCATED));
    info->vtbl->GetEventMask(info, &low);
    prof_say(p, "mask 0x%08x", low);
    prof_say(p, "hooks 0x%08x",
             (unsigned)info->vtbl->SetEnterLeaveFunctionHooks3(info, NULL, NULL, NULL));
    return info->vtbl->SetEventMask(info, COR_PRF_MONITOR_EXCEPTIONS);
}

void prof_shutdown(struct prof *p)
{
    prof_say(p, "ExceptionThrown %llu", (unsigned long long)p->counts[SXS_SLOT_ExceptionThrown]);
    prof_say(p, "detach 0x%08x", (unsigned)p->info->vtbl->RequestProfilerDetach(p->info, 100));
}
