/* SPDX-License-Identifier: MIT */
/** handler.h - the sample signal's handler: one bounded walk, one record. */
#ifndef SXS_SAMPLER_HANDLER_H
#define SXS_SAMPLER_HANDLER_H

#include "session/write/samples_write.h"

/** Installs the handler; samples go to @w. Returns 0 or -errno. Once per process. */
int sxs_handler_install(struct sxs_samples_writer *w, enum sxs_sample_walker walker);

/** No sample is taken any more (the handler stays, and passes on what is not ours). */
void sxs_handler_pause(int paused);

#endif
