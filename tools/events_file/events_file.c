/* SPDX-License-Identifier: MIT */
#include "tools/events_file/events_file.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/idle.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/thread.h"
#include "session/write/chunks_write.h"
#include "session/write/session_write.h"

#define MAX_BYTES (UINT64_C(256) << 20) /* file size; further events are counted as lost */

static struct {
    pthread_mutex_t           lock; /* guards started; held while the file is made */
    int                       started; /* 0: not yet, 1: started, -1: failed */
    struct sxs_chunks         chunks;
    struct sxs_events_header *header;
    _Atomic uint32_t          n_names;
    _Atomic int               forked;
    unsigned                  users;  /* bits of enum sxs_events_tool_bit; under lock */
    struct sxs_worker         service;
    struct sxs_idle           idle; /* the wait of the service thread */
} file = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(file.lock);
SXS_SESSION_RESETS(file);

static void serve_file(void)
{
    uint32_t before = 0;
    while (!atomic_load(&file.forked) && !sxs_worker_is_asked(&file.service)) {
        uint32_t current = atomic_load(&file.chunks.current);
        if (sxs_chunks_make_room(&file.chunks) != 0)
            sxs_warn("the events file cannot grow: what comes from now on is dropped and counted");
        sxs_idle_wait(&file.idle, current != before);
        before = current;
    }
}

static void ask_for_room(void)
{
    int saved = errno;
    sxs_idle_wake(&file.idle);
    errno = saved;
}

static const struct sxs_thread service = {"sxsprof events", serve_file};

static void child_goes_on(void)
{
    atomic_store(&file.forked, 1);
    sxs_chunks_forget(&file.chunks);
}

/* While another thread holds the lock, it closes the file, and stores the end itself, or makes it. */
__attribute__((destructor)) static void ended(void)
{
    if (pthread_mutex_trylock(&file.lock) != 0)
        return;
    if (file.started == 1 && !atomic_load(&file.forked))
        atomic_store(&file.header->ended_ns, sxs_now_ns(CLOCK_MONOTONIC));
    pthread_mutex_unlock(&file.lock);
}

static int start_locked(const char *name)
{
    static struct sxs_fork_part part = {.child = child_goes_on};
    SXS_SESSION_KEEPS(part);
    const struct sxs_folder *folder = sxs_session_folder(name);
    int                      err;
    if (!folder)
        return -1;
    file.chunks.low = ask_for_room;
    err = sxs_chunks_create(&file.chunks, folder, SXS_EVENTS_FILE, MAX_BYTES,
                            offsetof(struct sxs_events_header, n_chunks));
    if (err) {
        sxs_error("tool %s: the events file cannot be made: %s", name, strerror(err));
        return -1;
    }
    file.header = (struct sxs_events_header *)file.chunks.map;
    file.header->version = SXS_EVENTS_VERSION;
    file.header->max_chunks = file.chunks.max_chunks;
    file.header->started_realtime_ns = sxs_now_ns(CLOCK_REALTIME);
    file.header->started_ns = sxs_now_ns(CLOCK_MONOTONIC);
    memcpy(file.header->command, sxs_session_open(NULL)->command, sizeof(file.header->command));
    memcpy(file.header->magic, SXS_EVENTS_MAGIC, sizeof(file.header->magic));
    err = sxs_worker_start(&file.service, &service);
    if (err) {
        sxs_error("tool %s cannot start: %s", name, strerror(err));
        sxs_chunks_finish(&file.chunks);
        return -1;
    }
    sxs_fork_register(&part);
    return 1;
}

struct sxs_events_header *sxs_events_open(const char *name, enum sxs_events_tool_bit tool)
{
    struct sxs_events_header *header = NULL;
    pthread_mutex_lock(&file.lock);
    if (!file.started)
        file.started = start_locked(name);
    if (file.started == 1) {
        header = file.header;
        header->tools |= tool;
        file.users |= tool;
    }
    pthread_mutex_unlock(&file.lock);
    return header;
}

static void close_file(void)
{
    sxs_idle_wake(&file.idle);
    sxs_worker_end(&file.service);
    atomic_store(&file.header->ended_ns, sxs_now_ns(CLOCK_MONOTONIC));
    sxs_chunks_finish(&file.chunks);
}

void sxs_events_close(enum sxs_events_tool_bit tool)
{
    int last;
    pthread_mutex_lock(&file.lock);
    last = file.users == (unsigned)tool;
    file.users &= ~(unsigned)tool;
    if (last) {
        file.started = 0; /* for the destructor */
        close_file();
    }
    pthread_mutex_unlock(&file.lock);
}

void *sxs_events_reserve(size_t size)
{
    return sxs_chunks_reserve(&file.chunks, size);
}

void sxs_events_commit(void *record, enum sxs_event_record_type type)
{
    sxs_chunks_commit(record, (uint16_t)type);
}

void sxs_events_uncommit(void *record)
{
    sxs_chunks_commit(record, 0);
}

struct sxs_events_header *sxs_events_head(void)
{
    return file.header;
}

int sxs_events_forked(void)
{
    return atomic_load_explicit(&file.forked, memory_order_relaxed);
}

uint32_t sxs_events_add_name(const struct sxs_runtime *rt, const char *text)
{
    size_t                 len = strlen(text);
    struct sxs_event_name *r = sxs_events_reserve(sizeof(*r) + len);
    if (!r)
        return 0;
    r->number = atomic_fetch_add(&file.n_names, 1) + 1;
    r->runtime = (uint16_t)sxs_runtime_number(rt);
    r->size = (uint16_t)len;
    memcpy(r->text, text, len);
    sxs_events_commit(r, SXS_EVENT_NAME);
    return r->number;
}

struct sxs_event_span *sxs_events_span(const struct sxs_runtime *rt, enum sxs_event_kind kind,
                                       uint64_t from_ns, uint64_t duration_ns, uint32_t tid,
                                       const char *text, uint32_t a, uint32_t b, int failed)
{
    size_t                 len = strlen(text);
    struct sxs_event_span *r = sxs_events_reserve(sizeof(*r) + len);
    if (!r) {
        if (!sxs_events_forked())
            atomic_fetch_add(&file.header->lost, 1);
        return NULL;
    }
    r->time_ns = from_ns;
    r->duration_ns = duration_ns;
    r->tid = tid;
    r->runtime = (uint16_t)sxs_runtime_number(rt);
    r->kind = (uint8_t)kind;
    r->failed = failed != 0;
    r->a = a;
    r->b = b;
    r->size = (uint16_t)len;
    memcpy(r->text, text, len);
    sxs_events_commit(r, SXS_EVENT_SPAN);
    return r;
}
