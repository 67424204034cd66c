/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "sampling/threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/hash.h"
#include "base/proc.h"
#include "base/session_state.h"
#include "base/stat_field.h"
#include "base/task.h"
#include "base/thread.h"

#define PROBES 32

/* Open addressing by tid. Not base/index.h, because signal handlers search it without a lock. */
static struct sxs_thread_slot table[SXS_MAX_THREADS];
static pthread_mutex_t           claiming = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(claiming);
/* one bit for each slot in use */
static _Atomic uint64_t          taken[SXS_MAX_THREADS / 64];
/* Threads that got no slot when they started, or whose stack is too small for the handler. */
static _Atomic uint64_t          refused;
/* highest number of threads that one scan found no slot for */
static _Atomic uint64_t          unplaced;
static _Atomic uint32_t          scan;
static struct {
    nlink_t  last_links;
    unsigned idle, young;
} looks; /* of sxs_threads_scan() */
SXS_SESSION_RESETS(table);
SXS_SESSION_KEEPS(claiming);
SXS_SESSION_RESETS(taken);
SXS_SESSION_RESETS(refused);
SXS_SESSION_RESETS(unplaced);
SXS_SESSION_RESETS(scan);
SXS_SESSION_RESETS(looks);

SXS_SIGSAFE static size_t place_of(uint32_t tid, unsigned probe)
{
    return ((uint32_t)(sxs_hash_id(tid) >> 32) + probe) % SXS_MAX_THREADS;
}

static void set_taken(const struct sxs_thread_slot *t)
{
    size_t i = (size_t)(t - table);
    atomic_fetch_or(&taken[i / 64], UINT64_C(1) << i % 64);
}

/* Returns the number of the next slot in use, from @i on, or SXS_MAX_THREADS if there is
 * none. The bits make this fast: the table is far larger than most programs need, and is
 * searched a thousand times a second. */
static size_t next_taken(size_t i)
{
    for (; i < SXS_MAX_THREADS; i = (i | 63) + 1) {
        uint64_t left = atomic_load_explicit(&taken[i / 64], memory_order_acquire) >> i % 64;
        if (left)
            return i + (size_t)__builtin_ctzll(left);
    }
    return SXS_MAX_THREADS;
}

SXS_SIGSAFE struct sxs_thread_slot *sxs_threads_find(uint32_t tid)
{
    for (unsigned i = 0; i < PROBES; i++) {
        struct sxs_thread_slot *t = &table[place_of(tid, i)];
        if (atomic_load_explicit(&t->tid, memory_order_acquire) == tid)
            return t;
    }
    return NULL;
}

/* Returns the slot of a thread, and takes a free one if it has none; NULL: no room. Called by
 * threads of runtimes (sxs_threads_mark()), by threads that start, and by the scanning thread.
 * The lock makes sure that a thread never gets two slots. Handlers only read. */
static struct sxs_thread_slot *claim_slot(uint32_t tid)
{
    struct sxs_thread_slot *t;
    pthread_mutex_lock(&claiming);
    t = sxs_threads_find(tid);
    for (unsigned i = 0; !t && i < PROBES; i++) {
        struct sxs_thread_slot *at = &table[place_of(tid, i)];
        if (!atomic_load_explicit(&at->tid, memory_order_acquire)) {
            atomic_store(&at->state, SXS_SLOT_NEW);
            at->timer = at->perf_fd = -1;
            atomic_store_explicit(&at->tid, tid, memory_order_release);
            set_taken(at);
            t = at;
        }
    }
    pthread_mutex_unlock(&claiming);
    return t;
}

/* Changes the state of a slot from @from to BUSY. Returns 0 when the state is another, or the
 * slot belongs to another thread by now. */
static int become_busy(struct sxs_thread_slot *t, uint32_t tid, enum sxs_slot_state from)
{
    uint32_t was = from;
    if (!atomic_compare_exchange_strong(&t->state, &was, SXS_SLOT_BUSY))
        return 0;
    if (atomic_load(&t->tid) == tid)
        return 1;
    atomic_store(&t->state, from);
    return 0;
}

void sxs_threads_mark(uint32_t tid, unsigned number)
{
    struct sxs_thread_slot *t = claim_slot(tid);
    if (t && number < 64)
        atomic_fetch_or(&t->runtimes, UINT64_C(1) << number);
}

void sxs_threads_set_managed(uint32_t tid, unsigned at, uintptr_t thread)
{
    struct sxs_thread_slot *t = thread ? claim_slot(tid) : sxs_threads_find(tid);
    if (t)
        atomic_store_explicit(&t->managed[at], thread, memory_order_release);
}

uint64_t sxs_threads_unlisted(void)
{
    uint64_t began = atomic_load(&refused), at_once = atomic_load(&unplaced);
    return began > at_once ? began : at_once;
}

/* A handler needs some 10 KiB. A thread with a stack smaller than this is not sampled. */
#define MIN_STACK 49152u

static void set_up(struct sxs_thread_slot *t, uint32_t tid)
{
    t->timer = t->perf_fd = -1;
    t->excluded = sxs_thread_is_own(tid);
    t->recorded = t->begun = t->is_left = 0;
    t->started_ns = sxs_now_ns(CLOCK_MONOTONIC);
    /* a scan in progress may have passed this thread's place */
    atomic_store(&t->seen, atomic_load(&scan) + 1);
}

struct sxs_thread_slot *sxs_threads_begin(uintptr_t stack_lo, uintptr_t stack_hi)
{
    uint32_t                   tid = (uint32_t)syscall(SYS_gettid);
    struct sxs_thread_slot *t = claim_slot(tid);
    if (!t)
        atomic_fetch_add(&refused, 1);
    if (!t || !become_busy(t, tid, SXS_SLOT_NEW))
        return NULL;
    set_up(t, tid);
    if (stack_hi && stack_hi - stack_lo < MIN_STACK) {
        t->excluded = 1;
        atomic_fetch_add(&refused, 1);
    }
    atomic_store(&t->stack_lo, stack_lo);
    atomic_store(&t->stack_hi, stack_hi);
    return t;
}

void sxs_threads_ready(struct sxs_thread_slot *t)
{
    atomic_store_explicit(&t->state, SXS_SLOT_LIVE, memory_order_release);
}

/* @t: BUSY. The slot of a thread that has ended without a word keeps the name that it has. */
static void take_end_name(struct sxs_thread_slot *t)
{
    uint64_t gone = atomic_load(&t->gone_ns);
    if (!gone)
        return;
    t->name_ns = gone;
    memcpy(t->name, t->end_name, sizeof(t->name));
}

struct sxs_thread_slot *sxs_threads_finish(void)
{
    uint32_t                   tid = (uint32_t)syscall(SYS_gettid);
    struct sxs_thread_slot *t = sxs_threads_find(tid);
    if (!t)
        return NULL;
    prctl(PR_GET_NAME, t->end_name);
    t->end_cpu_ns = sxs_now_ns(CLOCK_THREAD_CPUTIME_ID);
    atomic_store(&t->gone_ns, sxs_now_ns(CLOCK_MONOTONIC));
    if (!become_busy(t, tid, SXS_SLOT_LIVE))
        return NULL;
    take_end_name(t);
    return t;
}

/* The threads that have ended by themselves, by tid. A scan finds such a thread again while the kernel
 * ends it: it is no new thread. The kernel uses a tid again much later than SAID_END_MS. */
#define SAID_END    4096u
#define SAID_END_MS 1000u
static _Atomic uint64_t said_end[SAID_END]; /* tid << 32 | ms of CLOCK_MONOTONIC, its low 32 bits */
SXS_SESSION_KEEPS(said_end);

static uint32_t now_ms(void)
{
    return (uint32_t)(sxs_now_ns(CLOCK_MONOTONIC) / 1000000u);
}

static int has_said_end(uint32_t tid)
{
    uint64_t entry = atomic_load(&said_end[tid % SAID_END]);
    return entry >> 32 == tid && now_ms() - (uint32_t)entry < SAID_END_MS;
}

void sxs_threads_release(struct sxs_thread_slot *t)
{
    if (atomic_load(&t->gone_ns)) {
        uint32_t tid = atomic_load(&t->tid);
        atomic_store(&said_end[tid % SAID_END], (uint64_t)tid << 32 | now_ms());
    }
    size_t i = (size_t)(t - table);
    atomic_store(&t->stack_lo, 0);
    atomic_store(&t->stack_hi, 0);
    atomic_store(&t->runtimes, 0);
    atomic_store(&t->cpu_ns, 0);
    atomic_store(&t->last, NULL);
    atomic_store(&t->has_costs, 0);
    for (int kind = 0; kind < SXS_ASKED_KINDS; kind++)
        atomic_store(&t->asked[kind], 0);
    atomic_store(&t->waited_ns, 0);
    atomic_store(&t->claimed_ns, 0);
    atomic_store(&t->given_back_ns, 0);
    atomic_store(&t->weighed_ns, 0);
    atomic_store(&t->unsampled_ns, 0);
    atomic_store(&t->requested_ns, 0);
    atomic_store(&t->round_due_ns, 0);
    t->began_cpu_ns = t->end_cpu_ns = 0;
    t->had_rounds = 0;
    atomic_store(&t->gone_ns, 0);
    atomic_store(&t->was_running, 0);
    t->n_again = 0;
    atomic_store(&t->first_due_ns, 0);
    atomic_store(&t->move_ns, 0);
    t->run_began_ns = t->n_waits = 0;
    t->n_samples = 0;
    t->missed = 0;
    for (size_t n = 0; n < SXS_SLOT_RUNTIMES; n++)
        atomic_store(&t->managed[n], 0);
    t->started_ns = t->name_ns = t->born_ns = 0;
    t->name[0] = '\0';
    atomic_store(&t->state, SXS_SLOT_NEW);
    atomic_fetch_and(&taken[i / 64], ~(UINT64_C(1) << i % 64));
    atomic_store_explicit(&t->tid, 0, memory_order_release);
}

/* ---- the list of the process's threads ------------------------------------------------------- */

struct listed {
    uint32_t tid;
    char     name[16]; /* "": not read */
    uint64_t name_ns;  /* as in struct sxs_thread_slot */
    uint64_t born_ns;  /* likewise; of a newly found thread */
};

/* The threads that a scan has found. Used by the service thread only; filled on the thread of
 * base/descriptors.h while the service thread waits. */
static struct {
    struct listed threads[SXS_MAX_THREADS];
    size_t        n;         /* threads in the list */
    size_t        n_living;  /* threads of the process; those beyond the list's size are left out */
    size_t        n_named;   /* names have been read for threads[] up to here, where needed */
    int           all_names; /* 1: read the names of all threads; 0: only of newly found threads */
} list;
SXS_SESSION_RESETS(list);

static void put_on_list(uint32_t tid, void *arg)
{
    (void)arg;
    if (list.n_living++ < SXS_MAX_THREADS)
        list.threads[list.n++] = (struct listed){.tid = tid};
}

/* Names read in one call, few because hooks of other tools may be waiting for that thread. */
#define NAMES_AT_ONCE 64

static void read_name(struct listed *at)
{
    at->name_ns = sxs_now_ns(CLOCK_MONOTONIC);
    sxs_task_name(at->tid, at->name, sizeof(at->name));
}

/* Sets born_ns, unless the thread has ended. */
static void read_birth(struct listed *at)
{
    char     text[512];
    uint64_t now, age;
    if (sxs_task_read(at->tid, "stat", text, sizeof(text)) != 0)
        return;
    now = sxs_now_ns(CLOCK_MONOTONIC); /* first: rather too early than too late */
    age = sxs_stat_age_ns(text);
    at->born_ns = age && age < now ? now - age : 0;
}

static int name_some(void *arg)
{
    int left = NAMES_AT_ONCE;
    (void)arg;
    for (; left && list.n_named < list.n; list.n_named++) {
        struct listed                   *at = &list.threads[list.n_named];
        const struct sxs_thread_slot *t = sxs_threads_find(at->tid);
        const int                        is_new = !t || atomic_load(&t->state) == SXS_SLOT_NEW;
        if (!list.all_names && !is_new)
            continue;
        read_name(at);
        if (is_new)
            read_birth(at);
        left--;
    }
    return 0;
}

/* Fills the list. Returns 0, or -errno when the threads cannot be listed. */
static int make_list(int all_names)
{
    int err;
    list.n = list.n_living = list.n_named = 0;
    list.all_names = all_names;
    err = sxs_tasks_each(put_on_list, NULL);
    while (!err && list.n_named < list.n)
        sxs_proc_call(name_some, NULL);
    return err;
}

/* ---- scanning -------------------------------------------------------------------------------- */

static void look_again(struct sxs_thread_slot *t, struct listed *listed,
                       const struct sxs_threads_events *on)
{
    int renamed;
    int aged = !t->recorded && sxs_now_ns(CLOCK_MONOTONIC) - t->started_ns >= SXS_SHORT_NS;
    on->seen(t);
    if (aged && !listed->name[0])
        read_name(listed);
    renamed = listed->name[0] && strcmp(listed->name, t->name) != 0;
    if (listed->name[0])
        t->name_ns = listed->name_ns;
    if (renamed)
        memcpy(t->name, listed->name, sizeof(t->name));
    if (aged)
        on->aged(t);
    else if (renamed && t->recorded)
        on->renamed(t);
}

static void look_at(struct listed *listed, uint32_t now, const struct sxs_threads_events *on,
                    uint64_t *n_unowned)
{
    uint32_t                tid = listed->tid;
    struct sxs_thread_slot *t;
    if (has_said_end(tid))
        return;
    t = claim_slot(tid);
    if (!t) {
        ++*n_unowned;
        return;
    }
    if (become_busy(t, tid, SXS_SLOT_NEW)) {
        if (has_said_end(tid)) { /* since the look above */
            sxs_threads_release(t);
            return;
        }
        set_up(t, tid);
        if (!listed->name[0])
            read_name(listed);
        memcpy(t->name, listed->name, sizeof(t->name));
        t->name_ns = listed->name_ns;
        t->born_ns = listed->born_ns;
        if (on->came(t) != 0) {
            sxs_threads_release(t);
            return;
        }
    } else if (become_busy(t, tid, SXS_SLOT_LIVE)) {
        look_again(t, listed, on);
    } else {
        return; /* the thread itself is working on its slot */
    }
    atomic_store(&t->seen, now);
    sxs_threads_ready(t);
}

/* Whether a thread has ended. Checked because reading a folder that changes meanwhile may miss
 * entries. */
int sxs_threads_is_gone(uint32_t tid)
{
    return syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;
}

static void clear_away(uint32_t now, const struct sxs_threads_events *on)
{
    for (size_t i = 0; (i = next_taken(i)) < SXS_MAX_THREADS; i++) {
        struct sxs_thread_slot *t = &table[i];
        uint32_t                   tid = atomic_load_explicit(&t->tid, memory_order_acquire);
        if (!tid || (int32_t)(atomic_load(&t->seen) - now) >= 0 || !sxs_threads_is_gone(tid))
            continue;
        /* The thread was marked by a runtime and has ended before it was found. */
        if (become_busy(t, tid, SXS_SLOT_NEW)) {
            sxs_threads_release(t);
        } else if (become_busy(t, tid, SXS_SLOT_LIVE)) {
            take_end_name(t);
            on->went(t);
            sxs_threads_release(t);
        }
    }
}

/* The link count of /proc/self/task gives the number of threads, so one call is enough when
 * nothing has changed. The whole folder is read when the number has changed, and also from time
 * to time. */
void sxs_threads_scan(const struct sxs_threads_events *events)
{
    uint64_t        n_unowned = 0;
    uint32_t        now = atomic_load(&scan);
    struct stat     st;
    int             all_names;
    if (stat("/proc/self/task", &st) != 0)
        return;
    if (st.st_nlink == looks.last_links && ++looks.idle < (looks.young ? 4 : 20))
        return;
    all_names = looks.idle >= 20 || now < 4 || now % 32 == 0;
    looks.young = looks.idle >= 4 ? 0 : 1; /* new threads may become old enough for a record */
    looks.idle = 0;
    if (make_list(all_names) != 0)
        return;
    atomic_store(&scan, ++now);
    for (size_t i = 0; i < list.n; i++)
        look_at(&list.threads[i], now, events, &n_unowned);
    n_unowned += list.n_living - list.n;
    /* 2 for . and ..; an incomplete listing makes the next scan read again */
    looks.last_links = (nlink_t)list.n_living + 2;
    clear_away(now, events);
    if (n_unowned > atomic_load(&unplaced))
        atomic_store(&unplaced, n_unowned);
}

/* Visits only slots in use, because the table is a megabyte and nearly empty. While slots
 * change, a thread may be visited twice or not at all. */
void sxs_threads_each(void (*fn)(struct sxs_thread_slot *t))
{
    for (size_t i = 0; (i = next_taken(i)) < SXS_MAX_THREADS; i++) {
        struct sxs_thread_slot *t = &table[i];
        if (t->excluded || !become_busy(t, atomic_load(&t->tid), SXS_SLOT_LIVE))
            continue;
        if (!t->excluded)
            fn(t);
        sxs_threads_ready(t);
    }
}

unsigned sxs_threads_each_busy(void (*fn)(struct sxs_thread_slot *t))
{
    unsigned n_left_out = 0;
    for (size_t i = 0; (i = next_taken(i)) < SXS_MAX_THREADS; i++) {
        struct sxs_thread_slot *t = &table[i];
        if (!become_busy(t, atomic_load(&t->tid), SXS_SLOT_LIVE)) {
            n_left_out += atomic_load(&t->state) == SXS_SLOT_BUSY;
            continue;
        }
        take_end_name(t);
        fn(t);
        sxs_threads_ready(t);
    }
    return n_left_out;
}

void sxs_threads_each_slot(void (*fn)(struct sxs_thread_slot *t))
{
    for (size_t i = 0; (i = next_taken(i)) < SXS_MAX_THREADS; i++)
        fn(&table[i]);
}

void sxs_threads_forget(void)
{
    memset(table, 0, sizeof(table));
    memset(taken, 0, sizeof(taken));
}
