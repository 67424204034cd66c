/* SPDX-License-Identifier: MIT */
/** sampling/costs.h - the part of cost.c that only the recorder and cost_request.c use: start and end of the
 *  recording of costs, and the writer. Tools use sampling/cost.h. */
#ifndef SXS_SAMPLING_COSTS_H
#define SXS_SAMPLING_COSTS_H

#include <ucontext.h>

#include "session/write/samples_write.h"

struct sxs_cost;

/**
 * sxs_costs_start - record costs by @w from now on. @w: lives as long as the process. Once; not
 * signal-safe. */
void sxs_costs_start(struct sxs_samples_writer *w);

/* A stack, youngest frame first. All IPs are return addresses, unless is_interrupted is set: then
 * the first one is an instruction that was to run next. */
struct sxs_cost_stack {
    const uintptr_t    *ips;
    size_t              n;
    enum sxs_sample_end end;
    int                 is_interrupted;
};

/** sxs_costs_put - write a cost of thread @tid. Returns its record, or NULL when the file has no
 *  room, which is counted. Signal-safe. */
SXS_SIGSAFE struct sxs_record_cost *sxs_costs_put(struct sxs_samples_writer *w,
                                                  const struct sxs_cost *cost, uint32_t tid,
                                                  const struct sxs_cost_stack *stack);

/** sxs_costs_can_answer - whether a thread can run the handler of the sample signal. Signal-safe. */
SXS_SIGSAFE int sxs_costs_can_answer(uint32_t tid);

/** sxs_costs_forget - in a forked child: record no costs any more. */
void sxs_costs_forget(void);

/** sxs_costs_forget_names - at the end of a session, after sxs_costs_forget(): free what finds the names that were
 *  written. Not signal-safe. */
void sxs_costs_forget_names(void);

/** sxs_costs_writer - return the writer, or NULL if no costs are recorded. Signal-safe. */
SXS_SIGSAFE struct sxs_samples_writer *sxs_costs_writer(void);

#endif
