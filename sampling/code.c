/* SPDX-License-Identifier: MIT */
#include "sampling/code.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/elf_notes.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/loader.h"
#include "base/session_state.h"
#include "sampling/code_ranges.h"
#include "sampling/perf_map.h"
#include "sampling/unloads.h"
#include "signals/signals.h"
#include "stackwalk/fast/loaded.h"
#include "stackwalk/fast/walk_fast.h"
#include "symbols/compiled.h"
#include "symbols/describe.h"
#include "symbols/names.h"

static struct {
    pthread_mutex_t            lock; /* guards all members; runtimes are called while it is held */
    struct sxs_samples_writer *writer;
    struct sxs_namer          *namer;
    struct sxs_code_ranges     known; /* code that needs no further lookup */
    struct sxs_code_ranges     elf;   /* code of ELF files */
    /* what sxs_elf_changes() returned last, and when `elf` was compared with it */
    uint64_t elf_changes, elf_ns;
} code = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(code.lock);
SXS_SESSION_RESETS(code);

static void learn_code(uintptr_t lo, uintptr_t hi, struct sxs_runtime *rt, uint64_t function)
{
    sxs_code_ranges_put(&code.known, (struct sxs_code_range){lo, hi, rt, function});
}

static int is_known(uintptr_t ip)
{
    return sxs_code_ranges_has(&code.known, ip) || sxs_code_ranges_has(&code.elf, ip);
}

/* ---- lookup in the runtimes ------------------------------------------------------------------ */

/* Removes the ranges that overlap newly compiled code, because they are out of date. */
static void on_compiled_piece(const struct sxs_compiled *piece)
{
    sxs_code_ranges_cut(&code.known, piece->lo, piece->hi);
}

/* Looks up @ip in its runtime. @from_ns: time of the sample that met the code, so the code
 * existed then. */
static void ask_runtime(struct sxs_runtime *rt, uintptr_t ip, uint64_t from_ns)
{
    struct sxs_described what;
    /* compilations are reported before the code runs, so before any sample */
    sxs_compiled_update(on_compiled_piece);
    sxs_describe(code.writer, code.namer, rt, ip, from_ns, &what);
    if (what.hi)
        learn_code(what.lo, what.hi, rt, what.function);
}

/* The runtimes that may be called now. If `all` is set, with one reference each; else borrowed. */
struct owners {
    struct sxs_runtime *rts[64];
    size_t              n;
    /* 1: all live runtimes. 0: only the one whose callback this is, though others own code too. */
    int                 all;
};

static struct sxs_runtime *runtime_of(uintptr_t ip, const struct owners *among)
{
    int owner = sxs_signals()->find_ip(ip);
    for (size_t i = 0; i < among->n && owner >= 0; i++)
        if (sxs_runtime_signal_owner(among->rts[i]) == owner)
            return among->rts[i];
    /* The router is off, or did not see the mapping. */
    for (size_t i = 0; i < among->n && owner < 0; i++) {
        sxs_function fn = {among->rts[i], 0};
        if (sxs_namer_find(among->rts[i], ip, &fn))
            return among->rts[i];
    }
    return NULL;
}

/* Unknown code: addresses that no runtime owns so far. A runtime that is starting, or compiling,
 * may own them later. */
#define TRIES 60u /* rounds, of some 80 ms each */
static struct unknown_code {
    uintptr_t ip;
    uint64_t  time_ns;
    unsigned  tries;
} unknown_code[512]; /* guarded by code.lock */
static size_t n_unknown_code;
SXS_SESSION_RESETS(unknown_code);
SXS_SESSION_RESETS(n_unknown_code);

static void note_unknown_code(uintptr_t ip, uint64_t time_ns)
{
    for (size_t i = 0; i < n_unknown_code; i++)
        if (unknown_code[i].ip == ip)
            return;
    if (n_unknown_code < ARRAY_LEN(unknown_code))
        unknown_code[n_unknown_code++] = (struct unknown_code){ip, time_ns, 0};
    else
        learn_code(ip, ip + 1, NULL, 0);
}

static struct sxs_perf_code foreign; /* guarded by code.lock */
SXS_SESSION_KEEPS(foreign);

/* Records the name of code of another JIT compiler, for the whole session. Returns 1 if @ip is such
 * code. */
static int name_foreign(uintptr_t ip)
{
    struct sxs_record_code *r;
    size_t                  file;
    if (!sxs_perf_map_find(ip, &foreign))
        return 0;
    file = strlen(foreign.file);
    r = sxs_samples_reserve(code.writer, sizeof(*r) + foreign.name_size + file);
    if (!r)
        return 0;
    r->lo = foreign.lo;
    r->hi = foreign.hi;
    r->tier = SXS_TIER_UNKNOWN;
    r->name_size = (uint16_t)foreign.name_size;
    r->file_size = (uint16_t)file;
    memcpy(r->text, foreign.name, foreign.name_size);
    memcpy(r->text + foreign.name_size, foreign.file, file);
    sxs_samples_commit(r, SXS_RECORD_CODE);
    learn_code(foreign.lo, foreign.hi, NULL, 0);
    return 1;
}

static void ask_again(const struct owners *among)
{
    for (size_t i = n_unknown_code; i-- > 0;) {
        struct unknown_code *at = &unknown_code[i];
        struct sxs_runtime *rt;
        int                  known = is_known(at->ip);
        rt = known ? NULL : runtime_of(at->ip, among);
        if (rt)
            ask_runtime(rt, at->ip, at->time_ns);
        else if (!known && among->all && name_foreign(at->ip))
            ;
        else if (!known && (!among->all || ++at->tries < TRIES))
            continue;
        else if (!known)
            learn_code(at->ip, at->ip + 1, NULL, 0);
        *at = unknown_code[--n_unknown_code];
    }
}

/* ---- reading the file ------------------------------------------------------------------------ */

/* A position in the file. */
struct file_place {
    uint32_t chunk, offset;
    unsigned waited; /* rounds of waiting for a record to be committed */
};

/* Rounds. After that many, the thread that reserved the record is assumed to have ended, and the
 * record is skipped. */
#define PATIENCE 25u

static struct sxs_chunk_header *chunk_at(uint32_t index)
{
    unsigned char *chunks = (unsigned char *)sxs_samples_header(code.writer) + SXS_HEADER_SIZE;
    return (struct sxs_chunk_header *)(chunks + (size_t)index * SXS_CHUNK_SIZE);
}

/* Returns the record at @at, or NULL when there is none yet. A record that is not committed is
 * waited for, because if later records were read first, this one might be read after its code
 * was unloaded. */
static struct sxs_record *record_at(struct file_place *at, uint32_t used)
{
    struct sxs_record *r = (struct sxs_record *)((unsigned char *)chunk_at(at->chunk) + at->offset);
    uint32_t           size;
    if (at->offset + sizeof(*r) > used)
        return NULL;
    size = __atomic_load_n(&r->size, __ATOMIC_RELAXED); /* its writer may be about to store it */
    if (size < sizeof(*r) || size > used - at->offset ||
        (atomic_load_explicit(&r->type, memory_order_acquire) == SXS_RECORD_NONE &&
         at->waited < PATIENCE))
        return NULL;
    at->waited = 0;
    return r;
}

/* Moves to the next chunk if that has records and no record in this chunk is waited for. Returns
 * 1 if it moved. */
static int next_chunk(struct file_place *at, uint32_t used)
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
    *at = (struct file_place){.chunk = at->chunk + 1};
    return 1;
}

/* ---- lookup of samples ----------------------------------------------------------------------- */

/* How far the samples were looked up for one runtime, in its callbacks, ahead of the position
 * for all runtimes. Addresses of that runtime before this position are not looked up again,
 * because their code may have been unloaded since. */
struct runtime_position {
    struct sxs_runtime *rt; /* only compared; NULL: the entry is free */
    struct file_place   ahead;
    struct sxs_unloads  unloads;
};
static struct file_place        all_read; /* guarded by code.lock, as the readers are */
static struct runtime_position *readers;
static size_t        n_readers;
SXS_SESSION_RESETS(all_read);
SXS_SESSION_RESETS(readers);
SXS_SESSION_RESETS(n_readers);

static struct runtime_position *reader_of(const struct sxs_runtime *rt)
{
    for (size_t i = 0; i < n_readers; i++)
        if (readers[i].rt == rt)
            return &readers[i];
    return NULL;
}

static int add_reader(struct sxs_runtime *rt)
{
    struct runtime_position *reader = reader_of(NULL);
    if (!reader) {
        struct runtime_position *more = reallocarray(readers, n_readers + 1, sizeof(*more));
        if (!more)
            return -ENOMEM;
        readers = more;
        reader = &readers[n_readers++];
    }
    *reader = (struct runtime_position){.rt = rt};
    return 0;
}

static int is_before(const struct file_place *a, const struct file_place *b)
{
    return a->chunk != b->chunk ? a->chunk < b->chunk : a->offset < b->offset;
}

static void look_up_ip(uintptr_t ip, uint64_t time_ns, const struct file_place *at,
                       const struct owners *among)
{
    struct sxs_runtime            *rt;
    const struct runtime_position *reader;
    if (is_known(ip))
        return;
    rt = runtime_of(ip, among);
    reader = rt ? reader_of(rt) : NULL;
    if (rt && !(among->all && reader && is_before(at, &reader->ahead)))
        ask_runtime(rt, ip, time_ns);
    else if (!rt && (among->all || sxs_signals()->find_ip(ip) < 0))
        note_unknown_code(ip, time_ns);
}

static void look_up_stack(const uint64_t *ips, unsigned n, uint64_t time_ns,
                          const struct file_place *at, const struct owners *among)
{
    for (unsigned i = 0; i < n; i++)
        look_up_ip(ips[i] - (i > 0), time_ns, at, among);
}

static void look_up_difference(const struct sxs_record_difference *difference,
                               const struct file_place *at, const struct owners *among)
{
    for (unsigned i = 0; i < difference->n; i++)
        look_up_ip(difference->frames[i].ip - (i > 0), difference->time_ns, at, among);
}

static void look_up_record(const struct sxs_record *r, const struct file_place *at,
                           const struct owners *among)
{
    const struct sxs_record_sample *sample = (const void *)r;
    const struct sxs_record_cost   *cost = (const void *)r;
    switch (atomic_load_explicit(&r->type, memory_order_acquire)) {
    case SXS_RECORD_SAMPLE: look_up_stack(sample->ips, sample->n, sample->time_ns, at, among); break;
    case SXS_RECORD_COST: look_up_stack(cost->ips, cost->n_ips, cost->time_ns, at, among); break;
    case SXS_RECORD_DIFFERENCE: look_up_difference((const void *)r, at, among); break;
    default: break;
    }
}

static void read_on(struct file_place *at, const struct owners *among)
{
    uint32_t used;
    do {
        struct sxs_record *r;
        used = atomic_load(&chunk_at(at->chunk)->used);
        if (used > SXS_CHUNK_SIZE)
            used = SXS_CHUNK_SIZE;
        if (at->offset < sizeof(struct sxs_chunk_header))
            at->offset = sizeof(struct sxs_chunk_header);
        for (; (r = record_at(at, used)) != NULL; at->offset += r->size)
            look_up_record(r, at, among);
    } while (next_chunk(at, used));
    ask_again(among);
}

/* Whether any runtime is unloading assemblies. Meanwhile its addresses must not be looked up, so
 * all reading waits. */
static int is_any_unloading(void)
{
    for (size_t i = 0; i < n_readers; i++)
        if (readers[i].rt && sxs_unloads_under_way(&readers[i].unloads))
            return 1;
    return 0;
}

/* Looks up the new samples for all runtimes, on the service thread. Callbacks do this for one
 * runtime and only if they must, because many methods may be unloaded at once. */
static void catch_up_all(void)
{
    struct owners among = {.all = 1};
    sxs_compiled_update(on_compiled_piece);
    if (sxs_perf_map_update()) /* what was given up before may have a name now */
        sxs_code_ranges_forget(&code.known, NULL, 0);
    if (is_any_unloading())
        return;
    among.n = sxs_runtimes_live(among.rts, ARRAY_LEN(among.rts));
    read_on(&all_read, &among);
    for (size_t i = 0; i < among.n; i++)
        sxs_runtime_unref(among.rts[i]);
}

/* Looks up the new samples of @rt, in a callback of @rt, where no other runtime may be called.
 * The position for all runtimes must not change, so each runtime has a position of its own that
 * may be ahead of it. */
static void catch_up_one(struct sxs_runtime *rt)
{
    struct owners            among = {.rts = {rt}, .n = 1};
    struct runtime_position *reader = reader_of(rt);
    if (!reader || sxs_unloads_under_way(&reader->unloads))
        return;
    if (is_before(&reader->ahead, &all_read))
        reader->ahead = all_read;
    read_on(&reader->ahead, &among);
}

void sxs_code_catch_up(void)
{
    pthread_mutex_lock(&code.lock);
    if (code.writer)
        catch_up_all();
    pthread_mutex_unlock(&code.lock);
}

static void unloading_locked(struct sxs_runtime *rt, uint64_t function)
{
    catch_up_one(rt);
    if (!function)
        sxs_namer_reset(code.namer);
    sxs_code_ranges_forget(&code.known, rt, function);
    sxs_walk_forget();
}

void sxs_code_unloading(struct sxs_runtime *rt, uint64_t function)
{
    pthread_mutex_lock(&code.lock);
    if (code.writer)
        unloading_locked(rt, function);
    pthread_mutex_unlock(&code.lock);
}

void sxs_code_assembly_unloading(struct sxs_runtime *rt)
{
    struct runtime_position *reader;
    pthread_mutex_lock(&code.lock);
    reader = reader_of(rt);
    if (code.writer && reader) {
        unloading_locked(rt, 0);
        sxs_unloads_begin(&reader->unloads);
    }
    pthread_mutex_unlock(&code.lock);
}

void sxs_code_assembly_unloaded(struct sxs_runtime *rt)
{
    struct runtime_position *reader;
    pthread_mutex_lock(&code.lock);
    reader = reader_of(rt);
    if (reader)
        sxs_unloads_destroyed(&reader->unloads);
    pthread_mutex_unlock(&code.lock);
}

void sxs_code_resumed(struct sxs_runtime *rt, COR_PRF_SUSPEND_REASON reason)
{
    struct runtime_position *reader;
    if (reason != COR_PRF_SUSPEND_FOR_APPDOMAIN_SHUTDOWN)
        return;
    pthread_mutex_lock(&code.lock);
    reader = reader_of(rt);
    if (reader)
        sxs_unloads_resumed(&reader->unloads);
    pthread_mutex_unlock(&code.lock);
}

int sxs_code_started(struct sxs_runtime *rt)
{
    int err;
    pthread_mutex_lock(&code.lock);
    err = add_reader(rt);
    pthread_mutex_unlock(&code.lock);
    return err;
}

void sxs_code_ended(struct sxs_runtime *rt)
{
    struct runtime_position *reader;
    pthread_mutex_lock(&code.lock);
    if (code.writer)
        unloading_locked(rt, 0);
    sxs_compiled_stop(rt);
    reader = reader_of(rt);
    if (reader)
        reader->rt = NULL;
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

void sxs_code_end(void)
{
    pthread_mutex_lock(&code.lock);
    code.writer = NULL;
    sxs_namer_free(code.namer);
    code.namer = NULL;
    free(code.known.list);
    free(code.elf.list);
    free(readers);
    readers = NULL;
    n_readers = 0;
    pthread_mutex_unlock(&code.lock);
    sxs_compiled_end();
}

/* ---- ELF files ------------------------------------------------------------------------------- */

/* One of a file's executable segments, from @lo to @hi. */
struct segment {
    uintptr_t      base, lo, hi;
    uint64_t       time_ns; /* the file was there at this time */
    const uint8_t *build_id;
    uint8_t        build_id_size;
    const char    *path; /* the loader's */
};

/* Two files that were loaded at the same place, one after the other, differ in this number. */
static uint64_t identity(const struct segment *s)
{
    uint64_t hash = sxs_hash_add(sxs_hash_text(SXS_HASH_START, s->path), s->base);
    for (unsigned i = 0; i < s->build_id_size; i++)
        hash = sxs_hash_add(hash, s->build_id[i]);
    return hash;
}

static int has_module(const struct sxs_code_ranges *ranges, const struct segment *s)
{
    for (size_t at = 0; at < ranges->n; at++)
        if (ranges->list[at].lo == s->lo && ranges->list[at].hi == s->hi &&
            ranges->list[at].function == identity(s))
            return 1;
    return 0;
}

static void record_module(const struct segment *s)
{
    const char               *path = s->path[0] ? s->path : "/proc/self/exe";
    char        resolved[4096];
    size_t      len;
    struct sxs_record_module *r;
    if (realpath(path, resolved))
        path = resolved;
    len = strlen(path);
    r = sxs_samples_reserve(code.writer, sizeof(*r) + len);
    if (!r)
        return;
    r->time_ns = s->time_ns;
    r->base = s->base;
    r->lo = s->lo;
    r->hi = s->hi;
    r->build_id_size = s->build_id_size;
    memcpy(r->build_id, s->build_id, s->build_id_size);
    r->path_size = (uint16_t)len;
    memcpy(r->path, path, len);
    sxs_samples_commit(r, SXS_RECORD_MODULE);
}

/* Records a segment that is not in @had: it came after `elf` was up to date last. If the addresses were
 * free then, it is the only file that can have been there since; otherwise it has been there at
 * s->time_ns for certain. */
static void record_new(const struct sxs_code_ranges *had, struct segment *s)
{
    int was_free = 1;
    if (has_module(had, s))
        return;
    for (size_t at = 0; at < had->n && was_free; at++)
        was_free = had->list[at].hi <= s->lo || had->list[at].lo >= s->hi;
    if (was_free && code.elf_ns && code.elf_ns < s->time_ns)
        s->time_ns = code.elf_ns;
    record_module(s);
}

static void put_segment(const struct segment *s)
{
    sxs_code_ranges_put(&code.elf, (struct sxs_code_range){s->lo, s->hi, NULL, identity(s)});
}

static int module_visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct sxs_code_ranges *had = arg;
    uint8_t                       build_id[20];
    struct segment                s = {.base = info->dlpi_addr,
                                       .build_id = build_id,
                                       .build_id_size = sxs_elf_build_id(info, build_id),
                                       .path = info->dlpi_name ? info->dlpi_name : ""};
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        s.lo = info->dlpi_addr + ph->p_vaddr;
        s.hi = s.lo + ph->p_memsz;
        s.time_ns = sxs_now_ns(CLOCK_MONOTONIC);
        if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
            continue;
        record_new(had, &s);
        put_segment(&s);
    }
    return 0;
}

/* Records a file that a walk met, and which may have been unloaded since. */
static void met_visit(const struct sxs_loaded *file, void *unused)
{
    struct segment s = {file->bias,          file->lo,  file->hi, file->time_ns, file->build_id,
                        file->build_id_size, file->path};
    (void)unused;
    record_new(&code.elf, &s);
    put_segment(&s);
}

static void modules_locked(void)
{
    uint64_t now = sxs_now_ns(CLOCK_MONOTONIC), changes = sxs_elf_changes();
    sxs_loaded_each(met_visit,
                    NULL); /* first, because a walk met them before they are listed now */
    if (changes != code.elf_changes) {
        struct sxs_code_ranges had = code.elf;
        code.elf_changes = changes;
        code.elf = (struct sxs_code_ranges){0};
        sxs_loader_each(module_visit, &had);
        free(had.list);
    }
    code.elf_ns = now;
}

void sxs_code_modules(void)
{
    pthread_mutex_lock(&code.lock);
    if (code.writer)
        modules_locked();
    pthread_mutex_unlock(&code.lock);
}

/* Takes the locks in the order of the service thread, which lists modules. Returns 0 if it does not
 * get both at once. */
static int try_modules(void)
{
    int got;
    if (!sxs_loader_try_hold())
        return 0;
    got = pthread_mutex_trylock(&code.lock) == 0;
    if (got && code.writer)
        modules_locked();
    if (got)
        pthread_mutex_unlock(&code.lock);
    sxs_loader_release();
    return got;
}

void sxs_code_exits(void)
{
    const struct timespec nap = {0, 1000000};
    for (int i = 0; i < 100 && !try_modules(); i++)
        nanosleep(&nap, NULL);
}
