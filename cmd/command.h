/* SPDX-License-Identifier: MIT */
/**
 * command.h - what the verbs of the command share: entry points, exit statuses, messages.
 */
#ifndef SXS_REPORT_COMMAND_H
#define SXS_REPORT_COMMAND_H

#ifndef SXS_VERSION
#define SXS_VERSION "0.1.0"
#endif

/* Exit statuses of everything but "run", which passes its command's on. */
enum sxs_exit {
    SXS_EXIT_OK = 0,
    SXS_EXIT_PROBLEM = 1, /* it ran, and found something wrong */
    SXS_EXIT_USAGE = 2,   /* wrong input; nothing was started, nothing changed */
};

/* The verbs. @argv[0] is what messages call the command: "sxsprof run". Each returns its status. */
int sxs_cmd_run(int argc, char **argv);
int sxs_cmd_report(int argc, char **argv);
int sxs_cmd_diff(int argc, char **argv);
int sxs_cmd_runtimes(int argc, char **argv);
int sxs_cmd_doctor(int argc, char **argv);
int sxs_cmd_il(int argc, char **argv);
int sxs_cmd_check(int argc, char **argv);

/** sxs_complain - one line "sxsprof: ..." on stderr. */
void sxs_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** sxs_wrong_input - the same; returns SXS_EXIT_USAGE to return from a verb. */
int sxs_wrong_input(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** The two output formats of "report" and "runtimes". */
enum sxs_format { SXS_FORMAT_TEXT, SXS_FORMAT_JSON };

/** sxs_format_parse - "text" or "json" into @out. Returns 0, or -1 when @text is neither. */
int sxs_format_parse(const char *text, enum sxs_format *out);

/** sxs_finish_output - flush stdout; SXS_EXIT_PROBLEM and a message when that failed. */
int sxs_finish_output(void);

#endif
