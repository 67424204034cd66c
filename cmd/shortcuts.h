/* SPDX-License-Identifier: MIT */
/**
 * shortcuts.h - verbs that equal "run --tool NAME:OPTIONS": sample, calls, trace, exceptions,
 * events, instrument.
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

#endif
