/* SPDX-License-Identifier: MIT */
/**
 * sampling/handler.h - the handler of the sample signal: walks the stack within limits and
 * writes one record. */
#ifndef SXS_SAMPLING_HANDLER_H
#define SXS_SAMPLING_HANDLER_H

#include "session/write/samples_write.h"

/**
 * sxs_handler_install - install the handler; samples are written to @w. Returns 0 or -errno.
 * Once per process. */
int sxs_handler_install(struct sxs_samples_writer *w, enum sxs_sample_walker walker);

/**
 * sxs_handler_pause - stop (@paused: 1) or resume (0) taking samples. The handler stays
 * installed and passes on signals that are not samples. */
void sxs_handler_pause(int paused);

#endif
