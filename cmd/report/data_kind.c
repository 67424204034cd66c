/* SPDX-License-Identifier: MIT */
#include "cmd/report/data_kind.h"

#include <string.h>

static const struct sxs_data_kind kinds[SXS_N_DATA] = {
    [SXS_DATA_SAMPLES] = {"samples", "", "sample", "samples", "sxsprof sample", 0, false,
                          SXS_UNIT_NS, "samples", NULL},
    [SXS_DATA_CALLS] = {"calls", "", "call", "calls", "sxsprof calls", 0, false, SXS_UNIT_NS,
                        "calls", "time"},
    [SXS_DATA_ALLOC] = {"alloc", "allocated", "object", "objects", "sxsprof alloc",
                        SXS_COST_ALLOCATION, false, SXS_UNIT_BYTES, "alloc_objects", "alloc_space"},
    [SXS_DATA_LIVE] = {"live", "alive", "object", "objects", "sxsprof alloc --live on",
                       SXS_COST_ALLOCATION, true, SXS_UNIT_BYTES, "inuse_objects", "inuse_space"},
    [SXS_DATA_NATIVE] = {"native", "allocated natively", "block", "blocks", "sxsprof native",
                         SXS_COST_NATIVE, false, SXS_UNIT_BYTES, "alloc_objects", "alloc_space"},
    [SXS_DATA_NATIVE_LIVE] = {"native-live", "not freed", "block", "blocks", "sxsprof native",
                              SXS_COST_NATIVE, true, SXS_UNIT_BYTES, "inuse_objects",
                              "inuse_space"},
    [SXS_DATA_LOCKS] = {"locks", "waited for locks", "wait", "waits", "sxsprof locks",
                        SXS_COST_LOCK, false, SXS_UNIT_NS, "contentions", "delay"},
    [SXS_DATA_LOCK_OWNERS] = {"lock-owners", "waited for by others", "wait", "waits",
                              "sxsprof locks", SXS_COST_LOCK_OWNER, false, SXS_UNIT_NS,
                              "contentions", "delay"},
    [SXS_DATA_WAIT] = {"wait", "waited", "sample", "samples", "sxsprof wait", 0, false, SXS_UNIT_NS,
                       "samples", "wait"},
};

const struct sxs_data_kind *sxs_data_kind(enum sxs_data data)
{
    return &kinds[data];
}

enum sxs_data sxs_data_named(const char *name)
{
    for (unsigned i = SXS_DATA_SAMPLES; i < SXS_N_DATA; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return (enum sxs_data)i;
    return SXS_DATA_ANY;
}

const char *sxs_data_names(void)
{
    return "samples|calls|alloc|live|native|native-live|locks|lock-owners|wait";
}
