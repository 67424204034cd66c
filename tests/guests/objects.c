/* SPDX-License-Identifier: MIT */
/* objects.c - a profiler of allocations: counts the objects of the program by class. */
#include "tests/guests/names.h"

const char prof_clsid[] = "{5E5C0001-0000-4000-8000-0000000000C2}";
const char prof_name[] = "objects";

struct objects {
    struct prof_sums sums;
    _Atomic uint64_t  bytes, refused;
};

HRESULT prof_initialize(struct prof *p)
{
    struct objects *o = calloc(1, sizeof(*o));
    pthread_mutex_init(&o->sums.lock, NULL);
    p->own = o;
    return p->info->vtbl->SetEventMask(p->info, COR_PRF_ENABLE_OBJECT_ALLOCATED |
                                                    COR_PRF_MONITOR_OBJECT_ALLOCATED);
}

HRESULT prof_ObjectAllocated(ICorProfilerCallback11 *self, ObjectID object, ClassID class_id)
{
    struct prof    *p = prof_of(self);
    struct objects *o = p->own;
    char            name[200];
    SIZE_T          size = 0;
    prof_class_name(p, class_id, name, sizeof(name));
    if (!prof_is_programs(name))
        return S_OK;
    prof_sums_add(&o->sums, name, 1);
    if (SUCCEEDED(p->info->vtbl->GetObjectSize2(p->info, object, &size)))
        o->bytes += size;
    return S_OK;
}

void prof_shutdown(struct prof *p)
{
    struct objects *o = p->own;
    prof_sums_say(p, &o->sums);
    prof_say(p, "bytes %llu", (unsigned long long)o->bytes);
}
