/* SPDX-License-Identifier: MIT */
/**
 * profile.h - reports of samples and calls. The data are described in cmd/report/model.h, the
 * formats in cmd/report/format.h.
 */
#ifndef SXS_CMD_REPORT_PROFILE_H
#define SXS_CMD_REPORT_PROFILE_H

#include "cmd/report/model.h"

/** Result of a report or a difference. Messages have been printed on standard error. */
enum sxs_profile_result {
    SXS_PROFILE_OK = 0,
    SXS_PROFILE_DAMAGED = 1,  /* written, but something in the session was damaged */
    SXS_PROFILE_NOTHING = 2,  /* nothing that was requested is there; nothing was written */
    SXS_PROFILE_NO_FORMAT = 3,/* there is no such format, or it cannot show the data; nothing was
                               * written */
    SXS_PROFILE_FAILED = 4,   /* the session cannot be opened, or the output cannot be written */
};

/**
 * sxs_profile_report - write the samples or calls of session @v in @format to options->output.
 * The formats html and chrome include exceptions and events.
 * An HTML page is not meant for a terminal: set an output file. An existing file is replaced only
 * when the new file is complete.
 */
enum sxs_profile_result sxs_profile_report(const struct sxs_opened *v, const char *format,
                                           const struct sxs_report_options *options);

/**
 * sxs_profile_summary - write the first sections of the text report of @v to @to, with @top functions.
 * Returns the same results. From then on, no debuginfod server is asked.
 */
enum sxs_profile_result sxs_profile_summary(const struct sxs_opened *v, size_t top, FILE *to);

/**
 * sxs_profile_diff - write what changed from session @a to session @b, as shares of each session's
 * weight. @format: "text", the functions that changed; or "html", one page with the flame graph of session
 * @b, coloured by what grew and shrank.
 * @options: as above, for both sessions.
 */
enum sxs_profile_result sxs_profile_diff(const struct sxs_opened *a, const struct sxs_opened *b,
                                         const char                      *format,
                                         const struct sxs_report_options *options);

/**
 * sxs_profile_write - write a model that was not loaded from a session in @format to options->output,
 * like sxs_profile_report(). @m: has at least one process. Not in chrome or firefox, which show single
 * samples.
 */
enum sxs_profile_result sxs_profile_write(const struct sxs_model *m, const char *format,
                                          const struct sxs_report_options *options);

/** sxs_profile_write_diff - write the page of sxs_profile_diff() of two such models. @names: what they
 *  are called on the page. */
enum sxs_profile_result sxs_profile_write_diff(const struct sxs_model *a, const struct sxs_model *b,
                                               const char *const                names[2],
                                               const struct sxs_report_options *options);

/** sxs_profile_has - return true when a process of session @v recorded @data, not SXS_DATA_ANY. */
bool sxs_profile_has(const struct sxs_opened *v, enum sxs_data data);

/**
 * sxs_profile_data - return the data that a report about one kind of data shows: that of @options, or the first of
 * samples, calls, alloc, native and locks that session @v has. It may have none of them; then SXS_DATA_SAMPLES.
 */
enum sxs_data sxs_profile_data(const struct sxs_opened         *v,
                               const struct sxs_report_options *options);

/** sxs_profile_stack_data - likewise, without calls as long as there are samples or costs: what JSON has with stacks. */
enum sxs_data sxs_profile_stack_data(const struct sxs_opened         *v,
                                     const struct sxs_report_options *options);

/** sxs_profile_has_samples - return true when a process of session @v was sampled. */
bool sxs_profile_has_samples(const struct sxs_opened *v);

/** sxs_profile_has_stacks - return true when a process of session @v has samples or costs. */
bool sxs_profile_has_stacks(const struct sxs_opened *v);

/** sxs_profile_has_calls - return true when calls of a process of session @v were counted. */
bool sxs_profile_has_calls(const struct sxs_opened *v);

/**
 * sxs_profile_has_events - return true when exceptions or events of a process of session @v were
 * recorded.
 */
bool sxs_profile_has_events(const struct sxs_opened *v);

/**
 * sxs_profile_has_traced - return true when calls of instrumented methods in a process of session
 * @v were traced.
 */
bool sxs_profile_has_traced(const struct sxs_opened *v);

struct argp_state;
/**
 * sxs_data_option - convert the value of --data. A wrong value is a usage error, which ends the
 * command.
 */
enum sxs_data sxs_data_option(const struct argp_state *state, const char *text);

/** sxs_profile_formats - return "text, html, ...", for messages and --help. Static. */
const char *sxs_profile_formats(void);

/** sxs_profile_has_format - return true when @name is a format. */
bool sxs_profile_has_format(const char *name);

#endif
