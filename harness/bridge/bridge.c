/* SPDX-License-Identifier: MIT */
/* bridge.c - joins the apps of several runtimes and passes calls from one to the next. */
#include "harness/bridge/bridge.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

enum { JOIN_SECONDS = 60, LEAVE_SECONDS = 600 };

/* State of an app: not started, started, waiting in or past sxsbridge_join(), in or past
 * sxsbridge_leave(). An app that ends before STAGE_LEFT sets `broken`, and nobody waits any
 * more. */
enum stage { STAGE_AWAY, STAGE_SEATED, STAGE_JOINED, STAGE_LEFT };

static struct {
    pthread_mutex_t
        lock; /* guards all fields; `n_apps` and `entries` are constant once all have joined */
    pthread_cond_t  changed;
    int             n_apps; /* 0: the bridge is not open */
    int             n_joined, n_left;
    bool            broken;
    enum stage      stages[SXSBRIDGE_APPS_MAX];
    sxsbridge_entry entries[SXSBRIDGE_APPS_MAX];
} bridge = { .lock = PTHREAD_MUTEX_INITIALIZER };

static pthread_once_t once = PTHREAD_ONCE_INIT;

static _Thread_local int             seat = -1;  /* index of this thread's app; -1: none */
static _Thread_local sxsbridge_entry lone_entry; /* this thread's entry if the bridge is not open */

/* A condition variable with a static initialiser would measure timeouts by the wall clock, which
 * can be changed. Use the monotonic clock instead. */
static void init_once(void)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&bridge.changed, &attr);
    pthread_condattr_destroy(&attr);
}

/* Waits until *count has reached the number of apps. Returns 0, or -1 after @seconds or when an app
 * has ended early. */
static int wait_for_all_locked(const int *count, int seconds)
{
    struct timespec until;
    int             err = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds;
    while (*count < bridge.n_apps && !bridge.broken && !err)
        err = pthread_cond_timedwait(&bridge.changed, &bridge.lock, &until);
    return *count < bridge.n_apps ? -1 : 0;
}

static int take_seat_locked(void)
{
    for (int i = 0; i < bridge.n_apps && seat < 0; i++)
        if (bridge.stages[i] == STAGE_AWAY)
            seat = i;
    if (seat >= 0 && bridge.stages[seat] == STAGE_AWAY)
        bridge.stages[seat] = STAGE_SEATED;
    return seat;
}

int sxsbridge_open(int n_apps)
{
    int err = -1;

    pthread_once(&once, init_once);
    pthread_mutex_lock(&bridge.lock);
    if (bridge.n_apps == 0 && n_apps >= 1 && n_apps <= SXSBRIDGE_APPS_MAX) {
        bridge.n_apps = n_apps;
        err = 0;
    }
    pthread_mutex_unlock(&bridge.lock);
    return err;
}

void sxsbridge_seat(int index)
{
    pthread_mutex_lock(&bridge.lock);
    if (index >= 0 && index < bridge.n_apps && bridge.stages[index] == STAGE_AWAY) {
        seat = index;
        bridge.stages[index] = STAGE_SEATED;
    }
    pthread_mutex_unlock(&bridge.lock);
}

void sxsbridge_end(void)
{
    pthread_once(&once, init_once);
    pthread_mutex_lock(&bridge.lock);
    if (seat >= 0 && bridge.stages[seat] != STAGE_LEFT) {
        bridge.broken = true;
        pthread_cond_broadcast(&bridge.changed);
    }
    pthread_mutex_unlock(&bridge.lock);
}

int sxsbridge_index(void)
{
    pthread_mutex_lock(&bridge.lock);
    int index = bridge.n_apps ? take_seat_locked() : 0;
    pthread_mutex_unlock(&bridge.lock);
    return index;
}

int sxsbridge_apps(void)
{
    pthread_mutex_lock(&bridge.lock);
    int n = bridge.n_apps ? bridge.n_apps : 1;
    pthread_mutex_unlock(&bridge.lock);
    return n;
}

int sxsbridge_join(sxsbridge_entry entry)
{
    int index = -1;

    pthread_once(&once, init_once);
    pthread_mutex_lock(&bridge.lock);
    if (bridge.n_apps == 0) {
        lone_entry = entry;
        index = 0;
    } else if (take_seat_locked() >= 0 && bridge.stages[seat] == STAGE_SEATED) {
        bridge.stages[seat] = STAGE_JOINED;
        bridge.entries[seat] = entry;
        bridge.n_joined++;
        pthread_cond_broadcast(&bridge.changed);
        index = wait_for_all_locked(&bridge.n_joined, JOIN_SECONDS) ? -1 : seat;
    }
    pthread_mutex_unlock(&bridge.lock);
    return index;
}

int sxsbridge_leave(void)
{
    int err = 0;

    pthread_once(&once, init_once);
    pthread_mutex_lock(&bridge.lock);
    if (bridge.n_apps == 0) {
        lone_entry = NULL;
    } else if (seat >= 0 && bridge.stages[seat] == STAGE_JOINED) {
        bridge.stages[seat] = STAGE_LEFT;
        bridge.n_left++;
        pthread_cond_broadcast(&bridge.changed);
        err = wait_for_all_locked(&bridge.n_left, LEAVE_SECONDS);
    } else {
        err = -1;
    }
    pthread_mutex_unlock(&bridge.lock);
    return err;
}

static sxsbridge_entry next_entry(int depth)
{
    sxsbridge_entry entry = lone_entry;

    pthread_mutex_lock(&bridge.lock);
    if (bridge.n_apps)
        entry = bridge.n_joined < bridge.n_apps
                    ? NULL
                    : bridge.entries[(unsigned)depth % (unsigned)bridge.n_apps];
    pthread_mutex_unlock(&bridge.lock);
    return entry;
}

/* The empty asm after each call prevents a tail call, which would leave no frame. */
__attribute__((noinline)) void sxsbridge_span_far(sxsbridge_entry entry, int depth, int max,
                                                  long arg)
{
    entry(depth, max, arg);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void sxsbridge_span_near(sxsbridge_entry entry, int depth, int max,
                                                   long arg)
{
    sxsbridge_span_far(entry, depth, max, arg);
    __asm__ volatile("" ::: "memory");
}

void sxsbridge_hop(int depth, int max, long arg)
{
    sxsbridge_entry entry = next_entry(depth);

    if (entry)
        sxsbridge_span_near(entry, depth + 1, max, arg);
    __asm__ volatile("" ::: "memory");
}
