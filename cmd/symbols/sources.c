/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/sources.h"

#include "base/index.h"
#include "cmd/output/must.h"
#include "cmd/output/table_hash.h"
#include "cmd/symbols/answers.h"
#include "cmd/symbols/worker.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_ASSEMBLIES 16384u /* more than any process loads; further ones get no lines */
#define MAX_OF_OTHERS  ((uint64_t)96 << 20) /* bytes of all PDBs that others can have written */
#define MAX_STEPS      400000000u /* of searches in all PDBs that others can have written */
/* The limits for all PDBs together, because it is the worker that reports which user can have written one. */
#define MAX_OF_ALL    ((uint64_t)2 << 30)
#define MAX_ALL_STEPS ((uint64_t)32 * MAX_STEPS)

struct assembly {
    char                 *path; /* owned */
    size_t                path_size;
    struct sxs_file_owner owner;
    bool                  tried;
    bool                  is_ours; /* nobody else can have written the PDB */
    struct sxs_pdb       *pdb;     /* NULL: no lines */
    void                 *bytes;   /* mapped; the PDB */
    size_t                size;    /* of the mapping */
    char                 *problem; /* owned; NULL: none */
    uint32_t              place;   /* in lookup.table */
    uint32_t              kept;    /* in lookup.record */
};

struct sxs_sources {
    struct sxs_lookup         lookup;
    struct sxs_file_owner     owner; /* of the assemblies that are added */
    struct assembly          *assemblies;
    struct sxs_index          index;
    size_t                    n, cap;
    struct sxs_symbol_worker *worker;
    uint64_t                  of_others, of_all; /* bytes */
    uint64_t                  steps, all_steps;  /* of searches in PDBs of others, and in all */
};

struct sxs_sources *sxs_sources_new(const struct sxs_lookup *lookup)
{
    struct sxs_sources *all = sxs_must_zeroed(1, sizeof(*all));
    all->lookup = *lookup;
    all->worker = sxs_symbol_worker_new(sxs_pdb_search_answer, lookup->symbols);
    return all;
}

void sxs_sources_owner(struct sxs_sources *all, const struct sxs_file_owner *owner)
{
    all->owner = *owner;
}

static void add_assembly(struct sxs_sources *all, const char *path, size_t path_size)
{
    struct assembly a = {.path = sxs_must(strndup(path, path_size)),
                         .path_size = path_size,
                         .owner = all->owner,
                         .place = SXS_NO_PLACE,
                         .kept = SXS_NO_PLACE};
    if (all->lookup.record)
        a.kept = sxs_names_add_place(all->lookup.record, true, a.path, NULL, 0);
    if (all->lookup.table)
        a.place = sxs_names_place(all->lookup.table, true, a.path, NULL, 0);
    SXS_GROW(all->assemblies, all->n, all->cap);
    all->assemblies[all->n++] = a;
}

uint32_t sxs_sources_add(struct sxs_sources *all, const char *path, size_t path_size)
{
    path_size = strnlen(path, path_size);
    uint32_t number, hash = (uint32_t)sxs_table_hash(path, path_size, all->owner.uid);
    size_t   at = hash;
    if (sxs_index_reserve(&all->index) != 0)
        sxs_must(NULL);
    for (; (number = sxs_index_next(&all->index, hash, &at)) != 0; at++) {
        const struct assembly *a = &all->assemblies[number - 1];
        if (a->path_size == path_size && a->owner.uid == all->owner.uid &&
            memcmp(a->path, path, path_size) == 0)
            return number - 1;
    }
    sxs_index_put(&all->index, at, hash, all->n);
    add_assembly(all, path, path_size);
    return (uint32_t)all->n - 1;
}

/* Takes the PDB in the file @fd, which nobody changes any more. Returns NULL, or why it cannot. */
static const char *take_pdb(struct sxs_sources *all, struct assembly *a, int fd,
                            const struct sxs_pdb_found *found)
{
    a->is_ours = found->is_ours;
    if (!a->is_ours && all->of_others + found->size > MAX_OF_OTHERS)
        return "its PDB is left out: the PDBs of others are too large";
    if (all->of_all + found->size > MAX_OF_ALL)
        return "its PDB is left out: all PDBs together are too large";
    void *bytes = mmap(NULL, found->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return "there is no memory for its PDB";
    a->bytes = bytes;
    a->size = found->size;
    all->of_others += a->is_ours ? 0 : a->size;
    all->of_all += a->size;
    a->pdb = sxs_pdb_parse(bytes, a->size, NULL);
    return a->pdb ? NULL : "its PDB is damaged";
}

/* Has the worker search for the PDB of an assembly. */
static void search_pdb(struct sxs_sources *all, struct assembly *a)
{
    size_t                  size = sizeof(struct sxs_pdb_request) + a->path_size, got;
    struct sxs_pdb_request *r = sxs_must_zeroed(size, 1);
    const char             *why;
    int                     fd = -1, n = 0;
    r->owner = a->owner;
    memcpy(r + 1, a->path, a->path_size);
    struct sxs_pdb_found found;
    const char          *wrong = NULL;
    const void *answer = sxs_symbol_worker_ask(all->worker, r, size, true, &fd, &got, &why);
    free(r);
    if (answer && !sxs_pdb_found_read(answer, got, fd, &found, &wrong))
        why = sxs_symbol_worker_refuse(all->worker);
    else if (answer)
        why = found.size ? take_pdb(all, a, fd, &found) : found.problem[0] ? found.problem : NULL;
    if (fd >= 0)
        close(fd);
    if (why)
        n = asprintf(&a->problem, "%s: %s", a->path, why);
    else if (wrong && got > sizeof(found))
        n = asprintf(&a->problem, "%.*s: not the PDB of %s", (int)(got - sizeof(found)), wrong,
                     a->path);
    if (n < 0)
        sxs_must(NULL);
}

/* Opens the PDB of an assembly. A packed session has the lines in its table. */
static void open_pdb(struct sxs_sources *all, struct assembly *a)
{
    a->tried = true;
    if (all->lookup.table) {
        const char *problem = sxs_names_problem(all->lookup.table, a->place);
        a->problem = problem ? sxs_must(strdup(problem)) : NULL;
    } else if (a->path[0] == '/' && all->n <= MAX_ASSEMBLIES) {
        /* a relative path would now refer to another folder */
        search_pdb(all, a);
    }
    if (a->problem && all->lookup.record)
        sxs_names_set_problem(all->lookup.record, a->kept, a->problem);
}

/* Finds a line in the PDB of an assembly. */
static bool find_in_pdb(struct sxs_sources *all, const struct assembly *a, uint32_t token,
                        uint32_t il, struct sxs_pdb_line *out)
{
    if (!a->pdb || all->steps > MAX_STEPS || all->all_steps > MAX_ALL_STEPS)
        return false;
    uint64_t before = sxs_pdb_steps(a->pdb);
    bool     found = sxs_pdb_find(a->pdb, token, il, out);
    uint64_t steps = sxs_pdb_steps(a->pdb) - before;
    all->all_steps += steps;
    all->steps += a->is_ours ? 0 : steps;
    return found;
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
                          : !find_in_pdb(all, a, token, il, out))
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
        if (all->assemblies[i].bytes)
            munmap(all->assemblies[i].bytes, all->assemblies[i].size);
        free(all->assemblies[i].path);
        free(all->assemblies[i].problem);
    }
    if (all) {
        sxs_symbol_worker_free(all->worker);
        sxs_index_free(&all->index);
        free(all->assemblies);
    }
    free(all);
}
