/* SPDX-License-Identifier: MIT */
/**
 * settings.h - what may stand in the SXSPROF_ variables, and the tools there are.
 *
 * One row per variable. "run" checks its options and the inherited environment against it, and
 * "doctor" the environment alone, so that both give the same answer.
 */
#ifndef SXS_REPORT_SETTINGS_H
#define SXS_REPORT_SETTINGS_H

#include <stddef.h>

/** A setting of the profiler library. */
struct sxs_setting {
    const char *variable; /* "SXSPROF_PICK" */
    const char *option;   /* of "run": "--pick"; NULL when there is none */
    const char *expected; /* for messages; NULL: what check() says has it all */
    /* Returns NULL when @value is good, else what is wrong with it (static text or @why). */
    const char *(*check)(const char *value, char *why, size_t size);
};

extern const struct sxs_setting sxs_settings[];
extern const size_t             sxs_n_settings;

/** sxs_setting_find - the row of @variable; NULL when there is none. */
const struct sxs_setting *sxs_setting_find(const char *variable);

/**
 * sxs_setting_check - hold @value against its row.
 * Returns 0; or -1 with a sentence in @why (@size bytes, cut when longer): what is wrong, in
 * what (@source: "--pick" or the variable's name), what was expected.
 */
int sxs_setting_check(const struct sxs_setting *s, const char *source, const char *value, char *why,
                      size_t size);

/** sxs_tool_check - one "NAME[:OPTIONS]". NULL when good, else what is wrong (static or @why). */
const char *sxs_tool_check(const char *tool, char *why, size_t size);

#endif
