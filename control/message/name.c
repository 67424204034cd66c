/* SPDX-License-Identifier: MIT */
#include "control/message/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat_field.h"

static socklen_t write_name(struct sockaddr_un *out, int pid, unsigned long long start,
                            const char *more)
{
    size_t len;
    memset(out, 0, sizeof(*out));
    out->sun_family = AF_UNIX;
    len = (size_t)snprintf(out->sun_path + 1, sizeof(out->sun_path) - 1, "sxsprof/%d/%llu%s", pid,
                           start, more);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

socklen_t sxs_control_name(struct sockaddr_un *out, int pid, unsigned long long start, unsigned n)
{
    char more[16] = "";
    if (n)
        snprintf(more, sizeof(more), "/%u", n);
    return write_name(out, pid, start, more);
}

socklen_t sxs_control_random_name(struct sockaddr_un *out, int pid, unsigned long long start,
                                  uint64_t random)
{
    char more[24];
    snprintf(more, sizeof(more), "/%016" PRIx64, random);
    return write_name(out, pid, start, more);
}

int sxs_control_start_time(const char *stat, unsigned long long *out)
{
    const char *at = sxs_stat_field(stat, SXS_STAT_START);
    char       *end;
    if (!at || *at < '0' || *at > '9')
        return -1;
    *out = strtoull(at, &end, 10);
    return *end == ' ' || *end == '\n' || !*end ? 0 : -1;
}
