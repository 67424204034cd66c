/* SPDX-License-Identifier: MIT */
/**
 * symbols/tier_settings.h - finds out how this process's runtimes use tiered compilation, as far
 * as a profiler can know.
 *
 * Settings reach a runtime through the environment, or as properties from its host, which reads
 * them from NAME.runtimeconfig.json. A profiler cannot read properties. So the program's file is
 * examined: if it mentions tiered compilation, the settings count as unknown, because they may
 * or may not be in force. */
#ifndef SXS_SYMBOLS_TIER_SETTINGS_H
#define SXS_SYMBOLS_TIER_SETTINGS_H

#include "manager/runtime.h"

enum sxs_tiering {
    SXS_TIERING_USUAL,  /* each method is first compiled at tier 0 */
    SXS_TIERING_OFF,    /* each method is optimized at once */
    SXS_TIERING_UNKNOWN /* anything else */
};

/**
 * sxs_tier_settings_read - read the settings. Call it once, before the functions below, when the
 * first runtime starts, while no thread changes the environment. */
void sxs_tier_settings_read(void);

/** sxs_tier_settings_tiering - the tier of a method's first compilation. Any thread. */
enum sxs_tiering sxs_tier_settings_tiering(void);

/**
 * sxs_tier_settings_profiles - 1 if @rt counts calls and branches in a second tier 0 version
 * before it optimizes a method (TieredPGO). Any thread. */
int sxs_tier_settings_profiles(const struct sxs_runtime *rt);

#endif
