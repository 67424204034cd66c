/* SPDX-License-Identifier: MIT */
#include "cmd/library.h"

#include "cmd/symbols/elf_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes dir, sub, "/" and file to @out; returns false when the path is too long. */
static bool join_path(char out[PATH_MAX], const char *dir, const char *sub, const char *file)
{
    int n = snprintf(out, PATH_MAX, "%s%s/%s", dir, sub, file);
    return n > 0 && n < PATH_MAX;
}

/* Finds the first place that contains @file and writes its path, with links resolved. When no place
 * does, writes the path in the first place, for messages, and returns false. */
static bool locate_file(char out[PATH_MAX], const char *bin_dir, const char *file)
{
    static const char *const places[] = {"", "/../lib/sxsprof"};
    char                     candidate[PATH_MAX];
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (join_path(candidate, bin_dir, places[i], file) && access(candidate, F_OK) == 0 &&
            realpath(candidate, out))
            return true;
    if (!join_path(out, bin_dir, places[0], file))
        out[0] = '\0';
    return false;
}

int sxs_library_find(struct sxs_library *out)
{
    memset(out, 0, sizeof(*out));
    ssize_t n = readlink("/proc/self/exe", out->bin_dir, sizeof(out->bin_dir) - 1);
    if (n < 0)
        return errno;
    out->bin_dir[n] = '\0';
    char *slash = strrchr(out->bin_dir, '/');
    if (!slash)
        return ENOENT;
    *slash = '\0';
    out->has_profiler = locate_file(out->profiler, out->bin_dir, SXS_LIBRARY_FILE);
    /* The library loads it from its own folder, and looks nowhere else. */
    slash = strrchr(out->profiler, '/');
    out->has_clrie = slash &&
                     snprintf(out->clrie, PATH_MAX, "%.*s/" SXS_CLRIE_FILE,
                              (int)(slash - out->profiler), out->profiler) < PATH_MAX &&
                     access(out->clrie, F_OK) == 0;
    out->has_preload = locate_file(out->preload, out->bin_dir, SXS_PRELOAD_FILE);
    out->has_allocator = locate_file(out->allocator, out->bin_dir, SXS_MALLOC_FILE);
    return 0;
}

bool sxs_library_is_own(const char *path)
{
    return sxs_elf_exports(path, "sxsprof_print_stack");
}
