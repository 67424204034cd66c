/* SPDX-License-Identifier: MIT */
/**
 * tool.h - a feature is a tool: a subscriber with its own event mask, event table and state.
 *
 * For every picked runtime each enabled tool gets one subscription. The runtime is asked for the
 * union of all masks; a tool is handed only the events its own mask asks for and its table handles.
 * Tools are called in the order of the table handed to sxs_manager_init(), first to last, and stopped
 * last to first.
 */
#ifndef SXS_TOOL_H
#define SXS_TOOL_H

#include "manager/runtime.h"

#define SXS_MAX_TOOLS 64 /* subscriptions of one runtime: one bit each */

/** One tool on one runtime. Handed to every event handler; lives until the runtime is freed. */
struct sxs_sub {
    const struct sxs_tool   *tool;
    const struct sxs_events *on;    /* borrowed from the tool */
    struct sxs_runtime      *rt;    /* borrowed: the runtime outlives its subscriptions */
    void                    *state; /* the tool's own, from start() */
    uint32_t                 low, high; /* event mask in force for this tool */
};

struct sxs_tool {
    const char              *name;       /* as in SXSPROF_TOOLS; static */
    int                      always;     /* nonzero: enabled without being named */
    int                      on_guarded; /* nonzero: also on runtimes that are only guarded */
    int in_child; /* nonzero: its handlers also run in a forked child, where they may take no
                                          * lock and ask no runtime; else its events end with the fork */
    const struct sxs_events *on;
    /**
     * start - a runtime is being initialized; Info calls that Initialize permits work on sub->rt.
     * Fills sub->low and sub->high (the event mask it asks for) and sub->state. @options: what
     * followed "NAME:" in SXSPROF_TOOLS, or "". No lock of the manager is held. Returns S_OK, or a failure: the tool stays off this
     * runtime and one line says so.
     */
    HRESULT (*start)(struct sxs_sub *sub, const char *options);
    /** stop - the runtime shuts down (@detached 0) or has let the profiler go (1): no new event
     *  follows, but other threads may still be inside a handler. Once; not in a forked child of the process that
     *  started it. May be NULL. */
    void (*stop)(struct sxs_sub *sub, int detached);
    /** release - nobody is inside a handler any more: free sub->state. No lock of the manager is held. @sub may be a
     *  copy of what start() was handed. May be NULL. */
    void (*release)(struct sxs_sub *sub);
};

/**
 * sxs_sub_set_mask - change what this tool asks for.
 * @low, @high: COR_PRF_MONITOR and COR_PRF_HIGH_MONITOR bits, replacing the tool's earlier ones.
 * Immutable bits that the runtime was not asked for in Initialize come too late: the call fails with
 * CORPROF_E_UNSUPPORTED_CALL_SEQUENCE, nothing changes, other tools are not touched. With CORPROF_E_RUNTIME_UNINITIALIZED
 * when the runtime has ended, or ends meanwhile; with the runtime's own answer when it refuses. Any thread that may call
 * SetEventMask; not signal-safe.
 */
HRESULT sxs_sub_set_mask(struct sxs_sub *sub, uint32_t low, uint32_t high);

#endif
