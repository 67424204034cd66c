/* SPDX-License-Identifier: MIT */
#include "harness/bridge_host.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "harness/self.h"

/* Loaded by the path under which the runtimes will look for it too: one image, one set of globals.
 */
int sxs_bridge_host_open(struct sxs_bridge_host *out, int n_apps, char *why, size_t why_size)
{
    int (*open_bridge)(int n) = NULL;
    const struct {
        const char *name;
        void       *to;
    } exports[] = {
        { "sxsbridge_open", &open_bridge },
        { "sxsbridge_seat", &out->seat },
        { "sxsbridge_end", &out->end },
    };
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/libsxsbridge.so", sxs_self_dir());
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, why_size, "cannot load the bridge: %s", dlerror());
        return -1;
    }
    for (size_t i = 0; i < sizeof(exports) / sizeof(exports[0]); i++) {
        void *symbol = dlsym(library, exports[i].name);
        if (!symbol) {
            snprintf(why, why_size, "%s does not export %s", path, exports[i].name);
            return -1;
        }
        memcpy(exports[i].to, &symbol, sizeof(symbol));
    }
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
