/* SPDX-License-Identifier: MIT */
/**
 * tool.h - the interface of a tool, which is how each feature of the library is built.
 *
 * A tool subscribes to the events of a runtime with its own event mask, event table and state.
 * For every picked runtime each enabled tool gets one subscription. The runtime is asked for the
 * union of all masks. A tool receives only the events that its own mask asks for and that its table
 * handles.
 *
 * Tools are started and receive events in the order in which they were enabled: first the tools
 * that are always on, in the order of the table passed to sxs_manager_init(), then the other tools
 * in the order of SXSPROF_TOOLS, each after the tool that it needs. They are stopped in the reverse
 * order.
 */
#ifndef SXS_MANAGER_TOOL_H
#define SXS_MANAGER_TOOL_H

#include "manager/runtime.h"

#define SXS_MAX_TOOLS 64 /* limit per runtime: sxs_runtime.wants has a bit for each */

/** The subscription of one tool to one runtime. Passed to every event handler of the tool. Lives
 *  until release() of the tool has returned. */
struct sxs_sub {
    const struct sxs_tool   *tool;
    const struct sxs_events *on;        /* event handlers; borrowed from the tool */
    struct sxs_runtime      *rt;        /* borrowed: the runtime outlives its subscriptions */
    void                    *state;     /* set by start(), owned by the tool, freed by release() */
    uint32_t                 low, high; /* event mask in force for this tool; under mask_lock */
};

struct sxs_tool {
    const char              *name;       /* name in SXSPROF_TOOLS; static */
    const char              *needs;      /* name of a tool that is enabled before this one, on the
                                          * same runtimes; static; NULL: none */
    int                      always;     /* nonzero: enabled without being named */
    /** is_wanted - return nonzero when a setting of its own enables the tool without naming it. Asked
     *  once, when the settings of the environment are read. NULL: it is enabled by its name only. */
    int (*is_wanted)(void);
    int                      on_guarded; /* nonzero: also on runtimes that are only guarded */
    int in_child; /* nonzero: its handlers also run in a forked child, where they must not take a
                   * lock or call a runtime. 0: it receives no events after a fork. */
    int events_in_stop; /* nonzero: in a Shutdown, its handlers are called until stop() has returned
                         * or later, and must take care of themselves */
    const struct sxs_events *on; /* event handlers; static */
    const struct sxs_group_events *group; /* if not NULL, the tool's events are delivered by these
                                           * handlers, one call for all such tools of a runtime and
                                           * after the other tools; `on` then says only which
                                           * events it handles. All tools have the same. Static. */
    /**
     * start - start the tool on a runtime that is being initialized, or that is live already.
     * @sub: sub->rt accepts the Info calls that are permitted in Initialize; if it is live, those that
     *   are permitted on a thread outside of callbacks. start() sets sub->low
     *   and sub->high (the event mask that the tool asks for) and sub->state.
     * @options: the text after "NAME:" in SXSPROF_TOOLS, or "".
     *   start() may replace sub->on.
     * On a live runtime, a tool whose mask has bits that are permitted in Initialize only is left
     * out after start() (sxs_runtime_immutable()); the others get the event ProfilerAttachComplete
     * next, on the same thread, if they handle it.
     * Returns S_OK; S_FALSE: the tool stays off for this runtime; or a failure: likewise, and one
     * line is logged.
     * Called without a lock of the manager. May be NULL.
     */
    HRESULT (*start)(struct sxs_sub *sub, const char *options);
    /** stop - stop the tool because the runtime ends for the profiler, or the session ends.
     *  @how: SXS_STOP_SHUTDOWN, SXS_STOP_DETACHED, or SXS_STOP_SESSION: the runtime runs on and can
     *    be called, and the tool must undo what it has done to it (EventPipe sessions, handles, new
     *    IL, hooks).
     *  No new event follows, but other threads may still be inside a handler. Called once; not
     *  called in a forked child of the process in which the tool was started. May be NULL. */
    void (*stop)(struct sxs_sub *sub, int how);
    /** first_compilation - the first compilation of a method begins or has ended (@finished), as a
     *  ReJIT version that other tools have requested: the runtime raises no JITCompilationStarted
     *  and JITCompilationFinished for it. @status: as in JITCompilationFinished; S_OK at the
     *  beginning. Other tools start from the IL that is set at the beginning; generic methods are an
     *  exception. Called without a lock, if the tool's mask has COR_PRF_MONITOR_JIT_COMPILATION. NULL:
     *  the tool handles ReJITCompilationStarted. See rejit/rejit.h. */
    HRESULT (*first_compilation)(struct sxs_sub *sub, sxs_function fn, int finished,
                                 HRESULT status);
    /** first_body - the body that the tool has changed in the method's first compilation, if each
     *  ReJIT is to start from this body instead of the runtime's. *@bytes, *@size: unchanged if
     *  there is none; else receive a body that is valid until the module is unloaded. Called in
     *  GetReJITParameters without a lock. NULL: the tool has no such body. See rejit/rejit.h. */
    void (*first_body)(struct sxs_sub *sub, sxs_module module, mdMethodDef method,
                       const uint8_t **bytes, uint32_t *size);
    /** release - free sub->state; no thread is inside a handler any more.
     *  @sub: may be a copy of the subscription that start() received.
     *  Called without a lock of the manager. May be NULL. */
    void (*release)(struct sxs_sub *sub);
    /** end_session - end what the tool has for the process: all its subscriptions are released, and no
     *  thread is inside a handler. Joins its threads, waits until no signal handler and no hook of it
     *  runs, completes and closes its files, frees memory. Then the variables that
     *  SXS_SESSION_RESETS() names are set back (base/session_state.h), and start() may be called for
     *  another session. Called without a lock of the manager, in reverse order of the tools. NULL:
     *  nothing to do, if `restarts` is 1. */
    void (*end_session)(void);
    /** settle - look up the names of everything that the tool has recorded so far, in this session.
     *  Called on any thread that is not inside a callback, without a lock that a callback takes.
     *  Returns 0 or a negative errno value. NULL: nothing to do. */
    int (*settle)(void);
    /** loads_code - return 1 if with @options the tool would load code that its settings name into the
     *  process, or insert code of the settings' own; then @why (@size bytes) receives a phrase with the
     *  place. Called before a session begins that must not (sxs_session_may_load_code()). The tool checks
     *  it again when it reads its settings. NULL: it never does. */
    int (*loads_code)(const char *options, char *why, size_t size);
    int restarts; /* nonzero: the tool can be ended before its runtimes, and started again */
};

/** How a tool is stopped. */
enum {
    SXS_STOP_SHUTDOWN = 0, /* the runtime shuts down */
    SXS_STOP_DETACHED = 1, /* the profiler was detached; the runtime must not be called */
    SXS_STOP_SESSION = 2,  /* the session ends, the runtime goes on */
};

/** A tool that is in use. */
struct sxs_enabled_tool {
    const struct sxs_tool *tool;
    const char            *options; /* after "NAME:" in SXSPROF_TOOLS; "" or NULL: none */
    int                    of_session; /* nonzero: its subscriptions end with the session */
};

/**
 * sxs_sub_try_mask - ask the runtime in start() whether it accepts a mask beside those of the tools
 * that have started. @sub: the subscription that start() received. start() may then set sub->low
 * and sub->high. Returns S_OK or the failure of SetEventMask.
 */
HRESULT sxs_sub_try_mask(struct sxs_sub *sub, uint32_t low, uint32_t high);

/** sxs_runtime_immutable - return the COR_PRF_MONITOR flags that this runtime lets a profiler set in
 *  Initialize only. Any thread. */
uint32_t sxs_runtime_immutable(const struct sxs_runtime *rt);

/** sxs_runtime_immutable_set - return the COR_PRF_MONITOR flags of sxs_runtime_immutable() that were
 *  set when the runtime was initialized. They stay set, so a tool that starts late can rely on them.
 *  Any thread; not signal-safe. */
uint32_t sxs_runtime_immutable_set(struct sxs_runtime *rt);

/** sxs_sub_is_silent - return 1 when the session of @sub is ending: no event comes any more, and its
 *  mask was taken back. Any thread. */
int sxs_sub_is_silent(struct sxs_sub *sub);

/**
 * sxs_sub_set_mask - change the event mask of one tool on one runtime.
 * @low, @high: COR_PRF_MONITOR and COR_PRF_HIGH_MONITOR bits; they replace the tool's earlier bits.
 * Returns S_OK, CORPROF_E_RUNTIME_UNINITIALIZED when the runtime is not live, ends during the call,
 * or in a forked child, CORPROF_E_UNSUPPORTED_CALL_SEQUENCE when the mask has an immutable bit that
 * the runtime was not asked for in Initialize, or the failure of SetEventMask. After a failure all
 * masks are unchanged.
 * Callable on any thread that may call SetEventMask; not signal-safe.
 */
HRESULT sxs_sub_set_mask(struct sxs_sub *sub, uint32_t low, uint32_t high);

#endif
