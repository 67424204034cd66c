/* SPDX-License-Identifier: MIT */
/** sessions_fixture.h - two simulated runtimes, and tools that can be ended or cannot, for tests of
 *  sessions. */
#ifndef SXS_TESTS_SESSIONS_FIXTURE_H
#define SXS_TESTS_SESSIONS_FIXTURE_H

#include "manager/sessions.h"

#include <dirent.h>
#include <errno.h>
#include <sys/syscall.h>

#include "base/mask.h"
#include "base/session_state.h"
#include "manager/guid.h"
#include "manager/runtime_internal.h"
#include "sampling/recorder_tool.h"
#include "session/write/session_write.h"
#include "stackwalk/walk.h"
#include "tests/unit/fake_host.h"
#include "tools/alloc/alloc.h"
#include "tools/events/events.h"
#include "tools/gc/gc.h"
#include "tools/heap/heap.h"
#include "tools/locks/tool.h"
#include "tools/sample/tool.h"
#include "tools/tools.h"

/* Programs with sanitizers are much slower. */
#ifdef SXS_SANITIZED
#define MANY 60
#else
#define MANY 1000
#endif

#define LOW(name) ((uint32_t)COR_PRF_MONITOR_##name)

/* ---- a tool that can be ended, and one that cannot ------------------------------------------- */

/* The memory of a subscription; freed by release(), so that an event that comes later is found. */
struct seen {
    _Atomic unsigned n;
    int              stopped;
};

static _Atomic unsigned n_started, n_stopped, n_released, n_ended, n_events, last_how;
static unsigned         of_session;
SXS_SESSION_RESETS(of_session);
static unsigned kept_for_good;
SXS_SESSION_KEEPS(kept_for_good);
static _Atomic int holds; /* 1: a handler stays until it is 0 again */
static _Atomic int is_held;
static _Atomic int start_holds, stop_holds,
    end_holds; /* 1: the function does not return until it is 0 again */

static inline HRESULT on_event(struct sxs_sub *sub, sxs_function function, BOOL safe)
{
    struct seen *seen = sub->state;
    (void)function, (void)safe;
    atomic_fetch_add(&seen->n, 1);
    atomic_fetch_add(&n_events, 1);
    while (atomic_load(&holds)) {
        atomic_store(&is_held, 1);
        usleep(100);
    }
    return S_OK;
}

static const struct sxs_events spy_events = {.JITCompilationStarted = on_event};

static inline HRESULT spy_start(struct sxs_sub *sub, const char *options)
{
    if (strcmp(options, "fail") == 0) {
        sxs_error("tool spy: it was told to fail");
        return E_FAIL;
    }
    while (atomic_load(&start_holds)) {
        atomic_store(&is_held, 1);
        usleep(100);
    }
    of_session++;
    kept_for_good++;
    sub->state = calloc(1, sizeof(struct seen));
    sub->low = LOW(JIT_COMPILATION);
    if (strcmp(options, "first") == 0)
        sub->low |= LOW(CODE_TRANSITIONS); /* immutable */
    atomic_fetch_add(&n_started, 1);
    return S_OK;
}

static inline void spy_stop(struct sxs_sub *sub, int how)
{
    ((struct seen *)sub->state)->stopped++;
    atomic_store(&last_how, (unsigned)how);
    atomic_fetch_add(&n_stopped, 1);
    while (atomic_load(&stop_holds))
        usleep(100);
}

static inline void spy_release(struct sxs_sub *sub)
{
    if (sub->state) /* NULL: start() has failed */
        atomic_fetch_add(&n_released, 1);
    free(sub->state);
    sub->state = NULL;
}

static inline void spy_end(void)
{
    CHECK_EQ(n_started, n_released);
    while (atomic_load(&end_holds))
        usleep(100);
    atomic_fetch_add(&n_ended, 1);
}

static const struct sxs_tool spy = {.name = "spy",
                                    .on = &spy_events,
                                    .start = spy_start,
                                    .stop = spy_stop,
                                    .release = spy_release,
                                    .end_session = spy_end,
                                    .restarts = 1};
static const struct sxs_tool endless = {.name = "endless", .on = &spy_events, .start = spy_start};

static const struct sxs_tool *const tools[] = {&sxs_guard_tool,
                                               &sxs_pin_tool,
                                               &sxs_census_tool,
                                               &sxs_stackwalk_tool,
                                               &sxs_recorder_tool,
                                               &sxs_sample_tool,
                                               &sxs_gc_tool,
                                               &sxs_events_tool,
                                               &sxs_alloc_tool,
                                               &sxs_locks_tool,
                                               &sxs_heap_tool,
                                               &spy,
                                               &endless};

/* ---- helpers --------------------------------------------------------------------------------- */

static char out[300];

static inline int begin_with(const char *what, char why[SXS_SESSION_WHY])
{
    const struct sxs_session_request request = {.tools = what, .out = out};
    return sxs_session_begin(&request, why);
}

static inline void must_begin(const char *what)
{
    char why[SXS_SESSION_WHY];
    int  err = begin_with(what, why);
    if (err || why[0])
        dprintf(check_fd, "%s\n", why);
    CHECK_EQ(err, 0);
    CHECK_EQ(why[0], '\0');
}

static inline void must_end(void)
{
    char why[SXS_SESSION_WHY];
    int  err = sxs_session_end(why);
    if (err)
        dprintf(check_fd, "%s\n", why);
    CHECK_EQ(err, 0);
}

static inline enum sxs_session_phase phase(void)
{
    struct sxs_session_state now;
    sxs_session_get_state(&now);
    return now.phase;
}

static inline unsigned entries_of(const char *path)
{
    unsigned n = 0;
    DIR     *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static struct fake_host eight, nine;

static inline void start_two(void)
{
    profile_without_signals(tools, ARRAY_LEN(tools));
    snprintf(out, sizeof(out), "%s/out", temporary());
    eight = fake_start("8.0");
    nine = fake_start("9.0");
}

static inline void end_two(void)
{
    fake_end(&eight);
    fake_end(&nine);
    *strrchr(out, '/') = '\0';
    remove_tree(out);
}

static inline void wait_for(const struct fake_host *h, enum fakeclr_load state)
{
    for (int i = 0; i < 20000 && h->c->load_state() != state; i++)
        usleep(500);
    CHECK_EQ(h->c->load_state(), state);
}

#endif
