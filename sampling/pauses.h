/* SPDX-License-Identifier: MIT */
/**
 * sampling/pauses.h - writes records that say when a runtime stopped its threads, why, and
 * on which thread. */
#ifndef SXS_SAMPLING_PAUSES_H
#define SXS_SAMPLING_PAUSES_H

#include "manager/runtime.h"
#include "session/write/samples_write.h"
#include "sxs_events.h"

/**
 * The current stop of one runtime. A runtime has one stop at a time, and its callbacks come on
 * the thread that stops the others. */
struct sxs_pauses;

/**
 * sxs_pauses_new - make the state for one runtime, whose pauses are written to @w. Returns NULL
 * when memory ran out. Free it by sxs_pauses_free(). */
struct sxs_pauses *sxs_pauses_new(struct sxs_samples_writer *w);
void               sxs_pauses_free(struct sxs_pauses *p);

/**
 * sxs_pauses_begin - note that the runtime begins to stop its threads. Called on the stopping
 * thread. */
void sxs_pauses_begin(struct sxs_pauses *p, COR_PRF_SUSPEND_REASON reason);
/** sxs_pauses_abort - note that the runtime has given up stopping its threads. */
void sxs_pauses_abort(struct sxs_pauses *p);
/**
 * sxs_pauses_end - write one record, because the threads of runtime @number run again. Returns
 * the reason of the stop. */
COR_PRF_SUSPEND_REASON sxs_pauses_end(struct sxs_pauses *p, unsigned number);

#endif
