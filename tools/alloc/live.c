/* SPDX-License-Identifier: MIT */
#include "tools/alloc/live.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/thread.h"
#include "manager/force_gc.h"
#include "sampling/cost.h"

#define MAX_PROBES     64u
#define BETWEEN_NS     10000000L /* the thread works at most a hundred times a second */
#define LONGEST_NS     UINT64_C(60000000000) /* it looks for work at least so often */
#define PATIENCE       300u      /* rounds: 3 s */
#define PATIENCE_NS    UINT64_C(3000000000)
#define NO_GENERATION  255u      /* not known */
#define OLDEST         2u        /* a collection of this generation is one of all objects */
#define MAX_COLLECTING 2u        /* a background collection, and one meanwhile */

enum followed_state { FREE, TAKEN, YOUNG, OLD, DEAD };

/** An object that is followed. */
struct followed {
    _Atomic uint32_t        state;    /* enum followed_state */
    uint32_t                born;     /* value of live->n_collections */
    uint32_t                reported; /* number of survived collections in the last LIVE record */
    uint8_t                 generation;
    struct sxs_alloc_live  *live;
    _Atomic(ObjectHandleID) handle;
    uint64_t                id; /* of the cost */
};

struct sxs_alloc_live {
    struct sxs_runtime    *rt;   /* borrowed: it outlives what its tools have */
    struct sxs_alloc_live *next; /* in the list of all */
    _Atomic int            ended;
    _Atomic uint32_t       n_collections;
    _Atomic uint32_t       n_collecting;
    _Atomic uint32_t       collecting[MAX_COLLECTING]; /* generations of those in progress */
    _Atomic int            old_due;                    /* the thread must look at old objects */
    int                    looking;                    /* the thread does; used by it only */
    uint64_t               looking_ns;                 /* the same: the value of due_ns */
    _Atomic uint64_t       full_ns;    /* when the last collection of all objects began */
    _Atomic uint64_t       due_ns;     /* the thread must look at all that was garbage then; or 0 */
    _Atomic uint64_t       checked_ns; /* it has */
    _Atomic uint64_t       lost;
    /* Young objects, by index in `objects`. Threads of the runtime append; the collection's thread
     * takes out while they are stopped. */
    _Atomic uint32_t n_young;
    _Atomic uint32_t young[SXS_LIVE_OBJECTS];
};

/* The runtime whose threads this thread has stopped, or NULL, and the session in which it did. */
static SXS_TLS struct sxs_alloc_live *stopped;
static SXS_TLS unsigned               stopped_in;

static struct followed  objects[SXS_LIVE_OBJECTS]; /* 3 MiB, touched as needed */
static _Atomic uint32_t next_object;
SXS_SESSION_RESETS(objects);
SXS_SESSION_RESETS(next_object);

static struct {
    /* Guards the members; held while the thread works, so that no entry of the list is freed
     * meanwhile. Calls of the runtimes for handles are made under it. Callbacks do not take it. */
    pthread_mutex_t  lock;
    struct sxs_alloc_live *list;
    struct sxs_worker worker;
    int              waiting;  /* entries wait for room in the file */
    unsigned         patience; /* rounds that they may wait yet */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(all.lock);
SXS_SESSION_RESETS(all);

/* ---- collections ------------------------------------------------------------------------------ */

static int is_power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

/* Writes a record when the generation has changed, or the number of survived collections has
 * reached the next power of two. */
static void report(struct followed *o, uint8_t generation)
{
    uint32_t survived = atomic_load(&o->live->n_collections) - o->born;
    if (generation == o->generation && (survived < 2 * o->reported || !survived))
        return;
    o->generation = generation;
    o->reported = survived;
    while (!is_power_of_two(o->reported)) /* the next record is due at twice a power of two */
        o->reported &= o->reported - 1;
    sxs_recorder_live(o->id, generation, survived);
}

static int is_alive(const struct followed *o, sxs_object *object)
{
    ObjectHandleID handle = atomic_load(&o->handle);
    *object = (sxs_object){o->live->rt, 0};
    return FAILED(sxs_info_GetObjectIDFromHandle(o->live->rt, handle, object)) || object->id;
}

/* Looks at one young object while all threads are stopped. Returns 1 if it stays young. */
static int look_at_young(struct followed *o)
{
    COR_PRF_GC_GENERATION_RANGE range = {.generation = 0};
    sxs_object                  object;
    if (!is_alive(o, &object)) {
        atomic_store(&o->state, DEAD);
        return 0;
    }
    if (!object.id || FAILED(sxs_info_GetObjectGeneration(o->live->rt, object, &range)))
        return 1;
    report(o, (uint8_t)range.generation);
    if (range.generation < (COR_PRF_GC_GENERATION)OLDEST)
        return 1;
    atomic_store(&o->state, OLD);
    return 0;
}

static void look_at_all_young(struct sxs_alloc_live *live)
{
    uint32_t n = atomic_load(&live->n_young), kept = 0;
    for (uint32_t i = 0; i < n && i < SXS_LIVE_OBJECTS; i++) {
        uint32_t         at = atomic_load(&live->young[i]);
        struct followed *o = &objects[at];
        if (atomic_load(&o->state) == YOUNG && o->live == live && look_at_young(o))
            atomic_store(&live->young[kept++], at);
    }
    atomic_store(&live->n_young, kept);
}

void sxs_live_suspended(struct sxs_alloc_live *live, int is_stopped)
{
    stopped = is_stopped ? live : NULL;
    stopped_in = sxs_session_generation();
}

void sxs_live_collecting(struct sxs_alloc_live *live, unsigned generation)
{
    uint32_t at = atomic_fetch_add(&live->n_collecting, 1);
    if (generation >= OLDEST)
        atomic_store(&live->full_ns, sxs_now_ns(CLOCK_MONOTONIC));
    if (at < MAX_COLLECTING)
        atomic_store(&live->collecting[at], generation);
}

/* A background collection ends while threads run, or another collection does; it has looked at old
 * objects only. */
void sxs_live_collected(struct sxs_alloc_live *live)
{
    uint32_t n = atomic_load(&live->n_collecting);
    unsigned generation = OLDEST;
    if (n) {
        atomic_store(&live->n_collecting, --n);
        generation = n < MAX_COLLECTING ? atomic_load(&live->collecting[n]) : 0;
    }
    atomic_fetch_add(&live->n_collections, 1);
    if (atomic_load(&live->ended))
        return;
    if (stopped == live && stopped_in == sxs_session_generation()) {
        look_at_all_young(live);
        if (generation >= OLDEST)
            atomic_store(&live->due_ns, atomic_load(&live->full_ns));
    }
    if (generation >= OLDEST)
        atomic_store(&live->old_due, 1);
    sxs_worker_wake(&all.worker);
}

/* ---- objects ---------------------------------------------------------------------------------- */

/* Takes a free entry, or returns NULL. */
static struct followed *take(void)
{
    for (uint32_t i = 0; i < MAX_PROBES; i++) {
        /* Steps over the whole table, so that long runs of taken entries do not matter. */
        uint32_t at = atomic_fetch_add(&next_object, 40503) % SXS_LIVE_OBJECTS, expected = FREE;
        if (atomic_compare_exchange_strong(&objects[at].state, &expected, TAKEN))
            return &objects[at];
    }
    return NULL;
}

int sxs_live_follow(struct sxs_alloc_live *live, uint64_t object, uint64_t id)
{
    struct followed *o = atomic_load(&live->ended) ? NULL : take();
    ObjectHandleID   handle = NULL;
    uint32_t         place;
    if (!o)
        goto lost;
    if (FAILED(sxs_info_CreateHandle(live->rt, (sxs_object){live->rt, object},
                                     COR_PRF_HANDLE_TYPE_WEAK, &handle)))
        goto give_back;
    o->live = live;
    o->id = id;
    o->born = atomic_load(&live->n_collections);
    o->reported = 0;
    o->generation = NO_GENERATION;
    atomic_store(&o->handle, handle);
    place = atomic_fetch_add(&live->n_young, 1);
    if (place >= SXS_LIVE_OBJECTS) { /* cannot be: the table has no more objects */
        sxs_info_DestroyHandle(live->rt, handle);
        goto give_back;
    }
    atomic_store(&live->young[place], (uint32_t)(o - objects));
    atomic_store(&o->state, YOUNG);
    return 1;
give_back:
    atomic_store(&o->state, FREE);
lost:
    atomic_fetch_add_explicit(&live->lost, 1, memory_order_relaxed);
    return 0;
}

uint64_t sxs_live_lost(const struct sxs_alloc_live *live)
{
    return atomic_load(&live->lost);
}

/* ---- the thread ------------------------------------------------------------------------------- */

/* Writes that the object is gone, and frees its entry. The file grows at intervals: if it has no room
 * now, the entry waits. */
static void release_object(struct followed *o)
{
    if (!sxs_recorder_try_released(o->id)) {
        atomic_store(&o->state, DEAD);
        if (all.patience) {
            all.waiting = 1;
            return;
        }
        sxs_recorder_released(o->id); /* the file can no longer grow: it is counted as lost */
    }
    sxs_info_DestroyHandle(o->live->rt, atomic_load(&o->handle));
    atomic_store(&o->state, FREE);
}

static void look_at_old(struct followed *o)
{
    sxs_object object;
    if (is_alive(o, &object))
        report(o, o->generation);
    else
        release_object(o);
}

/* Notes that all objects that were garbage when the collection began have their records. */
static void note_checked(struct sxs_alloc_live *live, uint64_t due)
{
    uint64_t expected = 0;
    if (!due)
        return;
    if (all.waiting) { /* not all: again after the next round, or after a later collection */
        atomic_compare_exchange_strong(&live->due_ns, &expected, due);
        return;
    }
    sxs_recorder_live_checked(sxs_runtime_number(live->rt), due);
    atomic_store(&live->checked_ns, due);
}

static void work_once(void)
{
    pthread_mutex_lock(&all.lock);
    all.patience = !all.waiting ? PATIENCE : all.patience ? all.patience - 1 : 0;
    all.waiting = 0;
    for (struct sxs_alloc_live *live = all.list; live; live = live->next) {
        live->looking_ns = atomic_exchange(&live->due_ns, 0);
        live->looking = atomic_exchange(&live->old_due, 0) || live->looking_ns;
    }
    for (size_t i = 0; i < SXS_LIVE_OBJECTS; i++) {
        struct followed *o = &objects[i];
        uint32_t         state = atomic_load_explicit(&o->state, memory_order_acquire);
        if (state < OLD || atomic_load(&o->live->ended))
            continue;
        if (state == DEAD)
            release_object(o);
        else if (o->live->looking)
            look_at_old(o);
    }
    for (struct sxs_alloc_live *live = all.list; live; live = live->next)
        note_checked(live, live->looking_ns);
    if (all.waiting)
        sxs_worker_wake(&all.worker);
    pthread_mutex_unlock(&all.lock);
}

static void run(void)
{
    static const struct timespec between = {0, BETWEEN_NS};
    while (!sxs_worker_pause(&all.worker, LONGEST_NS)) {
        work_once();
        nanosleep(&between, NULL);
    }
}

struct sxs_alloc_live *sxs_live_new(struct sxs_runtime *rt)
{
    static const struct sxs_thread thread = {"sxsprof live", run};
    struct sxs_alloc_live         *live = calloc(1, sizeof(*live));
    int                            err = 0;
    if (!live)
        return NULL;
    live->rt = rt;
    pthread_mutex_lock(&all.lock);
    if (!all.worker.is_started)
        err = sxs_worker_start(&all.worker, &thread);
    if (!err) {
        live->next = all.list;
        all.list = live;
    }
    pthread_mutex_unlock(&all.lock);
    if (!err)
        return live;
    sxs_error("alloc: the thread that follows objects cannot be started (error %d)", err);
    sxs_live_free(live);
    return NULL;
}

static void give_up(struct followed *o, int destroy)
{
    if (destroy)
        sxs_info_DestroyHandle(o->live->rt, atomic_load(&o->handle));
    atomic_store(&o->state, FREE);
}

void sxs_live_end(struct sxs_alloc_live *live, int destroy)
{
    sxs_live_stop(live);
    pthread_mutex_lock(&all.lock);
    for (size_t i = 0; i < SXS_LIVE_OBJECTS; i++) {
        uint32_t state = atomic_load(&objects[i].state);
        if (state >= YOUNG && objects[i].live == live)
            give_up(&objects[i], destroy);
    }
    pthread_mutex_unlock(&all.lock);
}

void sxs_live_stop(struct sxs_alloc_live *live)
{
    atomic_store(&live->ended, 1);
    pthread_mutex_lock(&all.lock);
    for (struct sxs_alloc_live **at = &all.list; *at; at = &(*at)->next) {
        if (*at == live) {
            *at = live->next;
            break;
        }
    }
    pthread_mutex_unlock(&all.lock);
}

void sxs_live_collect(struct sxs_alloc_live *live)
{
    static const struct timespec pause = {0, BETWEEN_NS / 10};
    uint64_t                     begun = sxs_now_ns(CLOCK_MONOTONIC);
    if (atomic_load(&live->ended) || FAILED(sxs_force_gc(live->rt)))
        return;
    while (atomic_load(&live->checked_ns) < begun && !atomic_load(&live->ended) &&
           sxs_now_ns(CLOCK_MONOTONIC) - begun < PATIENCE_NS)
        nanosleep(&pause, NULL);
}

/* Writes that an object is gone, and waits for room until @limit_ns. Returns 1, or 0: there is none. */
static int write_released(uint64_t id, uint64_t limit_ns)
{
    static const struct timespec pause = {0, BETWEEN_NS / 10};
    while (!sxs_recorder_try_released(id)) {
        if (sxs_now_ns(CLOCK_MONOTONIC) > limit_ns) {
            sxs_recorder_released(id); /* it is counted as lost */
            return 0;
        }
        nanosleep(&pause, NULL);
    }
    return 1;
}

void sxs_live_look_last(struct sxs_alloc_live *live)
{
    uint64_t   begun = sxs_now_ns(CLOCK_MONOTONIC);
    int        all_written = 1;
    sxs_object object;
    if (FAILED(sxs_force_gc(live->rt)))
        return;
    pthread_mutex_lock(&all.lock);
    for (size_t i = 0; i < SXS_LIVE_OBJECTS; i++) {
        struct followed *o = &objects[i];
        uint32_t         state = atomic_load(&o->state);
        if (state >= YOUNG && o->live == live && (state == DEAD || !is_alive(o, &object)))
            all_written &= write_released(o->id, begun + PATIENCE_NS);
    }
    pthread_mutex_unlock(&all.lock);
    if (all_written)
        sxs_recorder_live_checked(sxs_runtime_number(live->rt), begun);
}

void sxs_live_free(struct sxs_alloc_live *live)
{
    free(live);
}

void sxs_live_end_session(void)
{
    sxs_worker_end(&all.worker);
}
