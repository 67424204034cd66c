/* SPDX-License-Identifier: MIT */
#include "base/text/plain_type.h"

#include <string.h>

const char *sxs_plain_type(const char *name, char *out, size_t size)
{
    unsigned depth = 0;
    size_t   n = 0;
    int      own = 0; /* inside of "<Name>", a name that a compiler made */
    for (; *name && n + 1 < size; name++) {
        own |= *name == '<' && !depth && (n == 0 || out[n - 1] == '.');
        if (own) {
            out[n++] = *name;
            own = *name != '>';
            continue;
        }
        if (*name == '<' || *name == '[')
            depth++;
        else if ((*name == '>' || *name == ']') && depth)
            depth--;
        else if (*name == '`')
            name += strspn(name + 1, "0123456789");
        else if (!depth)
            out[n++] = *name == '+' ? '.' : *name;
    }
    out[n] = '\0';
    return out;
}
