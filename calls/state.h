/* SPDX-License-Identifier: MIT */
/**
 * state.h - what a thread keeps while it counts; for this folder.
 *
 * A thread's state is its own: no other thread reads or writes it, nothing in it is locked. The nodes
 * it counts in lie in the mapped file (record/calls.h), the rest in memory of the process.
 */
#ifndef SXS_CALLS_STATE_H
#define SXS_CALLS_STATE_H

#include "calls/functions.h"
#include "calls/offsets.h"
#include "manager/base/base.h"
#include "record/calls_write.h"
#include "values/recipe.h"

/** A hooked call under way. */
struct sxs_calls_frame {
    uintptr_t              sp;    /* of its caller: what the hook was told; older frames lie higher */
    struct sxs_calls_node *node;
    struct sxs_called     *fn;    /* NULL in the frame below all, and for a filter of others' */
    uint64_t               start; /* tick; 0: not timed */
    uint64_t               callees; /* ticks, without a tree; with one, of calls that lie elsewhere in it,
                                       and 1 when this one does itself: the leave is not beaten */
};

/** A child of a node that was not its parent's latest is found by both, in open addressing. */
struct sxs_calls_slot {
    uint64_t      key;  /* sxs_calls_key() */
    sxs_calls_ref node; /* 0: free */
    uint32_t      zero;
};

#define SXS_CALLS_BACKOFF_EVERY 32768u /* calls of a path between looks at whether they are too many */

struct sxs_calls_state {
    struct sxs_calls_frame  *top;   /* the youngest; never below frames[0] */
    struct sxs_calls_frame  *frames, *limit; /* owned; limit: the last that may be used */
    unsigned char           *cells; /* of the file */
    struct sxs_calls_node  **flat;  /* owned; by function's number; without a tree */
    uint32_t                 n_flat;
    struct sxs_calls_slot   *slots; /* owned; a power of two of them */
    uint32_t                 n_slots, n_slots_used;
    sxs_calls_ref           *histograms; /* owned; by function's number */
    uint32_t                 n_histograms;
    uint64_t                 now;    /* tick at which a leave began that the beaten path gave up */
    struct sxs_calls_thread *record; /* in the file */
    struct sxs_calls_arena   arena;
    struct sxs_calls_event  *event, *event_end; /* room for the next; equal: none */
    struct sxs_calls_block  *block;  /* they lie in */
    struct sxs_calls_arena   blocks; /* where the next comes from */
    enum { SXS_TRACE_OFF, SXS_TRACE_ON, SXS_TRACE_FULL } tracing;
    char                     text[SXS_CALLS_TEXT_MAX]; /* of the values of a call, in its hook */
    struct sxs_calls_asked {
        COR_PRF_FUNCTION_ARGUMENT_INFO  info;
        COR_PRF_FUNCTION_ARGUMENT_RANGE more[SXS_RECIPE_PARAMS + 1];
    } asked; /* of a runtime about a call's arguments, in its hook */
    int                      thrown; /* 1: an exception was, and no frame of ours was searched for a handler yet */
};

static inline uint64_t sxs_calls_key(sxs_calls_ref parent, sxs_calls_ref function)
{
    return (uint64_t)function << 32 | parent;
}

/** The first slot it may be in; the others follow. */
static inline uint32_t sxs_calls_slot_of(const struct sxs_calls_state *s, uint64_t key)
{
    return (uint32_t)((key * HASH_FACTOR) >> 32) & (s->n_slots - 1);
}

/** NULL before a thread's first hooked call, and after its end. */
extern SXS_TLS struct sxs_calls_state *sxs_calls_state;
/** state->flat and n_flat of this thread, for the hook that only counts. */
extern SXS_TLS struct sxs_calls_node **sxs_calls_flat;
extern SXS_TLS uint32_t                sxs_calls_n_flat;

/** A thread of a runtime begins: what its state will need of libc is allocated now, not in its first hook. On that thread;
 *  not in a hook. */
void sxs_calls_state_expect(void);
/** This thread's state, made when it has none, of pages of its own. NULL: no room, or a thread that no runtime announced: it
 *  started while its runtime shut down. Not in a signal handler. */
struct sxs_calls_state *sxs_calls_state_get(void);
/** More room for frames, slots, or functions up to @number. 0 or -1. */
int sxs_calls_more_frames(struct sxs_calls_state *s);
int sxs_calls_more_slots(struct sxs_calls_state *s);
int sxs_calls_more_flat(struct sxs_calls_state *s, uint32_t number);
/** The histogram of @fn on this thread, made when there is none; 0 when there is no room. */
sxs_calls_ref sxs_calls_histogram(struct sxs_calls_state *s, const struct sxs_called *fn);

/** @size bytes of text that belong to the event before, whose tick and node are @of's; counted when they
 *  find no room. */
void sxs_calls_note_text(struct sxs_calls_state *s, const struct sxs_calls_event *of,
                         const char *text, size_t size);

/** Room for one more event, if there may be any. */
void sxs_calls_more_events(struct sxs_calls_state *s);

/** What is counted, and into what; before the first hook is. */
int  sxs_calls_state_init(struct sxs_calls_header *header);
/** 1: calls under way are kept, a shadow stack; 0: they are only counted, or nothing is. */
int sxs_calls_have_shadow(void);
/** In a forked child: what is counted goes nowhere. */
void sxs_calls_state_forget(void);

#endif
