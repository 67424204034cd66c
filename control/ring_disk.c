/* SPDX-License-Identifier: MIT */
/* ring_disk.c - makes, describes, keeps and deletes the segments of the ring on disk. */
#include "control/ring_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/proc.h"
#include "control/message/name.h"

#define NS_PER_S  UINT64_C(1000000000)
#define RESERVE   (UINT64_C(16) << 20)  /* bytes that are left free on the file system */
#define QUIET_NS  INT64_C(60000000000)  /* between two lines about a full disk */
#define FORGET_NS UINT64_C(60000000000) /* an event is known after this time at most */

static int64_t now_ns(void)
{
    return (int64_t)sxs_now_ns(CLOCK_MONOTONIC);
}

/* Returns the start time of process @pid in clock ticks; 0: there is no such process. */
static unsigned long long read_start_time(int pid)
{
    char               path[64], text[1024];
    unsigned long long start = 0;
    ssize_t            n;
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    n = sxs_proc_read(path, text, sizeof(text) - 1);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    return sxs_control_start_time(text, &start) == 0 ? start : 0;
}

/* ---- segments of earlier processes ------------------------------------------------------------ */

/* Tells whether another process that runs has recorded the segment, and looks after it. */
static int is_of_another(const struct sxs_segment_found *found)
{
    return found->pid > 0 && found->pid != getpid() && found->process_started &&
           read_start_time(found->pid) == found->process_started;
}

static void adopt_segment(const struct sxs_segment_found *found)
{
    struct sxs_ring_segment segment = {.bytes = found->bytes};
    struct sxs_segment_name name;
    snprintf(segment.name, sizeof(segment.name), "%s", found->name);
    if (sxs_segment_name_read(found->name, &name) != 0 || is_of_another(found))
        return;
    sxs_ring_times_of_name(&segment, name.began_s, sxs_now_ns(CLOCK_REALTIME) / NS_PER_S, now_ns(),
                           sxs_ring.settings.every_ns);
    if (!found->is_kept && found->has_trigger && sxs_segment_keep(&sxs_ring.dir, found->name) == 0)
        sxs_ring_list_add(&sxs_ring.kept, &segment);
    else
        sxs_ring_list_add(found->is_kept ? &sxs_ring.kept : &sxs_ring.list, &segment);
}

void sxs_ring_close(void)
{
    if (sxs_ring.is_open)
        sxs_folder_close(&sxs_ring.dir);
    sxs_ring.is_open = 0;
}

int sxs_ring_open(char *why, size_t size)
{
    struct sxs_segment_found *found = NULL;
    struct sxs_folder         dir;
    size_t                    n = 0;
    uint64_t                  highest = 0;
    int                       err = sxs_segments_open(&dir, sxs_ring.path, why, size);
    if (err)
        return -1;
    sxs_ring_close();
    sxs_ring.dir = dir;
    sxs_ring.is_open = 1;
    snprintf(sxs_ring.path, sizeof(sxs_ring.path), "%s", sxs_ring.dir.path);
    sxs_ring_list_free(&sxs_ring.list);
    sxs_ring_list_free(&sxs_ring.kept);
    err = sxs_segments_list(&sxs_ring.dir, &found, &n, &highest);
    if (err)
        snprintf(why, size, "%s", strerror(-err));
    for (size_t i = 0; !err && i < n; i++)
        adopt_segment(&found[i]);
    free(found);
    if (sxs_ring.next.number <= highest)
        sxs_ring.next.number = highest + 1;
    return err ? -1 : 0;
}

/* ---- the segment that is recorded ------------------------------------------------------------- */

static int write_description(struct sxs_ring_current *segment, uint64_t ended_ns)
{
    char text[SXS_SEGMENT_TEXT];
    segment->facts.ended_ns = ended_ns;
    segment->facts.tools = segment->tools;
    segment->facts.adapted = segment->adapted;
    sxs_segment_text(&segment->facts, text);
    return sxs_segment_write(&sxs_ring.dir, segment->name, 0, SXS_SEGMENT_FILE, text);
}

void sxs_ring_describe(struct sxs_ring_current *segment, uint64_t ended_ns)
{
    int err = write_description(segment, ended_ns);
    if (err == -ENOSPC && sxs_ring_limit(1))
        err = write_description(segment, ended_ns);
    if (err && err != -ECHILD)
        sxs_warn("%s/%s/%s: %s", sxs_ring.path, segment->name, SXS_SEGMENT_FILE, strerror(-err));
}

/* Makes the folder and its file segment.json. */
static int try_to_make(struct sxs_ring_current *out)
{
    int err = sxs_segment_make(&sxs_ring.dir, &sxs_ring.next, out->name);
    if (!err) {
        out->facts.number = sxs_ring.next.number++;
        err = write_description(out, 0);
        if (err)
            sxs_segment_undo(&sxs_ring.dir, out->name);
    }
    if (err)
        out->name[0] = '\0';
    return err;
}

int sxs_ring_make_segment(struct sxs_ring_current *out)
{
    uint64_t real = sxs_now_ns(CLOCK_REALTIME);
    int      err;
    memset(out, 0, sizeof(*out));
    if (sxs_keep_tools(sxs_ring.tools, &sxs_ring.settings, sxs_ring.budget.scale, out->tools) != 0)
        return -ENAMETOOLONG;
    err = sxs_segments_check(&sxs_ring.dir); /* the session finds it by its path */
    if (err)
        return err;
    snprintf(out->adapted, sizeof(out->adapted), "%s", sxs_ring.adapted);
    sxs_ring.next.began_s = real / NS_PER_S;
    out->facts = (struct sxs_segment_facts){.pid = (int)getpid(),
                                            .process_started = read_start_time((int)getpid()),
                                            .started_ns = real,
                                            .every_ns = sxs_ring_every_ns()};
    do
        err = try_to_make(out);
    while (err == -ENOSPC && sxs_ring_limit(1));
    return err;
}

/* ---- segments around an event ----------------------------------------------------------------- */

/* Writes trigger.json of a segment if there are events around it. Returns 1 if so. */
static int write_trigger(const struct sxs_ring_segment *s, int is_kept)
{
    unsigned char is_in[SXS_RING_EVENTS] = {0};
    char          text[SXS_SEGMENT_TEXT];
    int           any = 0, err;
    for (size_t i = 0; i < sxs_ring.n_events; i++)
        any |= is_in[i] = (unsigned char)sxs_ring_overlaps(s->from_ns, s->until_ns,
                                                           (int64_t)sxs_ring.events[i].time_ns);
    if (!any)
        return 0;
    sxs_trigger_text(sxs_ring.events, is_in, sxs_ring.n_events, text);
    err = sxs_segment_write(&sxs_ring.dir, s->name, is_kept, SXS_TRIGGER_FILE, text);
    if (err && err != -ENOENT)
        sxs_warn("%s/%s/%s: %s", sxs_ring.path, s->name, SXS_TRIGGER_FILE, strerror(-err));
    return 1;
}

/* Moves the segment to those that are kept. Returns 0 or -errno. */
static int keep_segment(const struct sxs_ring_segment *s)
{
    int err = sxs_segment_keep(&sxs_ring.dir, s->name);
    if (!err)
        sxs_ring_list_add(&sxs_ring.kept, s);
    else if (err != -ENOENT)
        sxs_warn("%s/%s cannot be moved to kept: %s", sxs_ring.path, s->name, strerror(-err));
    return err;
}

static void remember(const struct sxs_trigger_event *event)
{
    if (sxs_ring.n_events == SXS_RING_EVENTS) {
        sxs_ring.n_events--;
        memmove(&sxs_ring.events[0], &sxs_ring.events[1],
                sxs_ring.n_events * sizeof(sxs_ring.events[0]));
    }
    sxs_ring.events[sxs_ring.n_events++] = *event;
}

void sxs_ring_happened(const struct sxs_trigger_event *event, void *arg)
{
    int64_t at = (int64_t)event->time_ns;
    (void)arg;
    remember(event);
    sxs_note("%s: %s: the segments around it are kept in %s/%s", event->on, event->what,
             sxs_ring.path, SXS_SEGMENT_KEPT);
    for (size_t i = 0; i < sxs_ring.kept.n; i++)
        if (sxs_ring_overlaps(sxs_ring.kept.items[i].from_ns, sxs_ring.kept.items[i].until_ns, at))
            write_trigger(&sxs_ring.kept.items[i], 1);
    for (size_t i = 0; i < sxs_ring.list.n;) { /* the oldest first, as in both lists */
        const struct sxs_ring_segment s = sxs_ring.list.items[i];
        int                           is_around = sxs_ring_overlaps(s.from_ns, s.until_ns, at);
        if (is_around)
            write_trigger(&s, 0);
        if (is_around && keep_segment(&s) == 0)
            sxs_ring_list_drop(&sxs_ring.list, i);
        else
            i++;
    }
    if (sxs_ring.now.name[0]) { /* if the process is killed, the next one moves the segment */
        struct sxs_ring_segment s = {.from_ns = sxs_ring.now.started_ns, .until_ns = now_ns()};
        snprintf(s.name, sizeof(s.name), "%s", sxs_ring.now.name);
        write_trigger(&s, 0);
    }
}

void sxs_ring_complete(struct sxs_ring_current *segment, int64_t until_ns)
{
    struct sxs_ring_segment s = {.from_ns = segment->started_ns, .until_ns = until_ns};
    struct sxs_ring_cost    cost;
    if (!segment->name[0])
        return;
    cost = sxs_cost_between(segment->cost, sxs_cost_now(segment->handler_ns));
    segment->facts.cpu_ns = cost.cpu_ns;
    segment->facts.own_cpu_ns = cost.own_ns;
    sxs_ring_describe(segment, sxs_now_ns(CLOCK_REALTIME) - (uint64_t)(now_ns() - until_ns));
    memcpy(s.name, segment->name, sizeof(s.name));
    s.bytes = sxs_segment_bytes(&sxs_ring.dir, s.name, 0);
    segment->name[0] = '\0';
    if (!write_trigger(&s, 0) || keep_segment(&s) != 0)
        sxs_ring_list_add(&sxs_ring.list, &s);
}

/* ---- limits ----------------------------------------------------------------------------------- */

/* Deletes the oldest segment of the ring, or of those that are kept. */
static void delete_oldest(struct sxs_ring_list *list, int is_kept)
{
    int err = sxs_segment_delete(&sxs_ring.dir, list->items[0].name, is_kept);
    if (err && err != -ENOENT && err != -ECHILD)
        sxs_warn("%s/%s cannot be deleted: %s", sxs_ring.path, list->items[0].name, strerror(-err));
    sxs_ring_list_drop(list, 0);
}

static int is_disk_full(void)
{
    uint64_t left, all;
    return sxs_segments_room(&sxs_ring.dir, &left, &all) == 0 &&
           left < (all / 8 < RESERVE ? all / 8 : RESERVE);
}

static void say_full(void)
{
    int64_t now = now_ns();
    if (sxs_ring.full_ns && now < sxs_ring.full_ns + QUIET_NS)
        return;
    sxs_ring.full_ns = now;
    sxs_warn("%s: the disk is full: the oldest segments are deleted before their time",
             sxs_ring.path);
}

/* Deletes for a full disk, but nothing without a limit: then the user wants all segments. */
static unsigned make_room(int more)
{
    unsigned n = 0;
    if (!sxs_ring.settings.keep_ns)
        return 0;
    while ((more || is_disk_full()) && (sxs_ring.list.n || sxs_ring.kept.n)) {
        say_full();
        if (sxs_ring.list.n)
            delete_oldest(&sxs_ring.list, 0);
        else
            delete_oldest(&sxs_ring.kept, 1);
        more = 0;
        n++;
    }
    return n;
}

/* Without a limit nothing is deleted. Then segments are remembered only as long as an event can
 * still be around them. */
static void forget_old(struct sxs_ring_list *list)
{
    const struct sxs_ring_limits around = {(uint64_t)SXS_RING_AROUND_NS + FORGET_NS, 0};
    if (sxs_ring.settings.keep_ns || sxs_ring.settings.keep_bytes)
        return;
    while (sxs_ring_is_too_much(list, &around, now_ns(), 0))
        sxs_ring_list_drop(list, 0);
}

unsigned sxs_ring_limit(int more)
{
    const struct sxs_ring_limits ring = {sxs_ring.settings.keep_ns, sxs_ring.settings.keep_bytes};
    const struct sxs_ring_limits kept = {0, sxs_ring.settings.keep_bytes};
    uint64_t                     running = 0;
    unsigned                     n = 0;
    if (sxs_ring.now.name[0])
        running = sxs_segment_bytes(&sxs_ring.dir, sxs_ring.now.name, 0);
    for (; sxs_ring_is_too_much(&sxs_ring.list, &ring, now_ns(), running); n++)
        delete_oldest(&sxs_ring.list, 0);
    for (; sxs_ring_is_too_much(&sxs_ring.kept, &kept, now_ns(), 0); n++)
        delete_oldest(&sxs_ring.kept, 1);
    forget_old(&sxs_ring.list);
    forget_old(&sxs_ring.kept);
    return n + make_room(more && !n);
}
