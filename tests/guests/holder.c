/* SPDX-License-Identifier: MIT */
/* holder.c - a profiler that does nothing. A test in the same process asks for its objects. */
#include "tests/guests/profiler.h"

const char prof_clsid[] = "{5E5C0001-0000-4000-8000-0000000000C5}";
const char prof_name[] = "holder";

#define HELD 16

static struct prof *held[HELD];

/** Returns the profiler that was initialized as number @n: 1, 2...; NULL: there is none. */
__attribute__((visibility("default"))) struct prof *holder_of(unsigned n);
struct prof                                        *holder_of(unsigned n)
{
    return n < HELD ? held[n] : NULL;
}

HRESULT prof_initialize(struct prof *p)
{
    if (p->number < HELD)
        held[p->number] = p;
    return p->info->vtbl->SetEventMask(p->info, COR_PRF_MONITOR_MODULE_LOADS);
}

void prof_shutdown(struct prof *p)
{
    if (p->number < HELD)
        held[p->number] = NULL;
}
