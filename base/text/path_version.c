/* SPDX-License-Identifier: MIT */
#include "base/text/path_version.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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
