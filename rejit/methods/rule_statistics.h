/* SPDX-License-Identifier: MIT */
/**
 * rule_statistics.h - for each rule: which names came nearest while it matches nothing, and which
 * methods without IL it matches.
 *
 * A rule is identified by the hash of its content, so a rule that is the same after an edit keeps
 * its statistics. Any thread. Takes a lock of its own, under which no runtime is called.
 */
#ifndef SXS_REJIT_METHODS_RULE_STATISTICS_H
#define SXS_REJIT_METHODS_RULE_STATISTICS_H

#include "instr/config/config.h"

/** sxs_rule_stats_config - take the rules of @config as those in force. Rules that are new or gone
 *  are marked, and written to the session by the next sxs_rule_stats_record(). */
void sxs_rule_stats_config(const struct sxs_config *config);

/** sxs_rule_stats_wants - return nonzero when @rule has matched no method so far. */
int sxs_rule_stats_wants(const struct sxs_rule *rule);

/**
 * sxs_rule_stats_reach - record how near an assembly, a type or a method came to matching @rule.
 * @reach: the last part of the rule that fits.
 * @name:  a name that was found for the next part and does not fit, or the method's parameters.
 *         NULL: none.
 */
void sxs_rule_stats_reach(const struct sxs_rule *rule, enum sxs_config_reach reach,
                          const char *name);

/** sxs_rule_stats_without_il - record that @rule matches the method @name, which has no IL. */
void sxs_rule_stats_without_il(const struct sxs_rule *rule, const char *name);

/** sxs_rule_stats_record - write the changed statistics to the session file. Methods without IL are
 *  logged, too, once for each rule. */
void sxs_rule_stats_record(void);

/** sxs_rule_stats_end - the session ends: forget all rules. */
void sxs_rule_stats_end(void);

#endif
