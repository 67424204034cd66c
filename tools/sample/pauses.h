/* SPDX-License-Identifier: MIT */
/** pauses.h - when a runtime stopped its threads, why, and on whose behalf: records of the samples file. */
#ifndef SXS_SAMPLER_PAUSES_H
#define SXS_SAMPLER_PAUSES_H

#include "manager/runtime.h"
#include "session/write/samples_write.h"
#include "sxs_events.h"

/** One runtime's stop under way. A runtime has one at a time; its callbacks come on the stopping thread. */
struct sxs_pauses;

/** New, for one runtime, whose pauses go to @w. NULL when there is no memory. sxs_pauses_free(). */
struct sxs_pauses *sxs_pauses_new(struct sxs_samples_writer *w);
void               sxs_pauses_free(struct sxs_pauses *p);

/** The runtime begins to stop its threads, on the calling one. */
void sxs_pauses_begin(struct sxs_pauses *p, COR_PRF_SUSPEND_REASON reason);
/** It has given up. */
void sxs_pauses_abort(struct sxs_pauses *p);
/** The threads of runtime @number run again: one record. Returns why they were stopped. */
COR_PRF_SUSPEND_REASON sxs_pauses_end(struct sxs_pauses *p, unsigned number);

#endif
