/* SPDX-License-Identifier: MIT */
#include "tools/options/events_options.h"

#include <string.h>

#include "tools/options/list_options.h"

static int read_item(const char *item, void *options)
{
    struct sxs_event_options *out = options;
    if (strcmp(item, "classes") == 0)
        out->classes = 1;
    else if (strcmp(item, "tiers=on") == 0 || strcmp(item, "tiers=off") == 0)
        out->tiers = item[7] == 'n';
    else
        return -1;
    return 0;
}

int sxs_event_options_parse(const char *text, struct sxs_event_options *out, char *bad, size_t size)
{
    *out = (struct sxs_event_options){.tiers = 1};
    return sxs_list_parse(text, read_item, out, bad, size);
}
