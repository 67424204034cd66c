/* SPDX-License-Identifier: MIT */
#include "sampling/unloads.h"

#include <sys/syscall.h>
#include <unistd.h>

static uint32_t my_tid(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

void sxs_unloads_begin(struct sxs_unloads *unloads)
{
    unloads->tid = my_tid();
    unloads->n_assemblies++;
}

void sxs_unloads_destroyed(struct sxs_unloads *unloads)
{
    /* Could be 0, because an assembly that failed to load is destroyed without an announcement. */
    if (unloads->n_assemblies > 0)
        unloads->n_assemblies--;
}

void sxs_unloads_resumed(struct sxs_unloads *unloads)
{
    if (unloads->tid == my_tid() && unloads->n_assemblies == 0)
        unloads->tid = 0;
}

int sxs_unloads_under_way(const struct sxs_unloads *unloads)
{
    return unloads->tid != 0;
}
