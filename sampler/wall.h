/* SPDX-License-Identifier: MIT */
/** wall.h - wall-clock samples: of running threads by signal, of waiting ones without disturbing them. */
#ifndef SXS_SAMPLER_WALL_H
#define SXS_SAMPLER_WALL_H

#include "record/samples_write.h"

void sxs_wall_init(struct sxs_samples_writer *w, unsigned hz);

/** One round: sleeps until the next is due, then looks at every thread. One thread calls this. */
void sxs_wall_tick(void);

#endif
