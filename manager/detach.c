/* SPDX-License-Identifier: MIT */
/* detach.c - asks live runtimes to detach the library. */
#include <errno.h>

#include "manager/runtime_internal.h"
#include "manager/sessions_internal.h"

static const char *words_of_detach(const struct sxs_runtime *rt, HRESULT hr)
{
    switch (hr) {
    case CORPROF_E_IMMUTABLE_FLAGS_SET:
        if (rt->low & COR_PRF_ENABLE_OBJECT_ALLOCATED)
            return "the tool alloc has asked it at its start to report every object, which is for "
                   "good (alloc:ticks does not)";
        return "a tool has asked for events at its start that a runtime does not take back";
    case CORPROF_E_IRREVERSIBLE_INSTRUMENTATION_PRESENT:
        return "it runs code with calls of the profiler";
    case CORPROF_E_PROFILER_DETACHING: return "it is being detached already";
    case CORPROF_E_UNSUPPORTED_CALL_SEQUENCE:
    case CORPROF_E_RUNTIME_UNINITIALIZED: return "it starts or ends";
    case E_NOTIMPL: return "this version cannot";
    default: return "it refuses";
    }
}

/* Ask one runtime. After a failure it is profiled as before. */
static int detach_one(struct sxs_runtime *rt, unsigned timeout_ms, const struct sxs_reasons *why)
{
    uint64_t all;
    HRESULT  hr;
    if (sxs_sessions_have_guests()) {
        sxs_reasons_add(why, "runtime %u (%s) cannot be detached: it has guests", rt->number,
                        rt->version);
        return -ENOTSUP;
    }
    pthread_mutex_lock(&rt->mask_lock);
    all = rt->taken;
    pthread_mutex_unlock(&rt->mask_lock);
    sxs_runtime_silence(rt, all);
    sxs_runtime_drain(rt, SXS_LEAVE_NS);
    sxs_runtime_stop(rt, all, SXS_STOP_SESSION);
    if (sxs_runtime_drain(rt, SXS_DRAIN_NS) == 0)
        sxs_runtime_release(rt, all);
    hr = sxs_info_RequestProfilerDetach(rt, timeout_ms);
    if (SUCCEEDED(hr)) {
        atomic_store(&rt->leaving, 1);
        return 0;
    }
    sxs_reasons_add(why, "runtime %u (%s) cannot be detached: %s (%s)", rt->number, rt->version,
                    words_of_detach(rt, hr), sxs_hresult_name(hr));
    sxs_sessions_subscribe_always(rt);
    return -ENOTSUP;
}

int sxs_runtimes_detach_all(unsigned timeout_ms, char why[SXS_SESSION_WHY])
{
    const struct sxs_reasons reasons = {why, SXS_SESSION_WHY};
    struct sxs_runtime      *live[SXS_MAX_RUNTIMES];
    size_t                   n = sxs_runtimes_live(live, ARRAY_LEN(live));
    int                      err = 0;
    for (size_t i = 0; i < n; i++) {
        sxs_sessions_wait_for("runtime %u (%s) is asked to let the profiler go", live[i]->number,
                              live[i]->version);
        if (detach_one(live[i], timeout_ms, &reasons) != 0)
            err = -ENOTSUP;
        sxs_runtime_unref(live[i]);
    }
    return err;
}
