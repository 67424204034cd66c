/* SPDX-License-Identifier: MIT */
/**
 * timeline.h - what happened when, for the page: single calls, events and exceptions by thread.
 *
 * Built from models that have been loaded; texts and frames are those of the main one. Times are ns
 * since zero_ns, durations ns. What a page could not carry is left out, the shortest first, and
 * counted.
 */
#ifndef SXS_REPORT_PROFILE_TIMELINE_H
#define SXS_REPORT_PROFILE_TIMELINE_H

#include "cmd/report/model.h"

struct sxs_line_call {
    uint64_t start_ns, duration_ns;
    uint32_t thread, frame; /* of the main model */
    uint32_t depth;         /* 0: called by none that was recorded */
    uint32_t arguments, result : 31; /* of the timeline's values; 0: none */
    uint32_t unwound : 1;            /* an exception left it */
};

/** Of struct sxs_events_span; of samples' pauses too, where no events were recorded. */
struct sxs_line_span {
    uint64_t start_ns, duration_ns;
    uint32_t thread;  /* index + 1; 0: of none, or not known */
    uint32_t text, a, b, process;
    uint16_t runtime; /* index + 1; 0: not known */
    uint8_t  kind, tier;
    bool     failed;
};

struct sxs_line_exception {
    uint64_t start_ns, duration_ns;
    uint32_t thread; /* index + 1 */
    uint32_t type, message, thrown, caught, fate; /* strings */
    uint16_t runtime;
    bool     rethrown, cut;
};

struct sxs_line_site {
    uint32_t type, message, thrown, caught, fate, process;
    uint16_t runtime;
    bool     rethrown;
    uint64_t n, total_ns;
};

/** How many of a kind were left out; none of them lasted longer than @longest_ns. */
struct sxs_line_left {
    uint64_t n, longest_ns;
};

struct sxs_timeline {
    uint64_t                   zero_ns, span_ns;
    struct sxs_line_call      *calls; /* by thread, then time, then depth */
    struct sxs_line_span      *spans; /* by time */
    struct sxs_line_exception *exceptions;
    struct sxs_line_site      *sites;
    size_t                     n_calls, n_spans, n_exceptions, n_sites;
    size_t                     cap_calls, cap_spans, cap_exceptions, cap_sites;
    uint32_t                   tools; /* enum sxs_events_tool_bit, of any process */
    uint64_t                   spans_lost, exceptions_lost, calls_lost; /* in recording */
    struct sxs_strings         values; /* arguments and results */
    struct sxs_line_left       calls_left, spans_left, values_left; /* the last: calls without theirs */
    uint32_t                   sample_step; /* of this many samples, one is shown; 0: no samples */
};

/** Bounds of what a page carries, each. */
#define SXS_LINE_MOST_CALLS   (2u << 20)
#define SXS_LINE_MOST_SPANS   (1u << 20)
#define SXS_LINE_MOST_SAMPLES (1u << 20)
#define SXS_LINE_VALUE_BYTES  8u /* of arguments and results, for each call it may carry */

/**
 * sxs_timeline_build - @m: the main model, whose threads, runtimes, strings and, unless it is
 * @calls, frames grow. @calls: a model of single calls, @m or another one; NULL: there are none.
 * @out: overwritten; sxs_timeline_free().
 */
void sxs_timeline_build(struct sxs_model *m, const struct sxs_model *calls,
                        const struct sxs_report_options *o, struct sxs_timeline *out);
void sxs_timeline_free(struct sxs_timeline *t);
/** sxs_timeline_keep_values - for that: of the calls' values, numbers in @from, those of the longest calls,
 *  as far as there is room: they become the timeline's. @calls: as many as a page may have. */
void sxs_timeline_keep_values(struct sxs_timeline *t, const struct sxs_strings *from, size_t calls);

/** sxs_timeline_write - as the page's key "line". @place: of the model's nodes in the page's tree. */
void sxs_timeline_write(const struct sxs_timeline *t, const struct sxs_model *m,
                        const uint32_t *place, FILE *to);

#endif
