/* SPDX-License-Identifier: MIT */
#include "instr/weave/nearest.h"

#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"

#define LONGEST 128u
#define FAR     3u /* at this distance or more, names are not similar */

static unsigned smaller_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Returns the number of letters to insert, remove or change; FAR: as many or more. Ignores case. */
static unsigned edit_distance(const char *a, const char *b)
{
    size_t   n = strlen(a), m = strlen(b);
    unsigned row[LONGEST + 1];
    if (n > LONGEST || m > LONGEST || n + FAR <= m || m + FAR <= n)
        return FAR;
    for (size_t j = 0; j <= m; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned corner = row[0], lowest;
        row[0] = lowest = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned same = corner + (sxs_lower(a[i - 1]) != sxs_lower(b[j - 1]));
            corner = row[j];
            row[j] = smaller_of(same, smaller_of(row[j], row[j - 1]) + 1);
            lowest = smaller_of(lowest, row[j]);
        }
        if (lowest >= FAR)
            return FAR;
    }
    return row[m];
}

static const char *last_part(const char *name)
{
    const char *part = name;
    for (const char *p = name; *p; p++)
        if ((*p == '.' || *p == '/' || *p == '+') && p[1])
            part = p + 1;
    return part;
}

void sxs_nearest_begin(struct sxs_nearest *nearest, const char *name)
{
    nearest->name = name;
    nearest->n = 0;
}

void sxs_nearest_try(struct sxs_nearest *nearest, const char *other)
{
    unsigned far = edit_distance(nearest->name, other), at,
             limit = strlen(nearest->name) > 5 ? 2 : 1;
    if (far > limit) {
        if (strcmp(last_part(nearest->name), last_part(other)) != 0)
            return;
        far = FAR;
    }
    for (at = nearest->n; at > 0 && nearest->far[at - 1] > far; at--)
        ;
    if (at >= SXS_NEAREST_MAX || strlen(other) >= sizeof(nearest->found[0]))
        return;
    for (unsigned i = 0; i < nearest->n; i++)
        if (!strcmp(nearest->found[i], other))
            return; /* overloads of a method have the same name */
    for (unsigned i = smaller_of(nearest->n, SXS_NEAREST_MAX - 1); i > at; i--) {
        memcpy(nearest->found[i], nearest->found[i - 1], sizeof(nearest->found[i]));
        nearest->far[i] = nearest->far[i - 1];
    }
    snprintf(nearest->found[at], sizeof(nearest->found[at]), "%s", other);
    nearest->far[at] = far;
    nearest->n = smaller_of(nearest->n + 1, SXS_NEAREST_MAX);
}

void sxs_nearest_put(const struct sxs_nearest *nearest, struct sxs_text *t)
{
    for (unsigned i = 0; i < nearest->n; i++)
        sxs_text_putf(t, "%s%s",
                      !i                   ? "; is "
                      : i + 1 < nearest->n ? ", "
                                           : " or ",
                      nearest->found[i]);
    if (nearest->n)
        sxs_text_put(t, " meant?");
}
