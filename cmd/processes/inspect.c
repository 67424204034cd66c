/* SPDX-License-Identifier: MIT */
#include "cmd/processes/inspect.h"

#include "cmd/symbols/elf_file.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BINARY (512ul << 20) /* bytes of a file that is searched for a version */

/* What was found out about one file. */
struct cached_file {
    dev_t              dev;
    ino_t              ino;
    enum sxs_file_kind kind;
};

static struct cached_file *cache;
static size_t              n_cached, room;

static const struct cached_file *find_cached(const struct stat *st)
{
    for (size_t i = 0; i < n_cached; i++)
        if (cache[i].dev == st->st_dev && cache[i].ino == st->st_ino)
            return &cache[i];
    return NULL;
}

static void remember(const struct stat *st, enum sxs_file_kind kind)
{
    if (n_cached == room) {
        size_t              more = room ? 2 * room : 256;
        struct cached_file *grown = realloc(cache, more * sizeof(*grown));
        if (!grown)
            return; /* the file is examined again */
        cache = grown;
        room = more;
    }
    cache[n_cached++] = (struct cached_file){st->st_dev, st->st_ino, kind};
}

static enum sxs_file_kind examine(const char *path)
{
    static const char *const symbols[] = {"DllGetClassObject", "sxsprof_print_stack",
                                          "DotNetRuntimeDebugHeader", "DotNetRuntimeInfo", NULL};
    unsigned                 has = sxs_elf_exports_of(path, symbols);
    if (has & 1u)
        return has & 2u ? SXS_FILE_OWN_PROFILER : SXS_FILE_PROFILER;
    return has & 8u ? SXS_FILE_SINGLE_FILE : has & 4u ? SXS_FILE_NATIVE_AOT : SXS_FILE_OTHER;
}

enum sxs_file_kind sxs_inspect_file(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return SXS_FILE_OTHER;
    const struct cached_file *k = find_cached(&st);
    if (k)
        return k->kind;
    enum sxs_file_kind kind = examine(path);
    remember(&st, kind);
    return kind;
}

static bool looks_like_version(const char *text, size_t len)
{
    size_t dots = 0;
    for (size_t i = 0; i < len && text[i] != '-'; i++) {
        dots += text[i] == '.';
        if (!isdigit((unsigned char)text[i]) && text[i] != '.')
            return false;
    }
    return len && isdigit((unsigned char)text[0]) && dots >= 1;
}

void sxs_version_in_path(const char *path, char *out, size_t size)
{
    out[0] = '\0';
    for (const char *at = path; *at;) {
        size_t len = strcspn(at, "/");
        if (at[len] == '/' && looks_like_version(at, len))
            snprintf(out, size, "%.*s", (int)len, at);
        at += len + (at[len] == '/');
    }
}

void sxs_version_of_build(const char *text, size_t len, char *out, size_t size)
{
    unsigned part[3] = {0};
    size_t   at = 0;
    out[0] = '\0';
    for (int i = 0; i < 3; i++) {
        size_t digits = 0;
        while (at < len && isdigit((unsigned char)text[at]) && digits < 6) {
            part[i] = part[i] * 10 + (unsigned)(text[at++] - '0');
            digits++;
        }
        if (!digits || at >= len || text[at++] != '.')
            return;
    }
    /* The third number is 100 times the patch, and the year. */
    snprintf(out, size, "%u.%u.%u", part[0], part[1], part[2] / 100);
}

void sxs_version_in_file(const char *path, char *out, size_t size)
{
    static const char mark[] = "@(#)Version ";
    struct stat       st;
    int               fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    char             *bytes = NULL;
    out[0] = '\0';
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 64 &&
        (size_t)st.st_size < MAX_BINARY)
        bytes = malloc((size_t)st.st_size);
    if (bytes) {
        ssize_t     n = read(fd, bytes, (size_t)st.st_size);
        const char *at = n > 0 ? memmem(bytes, (size_t)n, mark, sizeof(mark) - 1) : NULL;
        if (at) {
            at += sizeof(mark) - 1;
            sxs_version_of_build(at, (size_t)(bytes + n - at), out, size);
        }
        free(bytes);
    }
    if (fd >= 0)
        close(fd);
}
