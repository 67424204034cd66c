/* SPDX-License-Identifier: MIT */
#include "sampling/sleeper.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/session_state.h"
#include "sampling/restart.h"
#include "sampling/walk.h"

static uintptr_t ips[SXS_MAX_STACK];
SXS_SESSION_KEEPS(ips);

/* Whether the thread still waits where it did before the walk. */
static int waits_still(uint32_t tid, const struct sxs_waiting_call *before, uint64_t cpu)
{
    struct sxs_waiting_call now;
    memset(&now, 0, sizeof(now));
    return sxs_waiting_call_read(tid, &now) == 0 && memcmp(&now, before, sizeof(now)) == 0 &&
           sxs_cpu_ns_of(tid) == cpu;
}

/* Returns 1, or 2 if there is no room. */
static int write_sample(struct sxs_samples_writer *w, struct sxs_thread_slot *t, uint64_t weight,
                         size_t n, enum sxs_sample_end end)
{
    struct sxs_samples_header *header = sxs_samples_header(w);
    struct sxs_record_sample  *record = sxs_samples_reserve(w, sizeof(*record) + n * sizeof(ips[0]));
    if (!record) {
        atomic_fetch_add(&header->n_dropped, 1);
        return 2;
    }
    record->time_ns = sxs_now_ns(CLOCK_MONOTONIC);
    record->weight_ns = weight;
    record->tid = atomic_load(&t->tid);
    record->end = (uint8_t)end;
    record->n = (uint16_t)n;
    memcpy(record->ips, ips, n * sizeof(ips[0]));
    sxs_samples_commit(record, SXS_RECORD_SAMPLE);
    atomic_fetch_add(&header->n_ends[end], 1);
    atomic_fetch_add(&header->n_samples, 1);
    atomic_fetch_add(&t->weighed_ns, weight);
    atomic_store_explicit(&t->last, record, memory_order_release);
    atomic_store(&t->was_running, 0);
    return 1;
}

int sxs_sleeper_take(struct sxs_samples_writer *w, struct sxs_thread_slot *t, uint64_t weight)
{
    const struct sxs_walk_limits limits = {.cycles = 20 * SXS_WALK_CYCLES, .max = SXS_MAX_STACK};
    struct sxs_waiting_call      call;
    enum sxs_sample_end          end;
    uint32_t                     tid = atomic_load(&t->tid);
    uint64_t                     cpu = sxs_cpu_ns_of(tid);
    size_t                       n;
    memset(&call, 0, sizeof(call)); /* compared as bytes */
    if (sxs_waiting_call_read(tid, &call) != 0 || !sxs_waiting_call_is_timed(&call))
        return 0;
    n = sxs_walk_waiting(t, tid, call.ip, call.sp, limits, ips, &end);
    if (!waits_still(tid, &call, cpu))
        return -1;
    return write_sample(w, t, weight, n,
                        end == SXS_SAMPLE_END_BOTTOM ? end : SXS_SAMPLE_END_NOT_INTERRUPTED);
}
