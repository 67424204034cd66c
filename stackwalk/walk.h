/* SPDX-License-Identifier: MIT */
/**
 * walk.h - the frames of the calling thread, across every runtime that has some on it.
 *
 * Two walkers, one result. "Mixed" starts natively and lets each runtime account for its own
 * blocks; "managed" asks the runtimes alone. docs/stacks.md tells how each works and what it costs.
 */
#ifndef SXS_WALK_H
#define SXS_WALK_H

#include "manager/tool.h"
#include "symbols/frame.h"

/** No walk is longer, and no more runtimes than this take part in one. */
#define SXS_WALK_FRAMES_MAX 4096
#define SXS_WALK_RUNTIMES_MAX 64

enum sxs_walk_end {
    SXS_WALK_BOTTOM,       /* nothing is older */
    SXS_WALK_BUFFER_FULL,  /* SXS_WALK_FRAMES_MAX frames */
    SXS_WALK_SP_NOT_OLDER, /* the next frame would not lie above this one */
    SXS_WALK_OFF_STACK,    /* the next frame would lie outside the thread's stack */
    SXS_WALK_REFUSED,      /* a runtime would not say; see refused and refused_hr */
    SXS_WALK_STEP_FAILED,  /* libunwind found no way on */
    SXS_WALK_NO_MEMORY,
};

/** Frames of one walker, youngest first, and how far sxs_stitch() has come. */
struct sxs_run {
    struct sxs_frame *frames;
    size_t            len, at;
};

struct sxs_walk {
    struct sxs_frame  *frames; /* owned; youngest first, SPs strictly rising */
    size_t             len, cap;
    enum sxs_walk_end  end;
    struct sxs_runtime *rts[SXS_WALK_RUNTIMES_MAX]; /* a reference each: they keep every ID valid */
    HRESULT            hrs[SXS_WALK_RUNTIMES_MAX];  /* DoStackSnapshot's; S_FALSE: not asked */
    size_t             n_rts;
    struct sxs_runtime *refused; /* borrowed from rts; set when end is SXS_WALK_REFUSED */
    HRESULT            refused_hr;
    unsigned           n_seeded; /* seeded snapshots that the runtime honoured */
    unsigned           n_jumps;  /* native steps that failed or overshot, mended from a snapshot */
};

/**
 * sxs_walk_mixed, sxs_walk_managed - walk the calling thread.
 * @walk:    overwritten; give it to sxs_walk_free() afterwards whatever the outcome.
 * @from_sp: bytes; frames with a smaller SP are left out (those of the library itself).
 * @walk->end tells why there are no more frames; the frames found until then are valid. Any thread,
 * many at once; no lock of the library is held while a runtime is called. Allocates; not for signal
 * handlers.
 */
void sxs_walk_mixed(struct sxs_walk *walk, uintptr_t from_sp);
void sxs_walk_managed(struct sxs_walk *walk, uintptr_t from_sp);

/** Appends a copy of @frame. Returns 0, or sets walk->end and returns -1. */
int sxs_walk_push(struct sxs_walk *walk, const struct sxs_frame *frame);

/** Drops the references and the frames. A zeroed walk is fine. */
void sxs_walk_free(struct sxs_walk *walk);

/** The reason in words, without a full stop; static. */
const char *sxs_walk_end_text(enum sxs_walk_end end);

/**
 * sxs_stitch - merge runs into one by SP.
 * @out, @cap: where the frames go; youngest (smallest SP) first.
 * @runs: each sorted by SP; their `at` moves on. Frames of one SP are one frame: a managed one is
 * kept rather than a "run of others", else that of the earlier run.
 * Returns how many frames were written. Pure; any thread; signal-safe.
 */
SXS_SIGSAFE size_t sxs_stitch(struct sxs_frame *out, size_t cap, struct sxs_run *runs,
                              size_t n_runs);

/** The tool that asks every picked runtime for COR_PRF_ENABLE_STACK_SNAPSHOT; no events. */
extern const struct sxs_tool sxs_stackwalk_tool;

#endif
