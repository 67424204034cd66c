/* SPDX-License-Identifier: MIT */
#include "sampler/threads.h"
#include "manager/base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "manager/base/fork.h"
#include "manager/base/proc.h"
#include "manager/base/task.h"
#include "manager/base/thread.h"

#define PROBES 32

static struct sxs_sampled_thread table[SXS_MAX_SAMPLED_THREADS];
static pthread_mutex_t           claiming = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(claiming);
static _Atomic uint64_t          taken[SXS_MAX_SAMPLED_THREADS / 64]; /* a bit a slot in use */
static _Atomic uint64_t          refused;  /* threads that began and found no room */
static _Atomic uint64_t          unplaced; /* the most that one scan found no room for */
static _Atomic uint32_t          scan;

SXS_SIGSAFE static size_t place(uint32_t tid, unsigned probe)
{
    return (tid * 2654435761u + probe) % SXS_MAX_SAMPLED_THREADS;
}

static void set_taken(const struct sxs_sampled_thread *t)
{
    size_t i = (size_t)(t - table);
    atomic_fetch_or(&taken[i / 64], UINT64_C(1) << i % 64);
}

/* The slot in use from number @i on, SXS_MAX_SAMPLED_THREADS if there is none: the table is far larger
 * than most programs need, and looked through a thousand times a second. */
static size_t next_taken(size_t i)
{
    for (; i < SXS_MAX_SAMPLED_THREADS; i = (i | 63) + 1) {
        uint64_t left = atomic_load_explicit(&taken[i / 64], memory_order_acquire) >> i % 64;
        if (left)
            return i + (size_t)__builtin_ctzll(left);
    }
    return SXS_MAX_SAMPLED_THREADS;
}

SXS_SIGSAFE struct sxs_sampled_thread *sxs_threads_find(uint32_t tid)
{
    for (unsigned i = 0; i < PROBES; i++) {
        struct sxs_sampled_thread *t = &table[place(tid, i)];
        if (atomic_load_explicit(&t->tid, memory_order_acquire) == tid)
            return t;
    }
    return NULL;
}

/* Slots are claimed by runtimes' threads (marks), threads that begin and the scanning thread; one at a
 * time, so that a thread never gets two. Handlers only read. */
static struct sxs_sampled_thread *claim(uint32_t tid)
{
    struct sxs_sampled_thread *t;
    pthread_mutex_lock(&claiming);
    t = sxs_threads_find(tid);
    for (unsigned i = 0; !t && i < PROBES; i++) {
        struct sxs_sampled_thread *at = &table[place(tid, i)];
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

/* The slot may have gone to another thread since it was found. */
static int become_busy(struct sxs_sampled_thread *t, uint32_t tid, enum sxs_slot_state from)
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
    struct sxs_sampled_thread *t = claim(tid);
    if (t && number < 64)
        atomic_fetch_or(&t->runtimes, UINT64_C(1) << number);
}

uint64_t sxs_threads_unlisted(void)
{
    uint64_t began = atomic_load(&refused), at_once = atomic_load(&unplaced);
    return began > at_once ? began : at_once;
}

/* A handler needs some 10 KiB. Where a thread has hardly more, its clock must not run. */
#define MIN_STACK 49152u

static void set_up(struct sxs_sampled_thread *t, uint32_t tid)
{
    t->timer = t->perf_fd = -1;
    t->excluded = sxs_thread_is_own(tid);
    t->recorded = 0;
    t->started_ns = sxs_now_ns(CLOCK_MONOTONIC);
    atomic_store(&t->seen, atomic_load(&scan) + 1); /* a scan under way may have passed it by */
}

struct sxs_sampled_thread *sxs_threads_begin(uintptr_t stack_lo, uintptr_t stack_hi)
{
    uint32_t                   tid = (uint32_t)syscall(SYS_gettid);
    struct sxs_sampled_thread *t = claim(tid);
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

void sxs_threads_ready(struct sxs_sampled_thread *t)
{
    atomic_store_explicit(&t->state, SXS_SLOT_LIVE, memory_order_release);
}

struct sxs_sampled_thread *sxs_threads_finish(void)
{
    uint32_t                   tid = (uint32_t)syscall(SYS_gettid);
    struct sxs_sampled_thread *t = sxs_threads_find(tid);
    if (!t || !become_busy(t, tid, SXS_SLOT_LIVE))
        return NULL;
    prctl(PR_GET_NAME, t->name);
    return t;
}

void sxs_threads_release(struct sxs_sampled_thread *t)
{
    size_t i = (size_t)(t - table);
    atomic_store(&t->stack_lo, 0);
    atomic_store(&t->stack_hi, 0);
    atomic_store(&t->runtimes, 0);
    atomic_store(&t->cpu_ns, 0);
    atomic_store(&t->last, NULL);
    atomic_store(&t->waited_ns, 0);
    atomic_store(&t->first_due_ns, 0);
    atomic_store(&t->move_ns, 0);
    t->run_began_ns = t->n_waits = 0;
    t->n_samples = 0;
    t->missed = 0;
    t->started_ns = 0;
    t->name[0] = '\0';
    atomic_store(&t->state, SXS_SLOT_NEW);
    atomic_fetch_and(&taken[i / 64], ~(UINT64_C(1) << i % 64));
    atomic_store_explicit(&t->tid, 0, memory_order_release);
}

/* ---- the list of the process's threads --------------------------------------------------------- */

struct listed {
    uint32_t tid;
    char     name[16]; /* "": not read */
};

/* One list for the service thread. It is filled on the thread of descriptors.h. */
static struct {
    struct listed threads[SXS_MAX_SAMPLED_THREADS];
    size_t        n;         /* in the list */
    size_t        n_living;  /* there are; the rest found no room in the list */
    size_t        n_named;   /* threads[] up to here have been looked at for a name */
    int           all_names; /* 1: of each thread, 0: of those that have not been found before */
} list;

static void put_on_list(uint32_t tid, void *arg)
{
    (void)arg;
    if (list.n_living++ < SXS_MAX_SAMPLED_THREADS)
        list.threads[list.n++] = (struct listed){.tid = tid};
}

/* A few at a time: hooks of other tools may wait for their turn on that thread. */
#define NAMES_AT_ONCE 64

static int name_some(void *arg)
{
    int left = NAMES_AT_ONCE;
    (void)arg;
    for (; left && list.n_named < list.n; list.n_named++) {
        struct listed                   *at = &list.threads[list.n_named];
        const struct sxs_sampled_thread *t = sxs_threads_find(at->tid);
        if (!list.all_names && t && atomic_load(&t->state) != SXS_SLOT_NEW)
            continue;
        sxs_task_name(at->tid, at->name, sizeof(at->name));
        left--;
    }
    return 0;
}

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

/* ---- looking for them -------------------------------------------------------------------------- */

static void look_again(struct sxs_sampled_thread *t, struct listed *listed,
                       const struct sxs_threads_events *on)
{
    int renamed;
    int aged = !t->recorded && sxs_now_ns(CLOCK_MONOTONIC) - t->started_ns >= SXS_SHORT_NS;
    on->seen(t);
    if (aged && !listed->name[0])
        sxs_task_name(listed->tid, listed->name, sizeof(listed->name));
    renamed = listed->name[0] && strcmp(listed->name, t->name) != 0;
    if (renamed)
        memcpy(t->name, listed->name, sizeof(t->name));
    if (aged)
        on->aged(t);
    else if (renamed && t->recorded)
        on->renamed(t);
}

static void look_at(struct listed *listed, uint32_t now, const struct sxs_threads_events *on,
                    uint64_t *homeless)
{
    uint32_t                   tid = listed->tid;
    struct sxs_sampled_thread *t = claim(tid);
    if (!t) {
        ++*homeless;
        return;
    }
    if (become_busy(t, tid, SXS_SLOT_NEW)) {
        set_up(t, tid);
        if (!listed->name[0])
            sxs_task_name(tid, listed->name, sizeof(listed->name));
        memcpy(t->name, listed->name, sizeof(t->name));
        if (on->came(t) != 0) {
            sxs_threads_release(t);
            return;
        }
    } else if (become_busy(t, tid, SXS_SLOT_LIVE)) {
        look_again(t, listed, on);
    } else {
        return; /* the thread itself is at it */
    }
    atomic_store(&t->seen, now);
    sxs_threads_ready(t);
}

/* A folder that changes while it is read may show less than there is. */
static int gone(uint32_t tid)
{
    return syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;
}

static void clear_away(uint32_t now, const struct sxs_threads_events *on)
{
    for (size_t i = 0; (i = next_taken(i)) < SXS_MAX_SAMPLED_THREADS; i++) {
        struct sxs_sampled_thread *t = &table[i];
        uint32_t                   tid = atomic_load_explicit(&t->tid, memory_order_acquire);
        if (!tid || (int32_t)(atomic_load(&t->seen) - now) >= 0 || !gone(tid))
            continue;
        if (become_busy(t, tid, SXS_SLOT_NEW)) { /* marked by a runtime, gone before it was found */
            sxs_threads_release(t);
        } else if (become_busy(t, tid, SXS_SLOT_LIVE)) {
            on->went(t);
            sxs_threads_release(t);
        }
    }
}

/* The number of links of /proc/self/task tells how many threads there are: one call when nothing has
 * changed. The whole folder is read when it has, and once in a while all the same. */
void sxs_threads_scan(const struct sxs_threads_events *events)
{
    static nlink_t  last_links;
    static unsigned idle, young;
    uint64_t        homeless = 0;
    uint32_t        now = atomic_load(&scan);
    struct stat     st;
    int             all_names;
    if (stat("/proc/self/task", &st) != 0)
        return;
    if (st.st_nlink == last_links && ++idle < (young ? 4 : 20))
        return;
    all_names = idle >= 20 || now < 4 || now % 32 == 0;
    young = idle >= 4 ? 0 : 1; /* what came may grow old enough for a record */
    idle = 0;
    if (make_list(all_names) != 0)
        return;
    atomic_store(&scan, ++now);
    for (size_t i = 0; i < list.n; i++)
        look_at(&list.threads[i], now, events, &homeless);
    homeless += list.n_living - list.n;
    /* With . and ..: a listing that is not whole is made again. */
    last_links = (nlink_t)list.n_living + 2;
    clear_away(now, events);
    if (homeless > atomic_load(&unplaced))
        atomic_store(&unplaced, homeless);
}

/* The table is a megabyte, nearly all of it empty. While the list changes, a thread may be met twice
 * or not at all. */
void sxs_threads_each(void (*fn)(struct sxs_sampled_thread *t))
{
    for (size_t i = 0; (i = next_taken(i)) < SXS_MAX_SAMPLED_THREADS; i++) {
        struct sxs_sampled_thread *t = &table[i];
        if (atomic_load_explicit(&t->state, memory_order_acquire) == SXS_SLOT_LIVE && !t->excluded)
            fn(t);
    }
}

void sxs_threads_each_busy(void (*fn)(struct sxs_sampled_thread *t))
{
    for (size_t i = 0; (i = next_taken(i)) < SXS_MAX_SAMPLED_THREADS; i++) {
        struct sxs_sampled_thread *t = &table[i];
        if (!become_busy(t, atomic_load(&t->tid), SXS_SLOT_LIVE))
            continue;
        fn(t);
        sxs_threads_ready(t);
    }
}

void sxs_threads_each_slot(void (*fn)(struct sxs_sampled_thread *t))
{
    for (size_t i = 0; (i = next_taken(i)) < SXS_MAX_SAMPLED_THREADS; i++)
        fn(&table[i]);
}

void sxs_threads_forget(void)
{
    memset(table, 0, sizeof(table));
    memset(taken, 0, sizeof(taken));
}
