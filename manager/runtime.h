/* SPDX-License-Identifier: MIT */
/**
 * runtime.h - one runtime in this process: its identity, its reference count, its Info.
 *
 * "Info" is the runtime's ICorProfilerInfo object. It is called through the generated functions
 * sxs_info_*() (sxs_info.h). They take typed IDs (sxs_function, sxs_module...), each of which holds
 * a pointer to its runtime; an ID of another runtime is refused.
 */
#ifndef SXS_MANAGER_RUNTIME_H
#define SXS_MANAGER_RUNTIME_H

#include "base/base.h"
#include "runtime_facts/facts.h"
#include "runtime_facts/info.h"
#include "sxs_info.h"

struct sxs_runtime;

/** Return the runtime's number: 1, 2, 3... in order of admission. Any thread; signal-safe. */
SXS_SIGSAFE unsigned sxs_runtime_number(const struct sxs_runtime *rt);

/** Return the version, as in "8.0.29". Before Initialize this is the version that the path of
 *  libcoreclr.so contains, or "". Borrowed, lives as long as the runtime. Any thread. */
const char *sxs_runtime_version(const struct sxs_runtime *rt);

/** Return the path of this runtime's libcoreclr.so; "" if unknown. Borrowed. Any thread. */
const char *sxs_runtime_path(const struct sxs_runtime *rt);

/** Return 1 when the runtime is picked: every enabled tool works on it. Return 0 when it is only
 *  guarded. Any thread. */
int sxs_runtime_is_picked(const struct sxs_runtime *rt);

/** Return 1 when the runtime's Info may be called: from the middle of Initialize until the end of
 *  Shutdown, or until detach. Return 0 otherwise, and in a forked child. Any thread;
 *  signal-safe. */
SXS_SIGSAFE int sxs_runtime_is_live(const struct sxs_runtime *rt);

struct sxs_census_runtime; /* session/format/session.h */

/** Return the runtime's row of counters in the session; never NULL. Borrowed, outlives the runtime.
 *  Counters are relaxed atomics. Any thread; signal-safe. */
SXS_SIGSAFE struct sxs_census_runtime *sxs_runtime_row(const struct sxs_runtime *rt);

/** Return what is special about the runtime's major version; never NULL. Before Initialize, and of a
 *  runtime that says no version, see sxs_facts_of() and sxs_facts_of_info(). Static. Any thread. */
const struct sxs_runtime_facts *sxs_runtime_facts(const struct sxs_runtime *rt);

/** Return 1 when the runtime has the version @since of ICorProfilerInfo, or a later one; 0 before
 *  Initialize. Any thread. */
int sxs_runtime_has(const struct sxs_runtime *rt, enum sxs_info_since since);

/** Return 1 when the profiler was attached to the running runtime (InitializeForAttach). Any
 *  thread. */
int sxs_runtime_is_attached(const struct sxs_runtime *rt);

/** Return 1 when the runtime has accepted the request to detach; it is live until the detach is complete. Any
 *  thread. */
int sxs_runtime_is_leaving(const struct sxs_runtime *rt);

/** Return 1 when tools are started late on the runtime, that is, while it may run managed code: after
 *  an attach, or in a session that begins after its Initialize. For start() of tools; any thread. */
int sxs_runtime_is_late(const struct sxs_runtime *rt);

/** Return 1 when Initialize or InitializeForAttach has returned: all functions of Info work. A tool
 *  that is started while this is 0 waits for an event (ProfilerAttachComplete after an attach). Any
 *  thread. */
int sxs_runtime_is_running(const struct sxs_runtime *rt);

/** sxs_runtime_set_attach_data - set the client data that the runtime passes to InitializeForAttach,
 *  for tools that pass it on (guests). Borrowed; set it back to NULL before that call returns. */
void sxs_runtime_set_attach_data(struct sxs_runtime *rt, const void *data, unsigned size);

/** Return the runtime's owner number in the signal router (signals/signals.h); -1 if it has none,
 *  as when signals are off. */
int sxs_runtime_signal_owner(const struct sxs_runtime *rt);

/**
 * sxs_runtime_suspend - stop all managed code of @rt by the runtime's own suspension.
 * Blocks until every thread has stopped. Call it on a thread that the runtime does not know (one
 * that never ran its managed code), without holding a lock that a callback takes.
 * Returns S_OK: sxs_runtime_resume() must follow on the same thread, even if the runtime has ended
 * meanwhile (its Info is kept until then). Returns E_NOTIMPL when the runtime is older than 3.0, or
 * another failure when the runtime is suspending its threads for itself, has not started, or has
 * ended. Not signal-safe.
 */
HRESULT sxs_runtime_suspend(struct sxs_runtime *rt);
HRESULT sxs_runtime_resume(struct sxs_runtime *rt);

/** Add one reference and return @rt. Any thread. */
struct sxs_runtime *sxs_runtime_ref(struct sxs_runtime *rt);

/** Drop one reference of @rt (NULL is allowed). The last one calls release() of the runtime's
 *  tools, releases the Info and frees the runtime. Any thread. */
void sxs_runtime_unref(struct sxs_runtime *rt);

/**
 * sxs_runtimes_live - list the runtimes whose Info may be called now.
 * @out: receives up to @cap new references; drop each with sxs_runtime_unref(). The order is that
 *   in which the runtimes were initialized.
 * Returns the number of references written. Any thread; takes manager.lock; not signal-safe.
 */
size_t sxs_runtimes_live(struct sxs_runtime **out, size_t cap);

#endif
