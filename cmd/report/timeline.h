/* SPDX-License-Identifier: MIT */
/**
 * timeline.h - data of the page's timeline: traced calls, events and exceptions by thread.
 *
 * The timeline is built from loaded models; texts and frames are numbers in the main model. Times
 * are ns since zero_ns, durations ns. Calls and events that do not fit into a page are left out,
 * the shortest first, and counted.
 */
#ifndef SXS_CMD_REPORT_TIMELINE_H
#define SXS_CMD_REPORT_TIMELINE_H

#include "cmd/report/model.h"

struct sxs_line_call {
    uint64_t start_ns, duration_ns;
    uint32_t thread, frame; /* indexes in the main model */
    uint32_t depth;         /* number of enclosing recorded calls; 0: outermost */
    uint32_t arguments, result : 31; /* numbers in the timeline's values; 0: none */
    uint32_t unwound : 1;            /* the call was left by an exception */
};

/**
 * An event, from struct sxs_events_span, or from a pause of the samples where no events were
 * recorded.
 */
struct sxs_line_span {
    uint64_t start_ns, duration_ns, pause_ns;
    uint32_t thread;  /* index + 1; 0: no thread, or not known */
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

struct sxs_line_throw_site {
    uint32_t type, message, thrown, caught, fate, process;
    uint16_t runtime;
    bool     rethrown;
    uint64_t n, total_ns;
};

/** The changes of one runtime's thread pool, in order of time. */
struct sxs_line_pool {
    uint32_t               process;
    uint16_t               runtime; /* index + 1 */
    size_t                 n;
    struct sxs_model_pool *changes; /* owned */
};

/** How many items of a kind were left out; none lasted longer than @longest_ns. */
struct sxs_line_left {
    uint64_t n, longest_ns;
};

struct sxs_timeline {
    uint64_t                   zero_ns, span_ns;
    struct sxs_line_call      *calls; /* by thread, then time, then depth */
    struct sxs_line_span      *spans; /* by time */
    struct sxs_line_exception *exceptions;
    struct sxs_line_throw_site *throw_sites;
    size_t                      n_calls, n_spans, n_exceptions, n_throw_sites;
    size_t                      cap_calls, cap_spans, cap_exceptions, cap_throw_sites;
    struct sxs_line_pool      *pools; /* of each runtime that has changes */
    size_t                     n_pools;
    uint32_t                   tools; /* enum sxs_events_tool_bit, of all processes */
    uint64_t                   spans_lost, exceptions_lost, calls_lost; /* lost during recording */
    struct sxs_strings         values; /* arguments and results */
    struct sxs_line_left       calls_left, spans_left, values_left; /* values: calls without them */
    uint32_t                   sample_step; /* one of this many samples is shown; 0: no samples */
};

/** Limits of what a page contains, each. */
#define SXS_LINE_CALLS_MAX    (2u << 20)
#define SXS_LINE_SPANS_MAX    (1u << 20)
#define SXS_LINE_SAMPLES_MAX  (1u << 20)
#define SXS_LINE_VALUE_BYTES  8u /* of arguments and results, times the maximum number of calls */

/**
 * sxs_timeline_build - build the timeline.
 * @m: the main model. Its threads, runtimes and strings grow, and its frames, too, unless @calls is
 * @m.
 * @calls: the model with traced calls, @m or another one; NULL: there are none.
 * @o: selects runtime, thread and limits. @out: overwritten; release it with sxs_timeline_free().
 */
void sxs_timeline_build(struct sxs_model *m, const struct sxs_model *calls,
                        const struct sxs_report_options *o, struct sxs_timeline *out);
void sxs_timeline_free(struct sxs_timeline *t);
/**
 * sxs_timeline_keep_values - used by sxs_timeline_build(): move values of calls to the timeline.
 * The values of the longest calls are kept, up to the limit of bytes.
 * @from: the table in which the calls' values are numbered. @calls: maximum number of calls in the
 * page.
 */
void sxs_timeline_keep_values(struct sxs_timeline *t, const struct sxs_strings *from, size_t calls);

/**
 * sxs_timeline_take_pools - used by sxs_timeline_build(): copy the changes of thread pools.
 * @o: selects the runtime. */
void sxs_timeline_take_pools(struct sxs_timeline *t, const struct sxs_model *m,
                             const struct sxs_report_options *o);
/** sxs_timeline_write_pools, sxs_timeline_free_pools - used by sxs_timeline_write() and
 *  sxs_timeline_free(). */
void sxs_timeline_write_pools(const struct sxs_timeline *t, FILE *to);
void sxs_timeline_free_pools(struct sxs_timeline *t);

/**
 * sxs_timeline_write - write the page's key "line".
 * @place: for each node of the model, its position in the page's tree.
 */
void sxs_timeline_write(const struct sxs_timeline *t, const struct sxs_model *m,
                        const uint32_t *place, FILE *to);

#endif
