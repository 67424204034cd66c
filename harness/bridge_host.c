/* SPDX-License-Identifier: MIT */
/* bridge_host.c - loads libsxsbridge.so for runsxs. */
#include "harness/bridge_host.h"

#include <limits.h>
#include <stdio.h>

#include "harness/library.h"
#include "harness/self.h"

/* The path is the one that the runtimes will use for P/Invoke, so that all of them share one copy
 * of the library and its variables. */
int sxs_bridge_host_open(struct sxs_bridge_host *out, int n_apps, char *why, size_t why_size)
{
    int (*open_bridge)(int n) = NULL;
    const struct sxs_export exports[] = {
        { "sxsbridge_open", &open_bridge },
        { "sxsbridge_seat", &out->seat },
        { "sxsbridge_end", &out->end },
    };
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/libsxsbridge.so", sxs_self_dir());
    if (sxs_library_load(path, exports, sizeof(exports) / sizeof(exports[0]),
                            "cannot load the bridge", why, why_size) != 0)
        return -1;
    if (open_bridge(n_apps) == 0)
        return 0;
    snprintf(why, why_size, "the bridge cannot hold %d apps", n_apps);
    return -1;
}

void sxs_bridge_host_seat(const struct sxs_bridge_host *bridge, int index)
{
    if (bridge->seat)
        bridge->seat(index);
}

void sxs_bridge_host_end(const struct sxs_bridge_host *bridge)
{
    if (bridge->end)
        bridge->end();
}
