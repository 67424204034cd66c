/* SPDX-License-Identifier: MIT */
#include "cmd/confined/reader.h"

#include "base/env.h"
#include "cmd/confined/writes.h"

#include <linux/capability.h>
#include <string.h>

static bool is_reader;

bool sxs_confined_is_off(void)
{
    const char *setting = sxs_env_named("SXSPROF_CONFINE");
    return setting && strcmp(setting, "off") == 0;
}

bool sxs_confined_is_reader(void)
{
    return is_reader;
}

void sxs_confine_reader(const struct sxs_confinement *limits, const struct sxs_confined_reader *r)
{
    struct sxs_confinement c = *limits;
    bool                   off = sxs_confined_is_off();
    is_reader = true;
    c.capabilities = off ? SXS_CONFINED_KEEP_ALL
                         : UINT64_C(1) << CAP_DAC_OVERRIDE | UINT64_C(1) << CAP_DAC_READ_SEARCH |
                               UINT64_C(1) << CAP_SETUID | UINT64_C(1) << CAP_SETGID;
    c.calls = off ? SXS_CONFINED_ANY : r->network ? SXS_CONFINED_NETWORK : SXS_CONFINED_REPORT;
    if (!off) /* a kernel without Landlock: the other limits remain */
        sxs_confine_writes(r->writes, r->n_writes);
    if (!off && r->start)
        r->start(&c, r->start_arg);
    sxs_confine_self(&c);
}
