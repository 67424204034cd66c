/* SPDX-License-Identifier: MIT */
/** describe.h - what a runtime says of code of its own: one CODE record. */
#ifndef SXS_SAMPLER_DESCRIBE_H
#define SXS_SAMPLER_DESCRIBE_H

#include "manager/runtime.h"
#include "session/write/samples_write.h"
#include "symbols/names.h"

/** Where a piece of code lies. */
struct sxs_described {
    uintptr_t lo, hi;
    uint64_t  function; /* FunctionID, 0: no function's */
};

/**
 * sxs_describe - ask @rt about the code at @ip and write a CODE record of it.
 * @time_ns: when a sample met it. The record holds from then on, or from its compilation.
 * @out: the range that needs no more asking. Code that was not there yet at @time_ns is not
 * described: what had been there is gone, and an unnamed record of one byte says so.
 * Threads and exclusion: as sxs_namer_function() and sxs_compiled_find().
 */
void sxs_describe(struct sxs_samples_writer *w, struct sxs_namer *namer, struct sxs_runtime *rt,
                  uintptr_t ip, uint64_t time_ns, struct sxs_described *out);

#endif
