/* SPDX-License-Identifier: MIT */
#include "control/ring/conditions.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/clock.h"
#include "manager/watch.h"

#define PAUSE_NS  UINT64_C(60000000000) /* between two events of one condition */
#define WINDOW_NS UINT64_C(5000000000)

static struct {
    _Atomic(const struct sxs_keep_settings *) settings;
    struct {
        uint64_t last_ns; /* CLOCK_MONOTONIC, of the last event that counted; 0: none */
        uint64_t left_out;
    } seen[SXS_KEEP_TRIGGERS];
    struct sxs_cpu_window cpu;
    void (*event)(const struct sxs_trigger_event *event, void *arg);
    void *arg;
} conditions;

static _Atomic int n_reading; /* callbacks that may read the settings */

/* In callbacks. */
static int is_type(const char *type)
{
    const struct sxs_keep_settings *s;
    int                             fits = 0;
    atomic_fetch_add(&n_reading, 1);
    s = atomic_load(&conditions.settings);
    for (size_t i = 0; s && i < s->n_triggers && !fits; i++)
        fits = sxs_trigger_fits(&s->triggers[i], type);
    atomic_fetch_sub(&n_reading, 1);
    return fits;
}

/* Waits for callbacks that read the settings: they only compare names. */
static void forget_settings(void)
{
    static const struct timespec nap = {0, 100000};
    sxs_watch_for(NULL);
    atomic_store(&conditions.settings, NULL);
    while (atomic_load(&n_reading))
        nanosleep(&nap, NULL);
}

void sxs_conditions_start(const struct sxs_keep_settings *s)
{
    struct sxs_watch watch = {0};
    forget_settings();
    memset(&conditions.seen, 0, sizeof(conditions.seen));
    memset(&conditions.cpu, 0, sizeof(conditions.cpu));
    atomic_store(&conditions.settings, s);
    for (size_t i = 0; i < s->n_triggers; i++) {
        const struct sxs_trigger *t = &s->triggers[i];
        if (t->kind == SXS_TRIGGER_GC && (!watch.pause_ns || t->limit < watch.pause_ns))
            watch.pause_ns = t->limit ? t->limit : 1;
        if (t->kind == SXS_TRIGGER_EXCEPTION)
            watch.is_type = is_type;
    }
    if (watch.pause_ns || watch.is_type)
        sxs_watch_for(&watch);
}

void sxs_conditions_stop(void)
{
    forget_settings();
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Reports the event @e of condition @i, unless one counted within the last minute. */
static void report(size_t i, struct sxs_trigger_event *e)
{
    const struct sxs_keep_settings *s = atomic_load(&conditions.settings);
    uint64_t                        now = sxs_now_ns(CLOCK_MONOTONIC);
    if (conditions.seen[i].last_ns && e->time_ns < conditions.seen[i].last_ns + PAUSE_NS) {
        conditions.seen[i].left_out++;
        return;
    }
    e->real_ns = sxs_now_ns(CLOCK_REALTIME) - (now - e->time_ns);
    e->on = s->triggers[i].text;
    e->left_out = conditions.seen[i].left_out;
    conditions.seen[i].left_out = 0;
    conditions.seen[i].last_ns = e->time_ns;
    conditions.event(e, conditions.arg);
}

static int is_fulfilled(const struct sxs_trigger *t, const struct sxs_watch_event *w)
{
    if (t->kind == SXS_TRIGGER_GC)
        return w->duration_ns > t->limit;
    return !w->duration_ns && sxs_trigger_fits(t, w->type);
}

static void take_watched(const struct sxs_watch_event *w)
{
    const struct sxs_keep_settings *s = atomic_load(&conditions.settings);
    for (size_t i = 0; i < s->n_triggers; i++) {
        struct sxs_trigger_event e = {.time_ns = w->time_ns};
        if (!is_fulfilled(&s->triggers[i], w))
            continue;
        if (w->duration_ns)
            snprintf(e.what, sizeof(e.what),
                     "a pause of %" PRIu64 " ms for a collection in runtime %u",
                     w->duration_ns / 1000000, w->runtime);
        else
            snprintf(e.what, sizeof(e.what), "%s was thrown in runtime %u", w->type, w->runtime);
        report(i, &e);
    }
}

uint64_t sxs_cpu_window_add(struct sxs_cpu_window *w, uint64_t time_ns, uint64_t cpu_ns)
{
    const unsigned room = ARRAY_LEN(w->looks);
    uint64_t       then_ns = 0, then_cpu = 0;
    for (unsigned i = 0; i < w->n; i++) { /* the newest look that is old enough */
        if (w->looks[i].time_ns + WINDOW_NS > time_ns || w->looks[i].time_ns < then_ns)
            continue;
        then_ns = w->looks[i].time_ns;
        then_cpu = w->looks[i].cpu_ns;
    }
    w->looks[w->at].time_ns = time_ns;
    w->looks[w->at].cpu_ns = cpu_ns;
    w->at = (w->at + 1) % room;
    w->n += w->n < room;
    return then_ns ? (cpu_ns - then_cpu) * 100000 / (time_ns - then_ns) : 0;
}

static void look_at_cpu(uint64_t now)
{
    const struct sxs_keep_settings *s = atomic_load(&conditions.settings);
    uint64_t part = sxs_cpu_window_add(&conditions.cpu, now, sxs_now_ns(CLOCK_PROCESS_CPUTIME_ID));
    for (size_t i = 0; i < s->n_triggers; i++) {
        struct sxs_trigger_event e = {.time_ns = now};
        if (s->triggers[i].kind != SXS_TRIGGER_CPU || part <= s->triggers[i].limit)
            continue;
        snprintf(e.what, sizeof(e.what),
                 "the process used %" PRIu64 ".%" PRIu64 " %% of one processor over five seconds",
                 part / 1000, part % 1000 / 100);
        report(i, &e);
    }
}

void sxs_conditions_look(void (*event)(const struct sxs_trigger_event *event, void *arg), void *arg)
{
    struct sxs_watch_event w;
    uint64_t               n_lost;
    if (!atomic_load(&conditions.settings))
        return;
    conditions.event = event;
    conditions.arg = arg;
    while (sxs_watch_take(&w, &n_lost))
        take_watched(&w);
    look_at_cpu(sxs_now_ns(CLOCK_MONOTONIC));
}
