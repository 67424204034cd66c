/* SPDX-License-Identifier: MIT */
/*
 * one_clr.h - hosts one CLR: loads libcoreclr.so, starts the runtime and runs the Main of an
 * assembly. For host programs that are built from a single file, also by cgo.
 */
#ifndef SXS_TESTS_ONE_CLR_H
#define SXS_TESTS_ONE_CLR_H

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Returns the paths of all .dll files in @dir, separated by colons. Owned by the caller. Ends the
 *  program on failure. */
static inline char *one_clr_assemblies(const char *dir)
{
    DIR           *d = opendir(dir);
    struct dirent *e;
    size_t         size = 1;
    char          *list = calloc(1, 1), *grown = list;
    while (d && list && (e = readdir(d)) != NULL) {
        size_t len = strlen(e->d_name), more = strlen(dir) + len + 2;
        if (len < 5 || strcmp(e->d_name + len - 4, ".dll") != 0)
            continue;
        grown = realloc(list, size + more);
        if (!grown)
            break;
        list = grown;
        size = (size_t)snprintf(list + strlen(list), more + 1, "%s/%s:", dir, e->d_name) + size;
    }
    if (!d || !list || !grown) {
        fprintf(stderr, "cannot list %s\n", dir);
        exit(3);
    }
    closedir(d);
    return list;
}

/**
 * one_clr_run - run @app (path of a .dll) with @argc arguments in the runtime in folder @dir.
 * Returns the result of its Main, or -1 after printing a line to standard error. Once per process;
 * any thread.
 */
static inline int one_clr_run(const char *dir, const char *app, int argc, const char **argv)
{
    int (*initialize)(const char *, const char *, int, const char **, const char **, void **,
                      unsigned *);
    int (*execute)(void *, unsigned, int, const char **, const char *, unsigned *);
    int (*shutdown)(void *, unsigned, int *);
    char        library[4096], folder[4096];
    const char *keys[] = {"TRUSTED_PLATFORM_ASSEMBLIES", "APP_PATHS",
                          "NATIVE_DLL_SEARCH_DIRECTORIES"};
    const char *values[3];
    void       *lib, *host = NULL;
    unsigned    domain = 0, status = 0;
    int         hr, latched = 0;
    snprintf(library, sizeof(library), "%s/libcoreclr.so", dir);
    snprintf(folder, sizeof(folder), "%s", app);
    if (strrchr(folder, '/'))
        *strrchr(folder, '/') = '\0';
    lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        fprintf(stderr, "%s\n", dlerror());
        return -1;
    }
    *(void **)&initialize = dlsym(lib, "coreclr_initialize");
    *(void **)&execute = dlsym(lib, "coreclr_execute_assembly");
    *(void **)&shutdown = dlsym(lib, "coreclr_shutdown_2");
    values[0] = one_clr_assemblies(dir);
    values[1] = folder;
    values[2] = dir;
    hr = initialize("/proc/self/exe", "host", 3, keys, values, &host, &domain);
    if (hr >= 0)
        hr = execute(host, domain, argc, argv, app, &status);
    if (hr < 0) {
        fprintf(stderr, "the runtime in %s failed: 0x%08x\n", dir, (unsigned)hr);
        return -1;
    }
    latched = (int)status;
    shutdown(host, domain, &latched);
    return (int)status;
}

#endif
