/* SPDX-License-Identifier: MIT */
#include "clrie/link/link.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/code_path.h"
#include "base/fork.h"
#include "base/log.h"

/* The addresses of the functions of needs.h. (needs.S) */
extern const void *const clrie_needs[CLRIE_N_NEEDS] __attribute__((visibility("hidden")));

static const struct clrie_offers *offers; /* constant after link_once(); NULL: there are none */

static void child_goes_on(void)
{
    for (pthread_mutex_t *const *lock = offers->locks; lock < offers->locks_end; lock++)
        pthread_mutex_init(*lock, NULL); /* whatever state the lock is in */
}

static struct sxs_fork_part part = {.child = child_goes_on};

/* Writes the path of the engine's library. Returns 0 when it is not known. The address is that of a static
 * function, because an exported name may resolve to another library. */
static int find_library(char *path, size_t size, const char *own)
{
    char        real[PATH_MAX];
    const char *file = realpath(own, real) ? real : own, *slash = strrchr(file, '/');
    int n = snprintf(path, size, "%.*s" CLRIE_LIBRARY, slash ? (int)(slash + 1 - file) : 0, file);
    return slash && n > 0 && (size_t)n < size;
}

static void link_once(void)
{
    Dl_info      self;
    char         path[PATH_MAX], why[512];
    void        *library;
    clrie_entry *entry;
    if (!dladdr((void *)(uintptr_t)link_once, &self) || !self.dli_fname ||
        !find_library(path, sizeof(path), self.dli_fname)) {
        sxs_error(
            "plug-ins of the CLR Instrumentation Engine are left out: the folder of this library, "
            "in which " CLRIE_LIBRARY " is expected, is not known");
        return;
    }
    if (sxs_code_path_refused(path, why, sizeof(why))) {
        sxs_error("plug-ins of the CLR Instrumentation Engine are left out: %s", why);
        return;
    }
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        sxs_error("plug-ins of the CLR Instrumentation Engine are left out: %s", dlerror());
        return;
    }
    *(void **)&entry = dlsym(library, CLRIE_ENTRY);
    offers = entry ? entry(CLRIE_AGREED, clrie_needs) : NULL;
    if (offers)
        sxs_fork_register(&part);
    else
        sxs_error("plug-ins of the CLR Instrumentation Engine are left out: %s belongs to another "
                  "version; "
                  "expected " SXS_VERSION,
                  path);
}

const struct clrie_offers *clrie_link(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, link_once);
    return offers;
}
