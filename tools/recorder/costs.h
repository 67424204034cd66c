/* SPDX-License-Identifier: MIT */
/** tools/recorder/costs.h - what the recorder calls in the functions of tools/recorder/cost.h. */
#ifndef SXS_TOOLS_RECORDER_COSTS_H
#define SXS_TOOLS_RECORDER_COSTS_H

#include "session/write/samples_write.h"

/**
 * sxs_costs_start - record costs by @w from now on. @w: lives as long as the process. Once; not
 * signal-safe. */
void sxs_costs_start(struct sxs_samples_writer *w);

/** sxs_costs_forget - in a forked child: record no costs any more. */
void sxs_costs_forget(void);

/** sxs_costs_writer - return the writer, or NULL if no costs are recorded. Signal-safe. */
SXS_SIGSAFE struct sxs_samples_writer *sxs_costs_writer(void);

#endif
