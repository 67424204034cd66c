/* SPDX-License-Identifier: MIT */
/* Collects the frames that each runtime reports of the calling thread, through DoStackSnapshot. */
#include <stdlib.h>
#include <string.h>

#include "stackwalk/walk_internal.h"

static struct sxs_frame *snapshot_room(struct sxs_snapshot *snap)
{
    if (snap->run.len == SXS_WALK_FRAMES_MAX) {
        snap->full = 1;
        return NULL;
    }
    if (snap->run.len == snap->cap) {
        size_t            cap = snap->cap ? snap->cap * 2 : 64;
        struct sxs_frame *frames = reallocarray(snap->run.frames, cap, sizeof(*frames));
        if (!frames) {
            snap->no_memory = 1;
            return NULL;
        }
        snap->run.frames = frames;
        snap->cap = cap;
    }
    return &snap->run.frames[snap->run.len];
}

/* Asks for the function's class, module and type arguments. This must be done in the snapshot's
 * callback, because @info is valid only there. Runtimes permit GetFunctionInfo2 at any time on
 * any thread. */
static void ask_function(struct sxs_frame *frame, COR_PRF_FRAME_INFO info)
{
    frame->info_hr = sxs_info_GetFunctionInfo2(frame->fn.rt, frame->fn, info, &frame->cls,
                                               &frame->module, &frame->token, SXS_WALK_TYPE_ARGS,
                                               &frame->n_type_args, frame->type_args);
}

static HRESULT on_frame(FunctionID fn, UINT_PTR ip, COR_PRF_FRAME_INFO info, ULONG32 context_size,
                        BYTE *context, void *client_data)
{
    struct sxs_snapshot *snap = client_data;
    struct sxs_frame    *frame = snapshot_room(snap);

    if (!frame)
        return S_FALSE; /* anything but S_OK ends the snapshot */
    memset(frame, 0, sizeof(*frame));
    frame->info_hr = S_FALSE;
    frame->fn = (sxs_function){ snap->rt, fn };
    if (sxs_seed_from_context(&frame->at, context, context_size) != 0)
        return E_UNEXPECTED;
    frame->at.rip = ip;
    /* sxs_merge_by_sp() requires increasing SPs, so a frame that breaks the order is left out. */
    if (frame->at.rsp < snap->from_sp ||
        (snap->run.len && frame->at.rsp <= frame[-1].at.rsp))
        return S_OK;
    if (fn)
        ask_function(frame, info);
    snap->run.len++;
    return S_OK;
}

HRESULT sxs_snapshot_take(struct sxs_snapshot *snap, const struct sxs_seed *seed)
{
    uint8_t context[SXS_CONTEXT_BYTES] __attribute__((aligned(16)));

    snap->run.len = snap->run.at = 0;
    snap->full = snap->no_memory = 0;
    if (seed)
        sxs_seed_to_context(seed, context);
    HRESULT hr = sxs_info_DoStackSnapshot(snap->rt, (sxs_thread){ snap->rt, 0 }, on_frame,
                                          COR_PRF_SNAPSHOT_REGISTER_CONTEXT, snap,
                                          seed ? context : NULL, seed ? sizeof(context) : 0);
    return snap->full || snap->no_memory ? S_OK : hr;
}

void sxs_snapshot_free(struct sxs_snapshot *snap)
{
    free(snap->run.frames);
    memset(snap, 0, sizeof(*snap));
}

/** Merges the snapshots of all picked runtimes by SP and appends the managed frames to @walk. */
static void merge_snapshots(struct sxs_walk *walk, struct sxs_run *runs, size_t total)
{
    if (!total)
        return;
    struct sxs_frame *all = calloc(total, sizeof(*all));
    if (!all) {
        walk->end = SXS_WALK_NO_MEMORY;
        return;
    }
    size_t n = sxs_merge_by_sp(all, total, runs, walk->n_rts);
    for (size_t i = 0; i < n; i++)
        if (all[i].fn.id && sxs_walk_push(walk, &all[i]) != 0)
            break;
    free(all);
}

static void note_refusal(struct sxs_walk *walk, size_t i)
{
    if (FAILED(walk->hrs[i]) && !walk->refused) {
        walk->end = SXS_WALK_REFUSED;
        walk->refused = walk->rts[i];
        walk->refused_hr = walk->hrs[i];
    }
}

void sxs_walk_managed(struct sxs_walk *walk, uintptr_t from_sp)
{
    struct sxs_run runs[SXS_WALK_RUNTIMES_MAX] = { { NULL, 0, 0 } };
    size_t         total = 0;

    sxs_walk_begin(walk);
    for (size_t i = 0; i < walk->n_rts; i++) {
        struct sxs_snapshot snap = { .rt = walk->rts[i], .from_sp = from_sp };
        if (sxs_runtime_is_picked(walk->rts[i])) {
            walk->hrs[i] = sxs_snapshot_take(&snap, NULL);
            note_refusal(walk, i);
            if (snap.full)
                walk->end = SXS_WALK_BUFFER_FULL;
            if (snap.no_memory)
                walk->end = SXS_WALK_NO_MEMORY;
        }
        runs[i] = snap.run; /* the frames are owned by runs[] from here on */
        total += snap.run.len;
    }
    merge_snapshots(walk, runs, total);
    for (size_t i = 0; i < walk->n_rts; i++)
        free(runs[i].frames);
}
