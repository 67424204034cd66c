/* SPDX-License-Identifier: MIT */
/* force_gc_export.c - the exported function sxsprof_force_gc(). */
#include <errno.h>
#include <pthread.h>

#include "include/sxsprof.h"
#include "manager/force_gc.h"
#include "manager/runtime_internal.h"

static int errno_of(HRESULT hr)
{
    if (SUCCEEDED(hr))
        return 0;
    switch ((uint32_t)hr) {
    case (uint32_t)CORPROF_E_NOT_YET_AVAILABLE: return EAGAIN;
    case (uint32_t)CORPROF_E_RUNTIME_UNINITIALIZED: return ESRCH;
    case (uint32_t)E_OUTOFMEMORY: return ENOMEM;
    default: return EIO;
    }
}

/* Collects in the runtimes whose number is @runtime, or in all if it is 0. */
static int force_in(unsigned runtime)
{
    struct sxs_runtime *live[SXS_MAX_RUNTIMES];
    size_t              n = sxs_runtimes_live(live, ARRAY_LEN(live));
    int                 collected = 0, err = 0;
    for (size_t i = 0; i < n; i++) {
        int wanted = !runtime || sxs_runtime_number(live[i]) == runtime;
        int failure = wanted ? errno_of(sxs_force_gc(live[i])) : 0;
        collected += wanted && !failure;
        err = failure ? failure : err;
        sxs_runtime_unref(live[i]);
    }
    if (!err && !collected)
        err = ESRCH;
    return err ? -err : collected;
}

SXS_EXPORT int sxsprof_force_gc(unsigned runtime)
{
    int saved_errno = errno, cancel_state, result;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    result = force_in(runtime);
    pthread_setcancelstate(cancel_state, NULL);
    errno = saved_errno;
    return result;
}
