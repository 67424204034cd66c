/* SPDX-License-Identifier: MIT */
/**
 * tier_settings.h - how this process's runtimes are told to use tiered compilation, as far as a profiler can see.
 *
 * Settings reach a runtime by the environment, or as properties from its host, which takes them from a
 * NAME.runtimeconfig.json. A profiler cannot ask for properties. So the file of the program is looked at: when it
 * mentions tiered compilation, what it says may be in force or not.
 */
#ifndef SXS_SAMPLER_TIER_SETTINGS_H
#define SXS_SAMPLER_TIER_SETTINGS_H

#include "manager/runtime.h"

enum sxs_tiering {
    SXS_TIERING_USUAL,  /* each method begins at tier 0 */
    SXS_TIERING_OFF,    /* each method is optimized at once */
    SXS_TIERING_UNKNOWN /* anything else */
};

/** sxs_tier_settings_read - read the settings. Once, before the functions below; while the program's environment is
 *  not being changed: when the first runtime starts. */
void sxs_tier_settings_read(void);

/** sxs_tier_settings_tiering - what happens to a method that is compiled first. Any thread. */
enum sxs_tiering sxs_tier_settings_tiering(void);

/** sxs_tier_settings_profiles - 1: @rt counts in a tier 0 of its own before it optimizes (TieredPGO). Any thread. */
int sxs_tier_settings_profiles(const struct sxs_runtime *rt);

#endif
