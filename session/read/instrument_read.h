/* SPDX-License-Identifier: MIT */
/**
 * instrument_read.h - read a process's file "instrument" back (instrument.h has its bytes), whole.
 *
 * The file is taken as untrusted: it may be cut, garbled, or still be written by a living process.
 */
#ifndef SXS_RECORD_INSTRUMENT_READ_H
#define SXS_RECORD_INSTRUMENT_READ_H

#include <stdbool.h>

#include "session/format/instrument.h"
#include "session/read/traced_read.h"

/** A method that rules applied to. Texts are owned, never NULL, as they were in the file: control characters and bytes
 *  that are not UTF-8 may be among them. */
struct sxs_instrumented {
    char    *assembly, *name;
    char    *label;  /* its name in reports; "": none was given */
    char    *rules;  /* names of those last asked for */
    char    *reason; /* why it failed, else "" */
    uint32_t number, runtime, token;
    uint32_t hr;        /* of the runtime, when it failed */
    uint32_t n_changes; /* states it went through */
    uint8_t  state;     /* enum sxs_site_state */
    bool     known;     /* there was a record of the site */
    bool     compiled;  /* active, and the runtime has compiled it */
    uint64_t calls, ended, threw, total_ns;
    uint64_t swallowed; /* exceptions of helpers that it called */
    uint64_t traced;    /* calls recorded one by one */
};

/** A managed method that rules have called. */
struct sxs_instrument_called {
    char    *text; /* owned: Namespace.Type.Method in PATH, as in the file */
    uint32_t runtime;
    bool     failed; /* it could not be loaded */
    uint64_t threw;
};

/** A rule; texts as above. */
struct sxs_instrumented_rule {
    char    *name, *file;
    char    *text; /* what came nearest, when nothing matched; else the first methods without IL */
    uint32_t line, without_il;
    bool     matched, gone, known;
};

struct sxs_instrument_data {
    struct sxs_instrument_header head;
    struct sxs_instrumented     *sites; /* by number */
    size_t                       n_sites;
    struct sxs_instrumented_rule *rules; /* by number */
    size_t                       n_rules;
    struct sxs_instrument_called *helpers;
    size_t                       n_helpers;
    struct sxs_traced_data       traced; /* single calls; empty when there are none */
    char                       **problems; /* lines: what was not whole */
    size_t                       n_problems;
};

/**
 * sxs_instrument_read - the file "instrument" in a process's folder.
 * @folder_fd: borrowed. @out: receives the data: sxs_instrument_free(). NULL on failure.
 * @why: one line about a failure. Returns 0, ENOENT when the process has none (no reason for
 * concern), EINVAL when the file is none of ours, or another errno value.
 */
int  sxs_instrument_read(int folder_fd, struct sxs_instrument_data **out, char *why,
                         size_t why_size);
void sxs_instrument_free(struct sxs_instrument_data *d);

/** The site of that number; NULL: it is not known. */
const struct sxs_instrumented *sxs_instrument_find(const struct sxs_instrument_data *d,
                                                   uint32_t number);

/** Ticks as nanoseconds: since the file began, and as a duration. What cannot be is 0. */
uint64_t sxs_instrument_ns(const struct sxs_instrument_data *d, uint64_t tick);
uint64_t sxs_instrument_duration(const struct sxs_instrument_data *d, uint64_t ticks);

/** "active", "failed"... Static. */
const char *sxs_site_state_text(uint8_t state);

#endif
