/* SPDX-License-Identifier: MIT */
#include "tools/locks/pool.h"

#include "base/clock.h"
#include "manager/own_sessions.h"
#include "sampling/recorder.h"
#include "session/write/samples_write.h"

/* The events of counters have no keyword. At this level the provider raises nothing else. */
enum { COUNTERS_LEVEL = 4 };

static COR_PRF_EVENTPIPE_PROVIDER_CONFIG session_config(void)
{
    static const WCHAR provider[] = u"System.Runtime";
    static const WCHAR interval[] = u"EventCounterIntervalSec=1";
    return (COR_PRF_EVENTPIPE_PROVIDER_CONFIG){.providerName = provider,
                                               .keywords = UINT64_MAX,
                                               .loggingLevel = COUNTERS_LEVEL,
                                               .filterData = interval};
}

HRESULT sxs_pool_start(struct sxs_runtime *rt, EVENTPIPE_SESSION *session)
{
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config = session_config();
    return sxs_own_session_start(rt, &config, session);
}

void sxs_pool_end(struct sxs_runtime *rt, EVENTPIPE_SESSION *session)
{
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config = session_config();
    sxs_own_session_end(rt, &config, session);
}

SXS_SIGSAFE void sxs_pool_record(const struct sxs_runtime *rt, const struct sxs_pool_event *event)
{
    struct sxs_samples_writer *writer = sxs_recorder_is_on() ? sxs_recorder_writer() : NULL;
    struct sxs_record_pool    *r = writer ? sxs_samples_reserve(writer, sizeof(*r)) : NULL;
    if (!r)
        return;
    r->time_ns = sxs_now_ns(CLOCK_MONOTONIC);
    r->value = event->value;
    r->runtime = (uint16_t)sxs_runtime_number(rt);
    r->change = (uint8_t)event->change;
    r->reason = event->reason;
    sxs_samples_commit(r, SXS_RECORD_POOL);
}
