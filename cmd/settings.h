/* SPDX-License-Identifier: MIT */
/**
 * settings.h - valid values of the SXSPROF_ variables, and the names of the tools.
 *
 * There is one row per variable. "run" checks its options and the inherited environment by these
 * rows, and "doctor" checks the environment, so that both give the same answer.
 */
#ifndef SXS_CMD_SETTINGS_H
#define SXS_CMD_SETTINGS_H

#include "tools/options/tool_options.h"

#include <stddef.h>

/** A setting of the profiler library. */
struct sxs_setting {
    const char *variable; /* "SXSPROF_PICK" */
    const char *option;   /* of "run": "--pick"; NULL when there is no option */
    const char *expected; /* for messages; NULL: the text from check() is sufficient */
    /* Returns NULL when @value is valid, else the reason (static, or written to @why of @size
     * bytes). */
    const char *(*check)(const char *value, char *why, size_t size);
};

extern const struct sxs_setting sxs_settings[];
extern const size_t             sxs_n_settings;

/** sxs_setting_find - return the row of @variable; NULL when there is none. */
const struct sxs_setting *sxs_setting_find(const char *variable);

/**
 * sxs_setting_check - check @value by the row @s.
 * @source: the origin of the value in messages: "--pick" or the variable's name.
 * @why: receives a sentence about a wrong value; holds @size bytes, longer text is cut.
 * Returns 0 or -1.
 */
int sxs_setting_check(const struct sxs_setting *s, const char *source, const char *value, char *why,
                      size_t size);

/**
 * sxs_tool_check - check one "NAME[:OPTIONS]". Returns NULL when it is valid, else a sentence that
 * says what is wrong and what was expected, written to @why of @size bytes.
 */
const char *sxs_tool_check(const char *tool, char *why, size_t size);

/** sxs_tool_names - return the names of the tools with @separator between them. Valid until the
 *  next call. */
const char *sxs_tool_names(const char *separator);

/**
 * sxs_tool_option_check - check @value (NULL: none) of one option. Returns NULL when it is valid,
 * else what was expected (static).
 */
const char *sxs_tool_option_check(const struct sxs_tool_option *row, const char *value);

#endif
