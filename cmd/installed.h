/* SPDX-License-Identifier: MIT */
/** installed.h - find the .NET runtimes that are installed on this machine. */
#ifndef SXS_CMD_INSTALLED_H
#define SXS_CMD_INSTALLED_H

#include <limits.h>
#include <stddef.h>

/** An installed runtime. */
struct sxs_installed {
    char        version[NAME_MAX + 1]; /* name of its folder: "8.0.29", "10.0.0-rc.1.25451.107" */
    const char *kind;           /* "build" (beside this command) or "dotnet"; static */
    char        path[PATH_MAX]; /* of libcoreclr.so, as it was found */
};

struct sxs_installed_list {
    struct sxs_installed *items; /* owned; by version, lowest first */
    size_t                n;
};

/**
 * sxs_installed_find - find all installed runtimes.
 * Searches @bin_dir/runtimes/<version>, then shared/Microsoft.NETCore.App/<version> below
 * DOTNET_ROOT, the folder of the dotnet on PATH, /usr/share/dotnet, /usr/lib/dotnet and ~/.dotnet.
 * A libcoreclr.so that is found twice is listed once.
 * @out: overwritten; release it with sxs_installed_free().
 * Returns 0 or ENOMEM. Any thread, while no other thread changes the environment.
 */
int sxs_installed_find(const char *bin_dir, struct sxs_installed_list *out);

/** sxs_installed_free - release a list; a zeroed list is allowed. */
void sxs_installed_free(struct sxs_installed_list *list);

/**
 * sxs_version_compare - compare two versions: numbers by value, a pre-release ("-rc.1") before its
 * release.
 * Returns a value less than, equal to or greater than 0.
 */
int sxs_version_compare(const char *a, const char *b);

#endif
