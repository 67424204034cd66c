/* SPDX-License-Identifier: MIT */
/** clr.h - loads one runtime and calls its hosting functions. */
#ifndef SXS_HARNESS_CLR_H
#define SXS_HARNESS_CLR_H

#include <stddef.h>

struct sxs_properties;

/* The hosting exports of one libcoreclr.so. Must be zeroed before sxs_clr_load(). There is no
 * unload function, because a runtime cannot be unloaded. Call each function below once, in this
 * order, all on one thread; different runtimes may use different threads concurrently. Each
 * function returns 0, or -1 with one line in @why. */
struct sxs_clr {
    int (*initialize)(const char *exe, const char *name, int n, const char **keys,
                      const char **values, void **host, unsigned *domain);
    int (*execute_assembly)(void *host, unsigned domain, int argc, const char **argv,
                            const char *path, unsigned *exit_code);
    int (*create_delegate)(void *host, unsigned domain, const char *assembly, const char *type,
                           const char *method, void **delegate);
    int (*shutdown_2)(void *host, unsigned domain, int *exit_code);
    void    *host;
    unsigned domain;
};

/* Loads @dir/libcoreclr.so and finds its exports. */
int sxs_clr_load(struct sxs_clr *clr, const char *dir, char *why, size_t why_size);

/* Starts the runtime. */
int sxs_clr_start(struct sxs_clr *clr, const struct sxs_properties *properties, char *why,
                  size_t why_size);

/* Runs the app's Main and returns when Main returns. @argv: the @argc arguments after the app's
 * name. */
int sxs_clr_execute(struct sxs_clr *clr, const char *app, int argc, const char **argv,
                    int *exit_code, char *why, size_t why_size);

/* Shuts the runtime down. @exit_code receives the exit code that the runtime has latched; the
 * `dotnet` command uses the same one. */
int sxs_clr_stop(struct sxs_clr *clr, int *exit_code, char *why, size_t why_size);

#endif
