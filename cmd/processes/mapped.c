/* SPDX-License-Identifier: MIT */
#include "cmd/processes/inspect.h"
#include "cmd/processes/maps.h"
#include "cmd/processes/process_internal.h"
#include "runtime_facts/version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* More in one process are left out: real ones have up to three runtimes, and as many guests as fit. */
enum { MAX_RUNTIMES = 16, MAX_PROFILERS = 32 };

/* Notes that a file was not examined, unless it is one that this user may not open. */
static void note(struct sxs_process *p, int err)
{
    p->partly |= err == ETIMEDOUT || err == EBADMSG || err == ESTALE || err == EOVERFLOW;
}

/* Returns @path as the process sees it. The kernel writes it as this command sees it: of a process with
 * another root folder, it begins with that folder. */
static const char *own_path(const struct sxs_process *p, const char *path)
{
    char    root[PATH_MAX];
    ssize_t n = readlinkat(p->dir, "root", root, sizeof(root));
    return n > 1 && n < PATH_MAX && strncmp(path, root, (size_t)n) == 0 && path[n] == '/' ? path + n
                                                                                          : path;
}

static int add_runtime(struct sxs_process *p, enum sxs_runtime_kind kind, const char *path,
                       bool deleted)
{
    if (p->n_runtimes == MAX_RUNTIMES) {
        note(p, EOVERFLOW);
        return 0;
    }
    struct sxs_process_runtime *grown =
        realloc(p->runtimes, (p->n_runtimes + 1) * sizeof(*p->runtimes));
    if (!grown)
        return ENOMEM;
    p->runtimes = grown;
    struct sxs_process_runtime *r = &grown[p->n_runtimes];
    *r = (struct sxs_process_runtime){
        .kind = kind, .deleted = deleted, .path = strdup(own_path(p, path))};
    if (!r->path)
        return ENOMEM;
    p->n_runtimes++;
    return 0;
}

/* Finds the version of the runtime that was added last in its file. */
static void find_version(struct sxs_process *p, const struct sxs_mapped_file *f)
{
    struct sxs_process_runtime *r = &p->runtimes[p->n_runtimes - 1];
    struct sxs_inspected        found;
    if (r->version[0])
        return;
    note(p, sxs_inspect(p->dir, f, true, &found));
    snprintf(r->version, sizeof(r->version), "%s", found.version);
}

static bool is_known(const struct sxs_process *p, const char *path)
{
    path = own_path(p, path);
    for (size_t i = 0; i < p->n_runtimes; i++)
        if (strcmp(p->runtimes[i].path, path) == 0)
            return true;
    return false;
}

static int take_runtime(void *arg, const struct sxs_mapped_file *f)
{
    struct sxs_process *p = arg;
    const char         *file = strrchr(f->path, '/') + 1;
    size_t              before = p->n_runtimes;
    if (strncmp(file, "ld-musl-", strlen("ld-musl-")) == 0)
        p->musl = true;
    if (strcmp(file, "libsxsprof-malloc.so") == 0)
        p->allocator = true;
    if (strcmp(file, "libcoreclr.so") != 0 || is_known(p, f->path))
        return 0;
    int err = add_runtime(p, SXS_RUNTIME_CORECLR, f->path, f->deleted);
    if (err || p->n_runtimes == before)
        return err;
    struct sxs_process_runtime *r = &p->runtimes[before];
    sxs_version_in_path(f->path, r->version, sizeof(r->version));
    find_version(p, f);
    return 0;
}

/* Adds the runtime that is part of the program itself. */
static int take_program(struct sxs_process *p)
{
    char                 path[PATH_MAX];
    struct sxs_inspected found;
    int                  err = sxs_inspect(p->dir, NULL, false, &found);
    note(p, err);
    if (err || (found.kind != SXS_FILE_SINGLE_FILE && found.kind != SXS_FILE_NATIVE_AOT))
        return 0;
    ssize_t n = readlinkat(p->dir, "exe", path, sizeof(path) - 1);
    size_t  before = p->n_runtimes;
    bool    single = found.kind == SXS_FILE_SINGLE_FILE;
    path[n > 0 ? n : 0] = '\0';
    err = add_runtime(p, single ? SXS_RUNTIME_SINGLE_FILE : SXS_RUNTIME_NATIVE_AOT, path, false);
    if (!err && single && p->n_runtimes > before)
        find_version(p, NULL);
    return err;
}

static uint64_t cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Reads the mappings. Their number is in the hand of the process, so the time counts. */
static int read_maps(struct sxs_process *p, int (*each)(void *arg, const struct sxs_mapped_file *f))
{
    if (!sxs_inspect_may_go_on(p->dir)) {
        note(p, ETIMEDOUT);
        return ETIMEDOUT;
    }
    uint64_t began = cpu_us();
    int      err = sxs_maps_each(p->dir, each, p);
    sxs_inspect_charge(p->dir, cpu_us() - began);
    note(p, err);
    return err;
}

int sxs_process_find_runtimes(struct sxs_process *p)
{
    int err = read_maps(p, take_runtime);
    if (!err || err == EOVERFLOW)
        err = take_program(p);
    if (err && err != ENOMEM && err != ETIMEDOUT)
        p->problem = err;
    return err == ENOMEM ? ENOMEM : 0;
}

static int add_profiler(struct sxs_process *p, const struct sxs_mapped_file *f, bool ours)
{
    if (p->n_profilers == MAX_PROFILERS)
        return EOVERFLOW;
    struct sxs_process_profiler *grown =
        realloc(p->profilers, (p->n_profilers + 1) * sizeof(*p->profilers));
    if (!grown)
        return ENOMEM;
    p->profilers = grown;
    grown[p->n_profilers] =
        (struct sxs_process_profiler){ours, f->deleted, strdup(own_path(p, f->path))};
    if (!grown[p->n_profilers].path)
        return ENOMEM;
    p->n_profilers++;
    return 0;
}

/* Tells whether a file that cannot be examined is taken for the library by its name: it was deleted or
 * replaced, for example by an upgrade, and this user may not look at it. */
static bool is_named_ours(const struct sxs_mapped_file *f, int err)
{
    return (err == EACCES || err == EPERM || err == ENOENT || err == ESTALE) &&
           strcmp(strrchr(f->path, '/') + 1, "libsxsprof.so") == 0;
}

static int take_profiler(void *arg, const struct sxs_mapped_file *f)
{
    struct sxs_process      *p = arg;
    static const char *const others[] = {"libmscordbi.so", "libmscordaccore.so", NULL};
    const char              *file = strrchr(f->path, '/') + 1;
    struct sxs_inspected     found;
    if (!strstr(file, ".so"))
        return 0;
    for (size_t i = 0; others[i]; i++)
        if (strcmp(file, others[i]) == 0)
            return 0;
    const char *own = p->n_profilers ? own_path(p, f->path) : f->path;
    for (size_t i = 0; i < p->n_profilers; i++)
        if (strcmp(p->profilers[i].path, own) == 0)
            return 0;
    int err = sxs_inspect(p->dir, f, false, &found);
    if (is_named_ours(f, err))
        return add_profiler(p, f, true);
    note(p, err);
    if (found.kind != SXS_FILE_PROFILER && found.kind != SXS_FILE_OWN_PROFILER)
        return 0;
    return add_profiler(p, f, found.kind == SXS_FILE_OWN_PROFILER);
}

int sxs_process_find_profilers(struct sxs_process *p)
{
    int err = read_maps(p, take_profiler);
    return err == ENOMEM ? ENOMEM : 0;
}
