/* SPDX-License-Identifier: MIT */
/** command.h - shared by all verbs of the command: entry points, exit statuses, messages. */
#ifndef SXS_CMD_COMMAND_H
#define SXS_CMD_COMMAND_H

#include "cmd/output/exits.h"

struct argp;
struct argp_option;

/* The verbs, a function each, and the options that they have. @argv[0] is the name for messages:
 * "sxsprof record". Each function returns an exit status. */
int sxs_cmd_stop(int argc, char **argv);
int sxs_cmd_status(int argc, char **argv);
int sxs_cmd_snapshot(int argc, char **argv);
int sxs_cmd_report(int argc, char **argv);
int sxs_cmd_diff(int argc, char **argv);
int sxs_cmd_top(int argc, char **argv);
int sxs_cmd_heap(int argc, char **argv);
int sxs_heap_report(int argc, char **argv); /* heap of a session or process: no command */
int sxs_cmd_serve(int argc, char **argv);
int sxs_cmd_env(int argc, char **argv);
int sxs_cmd_pack(int argc, char **argv);
int sxs_cmd_push(int argc, char **argv);
int sxs_cmd_fleet(int argc, char **argv);
int sxs_cmd_runtimes(int argc, char **argv);
int sxs_cmd_doctor(int argc, char **argv);
int sxs_cmd_check(int argc, char **argv);
int sxs_cmd_il(int argc, char **argv);
int sxs_cmd_ps(int argc, char **argv);
int sxs_cmd_detach(int argc, char **argv);

extern const struct argp sxs_argp_stop, sxs_argp_status, sxs_argp_snapshot, sxs_argp_report,
    sxs_argp_diff, sxs_argp_pack, sxs_argp_heap, sxs_argp_runtimes, sxs_argp_doctor, sxs_argp_check,
    sxs_argp_il, sxs_argp_ps, sxs_argp_detach, sxs_argp_top, sxs_argp_serve, sxs_argp_push,
    sxs_argp_fleet;

/** sxs_env_argp - return the options of "env". @verb: not used. Static. */
const struct argp *sxs_env_argp(const char *verb);

/**
 * sxs_options_parse - parse the options of a verb, which also has --help, -h, --usage and
 * --version.
 * @argp, @argc, @argv, @flags, @input: as for argp_parse(3). A wrong option ends the process with
 * SXS_EXIT_USAGE; help and version end it with SXS_EXIT_OK.
 */
void sxs_options_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/** sxs_options_each - call @take for each option of @argp and of what it consists of, with @arg. */
void sxs_options_each(const struct argp *argp,
                      void (*take)(const struct argp_option *option, void *arg), void *arg);

/** sxs_version - return "sxsprof VERSION (COMMIT)". Static. */
const char *sxs_version(void);

/** sxs_complain - print one line "sxsprof: ..." on standard error, as sxs_print_to() does. */
void sxs_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * sxs_wrong_input - print a message like sxs_complain(). Returns SXS_EXIT_USAGE, so that a verb can
 * return its result.
 */
int sxs_wrong_input(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** Output formats of "runtimes" and "ps". */
enum sxs_format { SXS_FORMAT_TEXT, SXS_FORMAT_JSON };

/**
 * sxs_finish_output - flush standard output. Returns SXS_EXIT_OK, or SXS_EXIT_PROBLEM after
 * printing a message when flushing failed.
 */
int sxs_finish_output(void);

#endif
