/* SPDX-License-Identifier: MIT */
#include "sampler/threads.h"
#include "manager/base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PROBES 32

static struct sxs_sampled_thread table[SXS_MAX_SAMPLED_THREADS];
static _Atomic uint64_t          unlisted;
static _Atomic uint32_t          own_tids[4];

SXS_SIGSAFE static size_t place(uint32_t tid, unsigned probe)
{
    return (tid * 2654435761u + probe) % SXS_MAX_SAMPLED_THREADS;
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

/* Slots are claimed by runtimes' threads (marks) and the scanning thread alike. */
static struct sxs_sampled_thread *claim(uint32_t tid)
{
    struct sxs_sampled_thread *t = sxs_threads_find(tid);
    for (unsigned i = 0; !t && i < PROBES; i++) {
        struct sxs_sampled_thread *at = &table[place(tid, i)];
        uint32_t                   none = 0;
        if (atomic_compare_exchange_strong(&at->tid, &none, tid) || none == tid)
            t = at; /* just now, by us or by who marks it at the same time */
    }
    if (!t)
        atomic_fetch_add(&unlisted, 1);
    return t;
}

void sxs_threads_mark(uint32_t tid, unsigned number)
{
    struct sxs_sampled_thread *t = claim(tid);
    if (t && number < 64)
        atomic_fetch_or(&t->runtimes, UINT64_C(1) << number);
}

uint64_t sxs_threads_unlisted(void)
{
    return atomic_load(&unlisted);
}

void sxs_threads_exclude_me(void)
{
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    for (unsigned i = 0; i < ARRAY_LEN(own_tids); i++) {
        uint32_t none = 0;
        if (atomic_compare_exchange_strong(&own_tids[i], &none, tid))
            return;
    }
}

static int is_own(uint32_t tid)
{
    for (unsigned i = 0; i < ARRAY_LEN(own_tids); i++)
        if (atomic_load(&own_tids[i]) == tid)
            return 1;
    return 0;
}

static int read_name(uint32_t tid, char *name, size_t size)
{
    char    path[64];
    ssize_t n;
    int     fd;
    snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    n = read(fd, name, size - 1);
    close(fd);
    if (n <= 0)
        return -1;
    name[n] = '\0';
    name[strcspn(name, "\n")] = '\0';
    return 0;
}

static void look_at(uint32_t tid, uint32_t scan, int names, const struct sxs_threads_events *events)
{
    struct sxs_sampled_thread *t = claim(tid);
    char                       name[16] = "";
    if (!t)
        return;
    if (!t->started_ns) { /* new, or so far only marked */
        t->timer = t->perf_fd = -1;
        t->excluded = is_own(tid);
        t->started_ns = sxs_now_ns(CLOCK_MONOTONIC);
        read_name(tid, t->name, sizeof(t->name));
        atomic_store(&t->seen, scan);
        events->came(t);
        return;
    }
    atomic_store(&t->seen, scan);
    if (names && read_name(tid, name, sizeof(name)) == 0 && strcmp(name, t->name) != 0) {
        memcpy(t->name, name, sizeof(name));
        events->renamed(t);
    }
}

static void release(struct sxs_sampled_thread *t)
{
    atomic_store(&t->stack_lo, 0);
    atomic_store(&t->stack_hi, 0);
    atomic_store(&t->runtimes, 0);
    atomic_store(&t->cpu_ns, 0);
    atomic_store(&t->last, NULL);
    t->waited_ns = 0;
    t->started_ns = 0;
    t->name[0] = '\0';
    atomic_store_explicit(&t->tid, 0, memory_order_release);
}

/* The kernel ends a listing of threads early when the one it has come to dies, and may leave out others
 * when it goes on: absence alone proves nothing. */
static int is_gone(uint32_t tid)
{
    return syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;
}

static void sweep(uint32_t scan, const struct sxs_threads_events *events)
{
    for (size_t i = 0; i < SXS_MAX_SAMPLED_THREADS; i++) {
        struct sxs_sampled_thread *t = &table[i];
        uint32_t                   tid = atomic_load(&t->tid);
        if (!tid || atomic_load(&t->seen) == scan || !is_gone(tid))
            continue;
        if (t->started_ns) /* else it was marked, and was gone before anyone looked */
            events->went(t);
        release(t);
    }
}

/* The number of links of /proc/self/task tells how many threads there are: one call when nothing has
 * changed. The whole folder is read when it has, and once in a while all the same. */
void sxs_threads_scan(const struct sxs_threads_events *events)
{
    static uint32_t    scan;
    static nlink_t     last_links;
    static unsigned    idle;
    struct stat        st;
    struct dirent     *entry;
    DIR               *dir;
    int                names = 0;
    nlink_t            listed = 0;
    if (stat("/proc/self/task", &st) != 0)
        return;
    if (st.st_nlink == last_links && ++idle < 20)
        return;
    names = idle >= 20 || scan < 4;
    idle = 0;
    dir = opendir("/proc/self/task");
    if (!dir)
        return;
    scan++;
    while ((entry = readdir(dir)) != NULL) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (tid) {
            look_at(tid, scan, names, events);
            listed++;
        }
    }
    closedir(dir);
    last_links = listed + 2; /* . and ..: a listing that is not whole is made again */
    sweep(scan, events);
}

void sxs_threads_each(void (*fn)(struct sxs_sampled_thread *t))
{
    for (size_t i = 0; i < SXS_MAX_SAMPLED_THREADS; i++) {
        struct sxs_sampled_thread *t = &table[i];
        if (atomic_load_explicit(&t->tid, memory_order_acquire) && t->started_ns && !t->excluded)
            fn(t);
    }
}

void sxs_threads_forget(void)
{
    memset(table, 0, sizeof(table));
}
