/* SPDX-License-Identifier: MIT */
/**
 * runtime.h - one runtime in this process: who it is, its reference count, its Info.
 *
 * Info calls go through the generated sxs_info_*() functions (sxs_info.h), which take typed IDs
 * (sxs_function, sxs_module...) that carry their runtime: an ID of another runtime is refused.
 */
#ifndef SXS_RUNTIME_H
#define SXS_RUNTIME_H

#include "base/base.h"
#include "sxs_info.h"

struct sxs_runtime;

/** 1, 2, 3... in order of arrival. Any thread; signal-safe. */
SXS_SIGSAFE unsigned sxs_runtime_number(const struct sxs_runtime *rt);

/** "8.0.29"; "" before Initialize has asked. Borrowed, lives as long as the runtime. Any thread. */
const char *sxs_runtime_version(const struct sxs_runtime *rt);

/** Path of the libcoreclr.so this runtime runs in; "" when it is unknown. Borrowed. Any thread. */
const char *sxs_runtime_path(const struct sxs_runtime *rt);

/** True when tools see this runtime (picked), false when it is only guarded. Any thread. */
int sxs_runtime_is_picked(const struct sxs_runtime *rt);

/** True from Initialize to Shutdown or detach: its Info may be called. Any thread; signal-safe. */
SXS_SIGSAFE int sxs_runtime_is_live(const struct sxs_runtime *rt);

struct sxs_census_runtime; /* session/format/session.h */

/** The runtime's row of counters in the session; never NULL. Borrowed, outlives the runtime.
 *  Counters are relaxed atomics. Any thread; signal-safe. */
SXS_SIGSAFE struct sxs_census_runtime *sxs_runtime_row(const struct sxs_runtime *rt);

/** Which ICorProfilerInfo it answered with: 2 for a 2.0 CLR, 15 for 9.0; 0 before Initialize. */
unsigned sxs_runtime_info_version(const struct sxs_runtime *rt);

/** True when the profiler came to it while it ran (InitializeForAttach). Any thread. */
int sxs_runtime_is_attached(const struct sxs_runtime *rt);

/** Its number at the signal router (signals/signals.h), or -1 when signals are off. */
int sxs_runtime_signal_owner(const struct sxs_runtime *rt);

/**
 * sxs_runtime_suspend - stop all managed code of @rt, by the runtime's own suspension.
 * Returns S_OK: sxs_runtime_resume() must follow, on the same thread, even when the runtime has ended
 * meanwhile (its Info is kept until then). E_NOTIMPL: older than 3.0. Other failures: the runtime is
 * suspending for itself, not started yet, or gone. Blocks until every thread has stopped: on a thread
 * the runtime does not know, which holds no lock that a callback wants. Not signal-safe.
 */
HRESULT sxs_runtime_suspend(struct sxs_runtime *rt);
HRESULT sxs_runtime_resume(struct sxs_runtime *rt);

/** Returns rt, one reference more. Any thread. */
struct sxs_runtime *sxs_runtime_ref(struct sxs_runtime *rt);

/** Drops one reference; the last one releases the Info and frees. NULL is fine. Any thread. */
void sxs_runtime_unref(struct sxs_runtime *rt);

/**
 * sxs_runtimes_live - the runtimes whose Info may be called now, in order of arrival.
 * @out: receives up to @cap new references; drop each with sxs_runtime_unref().
 * Returns how many were written. Any thread; takes a lock; not signal-safe.
 */
size_t sxs_runtimes_live(struct sxs_runtime **out, size_t cap);

#endif
