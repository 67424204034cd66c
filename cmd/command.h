/* SPDX-License-Identifier: MIT */
/** command.h - shared by all verbs of the command: entry points, exit statuses, messages. */
#ifndef SXS_CMD_COMMAND_H
#define SXS_CMD_COMMAND_H

#ifndef SXS_VERSION
#define SXS_VERSION "0.1.0"
#endif

/* Exit statuses of all verbs except "run", which returns the exit status of its command. */
enum sxs_exit {
    SXS_EXIT_OK = 0,
    SXS_EXIT_PROBLEM = 1, /* the verb ran and found a problem */
    SXS_EXIT_USAGE = 2,   /* wrong input; nothing was started or changed */
};

/* The verbs, one function each. @argv[0] is the name for messages: "sxsprof run". Each returns an
 * exit status. */
int sxs_cmd_run(int argc, char **argv);
int sxs_cmd_report(int argc, char **argv);
int sxs_cmd_diff(int argc, char **argv);
int sxs_cmd_pack(int argc, char **argv);
int sxs_cmd_runtimes(int argc, char **argv);
int sxs_cmd_doctor(int argc, char **argv);
int sxs_cmd_il(int argc, char **argv);
int sxs_cmd_check(int argc, char **argv);

/** sxs_complain - print one line "sxsprof: ..." on standard error. */
void sxs_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * sxs_wrong_input - print a message like sxs_complain(). Returns SXS_EXIT_USAGE, so that a verb can
 * return its result.
 */
int sxs_wrong_input(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** Output formats of "runtimes". */
enum sxs_format { SXS_FORMAT_TEXT, SXS_FORMAT_JSON };

/** sxs_format_parse - convert "text" or "json" to @out. Returns 0, or -1 when @text is neither. */
int sxs_format_parse(const char *text, enum sxs_format *out);

/**
 * sxs_finish_output - flush standard output. Returns SXS_EXIT_OK, or SXS_EXIT_PROBLEM after
 * printing a message when flushing failed.
 */
int sxs_finish_output(void);

#endif
