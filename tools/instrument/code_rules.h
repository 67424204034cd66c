/* SPDX-License-Identifier: MIT */
/** code_rules.h - tells which rules run code that they name or contain: <inject>, and calls of libraries and
 *  assemblies. */
#ifndef SXS_TOOLS_INSTRUMENT_CODE_RULES_H
#define SXS_TOOLS_INSTRUMENT_CODE_RULES_H

#include <stddef.h>

#include "instr/config/config.h"

/** sxs_rules_have_code - return 1 if the rules run code of their own, with the place of the first in @why. */
int sxs_rules_have_code(const struct sxs_config *config, char *why, size_t size);

/** sxs_rules_lie_open - return 1 with the reason in @why if a file of rules that run code lies where every user can
 *  change or replace it (base/code_path.h). */
int sxs_rules_lie_open(const struct sxs_config *config, char *why, size_t size);

#endif
