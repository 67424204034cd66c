/* SPDX-License-Identifier: MIT */
#include "rejit/methods/plan.h"

#include <stdlib.h>

struct sxs_plan *sxs_plan_new(struct sxs_config *config, uint32_t generation)
{
    struct sxs_plan *plan = malloc(sizeof(*plan));
    if (!plan) {
        sxs_config_free(config);
        return NULL;
    }
    *plan = (struct sxs_plan){1, generation, config};
    return plan;
}

struct sxs_plan *sxs_plan_ref(struct sxs_plan *plan)
{
    atomic_fetch_add(&plan->refs, 1);
    return plan;
}

void sxs_plan_unref(struct sxs_plan *plan)
{
    if (!plan || atomic_fetch_sub(&plan->refs, 1) != 1)
        return;
    sxs_config_free(plan->config);
    free(plan);
}
