/* SPDX-License-Identifier: MIT */
#include "cmd/report/addresses.h"

#include "base/hash.h"
#include "base/sum.h"
#include "cmd/output/must.h"
#include "cmd/report/own.h"
#include "cmd/report/space.h"

#include <string.h>

#define MAX_MODULES 16384u     /* more than any process maps; a garbled file may contain millions */
#define CACHE_SLOTS (1u << 17) /* direct mapped; a miss costs a search, but no memory */

struct cached {
    uint64_t         address; /* 0: the slot is free */
    struct sxs_named named;
};

/* What is needed to find the source line of an address in managed code. */
struct code {
    uint32_t token, assembly, frame;
    size_t   first, n; /* in offsets; sorted by native offset */
};

/* The unload of the module at an address. */
struct unload {
    uint64_t lo, time_ns;
};

struct sxs_addresses {
    struct sxs_model   *m;
    uint32_t            process;
    struct sxs_natives *natives;
    struct sxs_sources *sources;
    struct code        *codes;
    struct sxs_code_line *offsets;
    size_t              n_codes, cap_codes, n_offsets, cap_offsets;
    struct sxs_space    space;
    uint64_t           *bases;   /* load bias of each module; index: `what` of its extents */
    uint32_t           *files;   /* file of each module; same index */
    size_t              n_modules, cap_modules, cap_files;
    size_t              n_mapped; /* records of modules so far */
    struct unload      *unloads;  /* in the order of the file */
    size_t              n_unloads, cap_unloads, n_applied;
    bool                grows;    /* more records will come: what has no name now may get one */
    uint32_t            runtime[65536]; /* by number in the process: index in the model + 1 */
    uint32_t            unknown;        /* the frame of addresses without any information */
    struct cached       cache[CACHE_SLOTS];
};

static uint32_t add_text(struct sxs_model *m, const char *text, size_t size)
{
    return sxs_strings_add(&m->strings, text, size);
}

/* Returns index + 1 of the runtime with this number. Adds a runtime with a made-up version when
 * neither a record nor the census contains the number. */
static uint16_t runtime_of(struct sxs_addresses *a, uint16_t number)
{
    char made_up[16];
    if (!a->runtime[number]) {
        int n = snprintf(made_up, sizeof(made_up), "clr%u", number);
        a->runtime[number] =
            sxs_model_runtime(a->m, number, add_text(a->m, made_up, (size_t)n), 0) + 1;
    }
    return (uint16_t)a->runtime[number];
}

static void take_runtime(struct sxs_addresses *a, const struct sxs_samples_record *r)
{
    uint32_t number = r->runtime->number;
    if (number > 0 && number < 65536 && a->runtime[number]) { /* from code or census */
        struct sxs_model_runtime *known = &a->m->runtimes[a->runtime[number] - 1];
        known->version = add_text(a->m, r->text[0], r->text_size[0]);
        known->path = add_text(a->m, r->text[1], r->text_size[1]);
        return;
    }
    if (number > 0 && number < 65536 && a->m->n_runtimes < 65535)
        a->runtime[number] =
            sxs_model_runtime(a->m, number, add_text(a->m, r->text[0], r->text_size[0]),
                              add_text(a->m, r->text[1], r->text_size[1])) + 1;
}

void sxs_addresses_census(struct sxs_addresses *a, const struct sxs_session_process *census)
{
    for (size_t i = 0; census && i < census->n_runtimes; i++) {
        const struct sxs_session_runtime *r = &census->runtimes[i];
        if (r->number == 0 || r->number >= 65536)
            continue;
        uint32_t version = add_text(a->m, r->version, strlen(r->version));
        uint32_t path = add_text(a->m, r->path, strlen(r->path));
        if (!a->runtime[r->number]) {
            a->runtime[r->number] = sxs_model_runtime(a->m, r->number, version, path) + 1;
        } else if (a->grows && r->version[0]) { /* the version was not known at first */
            a->m->runtimes[a->runtime[r->number] - 1].version = version;
            a->m->runtimes[a->runtime[r->number] - 1].path = path;
        }
    }
}

static uint32_t add_lines(struct sxs_addresses *a, const struct sxs_samples_record *r,
                          uint32_t frame, uint32_t assembly)
{
    SXS_GROW(a->codes, a->n_codes, a->cap_codes);
    a->codes[a->n_codes] =
        (struct code){r->code->token, assembly, frame, a->n_offsets, r->n_lines};
    for (size_t i = 0; i < r->n_lines; i++) {
        SXS_GROW(a->offsets, a->n_offsets, a->cap_offsets);
        a->offsets[a->n_offsets++] = r->lines[i];
    }
    return (uint32_t)a->n_codes++;
}

static void take_code(struct sxs_addresses *a, const struct sxs_samples_record *r)
{
    struct sxs_model_frame f = {
        .name =
            r->text_size[0] ? add_text(a->m, r->text[0], r->text_size[0]) : add_text(a->m, "?", 1),
        .file = add_text(a->m, r->text[1], r->text_size[1]),
        .runtime =
            r->code->runtime ? runtime_of(a, r->code->runtime) : 0, /* 0: another compiler's */
    };
    struct sxs_extent e = {.lo = r->code->lo, .hi = r->code->hi, .t0 = r->code->time_ns,
                           .t1 = UINT64_MAX, .is_code = true, .tier = r->code->tier & 7};
    uint32_t assembly = sxs_sources_add(a->sources, r->text[1], r->text_size[1]);
    struct sxs_pdb_line begins;
    if (r->code->token && sxs_sources_find(a->sources, assembly, r->code->token, 0, &begins)) {
        f.source = add_text(a->m, begins.file, strlen(begins.file));
        f.line = begins.line;
    }
    e.what = sxs_model_frame(a->m, &f);
    e.code = add_lines(a, r, e.what, assembly);
    sxs_space_add(&a->space, &e);
}

static void take_module(struct sxs_addresses *a, const struct sxs_samples_record *r)
{
    const struct sxs_record_module *v = r->module;
    if (a->n_mapped >= MAX_MODULES)
        return;
    struct sxs_extent e = {.lo = v->lo, .hi = v->hi, .t0 = v->time_ns, .t1 = UINT64_MAX,
                           .what = (uint32_t)a->n_modules};
    uint32_t file = sxs_natives_add(a->natives, r->text[0], r->text_size[0], v->build_id,
                                    v->build_id_size);
    /* The same file mapped again at the same place is the same module, so its names do not vary. */
    for (size_t i = 0; i < a->n_modules; i++)
        if (a->bases[i] == v->base && a->files[i] == file)
            e.what = (uint32_t)i;
    if (e.what == a->n_modules) {
        SXS_GROW(a->bases, a->n_modules, a->cap_modules);
        if (a->cap_files < a->cap_modules) {
            a->cap_files = a->cap_modules;
            a->files = sxs_must(reallocarray(a->files, a->cap_files, sizeof(*a->files)));
        }
        a->bases[a->n_modules] = v->base;
        a->files[a->n_modules++] = file;
    }
    a->n_mapped++;
    sxs_space_add(&a->space, &e);
}

static void take_thread(struct sxs_addresses *a, const struct sxs_record_thread *v)
{
    uint32_t                 index = sxs_model_thread(a->m, a->process, v->tid);
    struct sxs_model_thread *t = &a->m->threads[index];
    size_t                   len = strnlen(v->name, sizeof(v->name));
    if (len) {
        memcpy(t->kernel, v->name, len);
        t->kernel[len < sizeof(t->kernel) ? len : sizeof(t->kernel) - 1] = '\0';
        t->kernel_ns = sxs_thread_name_read_ns(v);
    }
    t->runtimes |= v->runtimes;
    if (v->started_ns && (!t->started_ns || v->started_ns < t->started_ns))
        t->started_ns = v->started_ns;
    if (v->ended_ns > t->ended_ns)
        t->ended_ns = v->ended_ns;
    if (sxs_thread_unsampled_ns(v)) {
        t->unsampled++;
        sxs_sum_add(&t->unsampled_ns, sxs_thread_unsampled_ns(v));
    }
    sxs_model_name_thread(a->m, index);
    if (len && sxs_own_thread(v->name))
        a->m->nodes[t->root].flags |= SXS_FRAME_OWN;
    if (len && (strncmp(v->name, ".NET Server GC", 14) == 0 ||
                strncmp(v->name, ".NET BGC", 8) == 0 ||
                strncmp(v->name, ".NET Background", 15) == 0)) /* Linux cuts names to 15 bytes */
        a->m->nodes[t->root].flags |= SXS_FRAME_GC;
}

static void take_pause(struct sxs_addresses *a, const struct sxs_record_pause *v)
{
    struct sxs_model *m = a->m;
    SXS_GROW(m->pauses, m->n_pauses, m->cap_pauses);
    m->pauses[m->n_pauses++] = (struct sxs_model_pause){
        v->time_ns, v->duration_ns, a->process, v->tid, (uint16_t)a->runtime[v->runtime],
        v->reason};
}

static void take_pool(struct sxs_addresses *a, const struct sxs_record_pool *v)
{
    struct sxs_model *m = a->m;
    SXS_GROW(m->pools, m->n_pools, m->cap_pools);
    m->pools[m->n_pools++] = (struct sxs_model_pool){
        v->time_ns, a->process, v->value, (uint16_t)a->runtime[v->runtime], v->change, v->reason};
}

static void take_unload(struct sxs_addresses *a, const struct sxs_record_module *v)
{
    if (a->n_unloads >= MAX_MODULES)
        return;
    SXS_GROW(a->unloads, a->n_unloads, a->cap_unloads);
    a->unloads[a->n_unloads++] = (struct unload){v->lo, v->time_ns};
}

void sxs_addresses_take(struct sxs_addresses *a, const struct sxs_samples_record *r)
{
    if (r->type == SXS_RECORD_RUNTIME)
        take_runtime(a, r);
    else if (r->type == SXS_RECORD_CODE)
        take_code(a, r);
    else if (r->type == SXS_RECORD_MODULE && !r->module->unloaded)
        take_module(a, r);
    else if (r->type == SXS_RECORD_MODULE)
        take_unload(a, r->module);
    else if (r->type == SXS_RECORD_THREAD)
        take_thread(a, r->thread);
    else if (r->type == SXS_RECORD_PAUSE)
        take_pause(a, r->pause);
    else if (r->type == SXS_RECORD_POOL)
        take_pool(a, r->pool);
}

/* All unloads are applied each time, because the record of a module can come after the record of its
 * unload. */
bool sxs_addresses_seal(struct sxs_addresses *a)
{
    bool fresh = a->space.n != a->space.n_sealed || !a->space.max_hi;
    bool covers = sxs_space_seal(&a->space);
    for (size_t i = fresh ? 0 : a->n_applied; i < a->n_unloads; i++)
        sxs_space_end_module(&a->space, a->unloads[i].lo, a->unloads[i].time_ns);
    covers |= a->n_applied != a->n_unloads;
    a->n_applied = a->n_unloads;
    if (covers && a->grows)
        memset(a->cache, 0, sizeof(a->cache));
    return covers;
}

struct sxs_addresses *sxs_addresses_new(struct sxs_model *m, uint32_t process,
                                        struct sxs_natives *natives, struct sxs_sources *sources,
                                        bool grows)
{
    struct sxs_addresses *a = sxs_must_zeroed(1, sizeof(*a));
    a->m = m;
    a->process = process;
    a->natives = natives;
    a->sources = sources;
    a->grows = grows;
    struct sxs_model_frame unknown = {.name = add_text(m, "?", 1),
                                      .file = add_text(m, "[unknown]", 9),
                                      .flags = SXS_FRAME_UNKNOWN};
    a->unknown = sxs_model_frame(m, &unknown);
    return a;
}

struct sxs_addresses *sxs_addresses_read(struct sxs_model *m, uint32_t process,
                                         struct sxs_samples *reader,
                                         const struct sxs_session_process *census,
                                         struct sxs_natives *natives, struct sxs_sources *sources)
{
    struct sxs_addresses     *a = sxs_addresses_new(m, process, natives, sources, false);
    struct sxs_samples_record r;
    sxs_addresses_census(a, census);
    while (sxs_samples_next(reader, &r))
        sxs_addresses_take(a, &r);
    sxs_samples_rewind(reader);
    sxs_addresses_seal(a);
    return a;
}

/* Returns index + 1 of the runtime whose folder contains the file, or 0. */
static uint16_t home_of(const struct sxs_model *m, const char *path)
{
    size_t dir = (size_t)(sxs_base_name(path) - path);
    for (size_t i = 0; i < m->n_runtimes; i++) {
        const char *clr = sxs_model_text(m, m->runtimes[i].path);
        if (dir > 1 && (size_t)(sxs_base_name(clr) - clr) == dir && strncmp(clr, path, dir) == 0)
            return (uint16_t)(i + 1);
    }
    return 0;
}

static uint8_t native_flags(const char *base, const char *symbol)
{
    if (strncmp(base, "libclrgc.so", 11) == 0 || strncmp(base, "libclrgcexp.so", 14) == 0 ||
        strstr(symbol, "gc_heap::") || strstr(symbol, "GCHeap::"))
        return SXS_FRAME_GC;
    return strncmp(base, "libclrjit.so", 12) == 0 ? SXS_FRAME_JIT : 0;
}

static uint32_t native_frame(struct sxs_addresses *a, uint32_t module, uint64_t address,
                             uint32_t *line)
{
    struct sxs_native_name n;
    const char            *path = sxs_natives_path(a->natives, a->files[module]);
    sxs_natives_name(a->natives, a->files[module], address - a->bases[module], &n);
    *line = n.at_line;
    struct sxs_model_frame f = {
        .name = add_text(a->m, n.symbol, strlen(n.symbol)),
        .file = add_text(a->m, path, strlen(path)),
        .source = add_text(a->m, n.source, strlen(n.source)),
        .line = n.line,
        .home = home_of(a->m, path),
        .flags = native_flags(sxs_base_name(path), n.symbol),
    };
    return sxs_model_frame(a->m, &f);
}

/* Returns the source line of the native offset @at: the line of the last IL offset that is mapped
 * at or before @at. */
static uint32_t managed_line(struct sxs_addresses *a, const struct code *c, uint64_t at)
{
    const struct sxs_code_line *all = a->offsets + c->first;
    const struct sxs_model_frame *f = &a->m->frames[c->frame];
    struct sxs_pdb_line         found;
    size_t                      lo = 0, hi = c->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (all[mid].native_offset <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (!lo || !sxs_sources_find(a->sources, c->assembly, c->token, all[lo - 1].il_offset, &found) ||
        add_text(a->m, found.file, strlen(found.file)) != f->source)
        return 0;
    return found.line;
}

struct sxs_named sxs_addresses_name(struct sxs_addresses *a, uint64_t address, uint64_t time_ns)
{
    struct cached *c = &a->cache[sxs_hash_id(address) >> (64 - 17)];
    if (c->address == address && address)
        return c->named;
    struct sxs_named         named = {.frame = a->unknown};
    const struct sxs_extent *e = sxs_space_find(&a->space, address, time_ns, &named.varies);
    if (e) {
        named.frame = e->what;
        if (e->is_code)
            named.line = managed_line(a, &a->codes[e->code], address - e->lo);
        else
            named.frame = native_frame(a, e->what, address, &named.line);
        named.tier = e->tier;
    } else {
        named.varies = a->grows;
    }
    if (!named.varies)
        *c = (struct cached){address, named};
    return named;
}

uint16_t sxs_addresses_runtime(struct sxs_addresses *a, uint16_t number)
{
    return runtime_of(a, number);
}

void sxs_addresses_free(struct sxs_addresses *a)
{
    free(a->bases);
    free(a->files);
    free(a->unloads);
    free(a->codes);
    free(a->offsets);
    sxs_space_free(&a->space);
    free(a);
}
