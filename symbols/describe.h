/* SPDX-License-Identifier: MIT */
/** symbols/describe.h - asks a runtime about a piece of its code and writes a CODE record. */
#ifndef SXS_SYMBOLS_DESCRIBE_H
#define SXS_SYMBOLS_DESCRIBE_H

#include "manager/runtime.h"
#include "session/write/samples_write.h"
#include "symbols/names.h"

/** The range of a piece of code. */
struct sxs_described {
    uintptr_t lo, hi;
    uint64_t  function; /* FunctionID; 0: the code belongs to no function */
};

/**
 * sxs_describe - ask @rt about the code at @ip and write a CODE record.
 * @time_ns: when a sample met the code. The record is valid from then on, or from the
 *   compilation of the code.
 * @out: receives the range that needs no further calls; all zero if the sampled code is gone.
 * If the code at @ip was compiled after @time_ns, the code that was sampled is gone: then a
 * record of one byte without a function says so.
 * Threads and exclusion: as sxs_namer_function() and sxs_compiled_find(). */
void sxs_describe(struct sxs_samples_writer *w, struct sxs_namer *namer, struct sxs_runtime *rt,
                  uintptr_t ip, uint64_t time_ns, struct sxs_described *out);

#endif
