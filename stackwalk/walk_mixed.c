/* SPDX-License-Identifier: MIT */
/* The mixed walker: walks natively and uses the frames that runtimes report as landmarks.
 *
 * Every picked runtime is asked for one snapshot. The reported frames, and the points where
 * frames of others begin, are merged by SP into a list of landmarks. libunwind walks from one
 * landmark to the next and finds the native frames and stubs in between. Where libunwind fails
 * or goes past the next landmark, the walk continues from that landmark. So no reported managed
 * frame is lost, and managed frames that the runtime does not report can be recognized. */
#include <stdlib.h>
#include <string.h>

#include "stackwalk/walk_internal.h"

struct mixed {
    struct sxs_walk    *walk;
    uintptr_t           from_sp, stack_end;
    struct sxs_snapshot snaps[SXS_WALK_RUNTIMES_MAX]; /* same index as walk->rts */
    struct sxs_frame   *marks; /* owned; landmarks by increasing SP */
    size_t              n_marks, at_mark; /* landmarks before at_mark are already passed */
    /* 1: the runtime ignored a seed; it is not given another in this walk. */
    uint8_t             seeds_ignored[SXS_WALK_RUNTIMES_MAX];
    struct sxs_native   native;
    int                 native_is_here; /* the cursor is at the current frame */
};

static int merge_marks(struct mixed *m)
{
    struct sxs_run runs[SXS_WALK_RUNTIMES_MAX];
    size_t         total = 0;

    for (size_t i = 0; i < m->walk->n_rts; i++) {
        runs[i] = m->snaps[i].run;
        runs[i].at = 0;
        total += runs[i].len;
    }
    struct sxs_frame *marks = calloc(total + 1, sizeof(*marks));
    if (!marks) {
        m->walk->end = SXS_WALK_NO_MEMORY;
        return -1;
    }
    free(m->marks);
    m->marks = marks;
    m->n_marks = sxs_merge_by_sp(marks, total, runs, m->walk->n_rts);
    m->at_mark = 0;
    return 0;
}

static void take_snapshots(struct mixed *m)
{
    for (size_t i = 0; i < m->walk->n_rts; i++) {
        m->snaps[i].rt = m->walk->rts[i];
        m->snaps[i].from_sp = m->from_sp;
        if (sxs_runtime_is_picked(m->walk->rts[i]))
            m->walk->hrs[i] = sxs_snapshot_take(&m->snaps[i], NULL);
    }
}

/**
 * Returns the next landmark at or above @sp, or NULL when there is none. A frame with FunctionID
 * 0 and without an IP is not used as a landmark. */
static const struct sxs_frame *mark_from(struct mixed *m, uintptr_t sp)
{
    while (m->at_mark < m->n_marks &&
           (m->marks[m->at_mark].at.rsp < sp || m->marks[m->at_mark].at.rip == 0))
        m->at_mark++;
    return m->at_mark < m->n_marks ? &m->marks[m->at_mark] : NULL;
}

/**
 * Returns the index of the runtime whose code contains @frame's IP and fills frame->fn; n_rts:
 * no runtime's. */
static size_t owner_of(struct mixed *m, struct sxs_frame *frame)
{
    uintptr_t ip = frame->at.rip - (frame->exact_ip ? 0 : 1);
    for (size_t i = 0; i < m->walk->n_rts; i++) {
        sxs_function fn = { NULL, 0 };
        if (SUCCEEDED(sxs_info_GetFunctionFromIP(m->walk->rts[i], (LPCBYTE)ip, &fn)) && fn.id) {
            frame->fn = fn;
            return i;
        }
    }
    return m->walk->n_rts;
}

/* Repeats the snapshot with @frame as the seed. Used for a managed frame that its runtime did
 * not report because the thread is in cooperative mode, where a snapshot without a seed starts
 * too late. A runtime silently ignores the seed in preemptive mode, so the new snapshot is used
 * only if its first frame is the seed's frame. */
static int seed_snapshot(struct mixed *m, size_t i, const struct sxs_frame *frame)
{
    struct sxs_snapshot snap = { .rt = m->walk->rts[i], .from_sp = m->from_sp };

    if (!sxs_runtime_is_picked(snap.rt) || m->seeds_ignored[i])
        return 0;
    HRESULT hr = sxs_snapshot_take(&snap, &frame->at);
    if (FAILED(hr) || !snap.run.len || snap.run.frames[0].at.rsp != frame->at.rsp ||
        !snap.run.frames[0].fn.id) {
        if (FAILED(hr) && SUCCEEDED(m->walk->hrs[i]))
            m->walk->hrs[i] = hr;
        m->seeds_ignored[i] = 1;
        sxs_snapshot_free(&snap);
        return 0;
    }
    sxs_snapshot_free(&m->snaps[i]);
    m->snaps[i] = snap;
    m->walk->hrs[i] = hr;
    m->walk->n_seeded++;
    return merge_marks(m) == 0;
}

/**
 * Replaces @frame by the landmark at the same SP. Returns 0 when the runtime reported no frame
 * there. */
static int take_mark(struct mixed *m, struct sxs_frame *frame)
{
    const struct sxs_frame *mark = mark_from(m, frame->at.rsp);
    int                     exact = frame->exact_ip;

    if (!mark || mark->at.rsp != frame->at.rsp || !mark->fn.id)
        return 0;
    *frame = *mark;
    frame->exact_ip = exact;
    return 1;
}

static enum sxs_frame_account account_of(const struct mixed *m, size_t i,
                                         const struct sxs_frame *frame)
{
    if (FAILED(m->walk->hrs[i]) || !m->snaps[i].run.len)
        return SXS_FRAME_REPORTED;
    for (size_t k = m->at_mark; k < m->n_marks; k++)
        if (m->marks[k].fn.rt == frame->fn.rt && m->marks[k].fn.id == frame->fn.id)
            return SXS_FRAME_FUNCLET;
    return SXS_FRAME_UNREPORTED;
}

/**
 * Replaces @frame by the landmark at its SP if there is one; otherwise asks the runtimes for the
 * owner of its IP. */
static void identify_frame(struct mixed *m, struct sxs_frame *frame)
{
    if (take_mark(m, frame))
        return;
    frame->fn = (sxs_function){ NULL, 0 };
    size_t i = owner_of(m, frame);
    if (i == m->walk->n_rts || (seed_snapshot(m, i, frame) && take_mark(m, frame)))
        return;
    frame->account = account_of(m, i, frame);
}

static int stop_walk(struct mixed *m, enum sxs_walk_end end)
{
    m->walk->end = end;
    return end == SXS_WALK_BOTTOM ? 0 : -1;
}

static int step_native(struct mixed *m, const struct sxs_frame *from, struct sxs_frame *to)
{
    if (!m->native_is_here || !sxs_seed_rbp_on_stack(&from->at, m->stack_end))
        if (sxs_native_seed(&m->native, &from->at, from->exact_ip, m->stack_end) != 0)
            return stop_walk(m, SXS_WALK_STEP_FAILED);
    to->exact_ip = sxs_native_is_signal(&m->native);
    int rc = sxs_native_step(&m->native);
    m->native_is_here = rc > 0;
    if (rc <= 0)
        return stop_walk(m, rc == 0 ? SXS_WALK_BOTTOM : SXS_WALK_STEP_FAILED);
    sxs_native_regs(&m->native, &to->at);
    return 1;
}

/* libunwind has no unwind information for generated code: it searches every file for it and then
 * guesses, often wrongly. The code of JIT compilers and the stubs of runtimes mostly keep the
 * RBP chain, so that chain is followed instead. */
static int step_generated(struct mixed *m, const struct sxs_frame *from, struct sxs_frame *to)
{
    m->native_is_here = 0;
    if (sxs_seed_caller_by_rbp(&from->at, m->stack_end, &to->at) != 0)
        return stop_walk(m, SXS_WALK_STEP_FAILED);
    return 1;
}

/**
 * Finds the next older frame by registers alone. Returns 1, 0 at the bottom, or -1 (see
 * walk->end). */
static int step_registers(struct mixed *m, const struct sxs_frame *from, struct sxs_frame *to)
{
    uintptr_t ip = from->at.rip - (from->exact_ip ? 0 : 1);

    memset(to, 0, sizeof(*to));
    to->info_hr = S_FALSE;
    int rc = from->fn.rt || !sxs_native_in_file(ip) ? step_generated(m, from, to) :
                                                      step_native(m, from, to);
    if (rc <= 0)
        return rc;
    if (to->at.rip == 0)
        return stop_walk(m, SXS_WALK_BOTTOM);
    if (to->at.rsp <= from->at.rsp)
        return stop_walk(m, SXS_WALK_SP_NOT_OLDER);
    if (to->at.rsp > m->stack_end || to->at.rsp % sizeof(uintptr_t) != 0)
        return stop_walk(m, SXS_WALK_OFF_STACK);
    if (owner_of(m, to) == m->walk->n_rts && !sxs_native_is_code(to->at.rip - 1))
        return stop_walk(m, SXS_WALK_STEP_FAILED);
    return 1;
}

/** Finds the next older frame. Returns 0 when there is none (see walk->end). */
static int step_frame(struct mixed *m, const struct sxs_frame *from, struct sxs_frame *to)
{
    int                     rc = step_registers(m, from, to);
    const struct sxs_frame *mark = mark_from(m, from->at.rsp + 1);

    if (!mark)
        return rc > 0;
    if (rc > 0 && to->at.rsp < mark->at.rsp)
        return 1;
    /* The native step reached the landmark, failed, or went past it. The runtime's registers at
     * the landmark are more reliable than the native step's. */
    if (rc <= 0 || to->at.rsp != mark->at.rsp)
        m->walk->n_jumps++;
    if (rc <= 0 || to->at.rsp != mark->at.rsp || from->fn.rt) {
        int exact = rc > 0 && to->at.rsp == mark->at.rsp && to->exact_ip;
        memset(to, 0, sizeof(*to));
        to->info_hr = S_FALSE;
        to->at = mark->at;
        to->exact_ip = exact;
        m->native_is_here = 0;
    }
    return 1;
}

/** Finds the first frame at or above from_sp. Returns 0 when there is none. */
static int first_frame(struct mixed *m, struct sxs_frame *frame)
{
    m->native_is_here = 1;
    m->walk->end = SXS_WALK_STEP_FAILED;
    if (sxs_native_open(&m->native) != 0)
        return 0;
    memset(frame, 0, sizeof(*frame));
    frame->info_hr = S_FALSE;
    for (unsigned i = 0; i < SXS_WALK_FRAMES_MAX; i++) {
        sxs_native_regs(&m->native, &frame->at);
        if (frame->at.rsp >= m->from_sp)
            return 1;
        if (sxs_native_step(&m->native) <= 0)
            return 0;
    }
    return 0;
}

static void run_walk(struct mixed *m)
{
    struct sxs_frame frame, older;

    int more = first_frame(m, &frame);
    while (more) {
        identify_frame(m, &frame);
        if (m->walk->end == SXS_WALK_NO_MEMORY || sxs_walk_push(m->walk, &frame) != 0)
            return;
        more = step_frame(m, &frame, &older);
        frame = older;
    }
}

/* When a runtime refuses to report frames, the native walk finds them. So the refusal is given
 * as the reason for the end only if the native walk stopped before the bottom of the stack. */
static void blame_runtime(struct sxs_walk *walk)
{
    if (walk->end == SXS_WALK_BOTTOM || walk->end == SXS_WALK_BUFFER_FULL ||
        walk->end == SXS_WALK_NO_MEMORY)
        return;
    for (size_t i = 0; i < walk->n_rts && !walk->refused; i++) {
        if (FAILED(walk->hrs[i])) {
            walk->end = SXS_WALK_REFUSED;
            walk->refused = walk->rts[i];
            walk->refused_hr = walk->hrs[i];
        }
    }
}

void sxs_walk_mixed(struct sxs_walk *walk, uintptr_t from_sp)
{
    struct mixed *m = calloc(1, sizeof(*m));

    sxs_walk_begin(walk);
    walk->end = SXS_WALK_NO_MEMORY;
    if (!m)
        return;
    m->walk = walk;
    m->from_sp = from_sp;
    m->stack_end = sxs_native_stack_end(from_sp);
    take_snapshots(m);
    if (merge_marks(m) == 0) {
        if (sxs_unwind.usable)
            unw_getcontext(&m->native.uc);
        run_walk(m);
        blame_runtime(walk);
    }
    for (size_t i = 0; i < walk->n_rts; i++)
        sxs_snapshot_free(&m->snaps[i]);
    free(m->marks);
    free(m);
}
