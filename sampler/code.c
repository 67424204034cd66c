/* SPDX-License-Identifier: MIT */
#include "sampler/code.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "manager/base/clock.h"
#include "manager/base/fork.h"
#include "manager/base/loader.h"
#include "sampler/compiled.h"
#include "sampler/describe.h"
#include "sampler/elf.h"
#include "sampler/walk_fast.h"
#include "signals/signals.h"
#include "stackwalk/names.h"

/* Code that need not be asked about again, sorted by address. */
struct known {
    uintptr_t           lo, hi;
    struct sxs_runtime *rt;       /* compared only */
    uint64_t            function; /* FunctionID, compared only; 0: none's */
};

static struct {
    pthread_mutex_t            lock; /* guards everything here; runtimes are called inside it */
    struct sxs_samples_writer *writer;
    struct sxs_namer          *namer;
    struct known              *known;
    size_t                     n_known, cap_known;
    unsigned long long         adds, subs;    /* of the loader, at the last look */
    struct known              *elf; /* native code: no runtime's */
    size_t                     n_elf, cap_elf;
} code = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(code.lock);

/* ---- what is known ---------------------------------------------------------------------------- */

/* The first of @n sorted ranges that does not end before @ip. */
static size_t first_after(const struct known *ranges, size_t n, uintptr_t ip)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (ranges[mid].hi <= ip)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int is_in(const struct known *ranges, size_t n, uintptr_t ip)
{
    size_t at = first_after(ranges, n, ip);
    return at < n && ranges[at].lo <= ip;
}

static void learn(uintptr_t lo, uintptr_t hi, struct sxs_runtime *rt, uint64_t function)
{
    size_t at = first_after(code.known, code.n_known, lo), end = at;
    while (end < code.n_known && code.known[end].lo < hi)
        end++; /* replaced */
    if (code.n_known - (end - at) + 1 > code.cap_known) {
        size_t        cap = code.cap_known ? code.cap_known * 2 : 1024;
        struct known *more = realloc(code.known, cap * sizeof(*more));
        if (!more)
            return; /* asked again next time */
        code.known = more;
        code.cap_known = cap;
    }
    memmove(&code.known[at + 1], &code.known[end], (code.n_known - end) * sizeof(code.known[0]));
    code.n_known = code.n_known - (end - at) + 1;
    code.known[at] = (struct known){lo, hi, rt, function};
}

/* All of @rt's, or what is @function's. */
static void forget(const struct sxs_runtime *rt, uint64_t function)
{
    size_t n = 0;
    for (size_t i = 0; i < code.n_known; i++)
        if (code.known[i].rt != rt || (function && code.known[i].function != function))
            code.known[n++] = code.known[i];
    code.n_known = n;
}

/* ---- asking ----------------------------------------------------------------------------------- */

/* News of the JIT: what was known of these addresses holds no longer. */
static void news(const struct sxs_compiled *piece)
{
    size_t at = first_after(code.known, code.n_known, piece->lo), end = at;
    while (end < code.n_known && code.known[end].lo < piece->hi)
        end++;
    if (end == at)
        return;
    memmove(&code.known[at], &code.known[end], (code.n_known - end) * sizeof(code.known[0]));
    code.n_known -= end - at;
}

/* @from_ns: of the sample that met it: the code was there by then. */
static void ask(struct sxs_runtime *rt, uintptr_t ip, uint64_t from_ns)
{
    struct sxs_described what;
    sxs_compiled_update(news); /* compiled before it was sampled, and told of before it ran */
    sxs_describe(code.writer, code.namer, rt, ip, from_ns, &what);
    if (what.hi)
        learn(what.lo, what.hi, rt, what.function);
}

static struct sxs_runtime *runtime_of(uintptr_t ip, struct sxs_runtime *const *rts, size_t n)
{
    int owner = sxs_signals()->find_ip(ip);
    for (size_t i = 0; i < n && owner >= 0; i++)
        if (sxs_runtime_signal_owner(rts[i]) == owner)
            return rts[i];
    for (size_t i = 0; i < n && owner < 0; i++) { /* signals off, or mapped unseen */
        sxs_function fn = {rts[i], 0};
        if (sxs_namer_find(rts[i], ip, &fn))
            return rts[i];
    }
    return NULL;
}

/* Code that no runtime owns up to: one that is just starting, or compiling, may do so yet. */
#define TRIES 60u /* rounds of some 80 ms */
static struct nobodys {
    uintptr_t ip;
    uint64_t  time_ns;
    unsigned  tries;
} nobodys[512]; /* under code.lock */
static size_t n_nobodys;

static void note_nobodys(uintptr_t ip, uint64_t time_ns)
{
    for (size_t i = 0; i < n_nobodys; i++)
        if (nobodys[i].ip == ip)
            return;
    if (n_nobodys < ARRAY_LEN(nobodys))
        nobodys[n_nobodys++] = (struct nobodys){ip, time_ns, 0};
    else
        learn(ip, ip + 1, NULL, 0);
}

static void ask_again(struct sxs_runtime *const *rts, size_t n)
{
    for (size_t i = n_nobodys; i-- > 0;) {
        struct nobodys     *at = &nobodys[i];
        struct sxs_runtime *rt;
        int known = is_in(code.known, code.n_known, at->ip) || is_in(code.elf, code.n_elf, at->ip);
        rt = known ? NULL : runtime_of(at->ip, rts, n);
        if (rt)
            ask(rt, at->ip, at->time_ns);
        else if (!known && ++at->tries < TRIES)
            continue;
        else if (!known)
            learn(at->ip, at->ip + 1, NULL, 0);
        *at = nobodys[--n_nobodys];
    }
}

static void look_up_ip(uintptr_t ip, uint64_t time_ns, struct sxs_runtime *const *rts, size_t n,
                       const struct sxs_runtime *only)
{
    struct sxs_runtime *rt;
    if (is_in(code.known, code.n_known, ip) || is_in(code.elf, code.n_elf, ip))
        return;
    rt = runtime_of(ip, rts, n);
    if (rt && (!only || rt == only))
        ask(rt, ip, time_ns);
    else if (!rt)
        note_nobodys(ip, time_ns);
}

static void look_up(const struct sxs_record_sample *sample, struct sxs_runtime *const *rts, size_t n,
                    const struct sxs_runtime *only)
{
    for (unsigned i = 0; i < sample->n; i++)
        look_up_ip(sample->ips[i] - (i > 0), sample->time_ns, rts, n, only);
}

static void look_up_difference(const struct sxs_record_difference *difference,
                               struct sxs_runtime *const *rts, size_t n,
                               const struct sxs_runtime *only)
{
    for (unsigned i = 0; i < difference->n; i++)
        look_up_ip(difference->frames[i].ip - (i > 0), difference->time_ns, rts, n, only);
}

/* ---- reading back ----------------------------------------------------------------------------- */

/* How far somebody has read. */
struct place {
    uint32_t chunk, offset;
    unsigned waited; /* rounds for a record that is not committed */
};

#define PATIENCE 25u /* rounds: by then who reserved a record has died, and it is passed over */

static struct sxs_chunk_header *chunk_at(uint32_t index)
{
    unsigned char *chunks = (unsigned char *)sxs_samples_header(code.writer) + SXS_HEADER_SIZE;
    return (struct sxs_chunk_header *)(chunks + (size_t)index * SXS_CHUNK_SIZE);
}

/* The record at @at, or NULL: it is yet to come. One that is not committed is waited for, or others
 * behind it would be read when it is too late for it. */
static struct sxs_record *record_at(struct place *at, uint32_t used)
{
    struct sxs_record *r = (struct sxs_record *)((unsigned char *)chunk_at(at->chunk) + at->offset);
    if (at->offset + sizeof(*r) > used)
        return NULL;
    if (r->size < sizeof(*r) || r->size > used - at->offset ||
        (atomic_load_explicit(&r->type, memory_order_acquire) == SXS_RECORD_NONE &&
         at->waited < PATIENCE))
        return NULL;
    at->waited = 0;
    return r;
}

/* On to the next chunk, if that has begun and nothing is waited for in this one. */
static int next_chunk(struct place *at, uint32_t used)
{
    const struct sxs_samples_header *header = sxs_samples_header(code.writer);
    int whole = at->offset + sizeof(struct sxs_record) > used || at->waited >= PATIENCE;
    if (at->chunk + 1 >= atomic_load(&header->n_chunks) ||
        atomic_load(&chunk_at(at->chunk + 1)->used) <= sizeof(struct sxs_chunk_header))
        return 0;
    if (!whole) {
        at->waited++;
        return 0;
    }
    *at = (struct place){.chunk = at->chunk + 1};
    return 1;
}

/* The runtimes that may own code, a reference each. One that is about to end is on no list any more. */
static size_t owners(struct sxs_runtime **rts, size_t cap, struct sxs_runtime *only)
{
    size_t n = sxs_runtimes_live(rts, cap);
    for (size_t i = 0; i < n; i++)
        if (rts[i] == only)
            return n;
    if (only && n < cap)
        rts[n++] = sxs_runtime_ref(only);
    return n;
}

static void read_on(struct place *at, struct sxs_runtime *only)
{
    struct sxs_runtime *rts[64];
    size_t              n = owners(rts, ARRAY_LEN(rts), only);
    uint32_t            used;
    do {
        struct sxs_record *r;
        used = atomic_load(&chunk_at(at->chunk)->used);
        if (used > SXS_CHUNK_SIZE)
            used = SXS_CHUNK_SIZE;
        if (at->offset < sizeof(struct sxs_chunk_header))
            at->offset = sizeof(struct sxs_chunk_header);
        for (; (r = record_at(at, used)) != NULL; at->offset += r->size)
            if (atomic_load_explicit(&r->type, memory_order_acquire) == SXS_RECORD_SAMPLE)
                look_up((struct sxs_record_sample *)r, rts, n, only);
            else if (atomic_load(&r->type) == SXS_RECORD_DIFFERENCE)
                look_up_difference((struct sxs_record_difference *)r, rts, n, only);
    } while (next_chunk(at, used));
    if (!only)
        ask_again(rts, n);
    for (size_t i = 0; i < n; i++)
        sxs_runtime_unref(rts[i]);
}

/* In a callback, where no other runtime may be asked, the reading for all must not lose its place: each
 * runtime has one of its own, from which it hurries ahead. */
static void catch_up_locked(struct sxs_runtime *only)
{
    static struct place all, ahead[64];
    struct place       *mine;
    if (!only) { /* a callback does it only if it must: many methods may go at once */
        sxs_compiled_update(news);
        read_on(&all, NULL);
        return;
    }
    mine = &ahead[sxs_runtime_number(only) % ARRAY_LEN(ahead)];
    if (mine->chunk < all.chunk || (mine->chunk == all.chunk && mine->offset < all.offset))
        *mine = all;
    read_on(mine, only);
}

void sxs_code_catch_up(struct sxs_runtime *only)
{
    pthread_mutex_lock(&code.lock);
    if (code.writer)
        catch_up_locked(only);
    pthread_mutex_unlock(&code.lock);
}

void sxs_code_unloading(struct sxs_runtime *rt, uint64_t function)
{
    pthread_mutex_lock(&code.lock);
    if (code.writer) {
        catch_up_locked(rt);
        if (!function)
            sxs_namer_reset(code.namer);
        forget(rt, function);
        sxs_walk_forget();
    }
    pthread_mutex_unlock(&code.lock);
}

void sxs_code_ended(struct sxs_runtime *rt)
{
    sxs_code_unloading(rt, 0);
    pthread_mutex_lock(&code.lock);
    sxs_compiled_stop(rt);
    pthread_mutex_unlock(&code.lock);
}

int sxs_code_init(struct sxs_samples_writer *w)
{
    int err = 0;
    pthread_mutex_lock(&code.lock);
    code.namer = sxs_namer_new();
    if (code.namer)
        code.writer = w;
    else
        err = -ENOMEM;
    pthread_mutex_unlock(&code.lock);
    return err;
}

/* ---- native modules --------------------------------------------------------------------------- */

static void record_module(const struct dl_phdr_info *info, uintptr_t lo, uintptr_t hi)
{
    const char *path = info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
    char        resolved[4096];
    size_t      len;
    struct sxs_record_module *r;
    if (realpath(path, resolved))
        path = resolved;
    len = strlen(path);
    r = sxs_samples_reserve(code.writer, sizeof(*r) + len);
    if (!r)
        return;
    r->time_ns = sxs_now_ns(CLOCK_MONOTONIC);
    r->base = info->dlpi_addr;
    r->lo = lo;
    r->hi = hi;
    r->build_id_size = sxs_elf_build_id(info, r->build_id);
    r->path_size = (uint16_t)len;
    memcpy(r->path, path, len);
    sxs_samples_commit(r, SXS_RECORD_MODULE);
}

static void add_elf(uintptr_t lo, uintptr_t hi)
{
    size_t at = 0;
    if (code.n_elf == code.cap_elf) {
        size_t cap = code.cap_elf ? code.cap_elf * 2 : 64;
        void  *more = realloc(code.elf, cap * sizeof(code.elf[0]));
        if (!more)
            return;
        code.elf = more;
        code.cap_elf = cap;
    }
    while (at < code.n_elf && code.elf[at].lo < lo)
        at++;
    memmove(&code.elf[at + 1], &code.elf[at], (code.n_elf - at) * sizeof(code.elf[0]));
    code.elf[at] = (struct known){lo, hi, NULL, 0};
    code.n_elf++;
}

static int module_visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct known *had = arg;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t lo = info->dlpi_addr + ph->p_vaddr, hi = lo + ph->p_memsz;
        int       known = 0;
        if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
            continue;
        for (const struct known *h = had; h->hi && !known; h++)
            known = h->lo == lo && h->hi == hi;
        if (!known)
            record_module(info, lo, hi);
        add_elf(lo, hi);
    }
    return 0;
}

static int counters_visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    unsigned long long *counters = arg;
    (void)size;
    counters[0] = info->dlpi_adds;
    counters[1] = info->dlpi_subs;
    return 1;
}

void sxs_code_modules(void)
{
    unsigned long long counters[2] = {0, 0};
    struct known  *had;
    sxs_loader_each(counters_visit, counters);
    pthread_mutex_lock(&code.lock);
    if (code.writer && (counters[0] != code.adds || counters[1] != code.subs)) {
        code.adds = counters[0];
        code.subs = counters[1];
        had = calloc(code.n_elf + 1, sizeof(*had));
        if (had) {
            if (code.n_elf)
                memcpy(had, code.elf, code.n_elf * sizeof(*had));
            code.n_elf = 0;
            sxs_loader_each(module_visit, had);
            free(had);
        }
    }
    pthread_mutex_unlock(&code.lock);
}
