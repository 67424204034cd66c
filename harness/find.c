/* SPDX-License-Identifier: MIT */
/* find.c - finds runtimes on disk. */
#include "harness/find.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/self.h"
#include "harness/version.h"

static const char installed[] = "shared/Microsoft.NETCore.App"; /* below a dotnet root */

/* A search in several folders. Each folder has one subfolder, named by its version, for each
 * runtime. */
struct search {
    const char *prefix;
    char        best_dir[PATH_MAX];
    char        best[NAME_MAX + 1];
    char        seen[512]; /* versions found, for the message when none matches */
};

__attribute__((format(printf, 3, 4))) static bool join(char *out, size_t size, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    int len = vsnprintf(out, size, fmt, args);
    va_end(args);
    return len > 0 && (size_t)len < size;
}

static bool has_file(const char *dir, const char *file)
{
    char path[PATH_MAX];

    return join(path, sizeof(path), "%s/%s", dir, file) && access(path, R_OK) == 0;
}

static int place_set(struct found_runtime *out, const char *dir, const char *version)
{
    out->dir = realpath(dir, NULL);
    if (out->dir && !version) {
        const char *slash = strrchr(out->dir, '/');
        version = slash && slash[1] ? slash + 1 : out->dir;
    }
    out->version = out->dir ? strdup(version) : NULL;
    if (!out->version) {
        sxs_place_free(out);
        return -1;
    }
    out->simulated = !has_file(out->dir, "System.Private.CoreLib.dll");
    return 0;
}

static void note_seen(struct search *search, const char *version)
{
    size_t len = strlen(search->seen);
    char   word[NAME_MAX + 3];

    snprintf(word, sizeof(word), " %s ", version);
    if (strstr(search->seen, word) || len + strlen(word) + 1 > sizeof(search->seen))
        return;
    strcpy(search->seen + len - (len > 0), word); /* one blank between two versions */
}

/* Of equal versions the one in the folder that is searched first wins. */
static void look_in(struct search *search, const char *root)
{
    char           dir[PATH_MAX];
    DIR           *list = opendir(root);
    struct dirent *entry;

    if (!list)
        return;
    while ((entry = readdir(list))) {
        const char *version = entry->d_name;
        if (!isdigit((unsigned char)version[0]) ||
            !join(dir, sizeof(dir), "%s/%s", root, version) || !has_file(dir, "libcoreclr.so"))
            continue;
        note_seen(search, version);
        if (!sxs_version_matches(version, search->prefix) ||
            (search->best[0] && sxs_version_compare(version, search->best) <= 0))
            continue;
        strcpy(search->best, version);
        strcpy(search->best_dir, dir);
    }
    closedir(list);
}

static void look_in_dotnet(struct search *search, const char *root)
{
    char dir[PATH_MAX];

    if (root && *root && join(dir, sizeof(dir), "%s/%s", root, installed))
        look_in(search, dir);
}

/* The `dotnet` on PATH usually is a symbolic link into its installation folder. */
static void look_in_path(struct search *search)
{
    const char *path = getenv("PATH");
    char        file[PATH_MAX], real[PATH_MAX];

    while (path && *path) {
        size_t len = strcspn(path, ":");
        if (join(file, sizeof(file), "%.*s/dotnet", (int)len, path) && access(file, X_OK) == 0 &&
            realpath(file, real)) {
            *strrchr(real, '/') = '\0';
            look_in_dotnet(search, real);
            return;
        }
        path += len + (path[len] == ':');
    }
}

static int find_version(const char *prefix, struct found_runtime *out, char *why, size_t why_size)
{
    struct search search = { .prefix = prefix };
    char          own[PATH_MAX];

    if (join(own, sizeof(own), "%s/runtimes", sxs_self_dir()))
        look_in(&search, own);
    look_in_dotnet(&search, getenv("DOTNET_ROOT"));
    look_in_path(&search);
    look_in_dotnet(&search, "/usr/share/dotnet");
    look_in_dotnet(&search, "/usr/lib/dotnet");
    if (search.best[0] && place_set(out, search.best_dir, search.best) == 0)
        return 0;
    snprintf(why, why_size,
             "no runtime %s in %s or installed with dotnet: expected the beginning of one of"
             "%s(such as 8 or 10.0), a directory with libcoreclr.so, or fake:VERSION",
             prefix, own, search.seen[0] ? search.seen : " none ");
    return -1;
}

int sxs_place_find(const char *wanted, struct found_runtime *out, char *why, size_t why_size)
{
    char dir[PATH_MAX];

    memset(out, 0, sizeof(*out));
    if (!strncmp(wanted, "fake:", 5)) {
        if (wanted[5] && !strchr(wanted + 5, '/') &&
            join(dir, sizeof(dir), "%s/fakeclr/%s", sxs_self_dir(), wanted + 5) &&
            has_file(dir, "libcoreclr.so") && place_set(out, dir, wanted + 5) == 0) {
            out->simulated = true;
            return 0;
        }
        snprintf(why, why_size, "no simulated runtime %s: expected %s/fakeclr/%s/libcoreclr.so",
                 wanted, sxs_self_dir(), wanted + 5);
        return -1;
    }
    if (strchr(wanted, '/') || !isdigit((unsigned char)wanted[0])) {
        if (*wanted && has_file(wanted, "libcoreclr.so") && place_set(out, wanted, NULL) == 0)
            return 0;
        snprintf(why, why_size,
                 "'%s' is no runtime: expected a version such as 8 or 10.0.11, a directory with "
                 "libcoreclr.so, or fake:VERSION",
                 wanted);
        return -1;
    }
    return find_version(wanted, out, why, why_size);
}

void sxs_place_free(struct found_runtime *place)
{
    free(place->dir);
    free(place->version);
    memset(place, 0, sizeof(*place));
}
