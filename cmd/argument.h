/* SPDX-License-Identifier: MIT */
/** argument.h - parsers of arguments that several verbs have in common. A wrong argument ends the command with
 *  a message, as argp_error() does. */
#ifndef SXS_CMD_ARGUMENT_H
#define SXS_CMD_ARGUMENT_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmd/command.h"

/** sxs_number_argument - parse @text, which must be a number from 1 to a million. @option: its option,
 *  as "--top", for the message. */
unsigned long sxs_number_argument(struct argp_state *state, const char *option, const char *text);

/** sxs_format_argument - parse the argument of --format: "text" or "json". */
enum sxs_format sxs_format_argument(struct argp_state *state, const char *text);

/** sxs_format_parser - parser of argp of a verb that has no argument, and no option but --format,
 *  of key 'f'. state->input: an enum sxs_format. */
error_t sxs_format_parser(int key, char *arg, struct argp_state *state);

/** sxs_process_argument - take the one process that a verb is about: a PID or a name. For a parser of
 *  argp that has no use for @key itself. @process: where it is put; NULL before. Returns what the
 *  parser returns. */
error_t sxs_process_argument(int key, char *arg, struct argp_state *state, const char **process);

/** sxs_duration_argument - parse a duration: "30s", "500ms", "10m", "2h", "1d"; without a unit, seconds.
 *  From 1 ms to a year. Returns milliseconds. @option: as above. */
uint64_t sxs_duration_argument(struct argp_state *state, const char *option, const char *text);

/** sxs_page_format - choose the format when the arguments are complete: html with --open, else what the
 *  ending of @output means, else text.
 *  @format: argument of --format, or NULL. @open: --open was given; then @format may only be html.
 *  @output: as below. */
const char *sxs_page_format(struct argp_state *state, const char *format, bool open,
                            const char *output);

/** sxs_check_terminal - refuse to write a format that is not text for people to a terminal: a page, or
 *  bytes. @output: argument of --output; NULL or "-": standard output. */
void sxs_check_terminal(struct argp_state *state, const char *format, const char *output);

/** sxs_newest_argument - return the name of the newest session in the current folder, which is printed,
 *  too. Valid until the next call. @what, @expected: the argument that is missing and what it can be,
 *  for the message when there is no session. */
const char *sxs_newest_argument(struct argp_state *state, const char *what, const char *expected);

#endif
