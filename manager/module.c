/* SPDX-License-Identifier: MIT */
#include "manager/module.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void sxs_module_path(uintptr_t addr, char *out, size_t size)
{
    Dl_info where;
    if (!dladdr((void *)addr, &where) || !where.dli_fname)
        where.dli_fname = "";
    snprintf(out, size, "%s", where.dli_fname);
}

uintptr_t sxs_module_base(uintptr_t addr)
{
    Dl_info where;
    return dladdr((void *)addr, &where) ? (uintptr_t)where.dli_fbase : 0;
}

static int looks_like_version(const char *text, size_t len)
{
    size_t dots = 0;
    for (size_t i = 0; i < len; i++) {
        dots += text[i] == '.';
        if (text[i] == '-')
            break; /* the suffix of a preview version */
        if (!isdigit((unsigned char)text[i]) && text[i] != '.')
            return 0;
    }
    return len && isdigit((unsigned char)text[0]) && dots >= 1;
}

void sxs_module_version(const char *path, char *out, size_t size)
{
    out[0] = '\0';
    for (const char *at = path; *at;) {
        size_t len = strcspn(at, "/");
        if (looks_like_version(at, len))
            snprintf(out, size, "%.*s", (int)len, at);
        at += len + (at[len] == '/');
    }
}
