/* SPDX-License-Identifier: MIT */
/** internal.h - the state of a session that is followed. Private to cmd/live. */
#ifndef SXS_CMD_LIVE_INTERNAL_H
#define SXS_CMD_LIVE_INTERNAL_H

#include "cmd/live/live.h"
#include "cmd/live/track.h"
#include "cmd/report/addresses.h"
#include "cmd/report/loader.h"
#include "cmd/symbols/names_table.h"
#include "session/read/chunks_follow.h"
#include "session/read/file_read.h"
#include "session/read/numbers.h"
#include "session/read/samples_read.h"
#include "session/read/session_read.h"

#include <errno.h>
#include <sys/stat.h>

#define SXS_LIVE_NEWEST 1000u /* collections and compilations that are listed one by one */

/* ---- tables of rows ---- */

/** A row of a list that is no function and no thread. */
struct sxs_live_item {
    uint32_t key[4]; /* text, runtime's number, detail, and what else tells rows apart */
    bool     exact;
    struct sxs_live_track first, second;
};

struct sxs_live_table {
    struct sxs_live_item *all; /* owned */
    size_t                n, cap;
    struct sxs_index      index;
    bool                  exact; /* only the rows that are exact are listed */
};

/** sxs_live_item - return the index of the row with this key; added when new. */
size_t sxs_live_item(struct sxs_live_table *t, const uint32_t key[4]);
void   sxs_live_table_free(struct sxs_live_table *t);

/* ---- records that change in place ---- */

/** A record that is read again at each look. */
struct sxs_live_changing {
    uint64_t offset;
    size_t   item;     /* row that it belongs to */
    uint64_t n, value; /* what it said at the last look */
    double   times;    /* open waits: how many waits it stands for */
};

struct sxs_live_changings {
    struct sxs_live_changing *all;          /* owned */
    size_t                    n, cap, next; /* next: where the next look goes on */
};

/** Strings by number of a NAME record. Zeroed: there is none. */
struct sxs_live_names {
    struct sxs_numbers numbers;
    uint32_t          *all; /* owned; by index of the number */
    size_t             n;
};

/* ---- samples ---- */

/** A sample in the window. */
struct sxs_live_ringed {
    uint64_t bucket;
    uint64_t weight_ns;
    uint32_t node;
    bool     waiting;
};

/** Sums of a frame or thread in the window: own and all time (thread: time, waiting time), ns. */
struct sxs_live_recent {
    uint64_t first, second;
};

/** A pause for a collection, to be found by samples that were taken in it. */
struct sxs_live_pause {
    uint64_t from_ns, to_ns;
    uint32_t tid;
    uint16_t runtime;
};

/** The file "samples". */
/** A cost, or a total, whose type is named by a record that comes later: tools write a cost at once, and
 *  ask the runtime for the name of its type when that is safe. */
struct sxs_live_unnamed {
    union {
        struct sxs_record_cost  cost;
        struct sxs_record_total total;
    };
    uint64_t offset;
    bool     is_total;
};

struct sxs_live_samples {
    bool                      open;
    struct sxs_chunk_follower file;
    struct sxs_samples_header head;
    struct sxs_loader         loader;
    struct sxs_natives       *natives;
    struct sxs_sources       *sources;
    /* samples that wait for names: copies of records, in the order of the file */
    char                     *queue; /* owned */
    size_t                    queue_at, queue_end, queue_cap, n_queued;
    uint64_t                  seen_ns;    /* the latest time of any record */
    uint64_t                  drained_ns; /* the time as of which samples were taken out last */
    struct sxs_live_ringed   *ring; /* owned; samples in the window: n from `first` on, of cap */
    size_t                    ring_first, ring_n, ring_cap;
    struct sxs_live_recent   *frames, *threads; /* owned; by index */
    size_t                    n_frames, n_threads;
    bool                      has_thread_names;
    struct sxs_chunk_follower thread_names; /* the file "threads", if it is there */
    uint64_t                 *frame_seen; /* owned; by frame: the sample that counted it last */
    size_t                    n_frame_seen;
    uint64_t                  n_added;
    uint64_t                  window_ns; /* sum of the ring */
    struct sxs_live_pause    *pauses;    /* owned; recent ones */
    size_t                    n_pauses, cap_pauses;
    bool                      has_pauses;
    char                    **texts; /* owned; by frame, made when first shown */
    size_t                    n_texts;
    struct sxs_live_names     names;
    struct sxs_live_changings totals, open_waits;
    struct sxs_live_unnamed
          *unnamed; /* owned; costs whose type has no name yet, in the order of the file */
    size_t n_unnamed, cap_unnamed;
};

/* ---- events ---- */

struct sxs_live_kept_collection {
    uint64_t                     offset; /* 0: from an event, does not change */
    uint64_t                     looked_ns;
    struct sxs_events_collection now;
};

struct sxs_live_kept_compilation {
    struct sxs_live_compilation shown;
    uint64_t                    time_ns;
    char                       *text; /* owned */
};

/** The file "events". */
struct sxs_live_events {
    bool                              open;
    struct sxs_chunk_follower         file;
    struct sxs_events_header          head;
    struct sxs_live_names             names;
    struct sxs_live_changings         throw_sites;
    struct sxs_live_kept_collection  *collections; /* owned; a ring of SXS_LIVE_NEWEST */
    uint64_t                          n_collections;
    struct sxs_live_kept_compilation *compilations; /* owned; a ring of SXS_LIVE_NEWEST */
    uint64_t                          n_compilations;
    uint64_t                          seen_ns;
};

/* ---- runtimes ---- */

/** Sums of one runtime, by its number. */
struct sxs_live_of_runtime {
    struct sxs_live_track gcs, exceptions, methods, pause, allocated;
    uint64_t              was[3];     /* gcs, exceptions, methods at the last look */
    bool                  known;      /* `was` is */
    uint64_t              own_ns;     /* in the window: samples in its code */
    uint64_t              heap_bytes; /* after its last collection */
    uint64_t              left_bytes; /* the same with detail, for `allocated` */
};

struct sxs_live {
    char    *dir, *folder;    /* owned */
    int      dir_fd, fd;      /* the session, the process */
    uint64_t (*now_ns)(void); /* CLOCK_MONOTONIC */
    struct sxs_live_process      process;
    char                         command[1024];
    struct sxs_live_runtime     *runtimes; /* owned */
    size_t                       n_runtimes;
    struct sxs_live_of_runtime  *of_runtime; /* owned; SXS_LIVE_RUNTIMES, by number */
    struct sxs_session           census;     /* as of the last look */
    uint64_t                     max_bytes;
    double                       window_s;
    uint64_t                     bucket_ns, bucket; /* length; number of the newest */
    uint64_t                     clock_ns, opened_ns, began_ns;
    bool                         running, behind;
    bool                         first_look_done; /* everything that was there at first was read */
    unsigned                     changes;
    struct sxs_model             model;
    struct sxs_strings           strings; /* texts of rows */
    struct sxs_live_samples      samples;
    struct sxs_live_events       events;
    struct sxs_live_table        tables[SXS_LIVE_N_LISTS]; /* the first two are not used */
    struct sxs_live_track        pause, allocated, gcs, exceptions, methods;
    struct sxs_live_row         *rows; /* owned; what sxs_live_rows() returned */
    size_t                       cap_rows;
    struct sxs_live_collection  *shown_collections;  /* owned */
    struct sxs_live_compilation *shown_compilations; /* owned */
    char                       **problems;
    size_t                       n_problems;
    char                         line[512];
    struct sxs_symbol_path      *symbols; /* borrowed; NULL: none */
    struct sxs_names            *names;   /* owned; the session's own table; NULL: none */
};

#define SXS_LIVE_RUNTIMES 256u /* runtimes with sums of their own; those of others count for all */

/** sxs_live_is_damage - return true when a file could not be opened for another reason than that it
 *  is not there, or is not there yet. @err: of sxs_chunk_follow_open(). */
static inline bool sxs_live_is_damage(const struct sxs_live *l, int err)
{
    return err && err != ENOENT && !(err == EAGAIN && l->running);
}

/** sxs_live_see_time - take the time of a record as the newest of its file, *@seen_ns. A time that
 *  cannot be is damage; it must not move the clock. @began: of the file's header. */
static inline void sxs_live_see_time(const struct sxs_live *l, uint64_t began, uint64_t *seen_ns,
                                     uint64_t time_ns)
{
    const uint64_t second = 1000000000, year = 365 * 86400 * second;
    if (time_ns > *seen_ns && time_ns + second > began && time_ns < began + year &&
        (!l->running || time_ns < l->now_ns()))
        *seen_ns = time_ns;
}

/** sxs_live_bucket - return the bucket of a time (ns, CLOCK_MONOTONIC). */
static inline uint64_t sxs_live_bucket(const struct sxs_live *l, uint64_t time_ns)
{
    return time_ns / l->bucket_ns;
}

/** sxs_live_of - return the sums of the runtime of this number, or NULL. */
static inline struct sxs_live_of_runtime *sxs_live_of(struct sxs_live *l, uint32_t number)
{
    return number && number < SXS_LIVE_RUNTIMES ? &l->of_runtime[number] : NULL;
}

/** sxs_live_add_pause - add a pause of a runtime to the sums. */
void sxs_live_add_pause(struct sxs_live *l, uint32_t runtime, uint64_t end_ns, double duration_ns);

/** sxs_live_name_add, _name_of - keep and find the string of a NAME record, by its number. */
void     sxs_live_name_add(struct sxs_live *l, struct sxs_live_names *names, uint32_t number,
                           const char *text, size_t size);
uint32_t sxs_live_name_of(const struct sxs_live_names *names, uint32_t number);

/** sxs_live_names_free - release the memory of @names. */
void sxs_live_names_free(struct sxs_live_names *names);

/** sxs_live_changing_add - remember a record that is read again. */
void sxs_live_changing_add(struct sxs_live_changings *c, const struct sxs_live_changing *v);

/**
 * sxs_live_changing_turn - return how many of the records this look reads again: all, unless there
 * are too many for one look. The first is c->all[c->next]; the caller advances c->next, and goes on
 * with 0 after the last. @all: read all of them. */
size_t sxs_live_changing_turn(struct sxs_live_changings *c, bool all);

/* The file "samples". _look reads what is new; _add_due adds the samples that have waited long
 * enough, or all of them. */
void sxs_live_samples_open(struct sxs_live *l);
void sxs_live_samples_look(struct sxs_live *l);
void sxs_live_samples_add_due(struct sxs_live *l, bool all);
void sxs_live_samples_close(struct sxs_live *l);

/** sxs_live_samples_add - add a sample to the model and to all sums. */
void sxs_live_samples_add(struct sxs_live *l, const struct sxs_record_sample *v,
                          uint16_t collecting);
/** sxs_live_samples_expire - take out of the window what has left it. */
void sxs_live_samples_expire(struct sxs_live *l);

/* Costs in the file "samples". */
void sxs_live_take_cost(struct sxs_live *l, const struct sxs_record_cost *v, uint64_t offset);
void sxs_live_take_total(struct sxs_live *l, const struct sxs_record_total *v, uint64_t offset);
/** sxs_live_costs_named - count those costs whose types have been named meanwhile. @all: the others, too. */
void sxs_live_costs_named(struct sxs_live *l, bool all);
/** sxs_live_costs_again - read again what changes in place. @all: all of it. */
void sxs_live_costs_again(struct sxs_live *l, bool all);

/* The file "events". */
void sxs_live_events_open(struct sxs_live *l);
void sxs_live_events_look(struct sxs_live *l, bool all);
void sxs_live_events_close(struct sxs_live *l);

/** sxs_live_take_collection - add a collection, or what has changed in it, to the sums. @was: its
 *  state at the last look, or NULL. */
void sxs_live_take_collection(struct sxs_live *l, const struct sxs_events_collection *was,
                              const struct sxs_events_collection *now);

/** sxs_live_frame_text - return the text of a frame of the model, as lists show it. */
const char *sxs_live_frame_text(struct sxs_live *l, uint32_t frame);

#endif
