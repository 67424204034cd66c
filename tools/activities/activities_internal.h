/* SPDX-License-Identifier: MIT */
/** activities_internal.h - what is known about the classes of one runtime: written by learn.c on one
 *  thread, read by read.c in signal handlers. */
#ifndef SXS_TOOLS_ACTIVITIES_INTERNAL_H
#define SXS_TOOLS_ACTIVITIES_INTERNAL_H

#include "tools/activities/activities.h"

/** What objects of a class are good for here. */
enum sxs_shape_kind {
    SXS_SHAPE_OTHER, /* nothing */
    SXS_SHAPE_EMPTY, /* a map of AsyncLocal values without entries */
    SXS_SHAPE_PAIRS, /* one with keys and values in fields */
    SXS_SHAPE_ARRAY, /* one with an array of entries; an entry begins with key and value */
    SXS_SHAPE_ACTIVITY,
    SXS_SHAPE_TAGS, /* the list of an activity's tags */
    SXS_SHAPE_TAG,  /* one of them */
};

#define SXS_SHAPE_PAIRS_MAX 4

/** Offsets of fields in bytes, from the object's address. */
struct sxs_shape {
    enum sxs_shape_kind kind;
    union {
        struct {
            unsigned n;
            uint32_t key[SXS_SHAPE_PAIRS_MAX], value[SXS_SHAPE_PAIRS_MAX];
        } pairs;
        struct {
            uint32_t array;  /* of the reference to the array */
            uint32_t stride; /* bytes of an entry */
        } array;
        struct {
            uint32_t trace, span, parent, operation, display, tags;
        } activity;
        uint32_t tags_first;
        struct {
            uint32_t key, value, next;
        } tag;
    };
};

/** A class whose objects were met. */
struct sxs_seen_class {
    _Atomic uintptr_t id;    /* 0: free; 1: was unloaded */
    _Atomic int       known; /* 1: the shape is valid */
    uintptr_t         module;
    struct sxs_shape  shape;
};

#define SXS_SEEN_CLASSES   64
#define SXS_SEEN_PROBES    16
#define SXS_SEEN_UNLOADED  1
#define SXS_RECENT_THREADS 8

struct sxs_activities {
    struct sxs_runtime        *rt; /* NULL: free */
    unsigned                   index, number;
    struct sxs_samples_writer *writer;
    _Atomic int                ready; /* 1: activities can be read */
    _Atomic int                ended;
    /* Even while the runtime's threads run; odd from before they are stopped until they run. */
    _Atomic uint32_t stops;
    /* What the thread that stops the others had, before it did. */
    _Atomic uint32_t          stopper; /* its tid; 0: not known */
    _Atomic int               stopper_has;
    struct sxs_sample_context stopper_context;
    /* for learn.c: */
    _Atomic uintptr_t core, diagnostics; /* modules; 0: not loaded */
    _Atomic uintptr_t recent[SXS_RECENT_THREADS];
    _Atomic unsigned  n_recent;
    int               is_listed; /* 1: modules and threads from before the start are known */
    int               is_warned;
    uintptr_t         activity; /* class System.Diagnostics.Activity */
    /* constant once ready */
    uintptr_t thread, context, string; /* classes */
    uint32_t  handle_at; /* in the runtime's own thread: of the managed Thread's handle */
    uint32_t  native_at, context_at; /* fields of Thread */
    uint32_t  values_at;             /* field of ExecutionContext */
    uintptr_t key_at;                /* address of the static field Activity.s_current */
    struct sxs_seen_class seen[SXS_SEEN_CLASSES];
};

#define SXS_ACTIVITY_UNITS 120u /* of the name of an endpoint, in UTF-16; the rest is cut off */

/** A text of the runtime. */
struct sxs_activity_text {
    unsigned n; /* units */
    uint16_t units[SXS_ACTIVITY_UNITS];
};

enum sxs_found {
    SXS_FOUND_NONE,
    SXS_FOUND_ONE,
    SXS_FOUND_UNKNOWN, /* cannot be told */
};

/** sxs_activities_read - find the activity of the runtime's thread @native, which is the calling
 *  thread. @out, @endpoint: receive its ids and the name. Signal-safe. */
SXS_SIGSAFE enum sxs_found sxs_activities_read(struct sxs_activities *a, uintptr_t native,
                                               struct sxs_sample_context *out,
                                               struct sxs_activity_text  *endpoint);

/** sxs_activities_bytes - copy @size bytes at @from. Returns 1, or 0 when they cannot be read.
 *  @reliable: of sxs_guarded_reliable(). Signal-safe. */
SXS_SIGSAFE int sxs_activities_bytes(int reliable, void *to, uintptr_t from, size_t size);

/** sxs_activities_endpoint - return the number of the NAME record of a text, which is written if it
 *  is new; 0 when there is no room for it. Signal-safe. */
SXS_SIGSAFE uint32_t sxs_activities_endpoint(const struct sxs_activities    *a,
                                             const struct sxs_activity_text *text);

/** sxs_activities_learn - try to learn what is missing of one runtime. */
void sxs_activities_learn(struct sxs_activities *a);

#endif
