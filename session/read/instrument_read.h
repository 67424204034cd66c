/* SPDX-License-Identifier: MIT */
/**
 * instrument_read.h - reads the whole file "instrument" of a process (session/format/instrument.h
 * has the format), and the file "traced" beside it.
 *
 * The files are untrusted: they may be cut, damaged, or still be written by a living process. Texts
 * are copied from the files as they are, so they may contain control characters and bytes that are
 * not UTF-8.
 */
#ifndef SXS_SESSION_READ_INSTRUMENT_READ_H
#define SXS_SESSION_READ_INSTRUMENT_READ_H

#include <stdbool.h>

#include "session/format/instrument.h"
#include "session/read/thread_names_read.h"
#include "session/read/traced_read.h"

/** An instrumented method, which is a method that rules applied to. Texts are owned, and never
 *  NULL. struct sxs_instrument_count describes the counters. */
struct sxs_instrumented {
    char    *assembly, *name;
    char    *label;  /* its name in reports; "": use `name` */
    char    *rules;  /* names of the rules requested last */
    char    *reason; /* reason of the failure, else "" */
    uint32_t number, runtime, token;
    uint32_t hr;        /* HRESULT of the runtime when it failed */
    uint32_t n_changes; /* number of states it went through */
    uint8_t  state;     /* enum sxs_instrumented_state */
    bool     has_record; /* the file has a METHOD record of it */
    bool     compiled;  /* active, and the runtime has compiled the new IL */
    uint64_t calls, ended, threw;
    uint64_t total_ns;  /* of the outermost calls: recursion counts once */
    uint64_t sum_ns;    /* of all calls in `ended` */
    uint64_t swallowed; /* exceptions of helpers that it called */
    uint64_t traced;    /* number of traced calls recorded in the file "traced" */
};

/** A helper: a managed method that rules have called. */
struct sxs_instrument_called {
    char    *text; /* owned: Namespace.Type.Method in PATH, as in the file */
    uint32_t runtime;
    bool     failed; /* it could not be loaded */
    uint64_t threw;  /* calls whose exception was swallowed */
};

/** A rule. Texts are owned. struct sxs_instrument_rule describes fields without a comment. */
struct sxs_instrumented_rule {
    char    *name, *file;
    char    *text; /* if nothing matched: the most similar methods; else: methods without IL */
    uint32_t number, line, without_il;
    bool     matched, gone, has_record; /* has_record: the file has a RULE record of it */
};

struct sxs_instrument_data {
    struct sxs_instrument_header head;
    struct sxs_instrumented      *methods; /* by number */
    size_t                        n_methods;
    struct sxs_instrumented_rule *rules; /* by number */
    size_t                       n_rules;
    struct sxs_instrument_called *helpers;
    size_t                       n_helpers;
    struct sxs_thread_names       thread_names;
    struct sxs_traced_data        traced;   /* traced calls; empty when there are none */
    char                       **problems; /* lines that describe the damage in the files */
    size_t                       n_problems;
};

/**
 * sxs_instrument_read - read the files "instrument" and "traced" in a process's folder.
 * @folder: the folder; borrowed.
 * @out: receives the data, owned by the caller; free it by sxs_instrument_free(). NULL after a
 *   failure.
 * @why: receives one line about a failure, at most @why_size bytes.
 * Returns 0, ENOENT when the process has no file "instrument" (which is normal), EINVAL when it has
 * another format, or another errno value. A file "traced" that is missing or cannot be read is not
 * a failure.
 */
int sxs_instrument_read(const struct sxs_files *folder, struct sxs_instrument_data **out, char *why,
                        size_t why_size);
void sxs_instrument_free(struct sxs_instrument_data *d);

/** sxs_instrument_thread - return what the thread of a traced call is called. Borrowed from @d. */
const char *sxs_instrument_thread(const struct sxs_instrument_data *d,
                                  const struct sxs_traced_call     *call);

/** Return the instrumented method with this number; NULL when the file has none. */
const struct sxs_instrumented *sxs_instrument_find(const struct sxs_instrument_data *d,
                                                   uint32_t number);

/** sxs_instrument_ns - convert a tick to ns since the header's started_ns.
 *  sxs_instrument_duration - convert a number of ticks to ns.
 *  Both return 0 for impossible values. */
uint64_t sxs_instrument_ns(const struct sxs_instrument_data *d, uint64_t tick);
uint64_t sxs_instrument_duration(const struct sxs_instrument_data *d, uint64_t ticks);

/** Return the text of an enum sxs_instrumented_state: "active", "failed"... Static string. */
const char *sxs_instrumented_state_text(uint8_t state);

#endif
