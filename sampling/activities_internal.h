/* SPDX-License-Identifier: MIT */
/** activities_internal.h - what is known about the classes of one runtime: written by
 *  activities_learn.c on one thread, read by activities_read.c in signal handlers. */
#ifndef SXS_SAMPLING_ACTIVITIES_INTERNAL_H
#define SXS_SAMPLING_ACTIVITIES_INTERNAL_H

#include "sampling/activities.h"

/** What objects of a class are used for in the search for an Activity. */
enum sxs_role_kind {
    SXS_ROLE_OTHER,   /* nothing */
    SXS_ROLE_EMPTY,   /* a map of AsyncLocal values without entries */
    SXS_ROLE_PAIRS,   /* one with keys and values in fields */
    SXS_ROLE_ARRAY,   /* one with an array of entries; an entry begins with key and value */
    SXS_ROLE_CONTEXT, /* an ExecutionContext */
    SXS_ROLE_ACTIVITY,
    SXS_ROLE_TAGS,     /* the list of an activity's tags */
    SXS_ROLE_TAG,      /* one of them */
    SXS_ROLE_ENDPOINT, /* an endpoint of ASP.NET Core */
    SXS_ROLE_PATTERN,  /* the route of one */
};

#define SXS_ROLE_PAIRS_MAX 4

/** Offsets of fields in bytes, from the object's address. */
struct sxs_role {
    enum sxs_role_kind kind;
    union {
        struct {
            unsigned n;
            uint32_t key[SXS_ROLE_PAIRS_MAX], value[SXS_ROLE_PAIRS_MAX];
        } pairs;
        struct {
            uint32_t array;  /* of the reference to the array */
            uint32_t stride; /* bytes of an entry */
        } array;
        struct {
            uint32_t trace, span, parent, operation, display, tags;
        } activity;
        uint32_t values; /* of an ExecutionContext: the reference to the map */
        uint32_t tags_first;
        struct {
            uint32_t key, value, next;
        } tag;
        struct {
            uint32_t pattern, display; /* pattern: 0: it has no route */
        } endpoint;
        uint32_t raw; /* of a PATTERN: the text of the route */
    };
};

/** What is known about the requests of ASP.NET Core in one runtime: classes, offsets of fields. */
struct sxs_request_layout {
    _Atomic int known; /* 1: the rest is valid, and constant */
    /* Classes. `request` is the base class of those of a request in the server Kestrel. */
    uintptr_t task, context, request, feature;
    uint32_t  continuation_at;                              /* in a task */
    uint32_t  activity_at;                                  /* in a feature */
    uint32_t  feature_at, endpoint_feature_at, endpoint_at; /* in a request */
    uint32_t  base_at, path_at;                             /* in a request */
};

/** Modules whose classes are looked at. */
enum sxs_activity_module {
    SXS_MODULE_CORE,
    SXS_MODULE_DIAGNOSTICS,
    SXS_MODULE_KESTREL,
    SXS_MODULE_HTTP,
    SXS_MODULE_HOSTING,
    SXS_N_MODULES
};

#define SXS_CLASS_KINDS 512 /* a power of two */

/** A class whose objects were met. An entry of a table with open addressing; not base/index.h,
 *  because signal handlers search it without a lock. */
struct sxs_seen_class {
    _Atomic uintptr_t id;    /* 0: free; 1: was unloaded */
    _Atomic int       known; /* 1: the role is valid */
    uintptr_t         module;
    struct sxs_role   role;
};

#define SXS_SEEN_CLASSES   64
#define SXS_SEEN_PROBES    16
#define SXS_SEEN_UNLOADED  1
#define SXS_RECENT_THREADS 8

/** How much is known. */
enum sxs_learned {
    SXS_LEARNED_NOTHING,
    SXS_LEARNED_THREADS, /* the fields of threads; the class Activity is still to be found */
    SXS_LEARNED_ALL,
};

struct sxs_activities {
    struct sxs_runtime        *rt; /* NULL: free */
    unsigned                   index, number;
    struct sxs_samples_writer *writer;
    _Atomic int                learned; /* enum sxs_learned */
    _Atomic int                ended;
    /* How often the runtime began to stop its threads, and how often they ran again. Both are equal
     * while they run. */
    _Atomic uint32_t n_stops, n_resumed;
    /* The context that the thread that stops the others had before. */
    _Atomic uint32_t          stopper; /* its tid; 0: not known */
    _Atomic int               stopper_has;
    struct sxs_sample_context stopper_context;
    /* for activities_learn.c: */
    _Atomic uintptr_t modules[SXS_N_MODULES]; /* 0: not loaded */
    _Atomic uintptr_t recent[SXS_RECENT_THREADS];
    _Atomic unsigned  n_recent;
    int               is_listed; /* 1: modules and threads from before the start are known */
    int               is_warned;
    /* constant once threads are known */
    uintptr_t thread, string; /* classes */
    uint32_t  handle_at;      /* in the runtime's own thread: of the handle of the managed Thread */
    uint32_t  native_at, context_at; /* fields of Thread */
    /* constant once all is known */
    uintptr_t                 key_at; /* address of the static field Activity.s_current */
    struct sxs_seen_class     seen[SXS_SEEN_CLASSES];
    struct sxs_request_layout requests;
    /* activities_request.c: classes that were met on stacks, by address; the low bits are their kind. */
    _Atomic uintptr_t kinds[SXS_CLASS_KINDS];
};

#define SXS_ACTIVITY_UNITS 120u /* of the name of an endpoint, in UTF-16; the rest is cut off */

/** The name of an endpoint. */
struct sxs_activity_text {
    enum sxs_endpoint_source source;
    int      is_known; /* 1: it is that of the stack's known span, and not read again; n is 0 */
    unsigned n;        /* units */
    uint16_t units[SXS_ACTIVITY_UNITS];
};

/** Where the request of an Activity is searched for: the calling thread's stack. */
struct sxs_activity_stack {
    uintptr_t from, to; /* bytes */
    uint64_t  known;    /* a span whose route is known; 0: none */
    uint64_t  skipped;  /* a span whose request is not searched for this time; 0: none */
};

enum sxs_activity_found {
    SXS_FOUND_NONE,
    SXS_FOUND_ONE,
    SXS_FOUND_UNKNOWN, /* it cannot be read */
};

/** sxs_activities_read - find the activity of the runtime's thread @native, which is the calling
 *  thread. @stack: the thread's stack; NULL: requests are not searched for. @out, @endpoint: receive
 *  its ids and the name. Signal-safe. */
SXS_SIGSAFE enum sxs_activity_found sxs_activities_read(struct sxs_activities *a, uintptr_t native,
                                                        const struct sxs_activity_stack *stack,
                                                        struct sxs_sample_context       *out,
                                                        struct sxs_activity_text        *endpoint);

/** What a search for a request has found. */
struct sxs_found_request {
    uintptr_t endpoint;   /* object; 0: none was chosen yet, or none fits */
    uintptr_t base, path; /* strings; 0: none */
};

/** sxs_activities_request - find the request of ASP.NET Core to which an Activity belongs.
 *  @activities: the Activity and those above it. The objects found are what the runtime's own
 *  references lead to, if the runtime was not stopped meanwhile. Returns 1, or 0 when no request was
 *  found. Signal-safe; some hundred guarded loads, SXS_REQUEST_LOADS at most. */
#define SXS_REQUEST_LOADS 4000u
SXS_SIGSAFE int sxs_activities_request(struct sxs_activities           *a,
                                       const struct sxs_activity_stack *stack,
                                       const uintptr_t *activities, unsigned n,
                                       struct sxs_found_request *out);

/** sxs_activities_fold - replace the segments of a path that are numbers by "{number}", and GUIDs by
 *  "{guid}", so that paths of one endpoint get one name. Pure; signal-safe. */
SXS_SIGSAFE void sxs_activities_fold(struct sxs_activity_text *path);

/** sxs_activities_running_since - return 1 if the runtime's threads run, and *@n_stops receives how
 *  often they were stopped until now; else 0. Signal-safe. */
SXS_SIGSAFE static inline int sxs_activities_running_since(const struct sxs_activities *a,
                                                           uint32_t                    *n_stops)
{
    *n_stops = atomic_load_explicit(&a->n_stops, memory_order_acquire);
    return atomic_load_explicit(&a->n_resumed, memory_order_acquire) == *n_stops;
}

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
