/* SPDX-License-Identifier: MIT */
/**
 * tally.h - what each rule came to: how near a method came that it does not fit, and what it fits that has no IL.
 *
 * Any thread; a lock inside, under which no runtime is called. A rule is known by its identity, so that one that stays
 * when files change keeps its tally.
 */
#ifndef SXS_REWRITE_TALLY_H
#define SXS_REWRITE_TALLY_H

#include "instr/config/config.h"

/** sxs_tally_config - these rules are in force, no others. Records those that are new, or gone. */
void sxs_tally_config(const struct sxs_config *config);

/** sxs_tally_wants - does @rule fit nothing so far? */
int sxs_tally_wants(const struct sxs_rule *rule);

/** sxs_tally_reach - a method, a type or an assembly came as near as @reach. @name: of what comes next and does not
 *  fit, or the parameters; NULL: nothing to say. */
void sxs_tally_reach(const struct sxs_rule *rule, enum sxs_config_reach reach, const char *name);

/** sxs_tally_without_il - @rule fits @name, which has no IL. */
void sxs_tally_without_il(const struct sxs_rule *rule, const char *name);

/** sxs_tally_record - what changed since: into the file, and once for a rule into the log what has no IL. */
void sxs_tally_record(void);

#endif
