/* SPDX-License-Identifier: MIT */
#include "cmd/output/formats.h"

#include "base/base.h"
#include "cmd/output/text.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct format {
    const char *name;
    const char *endings[3]; /* of files; the list ends with NULL */
    bool        readable;
} formats[] = {
    {"text", {".txt"}, true},
    {"collapsed", {".collapsed", ".folded"}, true},
    {"speedscope", {".speedscope.json"}, false},
    {"chrome", {".chrome.json"}, false},
    {"firefox", {".firefox.json"}, false},
    {"json", {".json"}, true}, /* after those with longer endings */
    {"html", {".html", ".htm"}, false},
    {"svg", {".svg"}, false},
    {"pprof", {".pb.gz", ".pprof"}, false},
    {"heapsnapshot", {".heapsnapshot"}, false},
    {"pack", {".sxsprof"}, false},
};

/* Endings of files that other profilers write, of pictures and of archives. */
static const char *const lacking[] = {
    ".jfr", ".nettrace", ".etl",  ".etlx",   ".data",  ".perf",    ".prof",
    ".png", ".jpg",      ".jpeg", ".gif",    ".pdf",   ".gz",      ".zip",
    ".zst", ".tar",      ".tgz",  ".xz",     ".csv",   ".tsv",     ".xml",
    ".md",  ".log",      ".dmp",  ".gcdump", ".trace", ".pftrace", ".diagsession"};

const char *sxs_format_of_file(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        for (size_t k = 0; k < ARRAY_LEN(formats[i].endings) && formats[i].endings[k]; k++)
            if (sxs_text_ends(path, formats[i].endings[k]))
                return formats[i].name;
    return NULL;
}

const char *sxs_format_lacking(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(lacking); i++)
        if (sxs_text_ends(path, lacking[i]))
            return path + strlen(path) - strlen(lacking[i]);
    return NULL;
}

static const struct format *find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

bool sxs_format_is_known(const char *name)
{
    return find(name) != NULL;
}

bool sxs_format_is_readable(const char *format)
{
    const struct format *f = find(format);
    return f && f->readable;
}

const char *sxs_format_names(void)
{
    static char list[160];
    size_t      len = 0;
    for (size_t i = 0; i < ARRAY_LEN(formats) && len < sizeof(list); i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
                                i == 0                        ? ""
                                : i == ARRAY_LEN(formats) - 1 ? " or "
                                                              : ", ",
                                formats[i].name);
    return list;
}
