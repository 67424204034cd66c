/* SPDX-License-Identifier: MIT */
/* library.c - loads a shared library and looks up its exports. */
#include "harness/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int sxs_library_load(const char *path, const struct sxs_export *exports, size_t n,
                     const char *cannot, char *why, size_t why_size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, why_size, "%s: %s", cannot, dlerror());
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        void *symbol = dlsym(library, exports[i].name);
        if (!symbol) {
            snprintf(why, why_size, "%s does not export %s", path, exports[i].name);
            return -1;
        }
        memcpy(exports[i].to, &symbol, sizeof(symbol));
    }
    return 0;
}
