/* SPDX-License-Identifier: MIT */
#include "cmd/pick_value.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_version_prefix(const char *s)
{
    return *s >= '0' && *s <= '9' &&
           strspn(s, "0123456789.-+abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") ==
               strlen(s);
}

const char *sxs_pick_check(const char *value, char *why, size_t size)
{
    struct stat st;
    if (strcmp(value, "all") == 0 || strcmp(value, "first") == 0)
        return NULL;
    if (strncmp(value, "one:", 4) != 0)
        return strcmp(value, "one") == 0 ? "it does not say which one" : "not a known choice";
    const char *what = value + 4;
    if (is_version_prefix(what))
        return NULL;
    if (!strchr(what, '/')) {
        snprintf(why, size, "'%s' is neither a version prefix nor a path", what);
        return why;
    }
    if (stat(what, &st) != 0) {
        snprintf(why, size, "there is no file %s", what);
        return why;
    }
    if (!S_ISREG(st.st_mode)) {
        snprintf(why, size, "%s is not a file", what);
        return why;
    }
    return NULL;
}
