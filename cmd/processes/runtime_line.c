/* SPDX-License-Identifier: MIT */
#include "cmd/processes/runtime_line.h"

#include "cmd/output/text.h"

#include <stddef.h>
#include <string.h>

bool sxs_runtime_line_parse(const char *value, struct sxs_runtime_line *out)
{
    const char **parts[] = {&out->number, &out->version, &out->state, &out->life};
    char        *at = out->line;
    sxs_text_clean(value, out->line, sizeof(out->line));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char *blank = strchr(at, ' ');
        if (!blank)
            return false;
        *blank = '\0';
        *parts[i] = at;
        at = blank + 1;
    }
    out->path = at;
    return true;
}
