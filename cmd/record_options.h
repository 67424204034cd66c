/* SPDX-License-Identifier: MIT */
/**
 * record_options.h - the options that all recording verbs share: the rows of cmd/settings.h.
 *
 * A value is checked as soon as it is parsed; a wrong value ends the process with a usage error.
 */
#ifndef SXS_CMD_RECORD_OPTIONS_H
#define SXS_CMD_RECORD_OPTIONS_H

#include "base/knob.h"
#include "cmd/child_env.h"
#include "cmd/out_dir.h"
#include "cmd/record_outputs.h"
#include "cmd/settings.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

/** Zeroed at first; release with sxs_record_options_free(). */
struct sxs_record_options {
    char *set
        [SXS_N_SETTINGS]; /* owned; what was given, NULL: nothing; several values are joined by the
                                * separator of the row; a switch is "on" */
    struct sxs_record_outputs outputs;               /* what each -o names */
    uint64_t                  duration_ms, delay_ms; /* 0: none */
    /* Set before parsing. */
    unsigned    with;         /* SXS_WITH_...: with what the verb can record */
    const char *first_tool;   /* the verb's own tool, before those of --tool; NULL: none */
    const char *default_tool; /* if no tool is given; NULL: none is needed */
    /* Set by parsing. */
    enum sxs_setting_with chosen;  /* one of @with */
    char                **command; /* borrowed from main's argv; NULL: none */
};

/**
 * sxs_record_argp - return the shared options as a child of a verb's argp. Input: struct
 * sxs_record_options. Static; overwritten by the next call.
 * @with: those that can be used with one of these. @tool: help lists only the most important ones, and those of
 * this tool; NULL: all.
 */
const struct argp *sxs_record_argp(unsigned with, const char *tool);

/**
 * sxs_record_set - take an argument of the setting @id, as the parser of sxs_record_argp() does.
 * @source: the name of the option in messages; NULL: its own name. @arg: NULL for a switch.
 */
void sxs_record_set(enum sxs_setting_id id, const char *source, const char *arg,
                    struct argp_state *state, struct sxs_record_options *o);

/** sxs_record_complete - check what the options say together, when all are parsed, and add what follows
 *  from them. */
void sxs_record_complete(struct argp_state *state, struct sxs_record_options *o);

/**
 * sxs_record_inherited - check the variables that no option replaces. The library will read them from
 * the inherited environment, so a wrong value is wrong input, too.
 * Returns 0, or SXS_EXIT_USAGE after a message.
 */
int sxs_record_inherited(const struct sxs_record_options *o);

/** sxs_record_is_segments - return true when segments are recorded (continuous mode). */
bool sxs_record_is_segments(const struct sxs_record_options *o);

/**
 * sxs_record_records - return true when a tool that will be used records more than the table of
 * runtimes.
 */
bool sxs_record_records(const struct sxs_record_options *o);

/** sxs_record_has_tool - return true when the tool @name will be used. */
bool sxs_record_has_tool(const struct sxs_record_options *o, const char *name);

/** sxs_record_only_heap - return true when heap snapshots are taken, and nothing else is recorded. */
bool sxs_record_only_heap(const struct sxs_record_options *o);

/** sxs_record_tool_options - copy the options of the tool @name to @out: what follows "NAME:", or "".
 *  Returns false when that tool will not be used, or there is no room for them. */
bool sxs_record_tool_options(const struct sxs_record_options *o, const char *name, char *out,
                             size_t size);

/** sxs_record_rules - return the file or folder of rules for the tool instrument; NULL: none. */
const char *sxs_record_rules(const struct sxs_record_options *o);

/** sxs_record_picked - return the value of SXSPROF_PICK for the command; NULL: not set. Borrowed. */
const char *sxs_record_picked(const struct sxs_record_options *o);

/** sxs_record_user_tails - return the value of DOTNET_FastTailCalls or COMPlus_FastTailCalls that the
 *  user has set; NULL: not set. Borrowed. @variable: receives the variable's name. */
const char *sxs_record_user_tails(char variable[SXS_KNOB_SIZE]);

/** sxs_record_out_use - return what the session folder may have in it. */
enum sxs_out_use sxs_record_out_use(const struct sxs_record_options *o);

/**
 * sxs_record_open_out - open the session folder of -o, or make one.
 * @keep: one that is made is kept when the recording has ended; else it is temporary.
 * Returns an exit status, after a message unless it is SXS_EXIT_OK.
 */
int sxs_record_open_out(const struct sxs_record_options *o, bool keep, struct sxs_out_dir *out);

/**
 * sxs_record_environment - return the environment that the options ask for. Borrows its strings from
 * the parameters. @out: the session folder, absolute; NULL: not set.
 */
struct sxs_child_settings sxs_record_environment(const struct sxs_record_options *o,
                                                 const struct sxs_library *lib, const char *out);

struct sxs_message_writer;
/**
 * sxs_record_add_settings - add to @w the settings that a request to a process has: tools, pick, mask and all others
 * that have a key in the table (cmd/settings.h). @options: const struct sxs_record_options *.
 */
void sxs_record_add_settings(const void *options, struct sxs_message_writer *w);

void sxs_record_options_free(struct sxs_record_options *o);

#endif
