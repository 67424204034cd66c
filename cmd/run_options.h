/* SPDX-License-Identifier: MIT */
/**
 * run_options.h - the options of "run", which its shortcuts and "env" have, too.
 *
 * A value is checked as soon as it is parsed; a wrong value ends the process with a usage error.
 */
#ifndef SXS_CMD_RUN_OPTIONS_H
#define SXS_CMD_RUN_OPTIONS_H

#include "base/knob.h"
#include "cmd/child_env.h"
#include "cmd/keep_options.h"
#include "cmd/out_dir.h"

#include <argp.h>
#include <stdbool.h>

/** Zeroed at first; release with sxs_run_options_free(). */
struct sxs_run_options {
    const char *unpicked, *signals, *out; /* borrowed */
    char       *pick;                     /* owned */
    char       *tools;                    /* owned, separated by ';' */
    char       *calls, *calls_not;        /* owned, separated by ';' */
    char       *values;                   /* owned, separated by ';' */
    const char             *mask;                     /* borrowed */
    char       *instrument;               /* owned, absolute */
    char       *guests;                   /* owned, for SXSPROF_GUESTS */
    char       *methods;                  /* owned, for SXSPROF_METHODS */
    bool        adopt; /* run the profilers that the environment names as guests */
    bool        heap_at_exit; /* use the tool "heap" with at-exit */
    bool        append, no_preload, quiet;
    struct sxs_keep_options keep; /* segments instead of one session */
    /* Set before parsing. */
    bool        no_command; /* the verb has no COMMAND */
    const char *first_tool; /* tool of a shortcut, read when all options are parsed; NULL: none */
    char      **command;    /* borrowed from main's argv */
};

/** Keys of the options, for sxs_run_option(). */
enum {
    SXS_RUN_PICK = 1000,
    SXS_RUN_UNPICKED,
    SXS_RUN_TOOL,
    SXS_RUN_CALLS,
    SXS_RUN_CALLS_NOT,
    SXS_RUN_VALUES,
    SXS_RUN_MASK,
    SXS_RUN_INSTRUMENT,
    SXS_RUN_APPEND,
    SXS_RUN_NO_PRELOAD,
    SXS_RUN_SIGNALS,
    SXS_RUN_QUIET,
    SXS_RUN_GUEST,
    SXS_RUN_ADOPT,
    SXS_RUN_METHOD,
    SXS_RUN_HEAP_AT_EXIT,
};

/** The options and the command, as a child of a verb's argp. Input: struct sxs_run_options. */
extern const struct argp sxs_argp_run_options;

/**
 * sxs_run_option - handle the option @key with its argument @arg, as argp's parser does.
 * @source: the name of the option in messages; NULL: its own name.
 */
error_t sxs_run_option(int key, const char *source, char *arg, struct argp_state *state,
                       struct sxs_run_options *o);

/** sxs_run_options_complete - add the tools that other options imply, when all options are parsed. */
void sxs_run_options_complete(struct argp_state *state, struct sxs_run_options *o);

/**
 * sxs_run_inherited - check the variables that no option replaces. The library will read them from
 * the inherited environment, so a wrong value is wrong input, too.
 * Returns 0, or SXS_EXIT_USAGE after a message.
 */
int sxs_run_inherited(const struct sxs_run_options *o);

/**
 * sxs_run_records - return true when a tool that the command will run with records more than the
 * table of runtimes.
 */
bool sxs_run_records(const struct sxs_run_options *o);

/** sxs_run_has_tool - return true when the command will run with the tool @name. */
bool sxs_run_has_tool(const struct sxs_run_options *o, const char *name);

/** sxs_run_tool_options - copy the options of the tool @name to @out: what is behind "NAME:", or "".
 *  Returns false when the command will run without that tool, or there is no room for them. */
bool sxs_run_tool_options(const struct sxs_run_options *o, const char *name, char *out,
                          size_t size);

/** sxs_run_rules - return the file or folder of rules for the tool instrument; NULL: none. */
const char *sxs_run_rules(const struct sxs_run_options *o);

/** sxs_run_picked - return the value of SXSPROF_PICK for the command; NULL: not set. Borrowed. */
const char *sxs_run_picked(const struct sxs_run_options *o);

/** sxs_run_user_tails - return the value of DOTNET_FastTailCalls or COMPlus_FastTailCalls that the
 *  user has set; NULL: not set. Borrowed. @variable: receives the variable's name. */
const char *sxs_run_user_tails(char variable[SXS_KNOB_SIZE]);

/** sxs_run_out_use - return what the folder of -o may have in it. */
enum sxs_out_use sxs_run_out_use(const struct sxs_run_options *o);

/**
 * sxs_run_settings - return the environment that the options ask for. Borrows its strings from the
 * parameters. @out: the session folder, absolute; NULL: not set.
 */
struct sxs_child_settings sxs_run_settings(const struct sxs_run_options *o,
                                           const struct sxs_library *lib, const char *out);

void sxs_run_options_free(struct sxs_run_options *o);

#endif
