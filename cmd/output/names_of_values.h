/* SPDX-License-Identifier: MIT */
/** names_of_values.h - names for codes of the runtime, the same in all reports. */
#ifndef SXS_CMD_OUTPUT_NAMES_OF_VALUES_H
#define SXS_CMD_OUTPUT_NAMES_OF_VALUES_H

/**
 * sxs_tier_text - return the name of an enum sxs_code_tier: "tier 0", "tier 1", "OSR"..., or
 * "unknown". Static.
 */
const char *sxs_tier_text(unsigned tier);

/**
 * sxs_suspension_text - return the name of a COR_PRF_SUSPEND_REASON, the reason why a runtime
 * suspended its threads; "unknown" for other values. Static.
 */
const char *sxs_suspension_text(unsigned reason);

/** sxs_sample_clock_text - return the name of an enum sxs_sample_clock: "CPU timer"; "" for 0, when nothing was
 *  sampled, "?" for an unknown value. Static. */
const char *sxs_sample_clock_text(unsigned clock);

#endif
