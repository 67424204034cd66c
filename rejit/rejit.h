/* SPDX-License-Identifier: MIT */
/**
 * rejit.h - ReJIT requests of several tools for one runtime.
 *
 * A runtime keeps one new body of a method, and knows one profiler. Here is a table, for each
 * runtime, of the methods that tools (and guests, which are tools to the manager) want compiled
 * with new IL. When the runtime asks for the new IL of a method, the tools that want it are asked
 * in the order of their subscriptions; each one sees the body that the one before it has set, and
 * the runtime gets the last body. The first one sees the runtime's body, with what tools have set in
 * the first compilation. If a tool with first_body() takes part, it sees that body instead, so that
 * the changes of this tool are there once. A method is reverted when no tool wants it any more; before that,
 * it is compiled again without the tool that has left.
 *
 * No lock is held while a tool or the runtime is called. In a forked child all functions fail.
 */
#ifndef SXS_REJIT_REJIT_H
#define SXS_REJIT_REJIT_H

#include <stdatomic.h>

#include "base/hash.h"
#include "manager/runtime_internal.h"
#include "manager/tool.h"

/** The tool that holds the tables: one of those that are always on. Without it (guarded runtimes)
 *  requests are passed to the runtime as they are. */
extern const struct sxs_tool sxs_rejit_tool;

#define SXS_REJIT_LATEST 64u

/** What every compilation looks at. The beginning of a runtime's table of methods with new IL. */
struct sxs_rejit_firsts {
    _Atomic int        any; /* 1: a first compilation was reported by first_compilation() */
    _Atomic FunctionID latest[SXS_REJIT_LATEST]; /* originals that began to compile, the latest for
                                                  * each sxs_rejit_latest() */
};

/** Return the index in `latest` for a function. */
static inline unsigned sxs_rejit_latest(FunctionID fn)
{
    return (unsigned)(sxs_hash_id(fn) >> 58);
}

/** How methods are requested. */
struct sxs_rejit_how {
    int      with_inliners; /* 1: by RequestReJITWithInliners */
    uint32_t flags;         /* COR_PRF_REJIT_FLAGS; with inliners only */
};

/**
 * sxs_rejit_request - request new IL for methods: RequestReJIT of one tool.
 * @sub: the tool on its runtime. @n, @modules, @methods: as in RequestReJIT.
 * Returns what the runtime returns, or E_OUTOFMEMORY. The tool is then asked by
 * GetReJITParameters. Called on any thread that may call RequestReJIT; not signal-safe.
 */
HRESULT sxs_rejit_request(struct sxs_sub *sub, const struct sxs_rejit_how *how, ULONG n,
                          ModuleID *modules, mdMethodDef *methods);

/**
 * sxs_rejit_revert - withdraw the new IL of methods: RequestRevert of one tool.
 * @status: receives the result of each method; may be NULL.
 * Returns what the runtime would return if the tool were alone. For threads see
 * sxs_rejit_request().
 */
HRESULT sxs_rejit_revert(struct sxs_sub *sub, ULONG n, ModuleID *modules, mdMethodDef *methods,
                         HRESULT *status);

/**
 * sxs_rejit_parameters - ask the tools that want a method for its new IL: GetReJITParameters of
 * the runtime. A tool that was asked before, whose input has not changed, is not asked again unless
 * it has requested the method again; what it set then is used.
 * @control: the runtime's; it receives the last body, the union of the flags, and the map of IL
 *   offsets. Returns S_OK, or a failure when all tools have failed. */
HRESULT sxs_rejit_parameters(struct sxs_runtime *rt, sxs_module module, mdMethodDef method,
                             ICorProfilerFunctionControl *control);

/**
 * sxs_rejit_get_body - find the body that a tool has to build on: what the tools before it have
 * set in GetReJITParameters.
 * @bytes, @size: receive the body, which is valid until the module is unloaded.
 * Returns 1, or 0 when there is none: then the runtime's GetILFunctionBody() has the body.
 * Any thread; not signal-safe.
 */
int sxs_rejit_get_body(struct sxs_sub *sub, ModuleID module, mdMethodDef method, LPCBYTE *bytes,
                       ULONG *size);

/**
 * sxs_rejit_get_input - the same for the tool that this thread is asking for the method's new IL, or
 * to which it reports the first compilation.
 */
int sxs_rejit_get_input(sxs_module module, mdMethodDef method, LPCBYTE *bytes, ULONG *size);

/** sxs_rejit_is_asked - return 1 when the compilation @version of @fn is due to this tool: it was
 *  asked for the IL, or has requested inliners and the runtime added this method as one. */
int sxs_rejit_is_asked(struct sxs_sub *sub, sxs_function fn, ReJITID version);

/**
 * First compilations. A method that is requested before its first compilation is compiled as a ReJIT
 * version: the runtime raises no JITCompilationStarted. Tools that have not requested it get one by
 * first_compilation() of struct sxs_tool, once for each function. These tools call the functions
 * below; any thread, not signal-safe.
 *
 * sxs_rejit_first_begins - in ReJITCompilationStarted of @fn: report the first compilation to the
 *   tool if it was not reported before GetReJITParameters.
 * sxs_rejit_first_ends - in ReJITCompilationFinished of @fn: report its end, with @status.
 * sxs_rejit_is_due - in JITCompilationStarted (@finished 0) and JITCompilationFinished (1): return 1
 *   when the event is due to the tool; 0 when the tool got it as above, because the runtime compiles
 *   the original after the ReJIT version. */
void sxs_rejit_first_begins(struct sxs_sub *sub, sxs_function fn);
void sxs_rejit_first_ends(struct sxs_sub *sub, sxs_function fn, HRESULT status);
int  sxs_rejit_is_due(struct sxs_sub *sub, sxs_function fn, int finished);

/** sxs_rejit_is_usual - in JITCompilationStarted (@finished 0) and JITCompilationFinished (1): return 1
 *  when sxs_rejit_is_due() need not be called, because the event is due to all tools. */
static inline int sxs_rejit_is_usual(const struct sxs_runtime *rt, FunctionID fn, int finished)
{
    struct sxs_rejit_firsts *firsts = (struct sxs_rejit_firsts *)(void *)rt->rejit;
    if (!firsts)
        return 1;
    if (!finished)
        atomic_store_explicit(&firsts->latest[sxs_rejit_latest(fn)], fn, memory_order_relaxed);
    return !atomic_load_explicit(&firsts->any, memory_order_acquire);
}

/** sxs_rejit_take_error - return 1 when a ReJITError is due to this tool's request, which is then
 *  forgotten. */
int sxs_rejit_take_error(struct sxs_sub *sub, sxs_module module, mdMethodDef method);

/** sxs_rejit_permit - ask the runtime for COR_PRF_ENABLE_REJIT, without which it reverts nothing, though
 *  no tool asks for it (@permitted 1), or end that (0). For a tool that is being stopped, whose own
 *  mask has ended. Returns the result of SetEventMask. */
HRESULT sxs_rejit_permit(struct sxs_runtime *rt, int permitted);

/** sxs_rejit_forget - the tool's subscription ends, and another one may take its place: forget what it
 *  wanted, which it has reverted. No thread is inside a handler of the tool. */
void sxs_rejit_forget(struct sxs_sub *sub);

/** sxs_rejit_leave - the tool must not be called any more. The bodies that it has set stay in
 *  use. */
void sxs_rejit_leave(struct sxs_sub *sub);

#endif
