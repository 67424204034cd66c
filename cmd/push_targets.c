/* SPDX-License-Identifier: MIT */
/* The targets of pushes. */
#include "cmd/push_targets.h"

#include <string.h>

#include "cmd/fleet/target.h"
#include "cmd/http/url.h"
#include "cmd/push/targets.h"

const struct sxs_push_target *const sxs_push_targets[] = {
    &sxs_push_pyroscope,
    &sxs_push_ingest,
    &sxs_push_otlp,
    &sxs_push_clickhouse,
};
const size_t sxs_n_push_targets = sizeof(sxs_push_targets) / sizeof(sxs_push_targets[0]);

const struct sxs_push_target *sxs_push_target_named(const char *name)
{
    for (size_t i = 0; i < sxs_n_push_targets; i++)
        if (strcmp(sxs_push_targets[i]->name, name) == 0)
            return sxs_push_targets[i];
    return NULL;
}

const struct sxs_push_target *sxs_push_target_of(const char *url)
{
    for (size_t i = 0; i < sxs_n_push_targets; i++)
        if (sxs_push_targets[i]->endpoint && sxs_url_has_path(url, sxs_push_targets[i]->endpoint) &&
            sxs_url_has_scheme(url, sxs_push_targets[i]->schemes))
            return sxs_push_targets[i];
    for (size_t i = 0; i < sxs_n_push_targets; i++)
        if (sxs_url_has_scheme(url, sxs_push_targets[i]->schemes))
            return sxs_push_targets[i];
    return NULL;
}

const char *sxs_push_target_names(void)
{
    static char list[256];
    size_t      len = 0;
    for (size_t i = 0; i < sxs_n_push_targets && len < sizeof(list); i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
                                sxs_push_targets[i]->name);
    return list;
}
