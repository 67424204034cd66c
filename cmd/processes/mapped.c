/* SPDX-License-Identifier: MIT */
#include "cmd/processes/inspect.h"
#include "cmd/processes/maps.h"
#include "cmd/processes/process_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes a path by which this command can read the file. */
static void readable_path(const struct sxs_process *p, const struct sxs_mapped_file *f,
                          char out[PATH_MAX])
{
    if (f->deleted)
        snprintf(out, PATH_MAX, "/proc/%d/map_files/%s", (int)p->pid, f->range);
    else
        sxs_process_file(p, f->path, out);
}

static int add_runtime(struct sxs_process *p, enum sxs_runtime_kind kind, const char *path,
                       bool deleted, const char *readable)
{
    struct sxs_process_runtime *grown =
        realloc(p->runtimes, (p->n_runtimes + 1) * sizeof(*p->runtimes));
    if (!grown)
        return ENOMEM;
    p->runtimes = grown;
    struct sxs_process_runtime *r = &grown[p->n_runtimes];
    *r = (struct sxs_process_runtime){.kind = kind, .deleted = deleted, .path = strdup(path)};
    if (!r->path)
        return ENOMEM;
    p->n_runtimes++;
    if (kind == SXS_RUNTIME_CORECLR)
        sxs_version_in_path(path, r->version, sizeof(r->version));
    if (!r->version[0] && kind != SXS_RUNTIME_NATIVE_AOT)
        sxs_version_in_file(readable, r->version, sizeof(r->version));
    return 0;
}

static bool is_known(const struct sxs_process *p, const char *path)
{
    for (size_t i = 0; i < p->n_runtimes; i++)
        if (strcmp(p->runtimes[i].path, path) == 0)
            return true;
    return false;
}

static int take_runtime(void *arg, const struct sxs_mapped_file *f)
{
    struct sxs_process *p = arg;
    const char         *file = strrchr(f->path, '/') + 1;
    char                readable[PATH_MAX];
    if (strncmp(file, "ld-musl-", strlen("ld-musl-")) == 0)
        p->musl = true;
    if (strcmp(file, "libsxsprof-malloc.so") == 0)
        p->allocator = true;
    if (strcmp(file, "libcoreclr.so") != 0 || is_known(p, f->path))
        return 0;
    readable_path(p, f, readable);
    return add_runtime(p, SXS_RUNTIME_CORECLR, f->path, f->deleted, readable);
}

/* Adds the runtime that is part of the program itself. */
static int take_program(struct sxs_process *p)
{
    char    link[64], path[PATH_MAX];
    ssize_t n;
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)p->pid);
    enum sxs_file_kind kind = sxs_inspect_file(link);
    if (kind != SXS_FILE_SINGLE_FILE && kind != SXS_FILE_NATIVE_AOT)
        return 0;
    n = readlink(link, path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    return add_runtime(
        p, kind == SXS_FILE_SINGLE_FILE ? SXS_RUNTIME_SINGLE_FILE : SXS_RUNTIME_NATIVE_AOT, path,
        false, link);
}

int sxs_process_find_runtimes(struct sxs_process *p)
{
    int err = sxs_maps_each(p->dir, take_runtime, p);
    if (!err)
        err = take_program(p);
    if (err && err != ENOMEM)
        p->problem = err;
    return err == ENOMEM ? ENOMEM : 0;
}

static int take_profiler(void *arg, const struct sxs_mapped_file *f)
{
    struct sxs_process      *p = arg;
    static const char *const others[] = {"libmscordbi.so", "libmscordaccore.so", NULL};
    const char              *file = strrchr(f->path, '/') + 1;
    char                     readable[PATH_MAX];
    if (!strstr(file, ".so"))
        return 0;
    for (size_t i = 0; others[i]; i++)
        if (strcmp(file, others[i]) == 0)
            return 0;
    for (size_t i = 0; i < p->n_profilers; i++)
        if (strcmp(p->profilers[i].path, f->path) == 0)
            return 0;
    readable_path(p, f, readable);
    enum sxs_file_kind kind = sxs_inspect_file(readable);
    if (kind != SXS_FILE_PROFILER && kind != SXS_FILE_OWN_PROFILER)
        return 0;
    struct sxs_process_profiler *grown =
        realloc(p->profilers, (p->n_profilers + 1) * sizeof(*p->profilers));
    if (!grown)
        return ENOMEM;
    p->profilers = grown;
    grown[p->n_profilers] =
        (struct sxs_process_profiler){kind == SXS_FILE_OWN_PROFILER, f->deleted, strdup(f->path)};
    if (!grown[p->n_profilers].path)
        return ENOMEM;
    p->n_profilers++;
    return 0;
}

int sxs_process_find_profilers(struct sxs_process *p)
{
    int err = sxs_maps_each(p->dir, take_profiler, p);
    return err == ENOMEM ? ENOMEM : 0;
}
