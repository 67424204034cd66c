/* SPDX-License-Identifier: MIT */
/**
 * compiled.h - what runtimes said they compiled: range, tier and version of JIT code by address.
 *
 * A runtime tells of each compiled method in an event, delivered on the compiling thread through an
 * EventPipe session of our own (ICorProfilerInfo12: .NET 5 and later). The handler appends it to a
 * list under a lock that nobody holds for long; sorting is left to whoever asks.
 */
#ifndef SXS_SAMPLER_COMPILED_H
#define SXS_SAMPLER_COMPILED_H

#include "manager/tool.h"
#include "session/format/samples.h"

/** A piece of JIT code. */
struct sxs_compiled {
    uintptr_t           lo, hi;
    struct sxs_runtime *rt;       /* compared only */
    uint64_t            function; /* FunctionID; the function may be gone: compared only */
    uint64_t            time_ns;  /* CLOCK_MONOTONIC, when it was compiled */
    uint8_t             tier;  /* enum sxs_code_tier; of no meaning with @early */
    uint8_t             gone;  /* in news only: it was unloaded */
    uint8_t             early; /* enum sxs_early: how it was compiled before the session; 0: the session reported it */
};

/** sxs_compiled_expect - the session of @rt will be started later. In the tool's start().
 *  @complete: the caller reports all that @rt compiles until then, by sxs_compiled_add(). */
void sxs_compiled_expect(struct sxs_runtime *rt, int complete);

/** sxs_compiled_start - start the session of @rt, which is expected. Blocks: the runtime runs managed code on the
 *  calling thread, some 60 ms of CPU time. On a thread that may become one of the runtime's own. A runtime that has no
 *  EventPipe, or refuses, is no failure: tiers of what it compiles from now on stay unknown. */
void sxs_compiled_start(struct sxs_runtime *rt);

/** sxs_compiled_add - a piece of code found without an event. Any thread; asks no runtime. */
void sxs_compiled_add(const struct sxs_compiled *piece);

/** sxs_compiled_incomplete - not all that @rt compiled is known any more. Any thread. */
void sxs_compiled_incomplete(const struct sxs_runtime *rt);

/** sxs_compiled_session - start an EventPipe session of @rt that tells what it compiles, for the
 *  caller's tool, which asks for COR_PRF_HIGH_MONITOR_EVENT_PIPE. ICorProfilerInfo12 and later. */
HRESULT sxs_compiled_session(struct sxs_runtime *rt, EVENTPIPE_SESSION *id);

/** sxs_compiled_decode - what event @id says of a piece of code, but for the runtime and the time.
 *  Returns 1, or 0 when it is of something else. Pure. */
int sxs_compiled_decode(uint32_t id, const void *data, size_t size, struct sxs_compiled *out);

/** sxs_compiled_stop - @rt has ended: forget what it told. With sxs_compiled_find() excluded. */
void sxs_compiled_stop(struct sxs_runtime *rt);

/** sxs_compiled_event - an event that EventPipe delivered. Any thread, the runtime's locks may be
 *  held: asks the runtime nothing. */
void sxs_compiled_event(struct sxs_runtime *rt, uint32_t id, const void *data, size_t size);

/** sxs_compiled_update - take what came since the last call into the index, each piece handed to
 *  @news first, oldest first. One thread at a time, with sxs_compiled_find(). */
void sxs_compiled_update(void (*news)(const struct sxs_compiled *piece));

/** sxs_compiled_find - the code of @rt at @ip as of the last update; NULL: none that is known.
 *  Borrowed until the next update. */
const struct sxs_compiled *sxs_compiled_find(const struct sxs_runtime *rt, uintptr_t ip);

/** sxs_compiled_all - 1: @rt tells of all that it compiles: other code of its was not compiled. */
int sxs_compiled_all(const struct sxs_runtime *rt);

#endif
