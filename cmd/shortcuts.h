/* SPDX-License-Identifier: MIT */
/**
 * shortcuts.h - verbs that equal "run --tool NAME:OPTIONS": sample, calls, trace, alloc, native,
 * locks, wait, exceptions, events, instrument.
 */
#ifndef SXS_CMD_SHORTCUTS_H
#define SXS_CMD_SHORTCUTS_H

#include <argp.h>

/** sxs_cmd_shortcut - run a shortcut. @argv[0]: "sxsprof sample". Returns an exit status. */
int sxs_cmd_shortcut(int argc, char **argv);

/**
 * sxs_shortcut_argp - return the options of the shortcut @verb, or NULL when there is none.
 * Static; overwritten by the next call.
 */
const struct argp *sxs_shortcut_argp(const char *verb);

/** sxs_shortcut_values - return the values that an option of the shortcut's tool takes, as in
 *  "count|time|tree|trace"; NULL when @verb is no shortcut or its tool has no such option. Static. */
const char *sxs_shortcut_values(const char *verb, const char *option);

#endif
