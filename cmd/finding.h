/* SPDX-License-Identifier: MIT */
/**
 * finding.h - print the findings of "sxsprof doctor": a fact that is fine, worth knowing or a
 * problem, and how to correct it.
 */
#ifndef SXS_CMD_FINDING_H
#define SXS_CMD_FINDING_H

/** Result of the examinations, which print on standard output as they go. */
struct sxs_findings {
    unsigned n_problems;
};

/** sxs_found_title - begin a section. */
void sxs_found_title(const char *title);

/** sxs_found_ok, sxs_found_note, sxs_found_problem - print a line; a problem is counted in @f. */
void sxs_found_ok(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void sxs_found_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void sxs_found_problem(struct sxs_findings *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/** sxs_found_advice - print what to do about the previous line. */
void sxs_found_advice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
