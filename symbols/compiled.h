/* SPDX-License-Identifier: MIT */
/**
 * symbols/compiled.h - an index of JIT code by address: range, function, tier and time, as
 * reported by the runtimes.
 *
 * A runtime reports each compiled method in an event, delivered on the compiling thread through
 * an EventPipe session of the library (ICorProfilerInfo12: .NET 5 and later). The event handler
 * only appends to a list, under a lock that is always held briefly. The thread that looks up
 * addresses sorts the list into the index. */
#ifndef SXS_SYMBOLS_COMPILED_H
#define SXS_SYMBOLS_COMPILED_H

#include "manager/tool.h"
#include "session/format/samples.h"

/** A piece of JIT code. */
struct sxs_compiled {
    uintptr_t           lo, hi;
    struct sxs_runtime *rt;       /* only compared */
    /* FunctionID; only compared, because the function may be unloaded */
    uint64_t            function;
    uint64_t            time_ns;  /* CLOCK_MONOTONIC, when it was compiled */
    uint8_t             tier;  /* enum sxs_code_tier; not used if @early is set */
    uint8_t             gone;  /* only in new entries: the code was unloaded */
    /* enum sxs_early: how the code was compiled before the session; 0: the session reported it */
    uint8_t             early;
};

/**
 * sxs_compiled_expect - note that the session of @rt will be started later. Called in the tool's
 * start().
 * @complete: 1: the caller will report all code that @rt compiles until then, by
 *   sxs_compiled_add(). */
void sxs_compiled_expect(struct sxs_runtime *rt, int complete);

/**
 * sxs_compiled_started - note how the start of the session of @rt, for which sxs_compiled_expect()
 * was called, has ended. @hr: the result of sxs_compiled_session(); if it is a failure, the tiers of
 * code that the runtime compiles from now on stay unknown. @id: the session. Does nothing if @rt has
 * ended. Any thread; calls no runtime. */
void sxs_compiled_started(const struct sxs_runtime *rt, HRESULT hr, EVENTPIPE_SESSION id);

/**
 * sxs_compiled_add - add a piece of code that was not found by an event. Any thread; calls no
 * runtime. */
void sxs_compiled_add(const struct sxs_compiled *piece);

/**
 * sxs_compiled_incomplete - note that the index does not have all code that @rt compiled. Any
 * thread. */
void sxs_compiled_incomplete(const struct sxs_runtime *rt);

/**
 * sxs_compiled_session - start an EventPipe session of @rt that reports compiled methods.
 * Blocks: the runtime runs managed code on the calling thread, some 60 ms of CPU time. Call it
 * on a thread that may become one of the runtime's threads.
 * The caller's tool must have requested COR_PRF_HIGH_MONITOR_EVENT_PIPE. ICorProfilerInfo12 and
 * later. */
HRESULT sxs_compiled_session(struct sxs_runtime *rt, EVENTPIPE_SESSION *id);

/** sxs_compiled_session_stop - stop such a session. Returns the runtime's result. */
HRESULT sxs_compiled_session_stop(struct sxs_runtime *rt, EVENTPIPE_SESSION id);

/** sxs_compiled_session_end - end such a session by sxs_own_session_end(). */
void sxs_compiled_session_end(struct sxs_runtime *rt, EVENTPIPE_SESSION *id);

/**
 * sxs_compiled_decode - decode event @id about a piece of code; the runtime and the time are not
 * set. Returns 1, or 0 for other events. Pure. */
int sxs_compiled_decode(uint32_t id, const void *data, size_t size, struct sxs_compiled *out);

/**
 * sxs_compiled_stop - remove the code of @rt, which has ended. Must not run at the same time as
 * sxs_compiled_find(). */
void sxs_compiled_stop(struct sxs_runtime *rt);

/** sxs_compiled_end_session - stop the session that sxs_compiled_started() has noted, if any. @rt is
 *  live. Threads: as sxs_compiled_session(). */
void sxs_compiled_end_session(struct sxs_runtime *rt);

/** sxs_compiled_end - free everything. No runtime reports its code any more. */
void sxs_compiled_end(void);

/**
 * sxs_compiled_event - take an event that EventPipe delivered. Any thread. Locks of the runtime
 * may be held, so the runtime is not called. */
void sxs_compiled_event(struct sxs_runtime *rt, uint32_t id, const void *data, size_t size);

/**
 * sxs_compiled_update - sort the pieces that were added since the last call into the index.
 * @news is called first for each of them, oldest first. Called by one thread at a time, which
 * also calls sxs_compiled_find(). */
void sxs_compiled_update(void (*news)(const struct sxs_compiled *piece));

/**
 * sxs_compiled_find - find the code of @rt that contains @ip, as of the last update. Returns
 * NULL if there is none. Borrowed until the next update. */
const struct sxs_compiled *sxs_compiled_find(const struct sxs_runtime *rt, uintptr_t ip);

/**
 * sxs_compiled_all - 1 if all code that @rt compiled is reported, so that other code of @rt is
 * precompiled or a stub. */
int sxs_compiled_all(const struct sxs_runtime *rt);

#endif
