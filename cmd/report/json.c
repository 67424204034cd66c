/* SPDX-License-Identifier: MIT */
#include "cmd/report/format.h"

#include "base/displayed.h"
#include "cmd/output/json_values.h"

#include <string.h>

void sxs_json_string(FILE *to, const char *text)
{
    putc('"', to);
    for (size_t left = strlen(text), len; left; text += len, left -= len) {
        uint32_t c = 0xfffd;
        len = sxs_utf8_next(text, left, &c);
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", (char)c);
        else if (!len || c == '<' || c == '&' || !sxs_is_displayed(c))
            sxs_json_escape(to, c);
        else
            fwrite(text, 1, len, to);
        len += !len;
    }
    putc('"', to);
}

const char *sxs_model_title(const struct sxs_model *m)
{
    return m->n_processes && m->processes[0].head.command[0] ? m->processes[0].head.command
                                                             : "sxsprof";
}
