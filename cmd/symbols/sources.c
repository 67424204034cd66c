/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/sources.h"

#include "cmd/output/must.h"

#include <string.h>

struct assembly {
    char           *path; /* owned */
    bool            tried;
    struct sxs_pdb *pdb; /* NULL: no lines */
};

struct sxs_sources {
    struct assembly *assemblies;
    size_t           n, cap;
};

struct sxs_sources *sxs_sources_new(void)
{
    return sxs_must_zeroed(1, sizeof(struct sxs_sources));
}

uint32_t sxs_sources_add(struct sxs_sources *all, const char *path, size_t path_size)
{
    for (size_t i = 0; i < all->n; i++)
        if (strlen(all->assemblies[i].path) == path_size &&
            memcmp(all->assemblies[i].path, path, path_size) == 0)
            return (uint32_t)i;
    SXS_GROW(all->assemblies, all->n, all->cap);
    all->assemblies[all->n] = (struct assembly){.path = sxs_must(strndup(path, path_size))};
    return (uint32_t)all->n++;
}

bool sxs_sources_find(struct sxs_sources *all, uint32_t assembly, uint32_t token, uint32_t il,
                      struct sxs_pdb_line *out)
{
    struct assembly *a = &all->assemblies[assembly];
    if (!a->tried) {
        a->tried = true;
        if (a->path[0] == '/') /* a relative path would now refer to another folder */
            a->pdb = sxs_pdb_open(a->path);
    }
    return a->pdb && sxs_pdb_find(a->pdb, token, il, out);
}

void sxs_sources_free(struct sxs_sources *all)
{
    for (size_t i = 0; all && i < all->n; i++) {
        sxs_pdb_close(all->assemblies[i].pdb);
        free(all->assemblies[i].path);
    }
    if (all)
        free(all->assemblies);
    free(all);
}
