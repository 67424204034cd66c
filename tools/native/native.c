/* SPDX-License-Identifier: MIT */
/*
 * tools/native/native.c - records what the preloaded allocator reports (allocator/allocator.h) as
 * costs. The memory of a process belongs to no runtime: the tool runs once, from the start of the
 * first runtime that it is enabled for to the end of the last one.
 */
#include "tools/native/native.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "allocator/allocator.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/thread.h"
#include "sampling/cost.h"
#include "stackwalk/fast/tables.h"
#include "tools/options/native_options.h"

enum native_state { NEW, LISTENING, IMPOSSIBLE };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);
static struct {
    enum native_state           state;
    unsigned   n_runtimes;
    struct sxs_allocator_counts before; /* when the tool began to listen */
} native; /* under the lock */
SXS_SESSION_KEEPS(lock);
SXS_SESSION_RESETS(native);

static _Atomic int listening; /* 0: what is reported is dropped */
static _Atomic int n_inside;  /* threads in a function of the listener */
SXS_SESSION_RESETS(listening);
SXS_SESSION_KEEPS(n_inside);

/* The allocator keeps the numbers of allocations until these are freed, which may be in a later
 * session. So numbers have the session in their uppermost bits. */
#define SESSION_SHIFT 48

/* ---- what is reported ------------------------------------------------------------------------ */

/* Defined by the linker: the first byte of this library, and the first after it. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Tells whether the library itself allocates: in its own code, or on a thread of its own. */
SXS_SIGSAFE static int is_own(uintptr_t caller)
{
    return (caller >= (uintptr_t)__ehdr_start && caller < (uintptr_t)_end) ||
           sxs_thread_is_own((uint32_t)syscall(SYS_gettid));
}

SXS_SIGSAFE static uint64_t session_bits(void)
{
    return (uint64_t)sxs_session_generation() << SESSION_SHIFT;
}

SXS_SIGSAFE static int enter(void)
{
    atomic_fetch_add(&n_inside, 1);
    return atomic_load(&listening);
}

SXS_SIGSAFE static void leave(void)
{
    atomic_fetch_sub(&n_inside, 1);
}

SXS_SIGSAFE static uint64_t record_allocation(const struct sxs_allocation *a)
{
    struct sxs_cost cost = {
        .id = a->followed ? sxs_recorder_cost_id() : 0,
        .n = a->n,
        .value = a->bytes,
        .flags = a->mapped ? SXS_COST_MAPPED : 0,
        .kind = SXS_COST_NATIVE,
    };
    if (is_own(a->caller))
        return 0;
    sxs_recorder_cost(&cost, 0);
    return cost.id ? cost.id | session_bits() : 0;
}

SXS_SIGSAFE static uint64_t on_allocated(const struct sxs_allocation *a)
{
    uint64_t id = enter() ? record_allocation(a) : 0;
    leave();
    return id;
}

SXS_SIGSAFE static void on_freed(uint64_t id)
{
    if (enter() && id >> SESSION_SHIFT == session_bits() >> SESSION_SHIFT)
        sxs_recorder_released(id & ((UINT64_C(1) << SESSION_SHIFT) - 1));
    leave();
}

static const struct sxs_allocator_listener listener = {on_allocated, on_freed};

/* ---- start and end --------------------------------------------------------------------------- */

static void leave_in_child(void)
{
    sxsprof_allocator_v1()->leave();
    native.state = IMPOSSIBLE;
}

/* Tells whether malloc(), as this library and others call it, is the preloaded one. */
static int is_malloc_ours(const struct sxs_allocator *a)
{
    uint64_t before = a->remaining();
    void *volatile block = malloc(16);
    free(block);
    return a->remaining() != before;
}

static enum native_state listen_now(uint64_t interval)
{
    static struct sxs_fork_part part = {.child = leave_in_child};
    SXS_SESSION_KEEPS(part);
    const struct sxs_allocator *a = sxsprof_allocator_v1 ? sxsprof_allocator_v1() : NULL;
    if (!a) {
        sxs_warn(
            "tool native: libsxsprof-malloc.so is not preloaded: native memory is not recorded; "
            "sxsprof native preloads it, and sxsprof env prints the setting");
        return IMPOSSIBLE;
    }
    if (!is_malloc_ours(a))
        sxs_warn(
            "tool native: malloc() and free() of this program are its own, or those of a library "
            "before libsxsprof-malloc.so in LD_PRELOAD: only mmap() is recorded");
    sxs_fork_register(&part);
    sxs_recorder_costs_on(SXS_COST_NATIVE, interval, 1);
    sxs_tables_refresh(); /* so that the first stacks can be walked */
    a->counts(&native.before);
    atomic_store(&listening, 1);
    return a->listen(&listener, interval) == 0 ? LISTENING : IMPOSSIBLE;
}

static HRESULT start_tool(struct sxs_sub *sub, const char *text)
{
    struct sxs_native_options options;
    char                      why[SXS_TOOL_WHY];
    HRESULT                   result;
    (void)sub;
    if (sxs_native_options_parse(text, &options, why, sizeof(why)) != 0) {
        sxs_error("tool native: %s", why);
        return E_INVALIDARG;
    }
    pthread_mutex_lock(&lock);
    if (native.state == NEW)
        native.state = listen_now(options.interval);
    native.n_runtimes += native.state == LISTENING;
    result = native.state == LISTENING ? S_OK : S_FALSE;
    pthread_mutex_unlock(&lock);
    return result;
}

static void warn_of_lost(void)
{
    struct sxs_allocator_counts n;
    sxsprof_allocator_v1()->counts(&n);
    n.n_reported -= native.before.n_reported;
    n.n_not_followed -= native.before.n_not_followed;
    if (n.n_not_followed)
        sxs_warn("tool native: %ju of %ju sampled allocations could not be followed until they "
                 "are freed; with a larger interval=BYTES fewer are sampled",
                 (uintmax_t)n.n_not_followed, (uintmax_t)n.n_reported);
}

static void stop_tool(struct sxs_sub *sub, int how)
{
    (void)sub, (void)how;
    pthread_mutex_lock(&lock);
    if (--native.n_runtimes == 0) {
        sxsprof_allocator_v1()->leave();
        native.state = NEW;
        warn_of_lost();
    }
    pthread_mutex_unlock(&lock);
}

/* Waits until the last thread has left the listener: its functions record without waiting. */
static void end_session(void)
{
    static const struct timespec nap = {0, 1000000};
    atomic_store(&listening, 0);
    while (atomic_load(&n_inside))
        nanosleep(&nap, NULL);
}

const struct sxs_tool sxs_native_tool = {.name = "native",
                                         .needs = "recorder",
                                         .start = start_tool,
                                         .stop = stop_tool,
                                         .end_session = end_session,
                                         .restarts = 1};
