/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/walk.h - walks the stack of the calling thread across all runtimes that have frames
 * on it.
 *
 * Two walkers fill the same structure. The "mixed" walker unwinds native frames and uses the
 * frames that each runtime reports for its own code. The "managed" walker uses the runtimes'
 * reports alone. docs/internals/stacks.md describes both and their costs. */
#ifndef SXS_STACKWALK_WALK_H
#define SXS_STACKWALK_WALK_H

#include "manager/tool.h"
#include "symbols/frame.h"

/** Limits of one walk: the number of frames, and the number of runtimes that are asked. */
#define SXS_WALK_FRAMES_MAX 4096
#define SXS_WALK_RUNTIMES_MAX 64

enum sxs_walk_end {
    SXS_WALK_BOTTOM,       /* no older frame exists */
    SXS_WALK_BUFFER_FULL,  /* the walk has SXS_WALK_FRAMES_MAX frames */
    SXS_WALK_SP_NOT_OLDER, /* the SP of the next frame is not above the SP of this frame */
    SXS_WALK_OFF_STACK,    /* the SP of the next frame is outside the thread's stack */
    SXS_WALK_REFUSED,      /* a runtime refused to report frames; see refused, refused_hr */
    SXS_WALK_STEP_FAILED,  /* libunwind could not find the caller */
    SXS_WALK_NO_MEMORY,
};

/** Frames from one walker, youngest first. `at` is the index of the next frame for sxs_merge_by_sp(). */
struct sxs_run {
    struct sxs_frame *frames;
    size_t            len, at;
};

struct sxs_walk {
    struct sxs_frame  *frames; /* owned; youngest first, SPs strictly increasing */
    size_t             len, cap;
    enum sxs_walk_end  end;
    /* one reference each, so that all IDs in the frames stay valid */
    struct sxs_runtime *rts[SXS_WALK_RUNTIMES_MAX];
    /* result of DoStackSnapshot; S_FALSE: not called */
    HRESULT            hrs[SXS_WALK_RUNTIMES_MAX];
    size_t             n_rts;
    struct sxs_runtime *refused; /* borrowed from rts; set when end is SXS_WALK_REFUSED */
    HRESULT            refused_hr;
    unsigned           n_seeded; /* snapshots that the runtime started at the seed we passed */
    /* native steps that failed or went too far; the walk went on from a snapshot's frame */
    unsigned           n_jumps;
};

/**
 * sxs_walk_mixed, sxs_walk_managed - walk the calling thread's stack.
 * @walk: overwritten. Pass it to sxs_walk_free() afterwards, whatever the outcome.
 * @from_sp: bytes. Frames with a smaller SP are left out (the frames of the library itself).
 * walk->end says why there are no more frames; the frames found until then are valid. Any number
 * of threads may walk at the same time. No lock of the library is held while a runtime is
 * called. Both functions allocate memory, so they must not be called from signal handlers. */
void sxs_walk_mixed(struct sxs_walk *walk, uintptr_t from_sp);
void sxs_walk_managed(struct sxs_walk *walk, uintptr_t from_sp);

/** sxs_walk_push - append a copy of @frame. Returns 0, or sets walk->end and returns -1. */
int sxs_walk_push(struct sxs_walk *walk, const struct sxs_frame *frame);

/** sxs_walk_free - release the references to runtimes and the frames. @walk may be zeroed. */
void sxs_walk_free(struct sxs_walk *walk);

/** sxs_walk_end_text - describe @end in a few words, without a full stop. Static storage. */
const char *sxs_walk_end_text(enum sxs_walk_end end);

/**
 * sxs_merge_by_sp - merge several runs of frames into one, ordered by SP.
 * @out, @cap: receives up to @cap frames, youngest (smallest SP) first.
 * @runs: each sorted by SP. The `at` of each run is advanced. Frames of different runs with the
 *   same SP are the same frame: a managed frame is preferred to a marker of frames that the
 *   runtime does not own; otherwise the frame of the earlier run is kept.
 * Returns the number of frames written. Pure; any thread; signal-safe. */
SXS_SIGSAFE size_t sxs_merge_by_sp(struct sxs_frame *out, size_t cap, struct sxs_run *runs,
                                   size_t n_runs);

/**
 * The tool that requests COR_PRF_ENABLE_STACK_SNAPSHOT from every picked runtime. It handles no
 * events. */
extern const struct sxs_tool sxs_stackwalk_tool;

#endif
