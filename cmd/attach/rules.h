/* SPDX-License-Identifier: MIT */
/** rules.h - the file of rules that the tool instrument gets in a process that runs already. */
#ifndef SXS_CMD_ATTACH_RULES_H
#define SXS_CMD_ATTACH_RULES_H

#include "cmd/processes/process.h"

/**
 * sxs_rules_check - check the file that "instrument:config=FILE" names, if the tools do so. The
 * process reads the file itself, so its user must be able to, in its folders; if these are this
 * command's folders, too, the rules in the file must be valid.
 * @tools: "NAME:OPTIONS;NAME...". @p: the descriptor p->dir must be open.
 * Returns 0, or -1 with a sentence in @why (@size bytes).
 */
int sxs_rules_check(const struct sxs_process *p, const char *tools, char *why, size_t size);

#endif
