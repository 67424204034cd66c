/* SPDX-License-Identifier: MIT */
/**
 * installed.h - the .NET runtimes on this machine.
 */
#ifndef SXS_REPORT_INSTALLED_H
#define SXS_REPORT_INSTALLED_H

#include <limits.h>
#include <stddef.h>

/** One runtime. */
struct sxs_installed {
    char        version[NAME_MAX + 1]; /* its folder's name: "8.0.29", "10.0.0-rc.1.25451.107" */
    const char *kind;           /* "build" (beside this command) or "dotnet"; static */
    char        path[PATH_MAX]; /* of libcoreclr.so, as found */
};

struct sxs_installed_list {
    struct sxs_installed *items; /* owned, by version, lowest first */
    size_t                n;
};

/**
 * sxs_installed_find - search @bin_dir/runtimes/<version>, then
 * shared/Microsoft.NETCore.App/<version> below DOTNET_ROOT, the folder of the dotnet on PATH,
 * /usr/share/dotnet, /usr/lib/dotnet and ~/.dotnet. Each libcoreclr.so counts once.
 * @out: freed with sxs_installed_free().
 * Returns 0 or ENOMEM. Any thread, while none changes the environment.
 */
int sxs_installed_find(const char *bin_dir, struct sxs_installed_list *out);

/** sxs_installed_free - a zeroed list is fine. */
void sxs_installed_free(struct sxs_installed_list *list);

/**
 * sxs_version_compare - order two versions: numbers by value, a pre-release ("-rc.1") before its
 * release. Returns less than, equal to or more than 0.
 */
int sxs_version_compare(const char *a, const char *b);

#endif
