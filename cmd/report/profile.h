/* SPDX-License-Identifier: MIT */
/**
 * profile.h - reports of samples and calls, for the command. What is reported: model.h; formats: format.h.
 */
#ifndef SXS_REPORT_PROFILE_PROFILE_H
#define SXS_REPORT_PROFILE_PROFILE_H

#include "cmd/report/model.h"

/** What a report or a difference ended with; complaints have been printed on standard error. */
enum sxs_profile_result {
    SXS_PROFILE_OK = 0,
    SXS_PROFILE_DAMAGED = 1,  /* written, but something in the session was not whole */
    SXS_PROFILE_NOTHING = 2,  /* nothing here that was asked for; nothing was written */
    SXS_PROFILE_NO_FORMAT = 3,/* nothing was written */
    SXS_PROFILE_FAILED = 4,   /* the session cannot be opened, or the output cannot be written */
};

/**
 * sxs_profile_report - write the samples or calls of session @dir in @format to options->output;
 * html and chrome with its exceptions and events.
 * "html" cannot be told from text by a terminal: give an output. A file is replaced when complete,
 * never left half-written.
 */
enum sxs_profile_result sxs_profile_report(const char *dir, const char *format,
                                           const struct sxs_report_options *options);

/** sxs_profile_summary - the first lines of the text report of @dir, to @to. Returns as above. */
enum sxs_profile_result sxs_profile_summary(const char *dir, FILE *to);

/**
 * sxs_profile_diff - one HTML page: the flame graph of session @b, coloured by what grew and shrank
 * since session @a, in shares of each session's weight. @options: as above, for both.
 */
enum sxs_profile_result sxs_profile_diff(const char *a, const char *b,
                                         const struct sxs_report_options *options);

/** sxs_profile_has_samples - true when a process of the session @dir was sampled. */
bool sxs_profile_has_samples(const char *dir);

/** sxs_profile_has_calls - true when calls of a process of the session @dir were counted. */
bool sxs_profile_has_calls(const char *dir);

/** sxs_profile_has_events - true when exceptions or events of a process of it were recorded. */
bool sxs_profile_has_events(const char *dir);

/** sxs_profile_has_traced - true when single calls of traced methods of a process of it were recorded. */
bool sxs_profile_has_traced(const char *dir);

struct argp_state;
/** sxs_data_option - what --data says; a usage error, which ends the command, when it is neither. */
enum sxs_data sxs_data_option(const struct argp_state *state, const char *text);

/** sxs_profile_formats - "text, collapsed, ...", for messages and --help. Static. */
const char *sxs_profile_formats(void);

/** sxs_profile_format_known - is @name one of them? */
bool sxs_profile_format_known(const char *name);

#endif
