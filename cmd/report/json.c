/* SPDX-License-Identifier: MIT */
#include "cmd/report/format.h"

void sxs_json_string(FILE *to, const char *text)
{
    putc('"', to);
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20 || c == 0x7f || c == '<' || c == '&')
            fprintf(to, "\\u%04x", c);
        else
            putc(c, to);
    }
    putc('"', to);
}

const char *sxs_model_title(const struct sxs_model *m)
{
    return m->n_processes && m->processes[0].head.command[0] ? m->processes[0].head.command
                                                             : "sxsprof";
}
