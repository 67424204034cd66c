/* SPDX-License-Identifier: MIT */
/**
 * condition.h - conditions on what functions use, such as "self(Shop.*)>5%", for sxsprof report --fail-if.
 *
 * A condition is text of the form
 *   self(PATTERN)<BOUND   total(PATTERN)>=BOUND
 * with one of < <= > >=. self is what the functions that fit PATTERN use themselves, total is what they use together
 * with everything that they call. A stack with several of these functions counts once. PATTERN is
 * [[VERSION/]ASSEMBLY:]NAME, as for --only of calls; without ASSEMBLY every assembly and every native library fits.
 * BOUND is a number with a unit: % of all; ns, us, ms, s; B, KiB, MiB, GiB; without a unit it is a number of what is
 * counted (samples, calls, objects, waits, exceptions). Spaces may stand on both sides of the comparison.
 *
 * Pure functions; any thread; not signal-safe.
 */
#ifndef SXS_CMD_REPORT_CONDITION_H
#define SXS_CMD_REPORT_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/options/calls_options.h"

enum sxs_condition_unit {
    SXS_CONDITION_PERCENT, /* of all that the report is about */
    SXS_CONDITION_NS,
    SXS_CONDITION_BYTES,
    SXS_CONDITION_COUNT,
};

enum sxs_comparison { SXS_LESS, SXS_NOT_MORE, SXS_MORE, SXS_AT_LEAST };

/** A condition. It has no memory of its own. */
struct sxs_condition {
    bool                     total;        /* of the functions with everything that they call */
    bool                     any_assembly; /* the pattern names none */
    struct sxs_calls_pattern pattern;
    enum sxs_comparison      comparison;
    double                   bound; /* in percent, ns, bytes or numbers, as `unit` says */
    enum sxs_condition_unit  unit;
    double scale;        /* what one of `unit_text` is: 1e6 for "ms"; 1 for "%" and numbers */
    char   unit_text[8]; /* "%", "ms"; "" for numbers */
    char   what[700];    /* "self(Shop.*)" */
};

#define SXS_CONDITION_EXPECTED                                             \
    "self(PATTERN) or total(PATTERN), then <, <=, > or >=, then a number " \
    "with %, ns, us, ms, s, B, KiB, MiB, GiB or no unit"

/**
 * sxs_condition_parse - parse @text.
 * @why: receives, after an error, one sentence that says at which character of @text, counted in bytes from 1, what
 * was expected; holds @size bytes.
 * Returns 0, or -EINVAL.
 */
int sxs_condition_parse(const char *text, struct sxs_condition *out, char *why, size_t size);

/**
 * sxs_condition_pattern_fits - return true when the condition is about a function.
 * @version: of its runtime; "native" for native code. @assembly: without folders and .dll; of native code the name of
 * the ELF file. @name: Namespace.Type.Method with or without parameters, or a native symbol.
 */
bool sxs_condition_pattern_fits(const struct sxs_condition *c, const char *version,
                                const char *assembly, const char *name);

/** What was measured, in the unit of the condition, and the bounds between which the true value lies in 19 of 20
 *  runs. All three are equal when everything was counted. @high is INFINITY when something was lost that
 *  nobody has counted. */
struct sxs_measured {
    double value, low, high;
};

enum sxs_verdict { SXS_NOT_MET, SXS_MET, SXS_UNDECIDED };

/** sxs_condition_decide - return whether the condition is met by all values from low to high, or by none of them; else
 *  SXS_UNDECIDED. */
enum sxs_verdict sxs_condition_decide(const struct sxs_condition *c, const struct sxs_measured *v);

/**
 * sxs_condition_share - return the interval of a share of samples (Wilson), which holds the true share in 19 of 20 runs.
 * @share: from 0 to 1. @n: number of samples, which need not be an integer; above 0.
 */
struct sxs_measured sxs_condition_share(double share, double n);

/**
 * sxs_condition_say - write one sentence about a verdict: "self(Shop.*) is 7.2 %, more than 5 %", or, when
 * undecided, "self(Shop.*) is 4.8 % (3.9 % to 5.9 % in 19 of 20 runs), which does not decide whether it is more than
 * 5 %". @buf: holds @size bytes. Returns @buf.
 */
const char *sxs_condition_say(const struct sxs_condition *c, const struct sxs_measured *v,
                              char *buf, size_t size);

#endif
