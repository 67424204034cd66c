/* SPDX-License-Identifier: MIT */
#include "record/events_options.h"

#include <stdio.h>
#include <string.h>

int sxs_event_options_parse(const char *text, struct sxs_event_options *out, char *bad, size_t size)
{
    *out = (struct sxs_event_options){.tiers = 1};
    while (*text) {
        size_t len = strcspn(text, ",");
        if (len == 7 && strncmp(text, "classes", len) == 0) {
            out->classes = 1;
        } else if (len == 8 && strncmp(text, "tiers=on", len) == 0) {
            out->tiers = 1;
        } else if (len == 9 && strncmp(text, "tiers=off", len) == 0) {
            out->tiers = 0;
        } else {
            snprintf(bad, size, "%.*s", (int)len, text);
            return -1;
        }
        text += len + (text[len] == ',');
    }
    return 0;
}
