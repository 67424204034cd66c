/* SPDX-License-Identifier: MIT */
#include "symbols/compiled.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/pages.h"
#include "base/session_state.h"
#include "manager/own_sessions.h"

#define MAX_PIECES   (1u << 20) /* 48 MiB; a program with 100,000 methods has some 150,000 pieces */
#define MAX_SESSIONS 64

/* The JIT keyword, the level and the event numbers of the provider
 * Microsoft-Windows-DotNETRuntime, and the layout of the beginning of all four events. A runtime
 * reports compiled methods only at the verbose level. The event's "ReJIT ID" also counts tiers,
 * so it is not used. */
enum { JIT_KEYWORD = 0x10, VERBOSE = 5 };
enum { METHOD_LOAD = 141, METHOD_UNLOAD, METHOD_LOAD_VERBOSE, METHOD_UNLOAD_VERBOSE };
enum { AT_METHOD = 0, AT_START = 16, AT_SIZE = 24, AT_FLAGS = 32, AT_END = 36 };
enum { FLAG_DYNAMIC = 1, FLAG_JITTED = 8, TIER_SHIFT = 7, TIER_MASK = 7 };

struct compiled_session {
    struct sxs_runtime *rt; /* only compared; NULL: the entry is free */
    int                 holes; /* 1: pieces were lost, or code was compiled without a report */
    int                 runs;  /* 1: `id` is in use */
    EVENTPIPE_SESSION   id;
};

struct pieces {
    struct sxs_compiled *all;
    size_t               n, cap;
};

static struct {
    pthread_mutex_t lock; /* guards news and sessions; a leaf lock: no other is taken inside */
    struct pieces   news; /* in order of arrival */
    struct compiled_session sessions[MAX_SESSIONS];
    /* By address; the pieces of one runtime do not overlap. Used only by the thread that looks
     * up. */
    struct pieces   index;
} compiled = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(compiled.lock);
SXS_SESSION_RESETS(compiled);

/* ---- events ---------------------------------------------------------------------------------- */

/* Translates the runtime's tier. Quick, minimally optimized and instrumented code is tier 0,
 * because it has that quality. Code that is optimized outside of tiered compilation is
 * SXS_TIER_OPTIMIZED. */
static uint8_t tier_of(uint32_t flags)
{
    static const uint8_t tiers[] = {
        SXS_TIER_UNKNOWN, SXS_TIER_0, SXS_TIER_OPTIMIZED, SXS_TIER_0,
        SXS_TIER_1,       SXS_TIER_OSR, SXS_TIER_0,       SXS_TIER_1,
    };
    return flags & FLAG_DYNAMIC ? SXS_TIER_DYNAMIC : tiers[flags >> TIER_SHIFT & TIER_MASK];
}

static struct compiled_session *session_of(const struct sxs_runtime *rt)
{
    for (size_t i = 0; i < MAX_SESSIONS; i++)
        if (compiled.sessions[i].rt == rt)
            return &compiled.sessions[i];
    return NULL;
}

static int make_room(struct pieces *p, size_t n)
{
    size_t cap = p->cap ? p->cap : 1024;
    void  *more;
    if (n <= p->cap)
        return 1;
    if (n > MAX_PIECES)
        return 0;
    while (cap < n)
        cap *= 2;
    more = sxs_pages_realloc(p->all, cap * sizeof(p->all[0]));
    if (!more)
        return 0;
    p->all = more;
    p->cap = cap;
    return 1;
}

int sxs_compiled_decode(uint32_t id, const void *data, size_t size, struct sxs_compiled *out)
{
    const unsigned char *bytes = data;
    uint32_t             flags, length;
    uint64_t             start;
    *out = (struct sxs_compiled){0};
    if (id < METHOD_LOAD || id > METHOD_UNLOAD_VERBOSE || size < AT_END)
        return 0;
    memcpy(&out->function, bytes + AT_METHOD, sizeof(out->function));
    memcpy(&start, bytes + AT_START, sizeof(start));
    memcpy(&length, bytes + AT_SIZE, sizeof(length));
    memcpy(&flags, bytes + AT_FLAGS, sizeof(flags));
    if (!start || !length || start + length < start || !(flags & (FLAG_JITTED | FLAG_DYNAMIC)))
        return 0;
    out->lo = start;
    out->hi = start + length;
    out->tier = tier_of(flags);
    out->gone = id == METHOD_UNLOAD || id == METHOD_UNLOAD_VERBOSE;
    return 1;
}

void sxs_compiled_add(const struct sxs_compiled *piece)
{
    pthread_mutex_lock(&compiled.lock);
    if (make_room(&compiled.news, compiled.news.n + 1)) {
        compiled.news.all[compiled.news.n++] = *piece;
    } else {
        struct compiled_session *s = session_of(piece->rt);
        if (s)
            s->holes = 1;
    }
    pthread_mutex_unlock(&compiled.lock);
}

void sxs_compiled_event(struct sxs_runtime *rt, uint32_t id, const void *data, size_t size)
{
    struct sxs_compiled piece;
    if (!sxs_compiled_decode(id, data, size, &piece))
        return;
    piece.rt = rt;
    piece.time_ns = sxs_now_ns(CLOCK_MONOTONIC);
    sxs_compiled_add(&piece);
}

/* ---- the index ------------------------------------------------------------------------------- */

/* Returns the index of the first piece that ends after @ip. */
static size_t first_after(const struct pieces *p, uintptr_t ip)
{
    size_t lo = 0, hi = p->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (p->all[mid].hi <= ip)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int by_address(const void *a, const void *b)
{
    const struct sxs_compiled *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

/* Whether @a is kept of two overlapping pieces. Code compiled while the session was being
 * started may be both found early and reported by the session: then the reported one is kept.
 * Otherwise the younger one is. */
static int is_better(const struct sxs_compiled *a, const struct sxs_compiled *b)
{
    if (a->lo == b->lo && a->function == b->function && !a->gone && !b->gone && !a->early != !b->early)
        return !a->early;
    return a->time_ns > b->time_ns;
}

/* Appends @piece, whose lo is not below that of earlier pieces. Of two overlapping pieces the
 * better one is kept. */
static void append_piece(struct pieces *to, const struct sxs_compiled *piece)
{
    while (to->n && to->all[to->n - 1].hi > piece->lo) {
        if (is_better(&to->all[to->n - 1], piece))
            return;
        to->n--;
    }
    to->all[to->n++] = *piece;
}

/* Sorts @news and merges it into the index, without the pieces that were unloaded. Returns 0, or
 * -1 when there is no room. */
static int merge_pieces(struct pieces *news)
{
    struct pieces merged = {0}, *old = &compiled.index;
    size_t        a = 0, b = 0, n = 0;
    if (!make_room(&merged, old->n + news->n) || !merged.all)
        return -1;
    qsort(news->all, news->n, sizeof(news->all[0]), by_address);
    while (a < old->n || b < news->n) {
        int from_old = a < old->n && (b == news->n || old->all[a].lo <= news->all[b].lo);
        append_piece(&merged, from_old ? &old->all[a++] : &news->all[b++]);
    }
    for (size_t i = 0; i < merged.n; i++)
        if (!merged.all[i].gone)
            merged.all[n++] = merged.all[i];
    merged.n = n;
    sxs_pages_free(old->all);
    *old = merged;
    return 0;
}

void sxs_compiled_update(void (*news)(const struct sxs_compiled *piece))
{
    struct pieces came;
    pthread_mutex_lock(&compiled.lock);
    came = compiled.news;
    compiled.news = (struct pieces){0};
    pthread_mutex_unlock(&compiled.lock);
    if (!came.n) { /* its pieces may all have been dropped: there is memory then */
        sxs_pages_free(came.all);
        return;
    }
    for (size_t i = 0; i < came.n; i++)
        news(&came.all[i]);
    if (merge_pieces(&came) != 0) {
        pthread_mutex_lock(&compiled.lock);
        for (size_t i = 0; i < MAX_SESSIONS; i++)
            compiled.sessions[i].holes = 1;
        pthread_mutex_unlock(&compiled.lock);
    }
    sxs_pages_free(came.all);
}

const struct sxs_compiled *sxs_compiled_find(const struct sxs_runtime *rt, uintptr_t ip)
{
    const struct pieces *p = &compiled.index;
    size_t               at = first_after(p, ip);
    return at < p->n && p->all[at].lo <= ip && p->all[at].rt == rt ? &p->all[at] : NULL;
}

/* ---- sessions -------------------------------------------------------------------------------- */

int sxs_compiled_all(const struct sxs_runtime *rt)
{
    struct compiled_session *s;
    int                      all;
    pthread_mutex_lock(&compiled.lock);
    s = session_of(rt);
    all = s && !s->holes;
    pthread_mutex_unlock(&compiled.lock);
    return all;
}

static COR_PRF_EVENTPIPE_PROVIDER_CONFIG config_of_session(void)
{
    return (COR_PRF_EVENTPIPE_PROVIDER_CONFIG){
        .providerName = sxs_runtime_provider, .keywords = JIT_KEYWORD, .loggingLevel = VERBOSE};
}

HRESULT sxs_compiled_session(struct sxs_runtime *rt, EVENTPIPE_SESSION *id)
{
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config = config_of_session();
    return sxs_own_session_start(rt, &config, id);
}

HRESULT sxs_compiled_session_stop(struct sxs_runtime *rt, EVENTPIPE_SESSION id)
{
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config = config_of_session();
    return sxs_own_session_stop(rt, &config, id);
}

void sxs_compiled_session_end(struct sxs_runtime *rt, EVENTPIPE_SESSION *id)
{
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config = config_of_session();
    sxs_own_session_end(rt, &config, id);
}

void sxs_compiled_expect(struct sxs_runtime *rt, int complete)
{
    struct compiled_session *s;
    pthread_mutex_lock(&compiled.lock);
    s = session_of(NULL);
    if (s)
        *s = (struct compiled_session){.rt = rt, .holes = !complete};
    pthread_mutex_unlock(&compiled.lock);
}

void sxs_compiled_incomplete(const struct sxs_runtime *rt)
{
    struct compiled_session *s;
    pthread_mutex_lock(&compiled.lock);
    s = session_of(rt);
    if (s)
        s->holes = 1;
    pthread_mutex_unlock(&compiled.lock);
}

void sxs_compiled_end_session(struct sxs_runtime *rt)
{
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG config = config_of_session();
    EVENTPIPE_SESSION                 id = 0;
    struct compiled_session          *s;
    int                               runs;
    pthread_mutex_lock(&compiled.lock);
    s = session_of(rt);
    runs = s && s->runs;
    if (runs) {
        id = s->id;
        s->runs = 0;
    }
    pthread_mutex_unlock(&compiled.lock);
    if (runs)
        sxs_own_session_stop(rt, &config, id);
}

void sxs_compiled_started(const struct sxs_runtime *rt, HRESULT hr, EVENTPIPE_SESSION id)
{
    struct compiled_session *s;
    pthread_mutex_lock(&compiled.lock);
    s = session_of(rt);
    if (s && SUCCEEDED(hr)) {
        s->runs = 1;
        s->id = id;
    } else if (s) {
        s->holes = 1;
    }
    pthread_mutex_unlock(&compiled.lock);
}

static void drop_runtime(struct pieces *p, const struct sxs_runtime *rt)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->all[i].rt != rt)
            p->all[n++] = p->all[i];
    p->n = n;
}

void sxs_compiled_stop(struct sxs_runtime *rt)
{
    struct compiled_session *s;
    pthread_mutex_lock(&compiled.lock);
    s = session_of(rt);
    if (s)
        s->rt = NULL;
    drop_runtime(&compiled.news, rt);
    pthread_mutex_unlock(&compiled.lock);
    drop_runtime(&compiled.index, rt);
}

void sxs_compiled_end(void)
{
    pthread_mutex_lock(&compiled.lock);
    sxs_pages_free(compiled.news.all);
    sxs_pages_free(compiled.index.all);
    compiled.news = compiled.index = (struct pieces){0};
    pthread_mutex_unlock(&compiled.lock);
}
