/* SPDX-License-Identifier: MIT */
#ifndef SXS_HARNESS_CLR_H
#define SXS_HARNESS_CLR_H

#include <stddef.h>

struct sxs_properties;

/* One libcoreclr.so through its hosting exports. Zeroed before sxs_clr_load(); there is no unload,
 * as a runtime cannot be unloaded. Each function is called once, in the order below, all on one
 * thread (different runtimes may be on different threads at once). On failure each returns -1 and
 * writes one line to @why. */
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

/* Runs the app's Main; returns when Main does. @argv holds the @argc arguments after the name. */
int sxs_clr_execute(struct sxs_clr *clr, const char *app, int argc, const char **argv,
                    int *exit_code, char *why, size_t why_size);

/* Shuts the runtime down. @exit_code becomes the one the runtime latched, as `dotnet` has it. */
int sxs_clr_stop(struct sxs_clr *clr, int *exit_code, char *why, size_t why_size);

#endif
