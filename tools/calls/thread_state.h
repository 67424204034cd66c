/* SPDX-License-Identifier: MIT */
/**
 * thread_state.h - the state of a thread that counts calls. Private to tools/calls/.
 *
 * Only the thread itself reads and writes its state, so no lock guards it. The nodes that hold the
 * counts lie in the mapped calls file (session/format/calls.h); the rest lies in process memory.
 */
#ifndef SXS_TOOLS_CALLS_THREAD_STATE_H
#define SXS_TOOLS_CALLS_THREAD_STATE_H

#include "base/base.h"
#include "elt/calls_offsets.h"
#include "session/write/calls_write.h"
#include "tools/calls/functions.h"
#include "values/formatter.h"

/** A hooked call in progress: one frame of the shadow stack. */
struct sxs_calls_frame {
    uintptr_t              sp;    /* caller's stack pointer, from the hook; older frames: higher */
    struct sxs_calls_node *node;
    struct sxs_called     *fn;    /* NULL: bottom frame, or filter of a function without hooks */
    uint64_t               start; /* tick; 0: not timed */
    uint64_t               callees; /* Ticks. Without a tree: of the callees. With a tree: of calls
                                       within this frame that lie elsewhere in the tree; starts at 1
                                       if this call itself lies elsewhere. With a tree, the leave
                                       takes the slow path unless this is 0. */
    /* The rest is for tail calls (tools/calls/tails.h). The fast path does not write it; it is valid
     * when `start` is 0 or the frame was left. */
    uint64_t  began; /* the start of a call whose leave takes the slow path; `start` is
                                       0 then. 0: not timed */
    uintptr_t from;  /* of a frame left by a fast tail call: the return address */
    uint64_t  how;   /* enum sxs_tails_how, with `began` */
};

/** A slot of a thread's hash table (open addressing) that maps parent node and function to the
 *  child node. Used when the child is not its parent's `latest`. Not base/index.h, because hooks in
 *  assembly search it. */
struct sxs_calls_slot {
    uint64_t      key;  /* sxs_calls_key() */
    sxs_calls_ref node; /* 0: free */
    uint32_t      zero;
};

#define SXS_CALLS_BACKOFF_EVERY 32768u /* calls of a node between two checks for back-off */

/** The state of a thread that counts calls. */
struct sxs_calls_state {
    struct sxs_calls_frame  *top;   /* the youngest frame; never below frames[0] */
    struct sxs_calls_frame  *frames, *limit; /* owned; limit: the last usable frame */
    unsigned char           *cells; /* first cell of the calls file */
    struct sxs_calls_node  **flat;  /* owned; indexed by function number; used without a tree */
    uint32_t                 n_flat;
    struct sxs_calls_slot   *slots; /* owned; n_slots is a power of two */
    uint32_t                 n_slots, n_slots_used;
    sxs_calls_ref           *histograms; /* owned; indexed by function number */
    uint32_t                 n_histograms;
    uint64_t                 now;    /* tick at which the leave hook began; for its slow path */
    struct sxs_calls_thread *record; /* in the calls file */
    struct sxs_calls_arena   arena;  /* provides cells for the record, nodes and histograms */
    struct sxs_calls_event  *event, *event_end; /* room for the next events; equal: no room */
    struct sxs_calls_block  *block;  /* contains `event` */
    struct sxs_calls_arena   blocks; /* provides the next block */
    enum { SXS_TRACE_OFF, SXS_TRACE_ON, SXS_TRACE_FULL } tracing;
    char                     text[SXS_CALLS_TEXT_MAX]; /* text buffer of values, used in a hook */
    struct sxs_calls_asked {
        COR_PRF_FUNCTION_ARGUMENT_INFO  info;
        COR_PRF_FUNCTION_ARGUMENT_RANGE more[SXS_FORMATTER_PARAMS + 1];
    } asked; /* the runtime's answer about a call's arguments, used in a hook */
    int                      thrown; /* 1: an exception was thrown, and the first pass has not
                                        reached a frame of the shadow stack yet */
};

static inline uint64_t sxs_calls_key(sxs_calls_ref parent, sxs_calls_ref function)
{
    return (uint64_t)function << 32 | parent;
}

/** The first slot that may hold @key; the search continues in the slots that follow. */
static inline uint32_t sxs_calls_slot_of(const struct sxs_calls_state *s, uint64_t key)
{
    return (uint32_t)((key * HASH_FACTOR) >> 32) & (s->n_slots - 1);
}

/** The calling thread's state. NULL before the thread's first hooked call and after the thread's
 *  end. */
extern SXS_TLS struct sxs_calls_state *sxs_calls_state;
/** Copies of this thread's state->flat and n_flat, for the hook of mode "count". */
extern SXS_TLS struct sxs_calls_node **sxs_calls_flat;
extern SXS_TLS uint32_t                sxs_calls_n_flat;

/** sxs_calls_state_expect - let libc allocate now what the calling thread's state will need, so
 *  that the first hook does not allocate. Call on a runtime's thread when it starts; not in a
 *  hook. */
void sxs_calls_state_expect(void);

/** sxs_calls_state_get - return the calling thread's state; make the state, in mapped pages, if the
 *  thread has none. Returns NULL when there is no memory, in a forked child, and on a
 *  thread that no runtime announced, because it started while its runtime shut down. Do not call
 *  in a signal handler. */
struct sxs_calls_state *sxs_calls_state_get(void);

/** sxs_calls_more_... - enlarge the arrays for frames, for slots, or for functions up to @number.
 *  Return 0, or -1 and change nothing when there is no memory. */
int sxs_calls_more_frames(struct sxs_calls_state *s);
int sxs_calls_more_slots(struct sxs_calls_state *s);
int sxs_calls_more_flat(struct sxs_calls_state *s, uint32_t number);

/** sxs_calls_histogram - return the histogram of @fn on this thread; make it if there is none.
 *  Returns 0 when there is no room. */
sxs_calls_ref sxs_calls_histogram(struct sxs_calls_state *s, const struct sxs_called *fn);

/** sxs_calls_note_text - append a text event with @size bytes of @text to the call trace.
 *  @of: the event that the text describes: the event right before; its tick and node are copied.
 *  Without room, counts the text in record->values_lost. */
void sxs_calls_note_text(struct sxs_calls_state *s, const struct sxs_calls_event *of,
                         const char *text, size_t size);

/** sxs_calls_more_events - begin a new block of events, if the file has room for one. */
void sxs_calls_more_events(struct sxs_calls_state *s);

/** sxs_calls_state_init - set the header of the calls file, borrowed; the header has the mode. Call
 *  before the first hook runs. Returns 0 or -errno. */
int  sxs_calls_state_init(struct sxs_calls_header *header);

/** sxs_calls_have_shadow - return 1 when threads keep a shadow stack; 0 in mode "count", or when
 *  the tool is off. */
int sxs_calls_have_shadow(void);

/** sxs_calls_state_forget - stop counting in a forked child. */
void sxs_calls_state_forget(void);

#endif
