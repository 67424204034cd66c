/* SPDX-License-Identifier: MIT */
/**
 * runtimeconfig.h - which runtime a framework-dependent .NET app asks for, and which it would get.
 */
#ifndef SXS_CMD_RUNTIMECONFIG_H
#define SXS_CMD_RUNTIMECONFIG_H

#include "cmd/installed.h"

#include <stdbool.h>

struct sxs_runtimeconfig {
    bool self_contained;       /* the app contains its own runtime: there is nothing to choose */
    char version[64];          /* of Microsoft.NETCore.App; "" when not named */
    char framework[64];        /* the first framework named: "Microsoft.AspNetCore.App" */
    char roll_forward[24];     /* from DOTNET_ROLL_FORWARD, else from the file, else "Minor" */
};

/**
 * sxs_runtimeconfig_read - read a file <app>.runtimeconfig.json.
 * @why: receives a sentence about a failure; holds @size bytes.
 * Returns 0 or -1.
 */
int sxs_runtimeconfig_read(const char *path, struct sxs_runtimeconfig *out, char *why, size_t size);

/**
 * sxs_runtimeconfig_choose - choose among the runtimes installed with dotnet, by the .NET host's
 * rules for rolling forward.
 * Returns a runtime borrowed from @list, or NULL when none fits.
 */
const struct sxs_installed *sxs_runtimeconfig_choose(const struct sxs_runtimeconfig *config,
                                                     const struct sxs_installed_list *list);

#endif
