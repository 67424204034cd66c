/* SPDX-License-Identifier: MIT */
/** plan.h - a configuration that is or was in force. Any thread; not signal-safe. */
#ifndef SXS_REJIT_METHODS_PLAN_H
#define SXS_REJIT_METHODS_PLAN_H

#include <stdatomic.h>
#include <stdint.h>

#include "instr/config/config.h"

/** Reference-counted, because instrumented methods refer to the rules of its configuration. */
struct sxs_plan {
    atomic_uint        refs;
    uint32_t           generation; /* 1, 2, 3... */
    struct sxs_config *config;     /* owned */
};

/** sxs_plan_new - make a plan, with one reference, that owns @config. Returns NULL when there is no
 *  memory; @config is freed then. */
struct sxs_plan *sxs_plan_new(struct sxs_config *config, uint32_t generation);

/** sxs_plan_ref - return @plan with one reference more. The caller has one already, or holds a lock
 *  under which the plan has one. */
struct sxs_plan *sxs_plan_ref(struct sxs_plan *plan);

/** sxs_plan_unref - give a reference back. The last one frees the plan. NULL is fine. */
void sxs_plan_unref(struct sxs_plan *plan);

#endif
