/* SPDX-License-Identifier: MIT */
/**
 * settings.h - the one table of the settings of a recording, and the names of the tools.
 *
 * A row has everything that is known of a setting: its option, its argument and help, its variable in
 * the environment of a command, its name in a request to a process that runs, with what it can be
 * combined, and which values are valid. The options of the recording verbs, their help and completion,
 * what `sxsprof env` prints, the environment of a command, requests, and the checks of `sxsprof doctor`
 * come from these rows, so that all accept the same.
 */
#ifndef SXS_CMD_SETTINGS_H
#define SXS_CMD_SETTINGS_H

#include "tools/options/tool_options.h"

#include <stdbool.h>
#include <stddef.h>

/** The settings, in the order in which help lists them. */
enum sxs_setting_id {
    SXS_SET_PROCESS,
    SXS_SET_DURATION,
    SXS_SET_OUT,
    SXS_SET_FORMAT,
    SXS_SET_TOOLS,
    SXS_SET_PICK,
    SXS_SET_UNPICKED,
    SXS_SET_CALLS,
    SXS_SET_CALLS_NOT,
    SXS_SET_VALUES,
    SXS_SET_MASK,
    SXS_SET_INSTRUMENT,
    SXS_SET_HEAP_AT_EXIT,
    SXS_SET_GUESTS,
    SXS_SET_ADOPT,
    SXS_SET_METHODS,
    SXS_SET_APPEND,
    SXS_SET_KEEP,
    SXS_SET_SEGMENT,
    SXS_SET_ON,
    SXS_SET_BUDGET,
    SXS_SET_NO_PRELOAD,
    SXS_SET_SIGNALS,
    SXS_SET_DELAY,
    SXS_SET_ALL,
    SXS_SET_BACKGROUND,
    SXS_SET_QUIET,
    SXS_SET_CONTROL,
    SXS_SET_LOG,
    SXS_N_SETTINGS
};

/** With what a setting can be used: bits of sxs_setting.with. */
enum sxs_setting_with {
    SXS_WITH_COMMAND = 1,    /* a command that is started */
    SXS_WITH_PROCESS = 2,    /* a process that runs, while sxsprof waits */
    SXS_WITH_BACKGROUND = 4, /* a process that runs, while sxsprof has ended */
    SXS_WITH_ENV = 8,        /* sxsprof env */
};

/** A setting of a recording. */
struct sxs_setting {
    const char *option;   /* "--pick"; NULL: it has none */
    char        letter;   /* 'o' of "-o"; '\0': none */
    const char *argument; /* in help: "all|first|one:WHAT"; NULL: a switch, whose value is "on" */
    const char *help;
    unsigned    with;     /* SXS_WITH_... */
    const char *variable; /* "SXSPROF_PICK"; NULL: none */
    const char *request;  /* its name in a request; NULL: none, or written by other code */
    const char *several; /* what its values are when the option may be given several times: "tools";
                           * NULL: the last one counts */
    char        separator; /* between such values, which cannot contain it */
    const char *tool;      /* whose setting it is; NULL: of all recordings */
    const char *expected;  /* for messages; NULL: the text from check() is sufficient */
    /* Returns NULL when @value, of the option or the variable, is valid, else the reason (static, or
     * written to @why of @size bytes). NULL: take() checks it, or the verb. */
    const char *(*check)(const char *value, char *why, size_t size);
    /* Turns the argument of the option into what the library gets: paths become absolute. Returns an
     * owned string, or NULL after writing what is wrong to @why. NULL: as it is. */
    char *(*take)(const char *argument, char *why, size_t size);
};

/** The rows, by enum sxs_setting_id. */
extern const struct sxs_setting sxs_settings[SXS_N_SETTINGS];

/** sxs_setting_find - return the row of @variable; NULL when there is none. */
const struct sxs_setting *sxs_setting_find(const char *variable);

/**
 * sxs_setting_check - check @value by the row @s, which has a check().
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

/** sxs_tool_exists - return true when a tool has the name @name, of @len bytes. */
bool sxs_tool_exists(const char *name, size_t len);

/**
 * sxs_tool_option_check - check @value (NULL: none) of one option. Returns NULL when it is valid,
 * else what was expected (static).
 */
const char *sxs_tool_option_check(const struct sxs_tool_option *row, const char *value);

#endif
