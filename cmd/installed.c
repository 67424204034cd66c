/* SPDX-License-Identifier: MIT */
#include "cmd/installed.h"

#include "base/env.h"
#include "cmd/child.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int sxs_version_compare(const char *a, const char *b)
{
    size_t core_a = strcspn(a, "-+"), core_b = strcspn(b, "-+");
    char   x[NAME_MAX + 1], y[NAME_MAX + 1];
    snprintf(x, sizeof(x), "%.*s", (int)core_a, a);
    snprintf(y, sizeof(y), "%.*s", (int)core_b, b);
    int order = strverscmp(x, y);
    if (order != 0)
        return order;
    bool pre_a = a[core_a] == '-', pre_b = b[core_b] == '-';
    if (pre_a != pre_b)
        return pre_a ? -1 : 1;
    return strverscmp(a + core_a, b + core_b);
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int add_installed(struct sxs_installed_list *list, const char *version, const char *kind,
                         const char *path)
{
    for (size_t i = 0; i < list->n; i++)
        if (same_file(list->items[i].path, path))
            return 0;
    struct sxs_installed *grown = realloc(list->items, (list->n + 1) * sizeof(*grown));
    if (!grown)
        return ENOMEM;
    list->items = grown;
    struct sxs_installed *it = &grown[list->n++];
    snprintf(it->version, sizeof(it->version), "%s", version);
    snprintf(it->path, sizeof(it->path), "%s", path);
    it->kind = kind;
    return 0;
}

/* Adds every subfolder of @dir that contains a libcoreclr.so. A folder that cannot be read is
 * skipped. */
static int search_folder(struct sxs_installed_list *list, const char *dir, const char *kind)
{
    char        path[PATH_MAX];
    struct stat st;
    int         err = 0;
    DIR        *d = opendir(dir);
    if (!d)
        return 0;
    for (struct dirent *e; !err && (e = readdir(d));) {
        if (e->d_name[0] < '0' || e->d_name[0] > '9')
            continue;
        int n = snprintf(path, sizeof(path), "%s/%s/libcoreclr.so", dir, e->d_name);
        if (n > 0 && n < (int)sizeof(path) && stat(path, &st) == 0 && S_ISREG(st.st_mode))
            err = add_installed(list, e->d_name, kind, path);
    }
    closedir(d);
    return err;
}

static int search_root(struct sxs_installed_list *list, const char *root)
{
    char dir[PATH_MAX];
    if (!root || !*root)
        return 0;
    int n = snprintf(dir, sizeof(dir), "%s/shared/Microsoft.NETCore.App", root);
    return n > 0 && n < (int)sizeof(dir) ? search_folder(list, dir, "dotnet") : 0;
}

/* Resolves links, because the dotnet on PATH usually is a link into the folder of the runtimes. */
static int search_dotnet_on_path(struct sxs_installed_list *list)
{
    char found[PATH_MAX], real[PATH_MAX];
    if (sxs_child_find("dotnet", found, sizeof(found)) != 0 || !realpath(found, real))
        return 0;
    *strrchr(real, '/') = '\0';
    return search_root(list, real);
}

static int search_below_home(struct sxs_installed_list *list)
{
    char        dir[PATH_MAX];
    const char *home = sxs_env_named("HOME");
    int         n = snprintf(dir, sizeof(dir), "%s/.dotnet", home ? home : "");
    return home && *home && n < (int)sizeof(dir) ? search_root(list, dir) : 0;
}

static int by_version(const void *a, const void *b)
{
    const struct sxs_installed *x = a, *y = b;
    int order = sxs_version_compare(x->version, y->version);
    return order ? order : strcmp(x->path, y->path);
}

int sxs_installed_find(const char *bin_dir, struct sxs_installed_list *out)
{
    char dir[PATH_MAX];
    memset(out, 0, sizeof(*out));
    int n = snprintf(dir, sizeof(dir), "%s/runtimes", bin_dir);
    int err = n < (int)sizeof(dir) ? search_folder(out, dir, "build") : 0;
    err = err ? err : search_root(out, sxs_env_named("DOTNET_ROOT"));
    err = err ? err : search_dotnet_on_path(out);
    err = err ? err : search_root(out, "/usr/share/dotnet");
    err = err ? err : search_root(out, "/usr/lib/dotnet");
    err = err ? err : search_below_home(out);
    if (out->n)
        qsort(out->items, out->n, sizeof(*out->items), by_version);
    return err;
}

void sxs_installed_free(struct sxs_installed_list *list)
{
    free(list->items);
    memset(list, 0, sizeof(*list));
}
