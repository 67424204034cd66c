/* SPDX-License-Identifier: MIT */
/**
 * traces.h - the traces to which samples belong (W3C Trace Context): lists them with the time of
 * each, and finds the trace of a sample.
 *
 * A sample has the Activity that was current on its thread, for each runtime that had one. If there
 * are several, the sample belongs to that of the youngest managed frame whose runtime has one.
 */
#ifndef SXS_CMD_TRACES_TRACES_H
#define SXS_CMD_TRACES_TRACES_H

#include "cmd/output/opened.h"
#include "cmd/output/strings.h"
#include "session/read/samples_read.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/** Which traces are asked for. Borrowed; both NULL: all samples, also those without a trace. */
struct sxs_trace_choice {
    const char *trace;    /* its id, 32 hexadecimal digits, or the first of them */
    const char *endpoint; /* name of its endpoint, or a pattern (fnmatch) */
};

static inline bool sxs_trace_choice_is_all(const struct sxs_trace_choice *choice)
{
    return !choice->trace && !choice->endpoint;
}

#define SXS_TRACE_ID_SIZE 33 /* of the text, with its zero */
#define SXS_TRACE_ID_EXPECTED \
    "a trace id (32 hexadecimal digits), the first 4 or more of them, or a traceparent"

/**
 * sxs_trace_id_read - convert an argument to the (beginning of the) id of a trace in lower case. Of
 * a traceparent "00-TRACE-SPAN-FLAGS", the trace. Returns 0, or -1 when it is no id of a trace. Pure.
 */
int sxs_trace_id_read(const char *text, char out[SXS_TRACE_ID_SIZE]);

/** One trace in one runtime of one process, or its part in one endpoint: a trace may have requests of
 *  several, and samples whose route is known are counted at that. */
struct sxs_trace {
    const struct sxs_session_process *process; /* borrowed from the session */
    uint8_t                           id[16];
    uint32_t                          runtime;     /* its number */
    uint32_t                          endpoint;    /* string; 0: not known */
    uint32_t                          source;      /* enum sxs_endpoint_source of that name */
    uint64_t                          endpoint_ns; /* time of the sample that had that name */
    uint64_t                          samples, running_ns, waiting_ns;
    uint64_t first_ns, last_ns; /* time of the first and of the last sample */
    bool     wanted;            /* fits the choice */
};

struct sxs_traces {
    struct sxs_trace  *all; /* owned; by weight, the heaviest first */
    size_t             n, cap;
    struct sxs_index   index;
    struct sxs_strings strings;
    bool               on;       /* a process was asked to record contexts */
    uint64_t           n_missed; /* contexts that could not be read */
    struct sxs_traces_loading *loading;  /* owned; until sxs_traces_end() */
};

/**
 * sxs_traces_load - load the traces of every requested process of a session.
 * @v: must outlive @out; its period says which samples count.
 * @process: NULL: all. @choice: sets `wanted`. @out: overwritten; release it with
 * sxs_traces_free(), also after an error.
 * Returns 0 or an errno value. Files that cannot be read have no traces; the code that loads the
 * samples reports them.
 */
int sxs_traces_load(const struct sxs_opened *v, const char *process,
                    const struct sxs_trace_choice *choice, struct sxs_traces *out);

/** sxs_traces_reader - return a reader for sxs_opened_read() that does the same; afterwards call
 *  sxs_traces_end(), also after an error. */
struct sxs_opened_reader sxs_traces_reader(struct sxs_traces *out);
void sxs_traces_end(struct sxs_traces *t, const struct sxs_trace_choice *choice);
void sxs_traces_free(struct sxs_traces *t);

/** sxs_traces_any - tell whether a trace is wanted. */
bool sxs_traces_any(const struct sxs_traces *t);

/** What a file "samples" says beside its samples: of which runtime code is, and names of endpoints. */
struct sxs_trace_code;

/** sxs_trace_code_read - read it. @reader: rewound at the end. Returns an owned object. */
struct sxs_trace_code *sxs_trace_code_read(struct sxs_samples *reader);
void                   sxs_trace_code_free(struct sxs_trace_code *code);

/** sxs_trace_context - return the context to which a sample belongs; NULL: it has none. */
const struct sxs_sample_context *sxs_trace_context(const struct sxs_trace_code    *code,
                                                   const struct sxs_record_sample *v);

/** sxs_traces_of - return the trace of a sample of @process; NULL: it has none. Borrowed. */
const struct sxs_trace *sxs_traces_of(const struct sxs_traces          *t,
                                      const struct sxs_session_process *process,
                                      const struct sxs_trace_code      *code,
                                      const struct sxs_record_sample   *v);

/** sxs_trace_text - write the id of a trace as text. Returns @out. */
const char *sxs_trace_text(const struct sxs_trace *trace, char out[SXS_TRACE_ID_SIZE]);

/** sxs_traces_text - write the endpoints and the traces that took the most time. @top: how many of
 *  each; 0: 10. Writes nothing when there are none and none were asked for. */
void sxs_traces_text(FILE *to, const struct sxs_traces *t, size_t top);

/** sxs_traces_json - add the keys "endpoints" and "traces" to @top. Returns 0, or -1 when out of
 *  memory. */
int sxs_traces_json(json_t *top, const struct sxs_traces *t);

/** The traces of one endpoint. */
struct sxs_trace_endpoint {
    uint32_t endpoint; /* string; 0: not known */
    uint64_t traces, samples, running_ns, waiting_ns;
};

/** sxs_trace_endpoints - return the endpoints of all wanted traces, the heaviest first. Owned. */
struct sxs_trace_endpoint *sxs_trace_endpoints(const struct sxs_traces *t, size_t *n);

#endif
