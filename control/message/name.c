/* SPDX-License-Identifier: MIT */
#include "control/message/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_BEFORE \
    19 /* between the end of the program's name, field 2, and the start time, 22 */

socklen_t sxs_control_name(struct sockaddr_un *out, int pid, unsigned long long start, unsigned n)
{
    char   more[16] = "";
    size_t len;
    if (n)
        snprintf(more, sizeof(more), "/%u", n);
    memset(out, 0, sizeof(*out));
    out->sun_family = AF_UNIX;
    len = (size_t)snprintf(out->sun_path + 1, sizeof(out->sun_path) - 1, "sxsprof/%d/%llu%s", pid,
                           start, more);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

int sxs_control_start_time(const char *stat, unsigned long long *out)
{
    const char *at = strrchr(stat, ')'); /* the last one: the program's name may contain ')' too */
    char       *end;
    for (int i = 0; at && i <= FIELDS_BEFORE; i++)
        if ((at = strchr(at, ' ')))
            at++;
    if (!at || *at < '0' || *at > '9')
        return -1;
    *out = strtoull(at, &end, 10);
    return *end == ' ' || *end == '\n' || !*end ? 0 : -1;
}
