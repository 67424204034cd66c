/* SPDX-License-Identifier: MIT */
#include "record/list_options.h"

#include <stdio.h>
#include <string.h>

int sxs_list_parse(const char *text, int (*read)(const char *item, void *out), void *out, char *bad,
                   size_t size)
{
    while (*text) {
        char   item[64];
        size_t len = strcspn(text, ",");
        snprintf(item, sizeof(item), "%.*s", (int)len, text);
        if (len >= sizeof(item) || read(item, out)) {
            snprintf(bad, size, len < sizeof(item) ? "%s" : "%.40s...", item);
            return -1;
        }
        text += len + (text[len] == ',');
    }
    return 0;
}
