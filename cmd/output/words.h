/* SPDX-License-Identifier: MIT */
/**
 * words.h - what runtimes number, in the words that all reports have for it.
 */
#ifndef SXS_REPORT_WORDS_H
#define SXS_REPORT_WORDS_H

/** sxs_tier_text - of enum sxs_code_tier: "tier 0", "tier 1", "OSR"...; "unknown". Static. */
const char *sxs_tier_text(unsigned tier);

/** sxs_suspension_text - what a runtime was stopped for, COR_PRF_SUSPEND_REASON. Static. */
const char *sxs_suspension_text(unsigned reason);

#endif
