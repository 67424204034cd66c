/* SPDX-License-Identifier: MIT */
#include "cmd/clickhouse/encode.h"

#include "cmd/clickhouse/sql.h"
#include "cmd/output/must.h"
#include "cmd/report/slices.h"

#include <string.h>

/* Databases keep these bits. */
_Static_assert(SXS_FRAME_GC == 1 && SXS_FRAME_JIT == 2 && SXS_FRAME_UNKNOWN == 4 &&
                   SXS_FRAME_OWN == 8 && SXS_FRAME_TYPE == 16 && SXS_FRAME_WAIT == 32,
               "frames.flags of ClickHouse");

/* Seeds, so that equal bytes of different things have different IDs. */
enum { SEED_SERVICE = 11, SEED_FRAME, SEED_STACK, SEED_SOURCE };

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return sxs_hash_bytes(text, strlen(text) + 1, hash);
}

uint64_t sxs_clickhouse_service_id(const char *service)
{
    return hash_text(SEED_SERVICE, service);
}

/* A row of samples before it is written. */
struct encoded_sample {
    uint8_t  kind;
    uint64_t stack, count, value;
    uint8_t  trace[16]; /* zeroed: none */
};

struct encoder {
    const struct sxs_clickhouse_batch *b;
    struct sxs_clickhouse_rows        *out;
    const struct sxs_model            *m;
    uint64_t                          *frame_ids; /* owned; of the model's frames; 0: not written */
    struct encoded_sample             *samples;   /* owned */
    size_t                             n_samples, cap_samples;
};

/* ---- frames and stacks ----------------------------------------------------------------------- */

/* Returns the version of the runtime that a frame belongs to; "" for other native code. */
static const char *version_of(const struct sxs_model *m, const struct sxs_model_frame *f)
{
    uint16_t runtime = f->runtime ? f->runtime : f->home;
    return runtime ? sxs_model_text(m, m->runtimes[runtime - 1].version) : "";
}

/* Returns the ID of a frame, and writes its row the first time. Files are named without their
 * folders, which differ between machines. */
static uint64_t frame_id(struct encoder *e, uint32_t frame)
{
    const struct sxs_model_frame *f = &e->m->frames[frame];
    if (e->frame_ids[frame])
        return e->frame_ids[frame];
    const char *name = sxs_model_text(e->m, f->name), *version = version_of(e->m, f);
    const char *file = sxs_base_name(sxs_model_text(e->m, f->file));
    uint16_t    flags = (uint16_t)(f->flags | (f->runtime ? SXS_CLICKHOUSE_MANAGED
                                               : f->home  ? SXS_CLICKHOUSE_HOME
                                                          : 0));
    uint64_t id = hash_text(hash_text(hash_text(SEED_FRAME + 16ull * flags, name), file), version);
    id += id == 0; /* 0: no frame */
    struct sxs_rows *to = &e->out->of[SXS_CLICKHOUSE_FRAMES];
    sxs_rows_u64(to, id);
    sxs_rows_text(to, name);
    sxs_rows_text(to, file);
    sxs_rows_text(to, version);
    sxs_rows_u16(to, flags);
    return e->frame_ids[frame] = id;
}

static const char *class_of(const struct sxs_model *m, const struct sxs_model_node *n)
{
    if (n->flags & SXS_FRAME_OWN)
        return "sxsprof";
    if (n->flags & SXS_FRAME_GC)
        return "gc";
    if (n->flags & SXS_FRAME_JIT)
        return "jit";
    return n->parent != SXS_NO_NODE && m->frames[n->frame].runtime ? "managed" : "native";
}

/* Returns the ID of a node's stack, and writes its row. */
static uint64_t stack_id(struct encoder *e, uint32_t node)
{
    const struct sxs_model        *m = e->m;
    const struct sxs_model_node   *n = &m->nodes[node];
    const struct sxs_model_thread *t = &m->threads[n->thread];
    const char                    *thread = sxs_model_text(m, t->name), *version = "";
    uint32_t                       frames[SXS_MAX_STACK];
    uint64_t                       ids[SXS_MAX_STACK];
    size_t                         depth = sxs_model_stack(m, node, frames);
    uint8_t                        root = m->nodes[t->root].flags;
    for (size_t i = 0; i < depth; i++)
        ids[i] = frame_id(e, frames[i]);
    for (size_t i = depth; i-- > 0 && !*version;)
        version = version_of(m, &m->frames[frames[i]]);
    uint64_t id =
        sxs_hash_bytes(ids, depth * sizeof(ids[0]), hash_text(SEED_STACK + 16ull * root, thread));
    struct sxs_rows *to = &e->out->of[SXS_CLICKHOUSE_STACKS];
    sxs_rows_u64(to, id);
    sxs_rows_text(to, thread);
    sxs_rows_u8(to, root);
    sxs_rows_text(to, class_of(m, n));
    sxs_rows_text(to, version);
    sxs_rows_u8(to, depth && m->frames[frames[depth - 1]].flags & SXS_FRAME_TYPE ? 1 : 0);
    sxs_rows_count(to, depth);
    for (size_t i = 0; i < depth; i++)
        sxs_rows_u64(to, ids[i]);
    return id;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Returns the kind of a model's samples, or SXS_CLICKHOUSE_BATCH if it is not stored. */
static enum sxs_clickhouse_kind kind_of(const struct sxs_model *m)
{
    switch (m->data) {
    case SXS_DATA_SAMPLES:
        return m->n_processes && m->processes[0].head.mode == SXS_MODE_WALL ? SXS_CLICKHOUSE_WALL
                                                                            : SXS_CLICKHOUSE_CPU;
    case SXS_DATA_ALLOC: return SXS_CLICKHOUSE_ALLOC;
    case SXS_DATA_NATIVE: return SXS_CLICKHOUSE_NATIVE;
    case SXS_DATA_LOCKS: return SXS_CLICKHOUSE_LOCKS;
    case SXS_DATA_LIVE: return SXS_CLICKHOUSE_LIVE;
    case SXS_DATA_NATIVE_LIVE: return SXS_CLICKHOUSE_NATIVE_LIVE;
    case SXS_DATA_WAIT: return SXS_CLICKHOUSE_WAIT;
    default: return SXS_CLICKHOUSE_BATCH;
    }
}

static void keep_sample(struct encoder *e, const struct encoded_sample *s)
{
    if (!s->count && !s->value)
        return;
    SXS_GROW(e->samples, e->n_samples, e->cap_samples);
    e->samples[e->n_samples++] = *s;
}

static bool has_traces(const struct sxs_model *m)
{
    static const uint8_t none[16];
    for (size_t i = 0; i < m->n_slice_sums; i++)
        if (memcmp(m->slice_sums[i].trace, none, sizeof(none)) != 0)
            return true;
    return false;
}

/* Takes the samples of a slice, those of each trace apart. The sums of a node follow each other. */
static void take_sums(struct encoder *e, const struct sxs_model *m, uint8_t kind)
{
    uint64_t stack = 0;
    for (size_t i = 0; i < m->n_slice_sums; i++) {
        const struct sxs_slice_sum *sum = &m->slice_sums[i];
        if (i == 0 || sum->node != sum[-1].node)
            stack = stack_id(e, sum->node);
        struct encoded_sample s = {kind, stack, sum->self, sum->self_ns, {0}};
        memcpy(s.trace, sum->trace, sizeof(s.trace));
        keep_sample(e, &s);
    }
}

static void take_model(struct encoder *e, const struct sxs_model *m)
{
    enum sxs_clickhouse_kind kind = kind_of(m);
    if (kind == SXS_CLICKHOUSE_BATCH)
        return;
    e->m = m;
    e->frame_ids = sxs_must_zeroed(m->n_frames, sizeof(*e->frame_ids));
    bool traced = has_traces(m);
    if (traced)
        take_sums(e, m, (uint8_t)kind);
    for (uint32_t i = 0; !traced && i < m->n_nodes; i++) {
        const struct sxs_model_node *n = &m->nodes[i];
        if (n->self || n->self_ns)
            keep_sample(e, &(struct encoded_sample){
                               (uint8_t)kind, stack_id(e, i), n->self, n->self_ns, {0}});
    }
    free(e->frame_ids);
}

static int by_key(const void *a, const void *b)
{
    const struct encoded_sample *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    return memcmp(x->trace, y->trace, sizeof(x->trace));
}

static void put_sample(struct encoder *e, const struct encoded_sample *s, uint64_t source)
{
    struct sxs_rows *to = &e->out->of[SXS_CLICKHOUSE_SAMPLES];
    sxs_rows_u64(to, sxs_clickhouse_service_id(e->b->source->service));
    sxs_rows_u8(to, s->kind);
    sxs_rows_u64(to, s->stack);
    sxs_rows_u32(to, (uint32_t)(e->b->from_ns / 1000000000u));
    sxs_rows_u64(to, source);
    sxs_rows_u64(to, s->count);
    sxs_rows_u64(to, s->value);
    sxs_rows_u64(to, e->b->id);
    sxs_rows_bytes(to, s->trace, sizeof(s->trace));
    e->out->n_samples++;
}

/* Writes the rows in the order of the table. Nodes with the same stack, such as those of threads
 * with the same name, become one row. */
static void put_samples(struct encoder *e, uint64_t source)
{
    const struct encoded_sample batch = {
        SXS_CLICKHOUSE_BATCH, e->b->id, e->n_samples, e->b->to_ns - e->b->from_ns, {0}};
    put_sample(e, &batch, source);
    if (e->n_samples)
        qsort(e->samples, e->n_samples, sizeof(*e->samples), by_key);
    for (size_t i = 0; i < e->n_samples;) {
        struct encoded_sample sum = e->samples[i++];
        for (; i < e->n_samples && by_key(&sum, &e->samples[i]) == 0; i++) {
            sum.count += e->samples[i].count;
            sum.value += e->samples[i].value;
        }
        put_sample(e, &sum, source);
    }
}

/* ---- sources --------------------------------------------------------------------------------- */

/* Writes the row of the source and returns its ID. */
static uint64_t put_source(struct encoder *e)
{
    const struct sxs_clickhouse_source *s = e->b->source;
    const char *const                   texts[] = {s->service,   s->version, s->machine,
                                                   s->container, s->process, s->command};
    uint64_t                            id = SEED_SOURCE;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        id = hash_text(id, texts[i]);
    for (size_t i = 0; i < s->n_runtimes; i++)
        id = hash_text(id, s->runtimes[i]);
    for (size_t i = 0; i < s->n_labels; i++)
        id = hash_text(hash_text(id + 1, s->labels[i].key), s->labels[i].value);
    struct sxs_rows *to = &e->out->of[SXS_CLICKHOUSE_SOURCES];
    sxs_rows_u64(to, id);
    sxs_rows_u64(to, sxs_clickhouse_service_id(s->service));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        sxs_rows_text(to, texts[i]);
    sxs_rows_count(to, s->n_runtimes);
    for (size_t i = 0; i < s->n_runtimes; i++)
        sxs_rows_text(to, s->runtimes[i]);
    sxs_rows_count(to, s->n_labels);
    for (size_t i = 0; i < s->n_labels; i++)
        sxs_rows_text(to, s->labels[i].key);
    sxs_rows_count(to, s->n_labels);
    for (size_t i = 0; i < s->n_labels; i++)
        sxs_rows_text(to, s->labels[i].value);
    sxs_rows_u32(to, (uint32_t)(e->b->from_ns / 1000000000u));
    return id;
}

void sxs_clickhouse_encode(const struct sxs_clickhouse_batch *b, struct sxs_clickhouse_rows *out)
{
    struct encoder e = {.b = b, .out = out};
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < b->n_models; i++)
        take_model(&e, b->models[i]);
    put_samples(&e, put_source(&e));
    free(e.samples);
}

void sxs_clickhouse_rows_free(struct sxs_clickhouse_rows *r)
{
    for (size_t i = 0; i < SXS_CLICKHOUSE_N_TABLES; i++)
        sxs_rows_free(&r->of[i]);
}
