/* SPDX-License-Identifier: MIT */
/* version.c - compares versions of runtimes. */
#include "harness/version.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool sxs_version_matches(const char *version, const char *prefix)
{
    size_t len = strlen(prefix);

    return len && !strncmp(version, prefix, len) && strchr(".-", version[len]) != NULL;
}

/* Orders what follows a common beginning: "-preview" is older than the end of the string, which is
 * older than a further ".1". */
static int rank_of(char c)
{
    return c == '-' ? 0 : c == '\0' ? 1 : 2;
}

int sxs_version_compare(const char *a, const char *b)
{
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            char         *a_end, *b_end;
            unsigned long a_part = strtoul(a, &a_end, 10), b_part = strtoul(b, &b_end, 10);
            if (a_part != b_part)
                return a_part < b_part ? -1 : 1;
            a = a_end;
            b = b_end;
        } else if (*a == *b) {
            a++;
            b++;
        } else {
            break;
        }
    }
    return rank_of(*a) != rank_of(*b) ? rank_of(*a) - rank_of(*b) : strcmp(a, b);
}
