/* SPDX-License-Identifier: MIT */
#include "base/text/duration.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)
#define MOST     (366 * 86400 * NS_PER_S)

int sxs_duration_read(const char *text, size_t len, uint64_t bare_ns, uint64_t *ns)
{
    const struct {
        const char *unit;
        uint64_t    ns;
    } units[] = {{"", bare_ns},        {"ms", 1000000},        {"s", NS_PER_S},
                 {"m", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S}, {"d", 86400 * NS_PER_S}};
    char              *end;
    unsigned long long n;
    if (!len || *text < '0' || *text > '9')
        return -1;
    errno = 0;
    n = strtoull(text, &end, 10);
    if (errno || end > text + len)
        return -1;
    len -= (size_t)(end - text);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].unit) != len || strncmp(units[i].unit, end, len) != 0)
            continue;
        if (!units[i].ns || n > MOST / units[i].ns)
            return -1;
        *ns = n * units[i].ns;
        return 0;
    }
    return -1;
}
