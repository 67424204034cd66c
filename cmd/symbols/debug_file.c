/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/debug_file.h"

#include "cmd/output/must.h"
#include "cmd/symbols/worker_serve.h"

#include <elfutils/libdwelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define MAX_ID 64u /* bytes of a build-id that is looked up by name */
#define SYSTEM "/usr/lib/debug"

static const struct sxs_file_owner own_rights;

int sxs_file_by_id(struct sxs_symbol_path *symbols, const uint8_t *id, size_t size, unsigned number,
                   char **path)
{
    char        name[sizeof(SYSTEM "/.build-id//.debug") + 2 * MAX_ID];
    const char *why, *found = name;
    int         n = (int)sizeof(SYSTEM "/.build-id/") - 1;
    if (!size || size > MAX_ID)
        return -1;
    if (number == 0) {
        found = sxs_symbol_path_elf(symbols, id, size);
    } else {
        memcpy(name, SYSTEM "/.build-id/", (size_t)n);
        for (size_t i = 0; i < size; i++)
            n += snprintf(name + n, sizeof(name) - (size_t)n, i ? "%02x" : "%02x/", id[i]);
        snprintf(name + n, sizeof(name) - (size_t)n, ".debug");
    }
    int fd = found ? sxs_foreign_open(found, &own_rights, NULL, &why) : -1;
    *path = fd < 0 ? NULL : sxs_must(strdup(found));
    return fd;
}

/* ---- is it the file? -------------------------------------------------------------------------- */

static bool has_id(int fd, const uint8_t *id, size_t size)
{
    const void *found;
    Elf        *elf = elf_begin(fd, ELF_C_READ, NULL);
    bool        same =
        elf && dwelf_elf_gnu_build_id(elf, &found) == (ssize_t)size && memcmp(found, id, size) == 0;
    elf_end(elf);
    return same;
}

static bool has_sum(int fd, uint32_t expected)
{
    static unsigned char bytes[1 << 16];
    uLong                sum = crc32(0, NULL, 0);
    off_t                at = 0;
    ssize_t              n;
    while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
        sum = crc32(sum, bytes, (uInt)n);
        at += n;
    }
    return n == 0 && sum == expected;
}

static bool is_wanted(const struct sxs_debug_wanted *w, int fd)
{
    if (w->id_size)
        return has_id(fd, w->id, w->id_size);
    return !w->link || has_sum(fd, w->crc); /* a made-up name: nothing tells more */
}

/* ---- by name ---------------------------------------------------------------------------------- */

/* Opens the file @name in the folder @dir or, with @below, in the folder @below of it. */
static int try_name(const struct sxs_debug_wanted *w, const char *dir, const char *below,
                    const char *name, char **path)
{
    const char *why;
    int         fd;
    if (asprintf(path, "%s%s%s/%s", dir, below && below[0] != '/' ? "/" : "", below ? below : "",
                 name) < 0)
        sxs_must(NULL);
    sxs_symbol_worker_limited(true);
    fd = sxs_foreign_open(*path, w->owner, NULL, &why);
    if (fd >= 0 && sxs_foreign_is_ours(fd))
        sxs_symbol_worker_limited(false);
    if (fd >= 0 && is_wanted(w, fd))
        return fd;
    if (fd >= 0)
        close(fd);
    free(*path);
    *path = NULL;
    return -1;
}

/* Tries all names below @root, a folder of debug files: the file's whole folder, and that without its
 * first part, and so on. */
static int try_root(const struct sxs_debug_wanted *w, const char *root, const char *dir,
                    const char *name, char **path)
{
    int fd = -1;
    for (const char *below = dir; fd < 0 && below; below = strchr(below + 1, '/'))
        fd = try_name(w, root, below, name, path);
    return fd < 0 ? try_name(w, root, NULL, name, path) : fd;
}

static int try_folder(const struct sxs_debug_wanted *w, const char *dir, const char *name,
                      char **path)
{
    const char *const *roots = sxs_symbol_path_roots(w->symbols);
    int                fd = try_name(w, dir, NULL, name, path);
    if (fd < 0)
        fd = try_name(w, dir, ".debug", name, path);
    if (fd < 0)
        fd = try_root(w, SYSTEM, dir, name, path);
    for (size_t i = 0; fd < 0 && roots && roots[i]; i++)
        fd = try_root(w, roots[i], dir, name, path);
    return fd;
}

/* Searches by the name in the debuglink, or by the name of the file and ".debug". A name with a
 * slash is not a name in a folder. */
static int find_by_name(const struct sxs_debug_wanted *w, const char *file, char **path)
{
    const char *slash = strrchr(file, '/');
    char       *made_up = NULL, *dir;
    int         fd = -1;
    if (!slash || (w->link && (strchr(w->link, '/') || !*w->link)))
        return -1;
    if (!w->link && asprintf(&made_up, "%s.debug", slash + 1) < 0)
        sxs_must(NULL);
    dir = sxs_must(strndup(file, (size_t)(slash - file)));
    if (!strstr(file, "/../"))
        fd = try_folder(w, dir, w->link ? w->link : made_up, path);
    free(dir);
    free(made_up);
    return fd;
}

int sxs_debug_file_find(const struct sxs_debug_wanted *w, char **path)
{
    int fd = -1;
    sxs_symbol_worker_limited(true);
    for (unsigned i = 0; fd < 0 && i < 2; i++)
        fd = sxs_file_by_id(w->symbols, w->id, w->id_size, i, path);
    return fd < 0 ? find_by_name(w, w->file, path) : fd;
}
