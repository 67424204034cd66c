/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/sources.h"

#include "cmd/output/must.h"
#include "cmd/symbols/pdb_search.h"

#include <stdio.h>
#include <string.h>

struct assembly {
    char           *path; /* owned */
    bool            tried;
    struct sxs_pdb *pdb;     /* NULL: no lines */
    char           *problem; /* owned; NULL: none */
    uint32_t        place;   /* in lookup.table */
    uint32_t        kept;    /* in lookup.record */
};

struct sxs_sources {
    struct sxs_lookup lookup;
    struct assembly  *assemblies;
    size_t            n, cap;
};

struct sxs_sources *sxs_sources_new(const struct sxs_lookup *lookup)
{
    struct sxs_sources *all = sxs_must_zeroed(1, sizeof(*all));
    all->lookup = *lookup;
    return all;
}

uint32_t sxs_sources_add(struct sxs_sources *all, const char *path, size_t path_size)
{
    for (size_t i = 0; i < all->n; i++)
        if (strlen(all->assemblies[i].path) == path_size &&
            memcmp(all->assemblies[i].path, path, path_size) == 0)
            return (uint32_t)i;
    SXS_GROW(all->assemblies, all->n, all->cap);
    char    *copy = sxs_must(strndup(path, path_size));
    uint32_t place = SXS_NO_PLACE, kept = SXS_NO_PLACE;
    if (all->lookup.record)
        kept = sxs_names_add_place(all->lookup.record, true, copy, NULL, 0);
    if (all->lookup.table)
        place = sxs_names_place(all->lookup.table, true, copy, NULL, 0);
    all->assemblies[all->n] = (struct assembly){.path = copy, .place = place, .kept = kept};
    return (uint32_t)all->n++;
}

/* Opens the PDB of an assembly. A packed session has the lines in its table. */
static void open_pdb(struct sxs_sources *all, struct assembly *a)
{
    char *wrong = NULL;
    a->tried = true;
    if (all->lookup.table) {
        const char *problem = sxs_names_problem(all->lookup.table, a->place);
        a->problem = problem ? sxs_must(strdup(problem)) : NULL;
    } else if (a->path[0] == '/') { /* a relative path would now refer to another folder */
        a->pdb = sxs_pdb_search(a->path, all->lookup.symbols, &wrong);
    }
    if (wrong && asprintf(&a->problem, "%s: not the PDB of %s", wrong, a->path) < 0)
        sxs_must(NULL);
    free(wrong);
    if (a->problem && all->lookup.record)
        sxs_names_set_problem(all->lookup.record, a->kept, a->problem);
}

static bool find_in_table(const struct sxs_lookup *lookup, uint32_t place, uint64_t key,
                          struct sxs_pdb_line *out)
{
    struct sxs_names_row row;
    if (!sxs_names_find(lookup->table, place, key, &row))
        return false;
    *out = (struct sxs_pdb_line){row.source, row.line};
    return true;
}

bool sxs_sources_find(struct sxs_sources *all, uint32_t assembly, uint32_t token, uint32_t il,
                      struct sxs_pdb_line *out)
{
    struct assembly *a = &all->assemblies[assembly];
    uint64_t         key = (uint64_t)token << 32 | il;
    if (!a->tried)
        open_pdb(all, a);
    if (all->lookup.table ? !find_in_table(&all->lookup, a->place, key, out)
                          : !a->pdb || !sxs_pdb_find(a->pdb, token, il, out))
        return false;
    if (all->lookup.record) {
        struct sxs_names_row row = {"", out->file, out->line, 0};
        sxs_names_add(all->lookup.record, a->kept, key, &row);
    }
    return true;
}

const char *sxs_sources_problem(const struct sxs_sources *all, uint32_t assembly, bool *end)
{
    *end = assembly >= all->n;
    return *end ? NULL : all->assemblies[assembly].problem;
}

void sxs_sources_free(struct sxs_sources *all)
{
    for (size_t i = 0; all && i < all->n; i++) {
        sxs_pdb_close(all->assemblies[i].pdb);
        free(all->assemblies[i].path);
        free(all->assemblies[i].problem);
    }
    if (all)
        free(all->assemblies);
    free(all);
}
