/* SPDX-License-Identifier: MIT */
/** tools/sample/sampler.h - takes samples of all threads of the process, once for all runtimes. */
#ifndef SXS_TOOLS_SAMPLE_SAMPLER_H
#define SXS_TOOLS_SAMPLE_SAMPLER_H

#include "session/write/samples_write.h"
#include "tools/options/sample_options.h"

/** What the sampler works with. Constant once sampling has started. */
struct sxs_sampler {
    struct sxs_sampler_options options;
    struct sxs_samples_writer *writer;     /* the recorder's */
    int                        is_of_wait; /* 1: started by the tool wait; 0: by the tool sample */
};

/**
 * sxs_sampler_start - start sampling in this process with the options @text of the tool "sample".
 * The first call decides; later ones ignore @text. The recorder must have been started.
 * Returns the sampler, or NULL after a message if sampling could not be started, also by an earlier
 * call. Any thread; not signal-safe. */
const struct sxs_sampler *sxs_sampler_start(const char *text);

/**
 * sxs_sampler_start_wait - as sxs_sampler_start() for the tool "wait": samples by wall time, with the
 * reasons of waits. If the tool sample has started sampling by wall time, only reasons are added to
 * that. */
const struct sxs_sampler *sxs_sampler_start_wait(const char *text);

/** sxs_sampler_quiet - take no more samples: all clocks are stopped, and no handler of a sample runs any
 *  more. Does nothing if sampling has not started. Any thread; not signal-safe. */
void sxs_sampler_quiet(void);

/** sxs_sampler_end - end sampling: the session ends. All runtimes have ended for it. */
void sxs_sampler_end(void);

/** sxs_sampler - return the sampler, after sxs_sampler_start() has returned it. Any thread. */
const struct sxs_sampler *sxs_sampler(void);

#endif
