/* SPDX-License-Identifier: MIT */
/* calls.c - starts and stops the tool: sets hooks and mapper of each runtime, handles the runtimes'
 * callbacks, and runs one service thread for the calls file. */
#include "tools/calls/calls.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/thread.h"
#include "elt/hooks.h"
#include "session/write/calls_write.h"
#include "session/write/session_write.h"
#include "tools/calls/await.h"
#include "tools/calls/exceptions.h"
#include "tools/calls/functions.h"
#include "tools/calls/not_instrumented.h"
#include "tools/calls/select.h"
#include "tools/calls/shadow.h"
#include "tools/calls/tails.h"
#include "tools/calls/thread_state.h"
#include "tools/calls/values.h"
#include "tools/options/calls_options.h"
#include "values/types.h"

#define MAX_BYTES (UINT64_C(1) << 30) /* file size; then new paths count at their callers' nodes */

static struct {
    pthread_mutex_t               lock; /* guards started; held while the tool starts */
    int                           started; /* 0: not yet, 1: started, -1: failed */
    struct sxs_calls_header      *header;
    struct sxs_calls_options      options;
    const struct sxs_calls_hooks *hooks;
    _Atomic int                   forked;
} calls = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(calls.lock);
SXS_SESSION_KEEPS(calls);

void sxs_calls_use_hooks(const struct sxs_calls_hooks *hooks)
{
    calls.hooks = hooks;
}

/* ---- the service thread ----------------------------------------------------------------------- */

static void take_time(void)
{
    atomic_store(&calls.header->seen_tick, sxs_tick());
    atomic_store(&calls.header->seen_ns, sxs_now_ns(CLOCK_MONOTONIC));
}

static void serve_tool(void)
{
    while (!atomic_load(&calls.forked)) {
        if (sxs_calls_file_make_room() != 0)
            sxs_warn("the calls file cannot grow: new paths are counted at their callers");
        take_time();
        sxs_calls_file_wait();
    }
}

static const struct sxs_thread service = {"sxsprof calls", serve_tool};

static void child_goes_on(void)
{
    atomic_store(&calls.forked, 1);
    sxs_functions_end();
    sxs_calls_file_forget();
    sxs_calls_state_forget();
}

__attribute__((destructor)) static void ended(void)
{
    if (calls.started == 1 && !atomic_load(&calls.forked)) {
        take_time();
        atomic_store(&calls.header->ended_ns, sxs_now_ns(CLOCK_MONOTONIC));
        sxs_calls_file_trim();
    }
}

/* ---- start ------------------------------------------------------------------------------------ */

static void fill_header(void)
{
    struct sxs_calls_header *h = calls.header;
    h->mode = calls.options.mode;
    h->inlining = calls.options.inlining != 0;
    h->max_blocks = (uint32_t)(((uint64_t)calls.options.trace_mb << 20) /
                               (SXS_CALLS_BLOCK_CELLS * SXS_CALLS_CELL));
    h->started_realtime_ns = sxs_now_ns(CLOCK_REALTIME);
    h->started_tick = sxs_tick();
    h->started_ns = sxs_now_ns(CLOCK_MONOTONIC);
    take_time();
    memcpy(h->command, sxs_session_open(NULL)->command, sizeof(h->command));
}

static int start_counting(void)
{
    static struct sxs_fork_part part = {.child = child_goes_on};
    uint64_t                 trace = (uint64_t)calls.options.trace_mb << 20;
    const struct sxs_folder *folder = sxs_session_folder("calls");
    int                      err;
    if (!folder)
        return -1;
    if (trace)
        sxs_calls_file_expect(trace);
    calls.header = sxs_calls_file_create(folder, MAX_BYTES + trace);
    if (!calls.header) {
        sxs_error("tool calls: the calls file cannot be made: %s", strerror(errno));
        return -1;
    }
    fill_header();
    sxs_functions_limits(calls.options.backoff_hz, calls.options.backoff_ns,
                         SXS_CALLS_BACKOFF_EVERY);
    if (calls.options.logical && calls.options.mode == SXS_CALLS_TREE)
        sxs_functions_follow_awaits();
    err = sxs_functions_init(calls.header);
    if (!err)
        err = sxs_calls_state_init(calls.header);
    if (!err)
        err = -sxs_thread_start(&service);
    if (err) {
        sxs_error("tool calls cannot start: %s", strerror(-err));
        return -1;
    }
    sxs_shadow_use(sxs_calls_shadow, sxs_calls_logical);
    sxs_fork_register(&part);
    return 1;
}

static UINT_PTR map_function(FunctionID id, void *client_data, BOOL *hook)
{
    struct sxs_called *called = sxs_functions_find(client_data, id);
    *hook = called != NULL;
    if (!called)
        return id;
    atomic_fetch_add_explicit(&called->record->compiled, 1, memory_order_relaxed);
    return (UINT_PTR)called;
}

/* Event flags for the recording of arguments and results, by hooks with another signature
 * (WithInfo). */
#define WITH_VALUES \
    (COR_PRF_ENABLE_FUNCTION_ARGS | COR_PRF_ENABLE_FUNCTION_RETVAL | COR_PRF_ENABLE_FRAME_INFO)

/* Sets the mapper and the hooks. sub->low is complete. */
static HRESULT set_hooks(struct sxs_sub *sub)
{
    int     values = sxs_select_values();
    int     index = values                   ? SXS_CALLS_VALUES_HOOKS
                    : calls.options.trace_mb ? SXS_CALLS_TRACE_HOOKS
                                             : (int)calls.options.mode;
    const struct sxs_calls_hooks     *h = &calls.hooks[index];
    const struct sxs_hooks_functions  hooks = {(uintptr_t)h->enter, (uintptr_t)h->leave,
                                               (uintptr_t)h->tailcall};
    HRESULT hr = sxs_hooks_set(sub, values ? SXS_HOOKS_3_INFO : SXS_HOOKS_3, sub->low, &hooks);
    if (SUCCEEDED(hr))
        hr = sxs_hooks_set_mapper2(sub, map_function, sub->rt);
    if (SUCCEEDED(hr) && calls.options.logical && calls.options.mode == SXS_CALLS_TREE)
        hr = sxs_hooks_need_argument(sub);
    if (FAILED(hr))
        sxs_hooks_forget(sub);
    return hr;
}

/* Turns the call trace on if SXSPROF_VALUES is set: arguments and results are stored in the
 * trace. */
static void complete_options(void)
{
    const char *values = sxs_env_get(SXS_ENV_VALUES);
    if (!values || calls.options.trace_mb)
        return;
    if (calls.options.mode != SXS_CALLS_TREE)
        sxs_warn("tool calls: SXSPROF_VALUES records single calls: calls:trace is used");
    calls.options.mode = SXS_CALLS_TREE;
    calls.options.trace_mb = SXS_CALLS_TRACE_MB;
}

static HRESULT start_tool(struct sxs_sub *sub, const char *text)
{
    char    why[SXS_TOOL_WHY];
    int     ok;
    HRESULT hr;
    pthread_mutex_lock(&calls.lock);
    if (!calls.started) {
        calls.started = -1;
        if (sxs_calls_parse(text, &calls.options, why, sizeof(why)) != 0) {
            sxs_error("tool calls: %s", why);
        } else {
            complete_options();
            calls.started = start_counting();
        }
    }
    ok = calls.started == 1;
    pthread_mutex_unlock(&calls.lock);
    if (!ok)
        return E_FAIL;
    sxs_gaps_note_runtime(sub->rt);
    if (sxs_runtime_is_attached(sub->rt)) {
        sxs_error("tool calls: runtime %u was running before: it can be hooked from its start only",
                  sxs_runtime_number(sub->rt));
        return E_FAIL;
    }
    sub->low = COR_PRF_MONITOR_ENTERLEAVE | COR_PRF_MONITOR_JIT_COMPILATION | COR_PRF_MONITOR_THREADS |
               COR_PRF_MONITOR_FUNCTION_UNLOADS | COR_PRF_MONITOR_MODULE_LOADS;
    if (calls.options.mode != SXS_CALLS_COUNT)
        sub->low |= COR_PRF_MONITOR_EXCEPTIONS;
    if (sxs_select_values())
        sub->low |= WITH_VALUES | COR_PRF_MONITOR_CLASS_LOADS;
    if (calls.options.logical && calls.options.mode == SXS_CALLS_TREE)
        sub->low |= COR_PRF_MONITOR_CLASS_LOADS;
    hr = set_hooks(sub);
    if (FAILED(hr))
        return hr;
    sxs_calls_state_expect(); /* for this thread; ThreadAssignedToOSThread reports the others */
    if (calls.options.logical && calls.options.mode == SXS_CALLS_TREE)
        sxs_await_runtime(sub->rt);
    return S_OK;
}

/* ---- events ----------------------------------------------------------------------------------- */

static HRESULT on_compiling(struct sxs_sub *sub, sxs_function fn, BOOL safe)
{
    (void)sub;
    (void)safe;
    sxs_functions_decide(fn);
    return S_OK;
}

/* Handles ReJITCompilationStarted: the only callback at the compilation of a method that has new IL
 * from its first call on. */
static HRESULT on_recompiling(struct sxs_sub *sub, sxs_function fn, sxs_rejit version, BOOL safe)
{
    (void)version;
    return on_compiling(sub, fn, safe);
}

static HRESULT on_compiled(struct sxs_sub *sub, sxs_function fn, HRESULT status, BOOL safe)
{
    (void)safe;
    if (SUCCEEDED(status) && sxs_select_values())
        sxs_values_compiled(sxs_functions_find(sub->rt, fn.id), fn);
    return S_OK;
}

static HRESULT class_loaded(struct sxs_sub *sub, sxs_class cls, HRESULT status)
{
    (void)sub;
    if (FAILED(status))
        return S_OK;
    if (sxs_select_values())
        sxs_types_add(cls);
    if (sxs_functions_awaits_followed())
        sxs_await_class(cls);
    return S_OK;
}

static HRESULT class_unloading(struct sxs_sub *sub, sxs_class cls)
{
    (void)sub;
    if (sxs_select_values())
        sxs_types_forget(cls);
    if (sxs_functions_awaits_followed())
        sxs_await_class_gone(cls);
    return S_OK;
}

/* Refuses to inline a hooked function, because hooks do not see inlined calls. With inline=on,
 * allows it and notes the coverage gap. */
static HRESULT on_inlining(struct sxs_sub *sub, sxs_function caller, sxs_function callee,
                           BOOL *should)
{
    const struct sxs_called *called;
    (void)sub;
    if (!sxs_functions_may_inline(callee, &called))
        return S_OK;
    if (calls.options.inlining)
        sxs_gaps_note_inlined(called, caller);
    else
        *should = 0;
    return S_OK;
}

static HRESULT dynamic_compiled(struct sxs_sub *sub, sxs_function fn, HRESULT status, BOOL safe)
{
    (void)sub;
    (void)safe;
    char name[1024];
    if (FAILED(status))
        return S_OK;
    sxs_functions_name(fn, name, sizeof(name));
    sxs_tails_add_stub(fn, name);
    sxs_gaps_note_dynamic(fn, name);
    return S_OK;
}

static HRESULT thread_assigned(struct sxs_sub *sub, sxs_thread managed, DWORD os)
{
    (void)sub;
    (void)managed;
    (void)os;
    sxs_calls_state_expect();
    return S_OK;
}

static HRESULT function_unloading(struct sxs_sub *sub, sxs_function fn)
{
    (void)sub;
    sxs_functions_forget(fn);
    return S_OK;
}

static HRESULT module_loaded(struct sxs_sub *sub, sxs_module module, HRESULT status)
{
    (void)sub;
    if (SUCCEEDED(status))
        sxs_functions_module(module);
    return S_OK;
}

static HRESULT module_unloading(struct sxs_sub *sub, sxs_module module)
{
    (void)module;
    sxs_functions_close(sub->rt);
    sxs_types_close(sub->rt);
    return S_OK;
}

static void stop_tool(struct sxs_sub *sub, int detached)
{
    (void)detached;
    sxs_functions_close(sub->rt);
    sxs_types_close(sub->rt);
}

/* ---- exceptions ------------------------------------------------------------------------------- */

static HRESULT on_thrown(struct sxs_sub *sub, sxs_object object)
{
    (void)sub;
    (void)object;
    sxs_calls_thrown();
    return S_OK;
}

static HRESULT search_enter(struct sxs_sub *sub, sxs_function fn)
{
    if (sxs_calls_is_searching())
        sxs_calls_search(sxs_functions_find(sub->rt, fn.id));
    return S_OK;
}

static HRESULT filter_enter(struct sxs_sub *sub, sxs_function fn)
{
    sxs_calls_filter_enter(sxs_functions_find(sub->rt, fn.id));
    return S_OK;
}

static HRESULT filter_leave(struct sxs_sub *sub)
{
    (void)sub;
    sxs_calls_filter_leave();
    return S_OK;
}

/* Drops the frames that an exception has left. The clause's "frame pointer" is the stack pointer of
 * the frame that contains the block (8, 9 and 10). */
static void on_unwound(struct sxs_runtime *rt)
{
    COR_PRF_EX_CLAUSE_INFO clause = {0};
    if (sxs_info_GetNotifiedExceptionClauseInfo(rt, &clause) == S_OK && clause.framePointer)
        sxs_calls_unwound(clause.framePointer);
}

static HRESULT finally_enter(struct sxs_sub *sub, sxs_function fn)
{
    (void)fn;
    on_unwound(sub->rt);
    return S_OK;
}

static HRESULT catcher_enter(struct sxs_sub *sub, sxs_function fn, sxs_object object)
{
    (void)fn;
    (void)object;
    on_unwound(sub->rt);
    return S_OK;
}

static const struct sxs_events events = {
    .JITCompilationStarted = on_compiling,
    .ReJITCompilationStarted = on_recompiling,
    .JITCompilationFinished = on_compiled,
    .JITInlining = on_inlining,
    .ClassLoadFinished = class_loaded,
    .ClassUnloadStarted = class_unloading,
    .DynamicMethodJITCompilationFinished = dynamic_compiled,
    .ModuleLoadFinished = module_loaded,
    .ThreadAssignedToOSThread = thread_assigned,
    .FunctionUnloadStarted = function_unloading,
    .ModuleUnloadStarted = module_unloading,
    .ExceptionThrown = on_thrown,
    .ExceptionSearchFunctionEnter = search_enter,
    .ExceptionSearchFilterEnter = filter_enter,
    .ExceptionSearchFilterLeave = filter_leave,
    .ExceptionUnwindFinallyEnter = finally_enter,
    .ExceptionCatcherEnter = catcher_enter,
};

const struct sxs_tool sxs_calls_tool = {
    .name = "calls", .on = &events, .start = start_tool, .stop = stop_tool};
