/* SPDX-License-Identifier: MIT */
#include "session/write/traced_write.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "session/write/chunks_write.h"

#define READY 64u /* chunks kept ready: 16 MiB, for bursts between two calls of sxs_traced_keep() */

static struct sxs_chunks                     chunks = {.ahead = READY};
static _Atomic(struct sxs_traced_header *) header; /* NULL: nothing is recorded */

int sxs_traced_create(const struct sxs_folder *folder, unsigned mb)
{
    struct sxs_traced_header *h;
    int                       err;
    if (!folder || atomic_load(&header))
        return 0;
    err = sxs_chunks_create(&chunks, folder, SXS_TRACED_FILE, (uint64_t)mb << 20,
                            offsetof(struct sxs_traced_header, n_chunks));
    if (err)
        return err;
    h = (struct sxs_traced_header *)(void *)chunks.map;
    h->version = SXS_TRACED_VERSION;
    h->max_chunks = chunks.max_chunks;
    memcpy(h->magic, SXS_TRACED_MAGIC, sizeof(h->magic));
    atomic_store(&header, h);
    return 0;
}

int sxs_traced_on(void)
{
    return atomic_load_explicit(&header, memory_order_relaxed) != NULL;
}

void sxs_traced_keep(void)
{
    if (atomic_load(&header) && sxs_chunks_make_room(&chunks) != 0)
        sxs_warn("the traced file cannot grow: calls are no longer recorded one by one, "
                 "their counts are");
}

void sxs_traced_forget(void)
{
    if (atomic_load(&header))
        sxs_chunks_forget(&chunks);
    atomic_store(&header, NULL);
}

static void *reserve_record(size_t size)
{
    struct sxs_traced_header *h = atomic_load_explicit(&header, memory_order_acquire);
    void                     *record = h ? sxs_chunks_reserve(&chunks, size) : NULL;
    if (!record && h)
        atomic_fetch_add_explicit(&h->lost, 1, memory_order_relaxed);
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

void sxs_traced_enter(uint32_t method, uint64_t started, struct sxs_traced_text arguments)
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

void sxs_traced_end(uint32_t method, uint64_t started, uint64_t ended, int threw,
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
