/* SPDX-License-Identifier: MIT */
#include "tools/options/instrument_options.h"

#include <stdlib.h>
#include <string.h>

#include "tools/options/list_options.h"

static int read_item(const char *item, void *options)
{
    struct sxs_instrument_options *out = options;
    unsigned long                  mb;
    char                          *end;
    if (strcmp(item, "precompiled=on") == 0 || strcmp(item, "precompiled=off") == 0) {
        out->precompiled = item[13] == 'n';
        return 0;
    }
    if (strncmp(item, "traced=", 7) != 0 || item[7] < '0' || item[7] > '9')
        return -1;
    mb = strtoul(item + 7, &end, 10);
    if (*end || mb == 0 || mb > SXS_INSTRUMENT_MAX_TRACED_MB)
        return -1;
    out->traced_mb = (unsigned)mb;
    return 0;
}

int sxs_instrument_options_parse(const char *text, struct sxs_instrument_options *out, char *bad,
                                 size_t size)
{
    *out = (struct sxs_instrument_options){1, SXS_INSTRUMENT_TRACED_MB};
    return sxs_list_parse(text, read_item, out, bad, size);
}
