/* SPDX-License-Identifier: MIT */
/** ring_internal.h - the state of the ring of this process, for control/ring*.c. All functions are called with
 *  ring.lock held. */
#ifndef SXS_CONTROL_RING_INTERNAL_H
#define SXS_CONTROL_RING_INTERNAL_H

#include <limits.h>
#include <pthread.h>

#include "control/keep/keep_settings.h"
#include "control/ring/budget.h"
#include "control/ring/ring_list.h"
#include "control/ring/segment_file.h"
#include "manager/sessions.h"

#define SXS_RING_ADAPTED 320u /* bytes of a line about rates */
#define SXS_RING_EVENTS 16u /* events that are remembered, for segments that end later */

/** The segment that is being recorded. */
struct sxs_ring_current {
    char                     name[SXS_SEGMENT_NAME]; /* "": none */
    char                     tools[SXS_KEEP_TOOLS];
    char                     adapted[SXS_RING_ADAPTED];
    unsigned                 session;    /* its number */
    int64_t                  started_ns; /* CLOCK_MONOTONIC */
    struct sxs_segment_facts facts;
    struct sxs_ring_cost     cost;       /* at its begin */
    uint64_t                 handler_ns; /* in the handler of the sample signal, so far */
};

struct sxs_ring {
    /* Taken before all other locks, because sessions begin and end while it is held. */
    pthread_mutex_t lock;
    int             is_on;
    int      is_ready;   /* 1: the folder is open and the first segment made, by the environment */
    int      is_refused; /* 1: settings of the environment were not understood */
    int      may_load_code; /* of its sessions, see manager/sessions.h */
    int      is_between; /* 1: a segment has ended, and the next one has not begun yet */
    unsigned generation; /* sxs_fork_generation() of the process that began it */
    struct sxs_keep_settings settings;
    char                     path[PATH_MAX];        /* of the folder of segments */
    char                     tools[SXS_KEEP_TOOLS]; /* as they were asked for; "": none were */
    char                     pick[600], id[33], mask[16];
    struct sxs_folder        dir; /* valid if is_open */
    int                      is_open;
    struct sxs_segment_name  next; /* the number of the next segment */
    struct sxs_ring_current  now;
    struct sxs_ring_list     list, kept;
    struct sxs_trigger_event events[SXS_RING_EVENTS];
    size_t                   n_events;
    struct sxs_budget        budget;
    char                     adapted[SXS_RING_ADAPTED]; /* of the next segment */
    unsigned                 last_session; /* number of the session of the last segment; 0: none */
    int64_t                  ended_ns;     /* when it ended */
    int64_t                  retry_ns;     /* not before, after a failure */
    unsigned                 no_room;      /* sxs_file_no_room() when it was last looked at */
    int64_t                  full_ns;      /* when a line about a full disk was written; 0: never */
    uint64_t                 n_segments, gaps_ns, longest_gap_ns;
};

extern struct sxs_ring sxs_ring;

/** sxs_ring_open - open the folder sxs_ring.path, which is made if it is missing, and list its segments.
 *  The next segment gets a number above those in the folder and those that this ring has made. Returns 0,
 *  or -1 with a reason. */
int sxs_ring_open(char *why, size_t size);

/** sxs_ring_close - close the folder of segments. */
void sxs_ring_close(void);

/** sxs_ring_make_segment - make the folder of the next segment, with the tools of the present scale.
 *  Deletes the oldest if the disk is full. Returns 0 or -errno, then it has no name; -ENOENT, -ESTALE:
 *  the folder of segments has been deleted, or is not at its path any more. */
int sxs_ring_make_segment(struct sxs_ring_current *out);

/** sxs_ring_describe - write segment.json of @segment. @ended_ns: CLOCK_REALTIME; 0: it runs. */
void sxs_ring_describe(struct sxs_ring_current *segment, uint64_t ended_ns);

/** sxs_ring_complete - the session of @segment has ended at @until_ns (CLOCK_MONOTONIC): describe
 *  it, and add it to the list or to those that are kept. Does nothing if it has no name. */
void sxs_ring_complete(struct sxs_ring_current *segment, int64_t until_ns);

/** sxs_ring_limit - delete segments that are too old, or exceed the limit of bytes. @more: 1: one more than needed,
 *  because the disk is full. Returns how many were deleted. */
unsigned sxs_ring_limit(int more);

/** sxs_ring_happened - handle an event that fulfils a condition: keep the segments around it. @arg: unused. */
void sxs_ring_happened(const struct sxs_trigger_event *event, void *arg);

/** sxs_ring_adapt - choose the rates and the length of the next segment from the CPU time that the profiler has
 *  used in the running one. */
void sxs_ring_adapt(void);

/** sxs_ring_every_ns - return how long a segment lasts at most. */
uint64_t sxs_ring_every_ns(void);

/** sxs_ring_is_too_large - return 1 if the running segment takes too much of the ring's bytes.
 *  sxs_ring_is_too_dear - return 1 if the profiler uses more than twice the budget in it, so that it must end
 *  early. */
int sxs_ring_is_too_large(void);
int sxs_ring_is_too_dear(void);

/** sxs_ring_handler_ns - return the time in the handler of the sample signal so far, in this
 *  session. */
uint64_t sxs_ring_handler_ns(void);

#endif
