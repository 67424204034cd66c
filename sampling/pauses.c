/* SPDX-License-Identifier: MIT */
/* sampling/pauses.c - handles two callbacks and writes one record of 32 bytes each time a runtime
 * stops its threads. */
#include "sampling/pauses.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

struct sxs_pauses {
    struct sxs_samples_writer *writer;
    _Atomic uint64_t           began_ns; /* 0: the runtime is not stopped */
    _Atomic uint32_t           tid;
    _Atomic uint32_t           reason;
};

struct sxs_pauses *sxs_pauses_new(struct sxs_samples_writer *w)
{
    struct sxs_pauses *p = calloc(1, sizeof(*p));
    if (p)
        p->writer = w;
    return p;
}

void sxs_pauses_free(struct sxs_pauses *p)
{
    free(p);
}

void sxs_pauses_begin(struct sxs_pauses *p, COR_PRF_SUSPEND_REASON reason)
{
    atomic_store(&p->tid, (uint32_t)syscall(SYS_gettid));
    atomic_store(&p->reason, (uint32_t)reason);
    atomic_store(&p->began_ns, sxs_now_ns(CLOCK_MONOTONIC));
}

void sxs_pauses_abort(struct sxs_pauses *p)
{
    atomic_store(&p->began_ns, 0);
}

COR_PRF_SUSPEND_REASON sxs_pauses_end(struct sxs_pauses *p, unsigned number)
{
    COR_PRF_SUSPEND_REASON   reason = (COR_PRF_SUSPEND_REASON)atomic_load(&p->reason);
    uint64_t                 began = atomic_exchange(&p->began_ns, 0);
    struct sxs_record_pause *r;
    if (!began || !(r = sxs_samples_reserve(p->writer, sizeof(*r))))
        return reason;
    r->time_ns = began;
    r->duration_ns = sxs_now_ns(CLOCK_MONOTONIC) - began;
    r->runtime = (uint16_t)number;
    r->reason = (uint16_t)reason;
    r->tid = atomic_load(&p->tid);
    sxs_samples_commit(r, SXS_RECORD_PAUSE);
    return reason;
}
