/* SPDX-License-Identifier: MIT */
/* stackwalk/snapshot/stopped.c - takes the stack of one thread while runtimes are suspended.
 * Merges and compares the frames that the runtimes report with the frames that the thread finds
 * by walking in its signal handler. */
#include "stackwalk/snapshot/stopped.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "stackwalk/snapshot/compare.h"
#include "stackwalk/snapshot/dispatch.h"
#include "base/safe_read.h"
#include "base/session_state.h"
#include "stackwalk/fast/tables.h"
#include "stackwalk/snapshot/walk_request.h"
#include "signals/signals.h"

#define MAX_REPORTED 4096
#define ANSWER_US    50000u /* limit; halved for each answer missed in a row */
#define HOLD_US      50000u /* how long to wait for requests by other threads */

struct reports {
    struct sxs_account frames[MAX_REPORTED];
    size_t             n;
    uint16_t           runtime; /* number of the runtime that is reporting */
    uint64_t           refused; /* bit N: runtime N refused to report */
};

/* Only one thread walks, one stack at a time, so these buffers need no lock. */
static struct reports            first, second;
static struct sxs_account        walked[SXS_MAX_STACK];
static struct sxs_compared_frame merged[MAX_REPORTED + SXS_MAX_STACK];
SXS_SESSION_RESETS(first);
SXS_SESSION_RESETS(second);
SXS_SESSION_RESETS(walked);
SXS_SESSION_RESETS(merged);

/* ---- frames reported by runtimes ------------------------------------------------------------- */

int sxs_stopped_list(struct sxs_stopped *s)
{
    ICorProfilerThreadEnum *each = NULL;
    ThreadID                id;
    ULONG                   got;
    s->n_threads = 0;
    if (FAILED(sxs_info_EnumThreads(s->rt, &each)) || !each)
        return -1;
    while (each->vtbl->Next(each, 1, &id, &got) == S_OK && got == 1) {
        DWORD tid = 0;
        if (FAILED(sxs_info_GetThreadInfo(s->rt, (sxs_thread){s->rt, id}, &tid)) || !tid)
            continue; /* the thread has not started yet */
        if (s->n_threads == s->cap_threads) {
            size_t cap = s->cap_threads ? 2 * s->cap_threads : 64;
            void  *more = reallocarray(s->threads, cap, sizeof(s->threads[0]));
            if (!more)
                break;
            s->threads = more;
            s->cap_threads = cap;
        }
        s->threads[s->n_threads++] = (struct sxs_stopped_thread){id, tid};
    }
    each->vtbl->Release(each);
    return 0;
}

static HRESULT on_frame(FunctionID fn, UINT_PTR ip, COR_PRF_FRAME_INFO info, ULONG32 size,
                        BYTE *context, void *arg)
{
    struct reports *to = arg;
    DWORD64         sp;
    (void)info;
    if (to->n == MAX_REPORTED || size < offsetof(CONTEXT, Rsp) + sizeof(sp))
        return S_FALSE; /* anything but S_OK ends the snapshot */
    if (!fn)
        return S_OK; /* frames that the runtime does not own */
    memcpy(&sp, context + offsetof(CONTEXT, Rsp), sizeof(sp));
    to->frames[to->n++] =
        (struct sxs_account){.sp = sp, .ip = (uintptr_t)ip, .function = fn, .runtime = to->runtime};
    return S_OK;
}

static int by_sp(const void *a, const void *b)
{
    const struct sxs_account *x = a, *y = b;
    return x->sp < y->sp ? -1 : x->sp > y->sp;
}

static void ask_runtimes(const struct sxs_stopped *all, size_t n, uint32_t tid, struct reports *to)
{
    to->n = 0;
    to->refused = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < all[i].n_threads; k++) {
            sxs_thread thread = {all[i].rt, all[i].threads[k].id};
            if (all[i].threads[k].tid != tid)
                continue;
            to->runtime = (uint16_t)sxs_runtime_number(all[i].rt);
            if (FAILED(sxs_info_DoStackSnapshot(all[i].rt, thread, on_frame,
                                                COR_PRF_SNAPSHOT_REGISTER_CONTEXT, to, NULL, 0)))
                to->refused |= UINT64_C(1) << (to->runtime & 63);
        }
    }
    qsort(to->frames, to->n, sizeof(to->frames[0]), by_sp);
}

static int are_alike(const struct reports *a, const struct reports *b)
{
    if (a->n != b->n || a->refused != b->refused)
        return 0;
    for (size_t i = 0; i < a->n; i++)
        if (a->frames[i].sp != b->frames[i].sp || a->frames[i].ip != b->frames[i].ip)
            return 0;
    return 1;
}

/* ---- owners of the walked frames ------------------------------------------------------------- */

static void ask_function(const struct sxs_stopped *all, size_t n, int owner, uintptr_t pc,
                         struct sxs_account *f)
{
    for (size_t i = 0; i < n; i++) {
        sxs_function fn = {all[i].rt, 0};
        if (owner >= 0 && sxs_runtime_signal_owner(all[i].rt) != owner)
            continue;
        if (owner >= 0)
            f->runtime = (uint16_t)sxs_runtime_number(all[i].rt);
        if (SUCCEEDED(sxs_info_GetFunctionFromIP(all[i].rt, (LPCBYTE)pc, &fn)) && fn.id) {
            f->runtime = (uint16_t)sxs_runtime_number(all[i].rt);
            f->function = fn.id;
            f->is_dispatch = (uint8_t)sxs_dispatch_is(fn);
            return;
        }
    }
}

static void identify_frame(const struct sxs_stopped *all, size_t n,
                           const struct sxs_file_index *index, struct sxs_account *f, int is_leaf)
{
    uintptr_t pc = f->ip - !is_leaf;
    int       owner = sxs_signals()->find_ip(pc);
    f->is_module = sxs_tables_find(index, pc) != NULL;
    if (!f->is_module) {
        ask_function(all, n, owner, pc, f);
        return;
    }
    for (size_t i = 0; i < n && owner >= 0; i++)
        if (sxs_runtime_signal_owner(all[i].rt) == owner)
            f->module_of = sxs_runtime_number(all[i].rt);
}

static void identify_all(const struct sxs_stopped *all, size_t n,
                         const struct sxs_walk_answer *answer)
{
    const struct sxs_file_index *index = sxs_tables_enter();
    size_t                       r = 0;
    for (size_t i = 0; i < answer->n; i++) {
        struct sxs_account *f = &walked[i];
        *f = (struct sxs_account){.sp = answer->sps[i], .ip = answer->ips[i]};
        while (r < first.n && first.frames[r].sp < f->sp)
            r++;
        if (r < first.n && sxs_compare_is_at(&first.frames[r], f)) {
            f->function = first.frames[r].function;
            f->runtime = first.frames[r].runtime;
        } else {
            identify_frame(all, n, index, f, i == 0);
        }
    }
    sxs_tables_leave();
}

/* ---- frames of the suspension itself --------------------------------------------------------- */

/* Returns the signal number if frame @i is a signal frame of the kernel, else 0. */
static int signal_of(const struct sxs_walk_answer *answer, size_t i)
{
    struct sxs_signal_frame frame;
    if (i + 1 >= answer->n || sxs_safe_read(&frame, answer->sps[i], sizeof(frame)) != sizeof(frame))
        return 0;
    if (sxs_signal_frame_ip(&frame) + 1 != answer->ips[i + 1] ||
        sxs_signal_frame_sp(&frame) != answer->sps[i + 1])
        return 0;
    return frame.signo;
}

static int is_libc(const struct sxs_file_index *index, uintptr_t pc)
{
    const struct sxs_module *libc = sxs_tables_find(index, (uintptr_t)clock_nanosleep);
    return libc && pc >= libc->lo && pc < libc->hi;
}

/* Returns the SP of the first frame to record, or 0 to record all frames. Frames in which a
 * thread waits for the end of the suspension do not belong to the program. If the runtime's own
 * signal stopped the thread, they are the frames above the interrupted one. If a hijacked return
 * or a poll stopped the thread, they are recognized by two facts: the thread was running before,
 * and now only frames of its runtime and libc are on top of its managed code. */
static uintptr_t begins_at(const struct sxs_walk_answer *answer, const struct sxs_due *due)
{
    const struct sxs_file_index *index;
    size_t                       i, young = 0;
    if (!first.n)
        return 0;
    while (young < answer->n && answer->sps[young] < first.frames[0].sp)
        young++;
    for (i = 0; i < young; i++)
        if (signal_of(answer, i) == SIGRTMIN)
            return answer->sps[i + 1];
    i = 0;
    if (due->before != 'R')
        return 0;
    index = sxs_tables_enter();
    if (is_libc(index, answer->ips[0])) /* in a system call of libc: it is waiting */
        for (i = 0; i < young && walked[i].is_module; i++)
            if (walked[i].module_of != first.frames[0].runtime && !is_libc(index, answer->ips[i]))
                break;
    sxs_tables_leave();
    return i > 0 && i <= young && i < answer->n && !walked[i].is_module ? answer->sps[i] : 0;
}

/* ---- records --------------------------------------------------------------------------------- */

static void add_count(struct sxs_samples_header *h, enum sxs_compared what, unsigned by)
{
    if (by)
        atomic_fetch_add_explicit(&h->n_compared[what], by, memory_order_relaxed);
}

static struct sxs_record_sample *record_sample(struct sxs_samples_writer *w,
                                               const struct sxs_due *due, uint64_t time_ns,
                                               enum sxs_sample_end end, uintptr_t from, size_t n)
{
    uint64_t                   ips[SXS_MAX_STACK];
    struct sxs_samples_header *header = sxs_samples_header(w);
    struct sxs_record_sample  *record;
    n = sxs_compare_ips(merged, n, from, ips, SXS_MAX_STACK);
    if (!n)
        return NULL;
    /* The first IP of a record must be exact. This frame was not the first one walked, so its IP
     * was stored plus one. */
    if (from && ips[0] != merged[0].ip)
        ips[0]--;
    record = sxs_samples_reserve(w, sizeof(*record) + n * sizeof(ips[0]));
    if (!record) {
        atomic_fetch_add(&header->n_dropped, 1);
        return NULL;
    }
    record->time_ns = time_ns;
    record->weight_ns = due->weight_ns;
    record->tid = due->tid;
    record->end = (uint8_t)end;
    record->n = (uint16_t)n;
    memcpy(record->ips, ips, n * sizeof(ips[0]));
    sxs_samples_commit(record, SXS_RECORD_SAMPLE);
    atomic_fetch_add(&header->n_samples, 1);
    atomic_fetch_add(&header->n_ends[end], 1);
    return record;
}

static void record_difference(struct sxs_samples_writer *w, const struct sxs_due *due,
                              uint64_t time_ns, enum sxs_compared kind, enum sxs_sample_end end,
                              size_t n)
{
    struct sxs_record_difference *record;
    if (n > MAX_REPORTED / 2)
        n = MAX_REPORTED / 2; /* the longest record is half a chunk */
    record = sxs_samples_reserve(w, sizeof(*record) + n * sizeof(merged[0]));
    if (!record)
        return;
    record->time_ns = time_ns;
    record->tid = due->tid;
    record->kind = (uint8_t)kind;
    record->end = (uint8_t)end;
    record->n = (uint16_t)n;
    memcpy(record->frames, merged, n * sizeof(merged[0]));
    sxs_samples_commit(record, SXS_RECORD_DIFFERENCE);
}

/* Whether a runtime that has frames on this stack refused to report them. Other refusals do not
 * count: a runtime returns E_FAIL for a thread that has no frames of it. */
static int is_refused(size_t n_walked)
{
    for (size_t i = 0; i < n_walked; i++)
        if (walked[i].function && (first.refused >> (walked[i].runtime & 63) & 1))
            return 1;
    return 0;
}

/* Whether the two lists of frames can be compared: both must be complete and of the same stack. */
static int is_comparable(struct sxs_samples_header *h, const struct sxs_walk_answer *answer)
{
    int refused = answer && is_refused(answer->n);
    if (!first.n && !refused)
        return 0; /* a stack with native frames only */
    if (refused)
        add_count(h, SXS_COMPARED_REFUSED, 1);
    else if (!answer)
        add_count(h, SXS_COMPARED_UNWALKED, 1);
    else if (!are_alike(&first, &second))
        add_count(h, SXS_COMPARED_MOVED, 1);
    else if (answer->end == SXS_SAMPLE_END_CUT || answer->end == SXS_SAMPLE_END_TIMEOUT ||
             answer->end == SXS_SAMPLE_END_ON_ALTSTACK)
        add_count(h, SXS_COMPARED_BROKEN_OFF, 1);
    else
        return 1;
    return 0;
}

static void count_comparison(struct sxs_samples_header *h, const struct sxs_walk_comparison *c)
{
    add_count(h, SXS_COMPARED_STACKS, 1);
    add_count(h, c->kind, 1);
    add_count(h, SXS_COMPARED_FRAMES, c->n_frames);
    add_count(h, SXS_COMPARED_NO_METADATA, c->n_no_metadata);
    add_count(h, SXS_COMPARED_FUNCLETS, c->n_funclets);
    add_count(h, SXS_COMPARED_UNWOUND, c->n_unwound);
    add_count(h, SXS_COMPARED_DISPATCH, c->n_dispatch);
    add_count(h, SXS_COMPARED_ENTERING, c->n_entering);
    add_count(h, SXS_COMPARED_PINVOKES, c->n_pinvokes);
}

static const struct sxs_walk_answer *ask_thread(struct sxs_due *due, int (*ask)(uint32_t tid))
{
    unsigned                      missed = due->missed;
    const struct sxs_walk_answer *answer =
        sxs_walk_request(due->tid, ANSWER_US >> (missed < 9 ? missed : 9), ask);
    due->missed = answer ? 0 : missed + 1;
    return answer;
}

struct sxs_record_sample *sxs_stopped_take(struct sxs_samples_writer *w,
                                           const struct sxs_stopped *all, size_t n,
                                           struct sxs_due *due, int (*ask)(uint32_t tid))
{
    struct sxs_samples_header    *header = sxs_samples_header(w);
    uint64_t                      now = sxs_now_ns(CLOCK_MONOTONIC);
    const struct sxs_walk_answer *answer;
    enum sxs_sample_end           end = SXS_SAMPLE_END_FAILED;
    struct sxs_walk_comparison    c;
    uintptr_t                     from = 0;
    size_t                        n_walked = 0, n_merged;
    struct sxs_record_sample     *record;
    int                           holds;
    /* This call must be first, because it makes the runtimes restore hijacked return addresses. */
    ask_runtimes(all, n, due->tid, &first);
    holds = sxs_walk_request_hold(HOLD_US) == 0;
    answer = holds ? ask_thread(due, ask) : NULL;
    ask_runtimes(all, n, due->tid, &second);
    if (answer) {
        end = answer->end;
        n_walked = answer->n;
        identify_all(all, n, answer);
        from = begins_at(answer, due);
    }
    c = sxs_compare(first.frames, first.n, walked, n_walked, 1, merged, &n_merged);
    if (is_comparable(header, answer)) {
        count_comparison(header, &c);
        if (c.kind != SXS_COMPARED_ALIKE)
            record_difference(w, due, now, c.kind, end, n_merged);
    }
    record = record_sample(w, due, now, end, from, n_merged);
    if (holds)
        sxs_walk_request_release();
    return record;
}
