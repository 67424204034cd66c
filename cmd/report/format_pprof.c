/* SPDX-License-Identifier: MIT */
/*
 * Format pprof: a gzip-compressed protobuf message (cmd/report/profile.proto).
 * There is a function per frame that a sample has, a location for each line of it that occurs, a mapping per file and
 * a sample per node. The thread, its process and the class (GC, JIT, sxsprof) are labels, so that
 * -tagfocus and -tagroot work.
 * Samples and calls have two values each, the number and the time. Costs have several, as Go's own
 * profiles of the heap and of locks: the number and the bytes of what was allocated, and, when it is
 * known what is gone, of what is in use.
 */
#include "cmd/report/format.h"

#include "profile.pb-c.h"
#include "cmd/output/must.h"
#include "cmd/report/costs.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/gzip.h"
#include "cmd/report/pprof.h"

#include <string.h>

enum { MAX_TYPES = 4 };

struct builder {
    const struct sxs_model *m;
    const struct sxs_pprof_period *period_ns; /* NULL: that of the session */
    uint64_t               *spots; /* one per location: a frame at a line; only those of samples */
    size_t                  n_spots;
    bool                   *used;  /* owned; by frame: it has a location */
    struct sxs_strings      texts;
    Sxs__Pprof__Profile     profile;
    Sxs__Pprof__ValueType   types[MAX_TYPES], period, *type_list[MAX_TYPES];
    size_t                  n_types;
    void                   *owned[16];
    size_t                  n_owned;
};


static int64_t add_text(struct builder *b, const char *s)
{
    return sxs_strings_add(&b->texts, s, strlen(s));
}

/* Allocates @n elements and a list of pointers to them, which is stored at @list_out. Both live
 * until the end of write_pprof(). */
static void *make_elements(struct builder *b, size_t n, size_t size, void *list_out)
{
    char  *all = sxs_must_zeroed(n, size);
    void **list = sxs_must_zeroed(n, sizeof(*list));
    for (size_t i = 0; i < n; i++)
        list[i] = all + i * size;
    b->owned[b->n_owned++] = all;
    b->owned[b->n_owned++] = list;
    memcpy(list_out, &list, sizeof(list));
    return all;
}

static void add_type(struct builder *b, const char *type, const char *unit)
{
    Sxs__Pprof__ValueType *t = &b->types[b->n_types];
    sxs__pprof__value_type__init(t);
    t->type = add_text(b, type);
    t->unit = add_text(b, unit);
    b->type_list[b->n_types++] = t;
}

/* Adds the two types of one kind of data: how many, and how much. */
static void add_pair(struct builder *b, enum sxs_data data)
{
    const struct sxs_data_kind *k = sxs_data_kind(data);
    add_type(b, k->pprof_count, "count");
    add_type(b, k->pprof_weight, k->unit == SXS_UNIT_BYTES ? "bytes" : "nanoseconds");
}

/* The types of costs. Returns the number of the one to show first. */
static size_t add_cost_types(struct builder *b)
{
    const struct sxs_model_costs *c = b->m->costs;
    bool                          native = c->kind == SXS_COST_NATIVE;
    if (sxs_costs_are_waits(c)) {
        add_pair(b, SXS_DATA_LOCKS);
    } else {
        add_pair(b, native ? SXS_DATA_NATIVE : SXS_DATA_ALLOC);
        if (c->live_known)
            add_pair(b, native ? SXS_DATA_NATIVE_LIVE : SXS_DATA_LIVE);
    }
    return (c->live && c->live_known ? 3u : 1u) - c->by_count;
}

static void add_types(struct builder *b)
{
    const struct sxs_model          *m = b->m;
    const struct sxs_samples_header *h = &m->processes[0].head;
    size_t                           first = 1;
    if (m->costs) {
        first = add_cost_types(b);
    } else {
        const struct sxs_data_kind *k = sxs_data_kind(m->data);
        add_type(b, k->pprof_count, "count");
        if (m->unit == SXS_UNIT_NS)
            add_type(b, k->pprof_weight                ? k->pprof_weight
                        : h->mode == SXS_MODE_WALL ? "wall" : "cpu", "nanoseconds");
        else
            first = 0;
    }
    b->period = b->types[first];
    b->profile.n_sample_type = b->n_types;
    b->profile.sample_type = b->type_list;
    b->profile.period_type = &b->period;
    b->profile.period = m->costs      ? (int64_t)(m->costs->interval > 1 ? m->costs->interval : 1)
                        : h->asked_hz ? 1000000000 / h->asked_hz
                                      : 0;
    b->profile.time_nanos =
        (int64_t)(b->period_ns ? b->period_ns->from_ns : h->started_realtime_ns);
    b->profile.duration_nanos =
        (int64_t)(b->period_ns ? b->period_ns->to_ns - b->period_ns->from_ns
                               : m->last_ns - m->first_ns);
    b->profile.default_sample_type = b->period.type;
}

/* Adds a mapping for each file that frames are in. Returns an owned list of mapping ids by string
 * number. */
static uint64_t *add_mappings(struct builder *b)
{
    uint64_t *id_of = sxs_must_zeroed(b->m->strings.n, sizeof(*id_of));
    size_t    n = 0;
    for (size_t i = 0; i < b->m->n_frames; i++)
        if (b->used[i] && !id_of[b->m->frames[i].file])
            id_of[b->m->frames[i].file] = ++n;
    Sxs__Pprof__Mapping *all = make_elements(b, n, sizeof(*all), &b->profile.mapping);
    for (size_t i = 0; i < b->m->strings.n; i++) {
        if (!id_of[i])
            continue;
        Sxs__Pprof__Mapping *v = &all[id_of[i] - 1];
        sxs__pprof__mapping__init(v);
        v->id = id_of[i];
        v->filename = add_text(b, sxs_model_text(b->m, (uint32_t)i));
        v->has_functions = 1;
    }
    b->profile.n_mapping = n;
    return id_of;
}

/* Lists the locations of nodes with samples, and marks their frames. */
static void find_spots(struct builder *b)
{
    bool *nodes = sxs_model_used_nodes(b->m);
    b->spots = sxs_model_spots(b->m, nodes, &b->n_spots);
    b->used = sxs_must_zeroed(b->m->n_frames, sizeof(*b->used));
    for (size_t i = 0; i < b->n_spots; i++)
        b->used[b->spots[i] >> 32] = true;
    free(nodes);
    b->owned[b->n_owned++] = b->spots;
    b->owned[b->n_owned++] = b->used;
}

static void add_functions(struct builder *b)
{
    static char             buf[70000];
    const struct sxs_model *m = b->m;
    size_t                  n = 0;
    Sxs__Pprof__Function   *all = make_elements(b, m->n_frames, sizeof(*all), &b->profile.function);
    for (size_t i = 0; i < m->n_frames; i++) {
        const struct sxs_model_frame *f = &m->frames[i];
        Sxs__Pprof__Function         *function = &all[n];
        if (!b->used[i])
            continue;
        n++;
        sxs__pprof__function__init(function);
        function->id = i + 1;
        function->name =
            add_text(b, sxs_frame_text(m, (uint32_t)i, SXS_STYLE_FULL, buf, sizeof(buf)));
        function->system_name = add_text(b, sxs_model_text(m, f->name));
        function->filename = add_text(b, sxs_model_text(m, f->source ? f->source : f->file));
        function->start_line = f->line;
    }
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the message holds the memory until the end
    b->profile.n_function = n;
}

static void add_locations(struct builder *b)
{
    const struct sxs_model *m = b->m;
    uint64_t               *mapping = add_mappings(b);
    Sxs__Pprof__Line      **lines;
    Sxs__Pprof__Location *location =
        make_elements(b, b->n_spots, sizeof(*location), &b->profile.location);
    Sxs__Pprof__Line *line = make_elements(b, b->n_spots, sizeof(*line), &lines);
    for (size_t i = 0; i < b->n_spots; i++) {
        uint32_t frame = (uint32_t)(b->spots[i] >> 32), at = (uint32_t)b->spots[i];
        sxs__pprof__line__init(&line[i]);
        line[i].function_id = frame + 1;
        line[i].line = at ? at : m->frames[frame].line;
        sxs__pprof__location__init(&location[i]);
        location[i].id = i + 1;
        location[i].mapping_id = mapping[m->frames[frame].file];
        location[i].n_line = 1;
        location[i].line = &lines[i];
    }
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the message holds the memory until the end
    b->profile.n_location = b->n_spots;
    free(mapping);
}

enum { LABELS = 4 }; /* thread, process, tid, class */

static void set_label(Sxs__Pprof__Label *l, int64_t key, int64_t str, int64_t num)
{
    sxs__pprof__label__init(l);
    l->key = key;
    l->str = str;
    l->num = num;
}

static void set_values(const struct builder *b, const struct sxs_model_node *n, int64_t *value)
{
    const struct sxs_cost_node *c = b->m->costs ? &b->m->costs->nodes[n - b->m->nodes] : NULL;
    if (!c) {
        value[0] = (int64_t)n->self;
        value[1] = (int64_t)n->self_ns;
        return;
    }
    for (size_t i = 0; i < b->n_types; i++)
        value[i] = (int64_t)c->whole[i];
}

/* Returns true when a node is a sample of its own. */
static bool has_values(const struct sxs_model *m, size_t node)
{
    return m->costs ? m->costs->nodes[node].n > 0 : m->nodes[node].self != 0;
}

/* Numbers of the texts that labels use. They are the same for every sample of a thread. */
struct label_texts {
    int64_t thread, thread_name, process, process_name, tid, class, class_name;
};

/* Adds the texts of a sample's labels. */
static struct label_texts add_label_texts(struct builder *b, const struct sxs_model_node *n)
{
    const struct sxs_model        *m = b->m;
    const struct sxs_model_thread *t = &m->threads[n->thread];
    struct label_texts             v = {.class_name = 0};
    char                           name[512];
    const char                    *class = n->flags & SXS_FRAME_OWN   ? "sxsprof"
                                           : n->flags & SXS_FRAME_GC  ? "GC"
                                           : n->flags & SXS_FRAME_JIT ? "JIT"
                                                                      : NULL;
    v.thread_name = add_text(b, sxs_thread_text(m, n->thread, name, sizeof(name)));
    v.thread = add_text(b, "thread");
    v.process_name = add_text(b, m->processes[t->process].folder);
    v.process = add_text(b, "process");
    v.tid = add_text(b, "tid");
    v.class_name = class ? add_text(b, class) : 0;
    v.class = class ? add_text(b, "class") : 0;
    return v;
}

/* A sample with room for all that it points to. */
struct pprof_sample {
    Sxs__Pprof__Sample message;
    Sxs__Pprof__Label  labels[LABELS], *list[LABELS];
    uint64_t           locations[SXS_MAX_STACK];
    int64_t            values[MAX_TYPES];
};

static void make_sample(struct builder *b, const struct sxs_model_node *n, struct pprof_sample *out)
{
    const struct sxs_model *m = b->m;
    struct label_texts      texts = add_label_texts(b, n);
    uint32_t                frames[SXS_MAX_STACK];
    size_t depth = sxs_model_stack(m, (uint32_t)(n - m->nodes), frames);
    for (uint32_t i = 0, node = (uint32_t)(n - m->nodes); i < depth; node = m->nodes[node].parent)
        out->locations[i++] = sxs_model_spot(m, node, b->spots, b->n_spots) + 1;
    set_values(b, n, out->values);
    set_label(&out->labels[0], texts.thread, texts.thread_name, 0);
    set_label(&out->labels[1], texts.process, texts.process_name, 0);
    set_label(&out->labels[2], texts.tid, 0, m->threads[n->thread].tid);
    set_label(&out->labels[3], texts.class, texts.class_name, 0);
    for (size_t i = 0; i < LABELS; i++)
        out->list[i] = &out->labels[i];
    sxs__pprof__sample__init(&out->message);
    out->message.n_location_id = depth;
    out->message.location_id = out->locations;
    out->message.n_value = b->n_types;
    out->message.value = out->values;
    out->message.n_label = texts.class_name ? LABELS : LABELS - 1;
    out->message.label = out->list;
}

/* Writes the head of a field that has a size. Returns its bytes, at most 11. */
static size_t put_head(uint8_t *out, unsigned field, size_t size)
{
    enum { SIZED = 2, MORE = 0x80 };
    size_t n = 0;
    out[n++] = (uint8_t)(field << 3 | SIZED);
    for (; size >= MORE; size >>= 7)
        out[n++] = (uint8_t)(size | MORE);
    out[n++] = (uint8_t)size;
    return n;
}

/* Compresses the samples one by one: together they can need many times the memory of the session. */
static void put_samples(struct builder *b, struct sxs_gzip *gzip)
{
    enum { FIELD = 2, HEAD = 11 };
    static struct pprof_sample s;
    size_t                     cap = 0;
    uint8_t                   *bytes = NULL;
    for (size_t i = 0; i < b->m->n_nodes; i++) {
        if (!has_values(b->m, i))
            continue;
        make_sample(b, &b->m->nodes[i], &s);
        size_t size = protobuf_c_message_get_packed_size(&s.message.base);
        if (size + HEAD > cap) {
            cap = 2 * (size + HEAD);
            bytes = sxs_must(realloc(bytes, cap));
        }
        size_t head = put_head(bytes, FIELD, size);
        protobuf_c_message_pack(&s.message.base, bytes + head);
        sxs_gzip_put(gzip, bytes, head + size);
    }
    free(bytes);
}

static void put_message(const Sxs__Pprof__Profile *profile, struct sxs_gzip *gzip)
{
    size_t   size = protobuf_c_message_get_packed_size(&profile->base);
    uint8_t *bytes = sxs_must_zeroed(size, 1);
    protobuf_c_message_pack(&profile->base, bytes);
    sxs_gzip_put(gzip, bytes, size);
    free(bytes);
}

uint8_t *sxs_pprof_encode(const struct sxs_model *m, const struct sxs_pprof_period *period,
                          const char *comment, size_t *size)
{
    struct builder b = {.m = m, .period_ns = period};
    int64_t         comment_text;
    struct sxs_gzip gzip;
    sxs__pprof__profile__init(&b.profile);
    sxs_strings_add(&b.texts, "", 0);
    find_spots(&b);
    add_types(&b);
    add_functions(&b);
    add_locations(&b);
    sxs_gzip_begin(&gzip);
    Sxs__Pprof__Profile types = SXS__PPROF__PROFILE__INIT; /* fields are in the order of their numbers */
    types.n_sample_type = b.profile.n_sample_type;
    types.sample_type = b.profile.sample_type;
    put_message(&types, &gzip);
    b.profile.n_sample_type = 0;
    put_samples(&b, &gzip);
    comment_text = add_text(&b, comment ? comment : "");
    b.profile.n_comment = comment ? 1 : 0;
    b.profile.comment = &comment_text;
    b.profile.n_string_table = b.texts.n;
    b.profile.string_table = sxs_must_zeroed(b.texts.n, sizeof(char *));
    for (size_t i = 0; i < b.texts.n; i++)
        b.profile.string_table[i] = b.texts.all[i].text;
    put_message(&b.profile, &gzip);
    for (size_t i = 0; i < b.n_owned; i++)
        free(b.owned[i]);
    free(b.profile.string_table);
    sxs_strings_free(&b.texts);
    return sxs_gzip_end(&gzip, size);
}

static int write_pprof(const struct sxs_model *m, const struct sxs_report_options *o, FILE *to)
{
    size_t   size;
    uint8_t *bytes = sxs_pprof_encode(m, NULL, sxs_model_title(m), &size);
    (void)o;
    int failed = fwrite(bytes, 1, size, to) == size ? 0 : -1;
    free(bytes);
    return failed;
}

const struct sxs_profile_format sxs_format_pprof = {"pprof", SXS_DETAIL_LINES | SXS_DETAIL_GONE,
                                                    write_pprof};
