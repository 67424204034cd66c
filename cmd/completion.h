/* SPDX-License-Identifier: MIT */
/** completion.h - shell completion, generated from the tables of verbs and options. */
#ifndef SXS_CMD_COMPLETION_H
#define SXS_CMD_COMPLETION_H

/**
 * sxs_print_completion - print the completion of the command for @shell, "bash" or "zsh".
 * Returns an exit status.
 */
int sxs_print_completion(const char *shell);

#endif
