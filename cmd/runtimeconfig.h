/* SPDX-License-Identifier: MIT */
/**
 * runtimeconfig.h - which runtime a framework-dependent .NET app asks for, and would get.
 */
#ifndef SXS_REPORT_RUNTIMECONFIG_H
#define SXS_REPORT_RUNTIMECONFIG_H

#include "cmd/installed.h"

#include <stdbool.h>

struct sxs_runtimeconfig {
    bool self_contained;       /* brings its own runtime: there is nothing to choose */
    char version[64];          /* of Microsoft.NETCore.App; "" when only others are named */
    char framework[64];        /* the framework named first: "Microsoft.AspNetCore.App" */
    char roll_forward[24];     /* "Minor" unless the file or DOTNET_ROLL_FORWARD says otherwise */
};

/**
 * sxs_runtimeconfig_read - read <app>.runtimeconfig.json.
 * Returns 0, or -1 with a sentence in @why (@size bytes).
 */
int sxs_runtimeconfig_read(const char *path, struct sxs_runtimeconfig *out, char *why, size_t size);

/**
 * sxs_runtimeconfig_choose - which of the runtimes installed with dotnet would be taken, by the
 * host's rules for rolling forward. NULL when none fits. Borrowed from @list.
 */
const struct sxs_installed *sxs_runtimeconfig_choose(const struct sxs_runtimeconfig *config,
                                                     const struct sxs_installed_list *list);

#endif
