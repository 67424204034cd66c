/* SPDX-License-Identifier: MIT */
#include "session/write/traced_write.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/session_state.h"
#include "session/write/chunks_write.h"

#define READY 64u /* chunks kept ready: 16 MiB, for bursts between two calls of sxs_traced_keep() */

#define COUNTERS 64u /* of calls that were left out; a power of two */

/* Instrumented code may trace while a session ends, and the next one begins. */
static struct {
    struct sxs_chunks         chunks;
    struct sxs_traced_header *header;
    _Atomic int               is_on;     /* 0: nothing is recorded */
    _Atomic unsigned          n_writing; /* threads that may use the members above */
    unsigned                  rate;      /* calls a second; 0: no limit */
    uint64_t                  filled_ns; /* when `credit` was filled up last; CLOCK_MONOTONIC */
    _Atomic int64_t           credit;    /* calls that may begin now */
    struct {
        _Alignas(64) _Atomic uint64_t n; /* in a cache line of its own */
    } left_out[COUNTERS];                /* by thread */
} file;
SXS_SESSION_KEEPS(file);

static void limit_rate(unsigned rate)
{
    file.rate = rate;
    file.filled_ns = sxs_now_ns(CLOCK_MONOTONIC);
    atomic_store(&file.credit, (int64_t)rate * SXS_TRACED_BURST);
    for (unsigned i = 0; i < COUNTERS; i++)
        atomic_store(&file.left_out[i].n, 0);
}

int sxs_traced_create(const struct sxs_folder *folder, unsigned mb, unsigned rate)
{
    struct sxs_traced_header *h;
    int                       err;
    if (!folder || atomic_load(&file.is_on))
        return 0;
    file.chunks = (struct sxs_chunks){.ahead = READY};
    err = sxs_chunks_create(&file.chunks, folder, SXS_TRACED_FILE, (uint64_t)mb << 20,
                            offsetof(struct sxs_traced_header, n_chunks));
    if (err)
        return err;
    h = (struct sxs_traced_header *)(void *)file.chunks.map;
    h->version = SXS_TRACED_VERSION;
    h->max_chunks = file.chunks.max_chunks;
    h->rate = rate;
    memcpy(h->magic, SXS_TRACED_MAGIC, sizeof(h->magic));
    file.header = h;
    limit_rate(rate);
    atomic_store(&file.is_on, 1);
    return 0;
}

int sxs_traced_on(void)
{
    return atomic_load_explicit(&file.is_on, memory_order_relaxed);
}

static void note_left_out(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < COUNTERS; i++)
        sum += atomic_load_explicit(&file.left_out[i].n, memory_order_relaxed);
    atomic_store_explicit(&file.header->left_out, sum, memory_order_relaxed);
}

/* Allows as many calls more as the time since the last time is worth. The rest of that time, which is
 * worth less than a call, counts next time. */
static void fill_credit(void)
{
    uint64_t now = sxs_now_ns(CLOCK_MONOTONIC);
    int64_t  more = (int64_t)((double)(now - file.filled_ns) * file.rate / 1e9);
    int64_t  full = (int64_t)file.rate * SXS_TRACED_BURST, has = atomic_load(&file.credit);
    if (!more)
        return;
    file.filled_ns += (uint64_t)((double)more * 1e9 / file.rate);
    atomic_fetch_add(&file.credit, has + more < full ? more : full - has);
}

void sxs_traced_keep(void)
{
    if (sxs_traced_on() && file.rate) {
        fill_credit();
        note_left_out();
    }
    if (sxs_traced_on() && sxs_chunks_make_room(&file.chunks) != 0)
        sxs_warn("the traced file cannot grow: calls are no longer recorded one by one, "
                 "their counts are");
}

static void mark_complete(void)
{
    note_left_out();
    atomic_store(&file.header->complete, 1);
}

void sxs_traced_complete(void)
{
    if (!sxs_traced_on())
        return;
    mark_complete();
}

void sxs_traced_forget(void)
{
    if (atomic_exchange(&file.is_on, 0))
        sxs_chunks_forget(&file.chunks);
}

void sxs_traced_close(void)
{
    const struct timespec pause = {0, 100000};
    if (!atomic_exchange(&file.is_on, 0))
        return;
    while (atomic_load(&file.n_writing))
        nanosleep(&pause, NULL);
    mark_complete();
    sxs_chunks_finish(&file.chunks);
}

/* Returns 1 if there is a file, which stays until end_write(); else 0. Either sxs_traced_close() sees
 * this thread, or this thread sees that the file is being closed. */
static int begin_write(void)
{
    if (!sxs_traced_on())
        return 0;
    atomic_fetch_add(&file.n_writing, 1);
    if (atomic_load(&file.is_on))
        return 1;
    atomic_fetch_sub(&file.n_writing, 1);
    return 0;
}

static void end_write(void)
{
    atomic_fetch_sub_explicit(&file.n_writing, 1, memory_order_release);
}

static void *reserve_record(size_t size)
{
    void *record = sxs_chunks_reserve(&file.chunks, size);
    if (!record)
        atomic_fetch_add_explicit(&file.header->lost, 1, memory_order_relaxed);
    return record;
}

/* Return the thread's tid, asked of the kernel once per thread. It need not be reset after a fork,
 * because a forked child records nothing. */
static uint32_t thread_id(void)
{
    static SXS_TLS uint32_t tid;
    if (!tid)
        tid = (uint32_t)syscall(SYS_gettid);
    return tid;
}

int sxs_traced_take(void)
{
    if (!sxs_traced_on() || !file.rate)
        return 1;
    if (atomic_load_explicit(&file.credit, memory_order_relaxed) > 0 &&
        atomic_fetch_sub_explicit(&file.credit, 1, memory_order_relaxed) > 0)
        return 1;
    atomic_fetch_add_explicit(&file.left_out[thread_id() % COUNTERS].n, 1, memory_order_relaxed);
    return 0;
}

static size_t cut_length(struct sxs_traced_text t)
{
    return t.size < SXS_TRACED_TEXT ? t.size : SXS_TRACED_TEXT;
}

static char *put_text(char *to, struct sxs_traced_text t)
{
    if (t.size)
        memcpy(to, t.text, cut_length(t));
    return to + cut_length(t);
}

static void write_enter(uint32_t method, uint64_t started, struct sxs_traced_text arguments)
{
    struct sxs_traced_enter *r =
        reserve_record(offsetof(struct sxs_traced_enter, text) + cut_length(arguments));
    if (!r)
        return;
    r->started_tick = started;
    r->method = method;
    r->tid = thread_id();
    r->size = (uint32_t)cut_length(arguments);
    put_text((char *)r + offsetof(struct sxs_traced_enter, text), arguments);
    sxs_chunks_commit(r, SXS_TRACED_ENTER);
}

static void write_end(uint32_t method, uint64_t started, uint64_t ended, int threw,
                      struct sxs_traced_text result, struct sxs_traced_text after,
                      struct sxs_traced_text thrown)
{
    size_t                 at = offsetof(struct sxs_traced_end, text);
    struct sxs_traced_end *r =
        reserve_record(at + cut_length(result) + cut_length(after) + cut_length(thrown));
    if (!r)
        return;
    r->started_tick = started;
    r->ended_tick = ended;
    r->method = method;
    r->tid = thread_id();
    r->threw = threw != 0;
    r->result_size = (uint16_t)cut_length(result);
    r->after_size = (uint16_t)cut_length(after);
    r->thrown_size = (uint16_t)cut_length(thrown);
    put_text(put_text(put_text((char *)r + at, result), after), thrown);
    sxs_chunks_commit(r, SXS_TRACED_END);
}

void sxs_traced_enter(uint32_t method, uint64_t started, struct sxs_traced_text arguments)
{
    if (!begin_write())
        return;
    write_enter(method, started, arguments);
    end_write();
}

void sxs_traced_end(uint32_t method, uint64_t started, uint64_t ended, int threw,
                    struct sxs_traced_text result, struct sxs_traced_text after,
                    struct sxs_traced_text thrown)
{
    if (!begin_write())
        return;
    write_end(method, started, ended, threw, result, after, thrown);
    end_write();
}
