/* SPDX-License-Identifier: MIT */
/* sampling/cost.c - a cost is recorded by the thread that it happens on: a walk of its own
 * stack, and one record. Large data is not on that stack, which may be small. */
#include "sampling/cost.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "base/loader.h"
#include "base/session_state.h"
#include "sampling/costs.h"
#include "sampling/sample_signal.h"
#include "sampling/scratch.h"
#include "sampling/walk.h"
#include "stackwalk/snapshot/walk_request.h"

#define SHORT_STACK 48u    /* frames of a walk for which no buffer is free */
#define ANSWER_US   5000u  /* how long another thread may take to answer */
#define HOLD_US     10000u /* how long to wait for the requests of others */

static struct {
    _Atomic(struct sxs_samples_writer *) writer; /* NULL: no costs are recorded */
    _Atomic uint64_t                     last_id;
    /* The profiler's own libraries: ranges of executable addresses. Constant when writer is set. */
    struct {
        uintptr_t lo, hi;
    } own[8];
    unsigned n_own;
} costs;
SXS_SESSION_RESETS(costs);

/* ---- start and end --------------------------------------------------------------------------- */

static int is_own_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return strncmp(name, "libsxsprof", 10) == 0 && strstr(name, ".so");
}

static int note_own(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size, (void)arg;
    if (!info->dlpi_name || !is_own_file(info->dlpi_name))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t lo = info->dlpi_addr + ph->p_vaddr;
        if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) || costs.n_own == ARRAY_LEN(costs.own))
            continue;
        costs.own[costs.n_own].lo = lo;
        costs.own[costs.n_own++].hi = lo + ph->p_memsz;
    }
    return 0;
}

void sxs_costs_start(struct sxs_samples_writer *w)
{
    sxs_loader_each(note_own, NULL);
    atomic_store_explicit(&costs.writer, w, memory_order_release);
}

void sxs_costs_forget(void)
{
    atomic_store(&costs.writer, NULL);
}

SXS_SIGSAFE struct sxs_samples_writer *sxs_costs_writer(void)
{
    return atomic_load_explicit(&costs.writer, memory_order_acquire);
}

void sxs_recorder_costs_on(enum sxs_cost_kind kind, uint64_t interval, int live)
{
    struct sxs_samples_writer *w = sxs_costs_writer();
    struct sxs_samples_header *header = w ? sxs_samples_header(w) : NULL;
    if (!header)
        return;
    header->cost_interval[kind] = interval;
    header->cost_live[kind] = live != 0;
    sxs_samples_expect_bursts(w);
}

void sxs_recorder_costs_biased(unsigned runtime)
{
    struct sxs_samples_writer *w = sxs_costs_writer();
    if (w && runtime < 64)
        atomic_fetch_or(&sxs_samples_header(w)->biased_runtimes, UINT64_C(1) << runtime);
}

/* ---- the record ------------------------------------------------------------------------------ */

SXS_SIGSAFE uint64_t sxs_recorder_cost_id(void)
{
    return atomic_fetch_add_explicit(&costs.last_id, 1, memory_order_relaxed) + 1;
}

SXS_SIGSAFE static void add_rounded(_Atomic uint64_t *to, double v)
{
    atomic_fetch_add_explicit(to, v > 0 && v < 0x1p63 ? (uint64_t)v : 0, memory_order_relaxed);
}

SXS_SIGSAFE static void count_dropped(struct sxs_samples_header *header, const struct sxs_cost *cost)
{
    atomic_fetch_add_explicit(&header->n_costs_dropped[cost->kind], 1, memory_order_relaxed);
    add_rounded(&header->costs_dropped_n[cost->kind], cost->n);
    add_rounded(&header->costs_dropped_value[cost->kind], cost->n * (double)cost->value);
}

SXS_SIGSAFE struct sxs_record_cost *sxs_costs_put(struct sxs_samples_writer *w,
                                                  const struct sxs_cost *cost, uint32_t tid,
                                                  const struct sxs_cost_stack *stack)
{
    struct sxs_samples_header *header = sxs_samples_header(w);
    struct sxs_record_cost    *r =
        sxs_samples_reserve(w, sizeof(*r) + stack->n * sizeof(stack->ips[0]));
    if (!r) {
        count_dropped(header, cost);
        return NULL;
    }
    r->time_ns = sxs_now_ns(CLOCK_MONOTONIC);
    r->id = cost->id;
    r->n = cost->n;
    r->value = cost->value;
    r->related = cost->related;
    r->tid = tid;
    r->name = cost->name;
    r->runtime = cost->runtime;
    r->kind = (uint8_t)cost->kind;
    r->flags = cost->flags;
    r->end = (uint8_t)stack->end;
    r->n_ips = (uint16_t)stack->n;
    memcpy(r->ips, stack->ips, stack->n * sizeof(stack->ips[0]));
    /* The first IP of a record is no return address; this one is within the call. */
    if (stack->n && !stack->is_interrupted)
        r->ips[0]--;
    sxs_samples_commit(r, SXS_RECORD_COST);
    atomic_fetch_add_explicit(&header->n_costs[cost->kind], 1, memory_order_relaxed);
    return r;
}

/* ---- the stack of the calling thread --------------------------------------------------------- */

SXS_SIGSAFE static int is_own(uintptr_t ip)
{
    for (unsigned i = 0; i < costs.n_own; i++)
        if (ip >= costs.own[i].lo && ip < costs.own[i].hi)
            return 1;
    return 0;
}

/* Returns the number of frames to leave out at the young end: sxs_recorder_cost(), the library's
 * frames, and @skip frames. */
SXS_SIGSAFE static size_t n_left_out(const uintptr_t *ips, size_t n, unsigned skip)
{
    size_t at = 1;
    while (at < n && is_own(ips[at] - 1))
        at++;
    return at + skip < n ? at + skip : n;
}

struct own_walk {
    const struct sxs_cost  *cost;
    unsigned                skip;
    uint32_t                tid;
    struct sxs_thread_slot *t; /* NULL: not known yet */
    ucontext_t             *uc;
};

/* @ips: room for @max frames. */
SXS_SIGSAFE static struct sxs_record_cost *walk_and_put(struct sxs_samples_writer *w,
                                                        const struct own_walk *o, uintptr_t *ips,
                                                        size_t max)
{
    const struct sxs_walk_limits limits = {.cycles = SXS_WALK_CYCLES, .max = max};
    struct sxs_cost_stack        stack = {.ips = ips};
    size_t                       n = sxs_walk_own(o->t, o->tid, o->uc, limits, ips, &stack.end), at;
    at = n_left_out(ips, n, o->skip);
    stack.ips += at;
    stack.n = n - at;
    return sxs_costs_put(w, o->cost, o->tid, &stack);
}

/* Records a cost whose walk has no buffer: the youngest frames are kept in a small array on the
 * stack. Not inlined, so that other costs do not use that stack space. */
__attribute__((noinline)) SXS_SIGSAFE static struct sxs_record_cost *walk_short(
    struct sxs_samples_writer *w, const struct own_walk *o)
{
    uintptr_t ips[SHORT_STACK];
    return walk_and_put(w, o, ips, SHORT_STACK);
}

/* The calling thread's number, saved because the system call costs as much as a short walk. */
SXS_SIGSAFE static uint32_t own_tid(void)
{
    static SXS_TLS uint32_t tid;
    if (!tid)
        tid = (uint32_t)syscall(SYS_gettid);
    return tid;
}

/* Inlined into two functions that are not, because n_left_out() expects one frame. */
__attribute__((always_inline)) SXS_SIGSAFE static inline struct sxs_record_cost *record_own(
    const struct sxs_cost *cost, unsigned skip)
{
    struct sxs_samples_writer *w = sxs_costs_writer();
    int                        saved_errno = errno;
    struct sxs_record_cost    *r;
    struct sxs_scratch        *buffer;
    ucontext_t                 uc;
    struct own_walk            o = {.cost = cost, .skip = skip, .uc = &uc};
    if (!w)
        return NULL;
    SXS_CONTEXT_HERE(uc);
    o.tid = own_tid();
    o.t = sxs_threads_find(o.tid);
    buffer = sxs_scratch_take(o.tid);
    if (buffer) {
        r = walk_and_put(w, &o, buffer->ips, SXS_MAX_STACK);
        sxs_scratch_give_back(buffer);
    } else {
        r = walk_short(w, &o);
    }
    if (o.t)
        atomic_store_explicit(&o.t->has_costs, 1, memory_order_relaxed);
    errno = saved_errno;
    return r;
}

__attribute__((noinline)) SXS_SIGSAFE void sxs_recorder_cost(const struct sxs_cost *cost,
                                                             unsigned               skip)
{
    record_own(cost, skip);
}

__attribute__((noinline)) SXS_SIGSAFE struct sxs_record_cost *sxs_recorder_cost_open(
    const struct sxs_cost *cost, unsigned skip)
{
    return record_own(cost, skip);
}

/* ---- the stack of another thread ------------------------------------------------------------- */

static int ask_thread(uint32_t tid)
{
    return sxs_sample_signal_send(tid, SXS_SAMPLE_SIGNAL_WALK);
}

SXS_SIGSAFE int sxs_costs_can_answer(uint32_t tid)
{
    const struct sxs_thread_slot *t = sxs_threads_find(tid);
    return t && atomic_load(&t->state) != SXS_SLOT_NEW && !atomic_load(&t->excluded);
}

int sxs_recorder_cost_of(uint32_t tid, const struct sxs_cost *cost)
{
    struct sxs_samples_writer    *w = sxs_costs_writer();
    const struct sxs_walk_answer *answer;
    if (!w || !sxs_costs_can_answer(tid) || sxs_sample_signal_install() != 0 ||
        sxs_walk_request_hold(HOLD_US) != 0)
        return -EAGAIN;
    answer = sxs_walk_request(tid, ANSWER_US, ask_thread);
    if (answer) {
        const struct sxs_cost_stack stack = {answer->ips, answer->n, answer->end, 1};
        sxs_costs_put(w, cost, tid, &stack);
    }
    sxs_walk_request_release();
    return answer ? 0 : -EAGAIN;
}

/* ---- later records about a cost -------------------------------------------------------------- */

/* Reserves a record. Counts it if there is no room. */
SXS_SIGSAFE static void *reserve_note(struct sxs_samples_writer *w, size_t size)
{
    void *r = sxs_samples_reserve(w, size);
    if (!r)
        atomic_fetch_add_explicit(&sxs_samples_header(w)->n_notes_dropped, 1, memory_order_relaxed);
    return r;
}

SXS_SIGSAFE static void put_released(struct sxs_record_released *r, uint64_t id)
{
    r->time_ns = sxs_now_ns(CLOCK_MONOTONIC);
    r->id = id;
    sxs_samples_commit(r, SXS_RECORD_RELEASED);
}

SXS_SIGSAFE void sxs_recorder_released(uint64_t id)
{
    struct sxs_samples_writer  *w = sxs_costs_writer();
    struct sxs_record_released *r = w ? reserve_note(w, sizeof(*r)) : NULL;
    if (r)
        put_released(r, id);
}

SXS_SIGSAFE int sxs_recorder_try_released(uint64_t id)
{
    struct sxs_samples_writer  *w = sxs_costs_writer();
    struct sxs_record_released *r = w ? sxs_samples_reserve(w, sizeof(*r)) : NULL;
    if (r)
        put_released(r, id);
    return r != NULL;
}

SXS_SIGSAFE void sxs_recorder_live(uint64_t id, uint8_t generation, uint32_t collections)
{
    struct sxs_samples_writer *w = sxs_costs_writer();
    struct sxs_record_live    *r = w ? reserve_note(w, sizeof(*r)) : NULL;
    if (!r)
        return;
    r->time_ns = sxs_now_ns(CLOCK_MONOTONIC);
    r->id = id;
    r->generation = generation;
    r->collections = collections;
    sxs_samples_commit(r, SXS_RECORD_LIVE);
}

SXS_SIGSAFE void sxs_recorder_live_checked(unsigned runtime, uint64_t time_ns)
{
    struct sxs_samples_writer *w = sxs_costs_writer();
    _Atomic uint64_t          *at;
    uint64_t                   was = 0;
    if (!w || runtime >= ARRAY_LEN(sxs_samples_header(w)->live_checked_ns))
        return;
    at = &sxs_samples_header(w)->live_checked_ns[runtime];
    while (was < time_ns && !atomic_compare_exchange_weak(at, &was, time_ns))
        ;
}

SXS_SIGSAFE struct sxs_record_total *sxs_recorder_total(enum sxs_cost_kind kind, unsigned runtime,
                                                        uint32_t name, uint8_t flags)
{
    struct sxs_samples_writer *w = sxs_costs_writer();
    struct sxs_record_total   *r = w ? reserve_note(w, sizeof(*r)) : NULL;
    if (!r)
        return NULL;
    r->kind = (uint8_t)kind;
    r->runtime = (uint16_t)runtime;
    r->name = name;
    r->flags = flags;
    sxs_samples_commit(r, SXS_RECORD_TOTAL);
    return r;
}
