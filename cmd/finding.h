/* SPDX-License-Identifier: MIT */
/**
 * finding.h - what the doctor says: fine, worth knowing, or wrong; and what to do.
 */
#ifndef SXS_REPORT_FINDING_H
#define SXS_REPORT_FINDING_H

/** One examination; prints on stdout as it goes. */
struct sxs_findings {
    unsigned n_problems;
};

/** sxs_found_title - begin a section. */
void sxs_found_title(const char *title);

/** sxs_found_ok, _note, _problem - one line each; a problem counts. */
void sxs_found_ok(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void sxs_found_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void sxs_found_problem(struct sxs_findings *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/** sxs_found_advice - what to do about the line before. */
void sxs_found_advice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
