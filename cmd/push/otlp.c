/* SPDX-License-Identifier: MIT */
/*
 * The target "otlp": OTLP profiles (v1development) by HTTP and protobuf, for OpenTelemetry Collectors
 * and what takes the same. docs/internals/push.md has the facts of the format.
 * A batch is one request: one resource, and a profile for each kind of value. A sample has the sum of
 * a stack of a thread in the period; no time stamps.
 */
#include "cmd/push/otlp_tables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/output/must.h"
#include "cmd/push/labels.h"
#include "cmd/push/targets.h"
#include "cmd/report/costs.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/gzip.h"

enum { MAX_LABELS = 4, MAX_PROFILES = 16 };

/* A sample with what it points to. */
struct otlp_sample {
    Sxs__Otlp__Sample message; /* first: the list points to it */
    int32_t           attributes[MAX_LABELS];
    int64_t           value;
};

struct profile {
    Sxs__Otlp__Profile   message;
    Sxs__Otlp__ValueType type, period;
    uint8_t              id[16];
};

struct otlp_request {
    const struct sxs_push_batch *batch;
    struct sxs_otlp_tables       tables;
    struct profile               profiles[MAX_PROFILES];
    Sxs__Otlp__Profile          *profile_list[MAX_PROFILES];
    size_t                       n_profiles;
    Sxs__Otlp__KeyValue         *attributes; /* owned: of the resource */
    Sxs__Otlp__Value            *values;     /* owned */
    size_t                       n_attributes, cap_attributes;
};

/* ---- stacks ----------------------------------------------------------------------------------- */

static const char *runtime_version(const struct sxs_model *m, uint16_t runtime)
{
    return runtime ? sxs_model_text(m, m->runtimes[runtime - 1].version) : "";
}

static uint32_t frame_location(struct sxs_otlp_tables *t, const struct sxs_model *m,
                               const struct sxs_model_node *n)
{
    const struct sxs_model_frame *f = &m->frames[n->frame];
    const char *name = sxs_model_text(m, f->name), *file = sxs_model_text(m, f->file);
    const char *source = sxs_model_text(m, f->source), *version = runtime_version(m, f->runtime);
    char        unnamed[512];
    uint32_t    attributes[2] = {0, 0};
    if (strcmp(name, "?") == 0 && !(f->flags & (SXS_FRAME_TYPE | SXS_FRAME_WAIT))) {
        /* code of a stripped file */
        snprintf(unnamed, sizeof(unnamed), "%s!?", sxs_base_name(file));
        name = unnamed;
    }
    if (!(f->flags & (SXS_FRAME_TYPE | SXS_FRAME_WAIT)))
        attributes[0] =
            sxs_otlp_attribute(t, "profile.frame.type", f->runtime ? "dotnet" : "native", 0);
    if (*version)
        attributes[1] = sxs_otlp_attribute(t, "process.runtime.version", version, 0);
    return sxs_otlp_location(t, sxs_otlp_mapping(t, file),
                             sxs_otlp_function(t, name, source, f->line),
                             n->line ? n->line : f->line, attributes);
}

/* The stack of a node. @runtime: receives the runtime of its youngest managed code: index + 1. */
static uint32_t node_stack(struct sxs_otlp_tables *t, const struct sxs_model *m, size_t node,
                           uint32_t *locations_of, uint16_t *runtime)
{
    uint32_t list[SXS_MAX_STACK + 8];
    size_t   n = 0;
    *runtime = 0;
    for (size_t i = node; m->nodes[i].parent != SXS_NO_NODE && n < SXS_MAX_STACK + 8;
         i = m->nodes[i].parent) {
        const struct sxs_model_frame *f = &m->frames[m->nodes[i].frame];
        if (!locations_of[i])
            locations_of[i] = frame_location(t, m, &m->nodes[i]);
        if (!*runtime && !(f->flags & (SXS_FRAME_TYPE | SXS_FRAME_WAIT)))
            *runtime = f->runtime;
        list[n++] = locations_of[i];
    }
    return sxs_otlp_stack(t, list, n);
}

static void add_label(struct otlp_sample *s, uint32_t attribute)
{
    s->attributes[s->message.n_attribute_indices++] = (int32_t)attribute;
}

static void label_sample(struct sxs_otlp_tables *t, const struct sxs_model *m,
                         const struct sxs_model_node *n, uint16_t runtime, struct otlp_sample *s)
{
    const struct sxs_model_thread *thread = &m->threads[n->thread];
    const char                    *name = sxs_model_text(m, thread->name);
    const char *class = n->flags & SXS_FRAME_OWN   ? "sxsprof"
                        : n->flags & SXS_FRAME_GC  ? "GC"
                        : n->flags & SXS_FRAME_JIT ? "JIT"
                                                   : NULL;
    s->message.attribute_indices = s->attributes;
    add_label(s, sxs_otlp_attribute(t, "thread.id", NULL, thread->tid));
    if (*name)
        add_label(s, sxs_otlp_attribute(t, "thread.name", name, 0));
    if (runtime && *runtime_version(m, runtime))
        add_label(s,
                  sxs_otlp_attribute(t, "process.runtime.version", runtime_version(m, runtime), 0));
    if (class)
        add_label(s, sxs_otlp_attribute(t, "sxsprof.class", class, 0));
}

/* ---- profiles --------------------------------------------------------------------------------- */

/* Names of values and of what their period counts. */
struct value_kind {
    const char *type, *unit, *period_type, *period_unit;
    int64_t     period;
};

static void set_type(struct sxs_otlp_tables *t, Sxs__Otlp__ValueType *v, const char *type,
                     const char *unit)
{
    sxs__otlp__value_type__init(v);
    v->type_strindex = (int32_t)sxs_otlp_text(t, type);
    v->unit_strindex = (int32_t)sxs_otlp_text(t, unit);
}

static void value_kinds(const struct sxs_model *m, struct value_kind out[2])
{
    const struct sxs_samples_header *h = m->n_processes ? &m->processes[0].head : NULL;
    const char                      *mode = h && h->mode == SXS_MODE_WALL ? "wall" : "cpu";
    int64_t                          hz = h && h->asked_hz ? h->asked_hz : 1, interval = 1;
    if (m->costs && m->costs->interval)
        interval = (int64_t)m->costs->interval;
    switch (m->data) {
    case SXS_DATA_ALLOC:
        out[0] = (struct value_kind){"alloc_space", "bytes", "allocated_bytes", "bytes", interval};
        out[1] =
            (struct value_kind){"alloc_objects", "count", "allocated_bytes", "bytes", interval};
        break;
    case SXS_DATA_NATIVE:
        out[0] = (struct value_kind){"native_alloc_space", "bytes", "native_allocated_bytes",
                                     "bytes", interval};
        out[1] = (struct value_kind){"native_alloc_objects", "count", "native_allocated_bytes",
                                     "bytes", interval};
        break;
    case SXS_DATA_LOCKS:
        out[0] = (struct value_kind){"delay", "nanoseconds", "contentions", "count", 1};
        out[1] = (struct value_kind){"contentions", "count", "contentions", "count", 1};
        break;
    default:
        out[0] = (struct value_kind){mode, "nanoseconds", mode, "nanoseconds", 1000000000 / hz};
        out[1] = (struct value_kind){"samples", "count", "samples", "count", 1};
        break;
    }
}

static void begin_profile(struct otlp_request *r, const struct sxs_model *m, size_t which, size_t n)
{
    struct profile   *p = &r->profiles[r->n_profiles];
    struct value_kind kinds[2];
    value_kinds(m, kinds);
    sxs__otlp__profile__init(&p->message);
    set_type(&r->tables, &p->type, kinds[which].type, kinds[which].unit);
    set_type(&r->tables, &p->period, kinds[which].period_type, kinds[which].period_unit);
    p->message.sample_type = &p->type;
    p->message.period_type = &p->period;
    p->message.period = kinds[which].period;
    p->message.time_unix_nano = r->batch->from_ns;
    p->message.duration_nano = r->batch->to_ns - r->batch->from_ns;
    memcpy(p->id, r->batch->id, sizeof(p->id));
    p->id[15] ^= (uint8_t)((unsigned)m->data << 1 | which);
    p->message.profile_id = (ProtobufCBinaryData){sizeof(p->id), p->id};
    sxs_otlp_elements(n, sizeof(struct otlp_sample), &p->message.samples);
    r->profile_list[r->n_profiles++] = &p->message;
}

static void begin_sample(struct otlp_sample *s, uint32_t stack, uint64_t value)
{
    sxs__otlp__sample__init(&s->message);
    s->message.stack_index = (int32_t)stack;
    s->value = (int64_t)value;
    s->message.values = &s->value;
    s->message.n_values = 1;
}

/* Adds the two profiles of a model: how much, and how many. */
static void add_model(struct otlp_request *r, const struct sxs_model *m)
{
    uint32_t *locations_of = sxs_must_zeroed(m->n_nodes, sizeof(*locations_of));
    size_t    n = 0;
    for (size_t i = 0; i < m->n_nodes; i++)
        n += m->nodes[i].self != 0;
    struct profile *p = &r->profiles[r->n_profiles];
    begin_profile(r, m, 0, n);
    begin_profile(r, m, 1, n);
    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct sxs_model_node *node = &m->nodes[i];
        uint16_t                     runtime;
        if (!node->self)
            continue;
        uint32_t            stack = node_stack(&r->tables, m, i, locations_of, &runtime);
        struct otlp_sample *much =
            (struct otlp_sample *)p[0].message.samples[p[0].message.n_samples++];
        struct otlp_sample *many =
            (struct otlp_sample *)p[1].message.samples[p[1].message.n_samples++];
        begin_sample(much, stack, node->self_ns);
        begin_sample(many, stack, node->self);
        label_sample(&r->tables, m, node, runtime, much);
        label_sample(&r->tables, m, node, runtime, many);
    }
    free(locations_of);
}

/* ---- the request ------------------------------------------------------------------------------ */

/* Texts of labels: with the tables' strings, which are valid UTF-8. */
static void add_resource_label(void *arg, const char *key, const char *value)
{
    struct otlp_request *r = arg;
    if (r->n_attributes == r->cap_attributes) {
        r->cap_attributes = r->cap_attributes * 2 + 16;
        r->attributes =
            sxs_must(reallocarray(r->attributes, r->cap_attributes, sizeof(*r->attributes)));
        r->values = sxs_must(reallocarray(r->values, r->cap_attributes, sizeof(*r->values)));
    }
    Sxs__Otlp__KeyValue *kv = &r->attributes[r->n_attributes];
    Sxs__Otlp__Value    *v = &r->values[r->n_attributes++];
    sxs__otlp__key_value__init(kv);
    sxs__otlp__value__init(v);
    char *text = sxs_must(strdup(value));
    sxs_strings_clean(text, strlen(text));
    kv->key = sxs_must(strdup(key));
    if (strcmp(key, "process.pid") == 0) {
        v->value_case = SXS__OTLP__VALUE__VALUE_INT_VALUE;
        v->int_value = (int64_t)strtoull(text, NULL, 10);
        free(text);
    } else {
        v->value_case = SXS__OTLP__VALUE__VALUE_STRING_VALUE;
        v->string_value = text;
    }
}

static int emit(const Sxs__Otlp__Request *message, struct sxs_push_out *out)
{
    size_t   size = sxs__otlp__request__get_packed_size(message), gz_size;
    uint8_t *plain = sxs_must_zeroed(size, 1);
    sxs__otlp__request__pack(message, plain);
    uint8_t *body = sxs_gzip(plain, size, &gz_size);
    free(plain);
    const struct sxs_push_request request = {"/v1development/profiles", "application/x-protobuf",
                                             "gzip", body, gz_size};
    int                           err = sxs_push_emit(out, &request);
    free(body);
    return err;
}

static int emit_all(struct otlp_request *r, struct sxs_push_out *out)
{
    static char                  name[] = "sxsprof", version[] = SXS_VERSION;
    Sxs__Otlp__Scope             scope;
    Sxs__Otlp__ScopeProfiles     scope_profiles = SXS__OTLP__SCOPE_PROFILES__INIT;
    Sxs__Otlp__Resource          resource = SXS__OTLP__RESOURCE__INIT;
    Sxs__Otlp__ResourceProfiles  resource_profiles = SXS__OTLP__RESOURCE_PROFILES__INIT;
    Sxs__Otlp__Request           message = SXS__OTLP__REQUEST__INIT;
    Sxs__Otlp__ScopeProfiles    *scope_list[1] = {&scope_profiles};
    Sxs__Otlp__ResourceProfiles *resource_list[1] = {&resource_profiles};
    Sxs__Otlp__KeyValue        **attributes = sxs_must_zeroed(r->n_attributes, sizeof(*attributes));
    for (size_t i = 0; i < r->n_attributes; i++) {
        r->attributes[i].value = &r->values[i]; /* only now: the lists have moved */
        attributes[i] = &r->attributes[i];
    }
    sxs__otlp__scope__init(&scope);
    scope.name = name;
    scope.version = version;
    scope_profiles.scope = &scope;
    scope_profiles.profiles = r->profile_list;
    scope_profiles.n_profiles = r->n_profiles;
    resource.attributes = attributes;
    resource.n_attributes = r->n_attributes;
    resource_profiles.resource = &resource;
    resource_profiles.scope_profiles = scope_list;
    resource_profiles.n_scope_profiles = 1;
    message.resource_profiles = resource_list;
    message.n_resource_profiles = 1;
    message.dictionary = sxs_otlp_dictionary(&r->tables);
    int err = emit(&message, out);
    sxs_otlp_dictionary_free(message.dictionary);
    free(attributes);
    return err;
}

static void free_request(struct otlp_request *r)
{
    for (size_t i = 0; i < r->n_profiles; i++)
        sxs_otlp_elements_free(r->profiles[i].message.samples);
    for (size_t i = 0; i < r->n_attributes; i++) {
        free(r->attributes[i].key);
        if (r->values[i].value_case == SXS__OTLP__VALUE__VALUE_STRING_VALUE)
            free(r->values[i].string_value);
    }
    free(r->attributes);
    free(r->values);
    sxs_otlp_tables_free(&r->tables);
    free(r);
}

static int encode(const struct sxs_push_settings *s, const struct sxs_push_batch *b,
                  struct sxs_push_out *out)
{
    struct otlp_request *r = sxs_must_zeroed(1, sizeof(*r));
    r->batch = b;
    sxs_otlp_tables_begin(&r->tables);
    add_resource_label(r, "service.name", b->service);
    sxs_push_labels(s, b, add_resource_label, r);
    for (size_t i = 0; i < b->n_models; i++)
        add_model(r, b->models[i]);
    int err = emit_all(r, out);
    free_request(r);
    return err;
}

/* The protocol names the statuses that are worth a repetition. An answer can also say that a part of
 * the request was refused. */
static enum sxs_push_verdict judge(const struct sxs_push_answer *a, char *why, size_t size)
{
    enum sxs_push_verdict verdict = sxs_push_judge(a->status);
    if (verdict == SXS_PUSH_LATER && a->status != 429 && a->status != 502 && a->status != 503 &&
        a->status != 504)
        verdict = SXS_PUSH_REFUSED;
    if (verdict != SXS_PUSH_ACCEPTED || !a->size)
        return verdict;
    Sxs__Otlp__Response *answer =
        sxs__otlp__response__unpack(NULL, a->size, (const uint8_t *)a->body);
    const Sxs__Otlp__PartialSuccess *part = answer ? answer->partial_success : NULL;
    if (part && (part->rejected_profiles > 0 || *part->error_message))
        snprintf(why, size, "profiles refused: %lld: %.200s", (long long)part->rejected_profiles,
                 part->error_message);
    if (part && part->rejected_profiles > 0)
        verdict = SXS_PUSH_REFUSED;
    if (answer)
        sxs__otlp__response__free_unpacked(answer, NULL);
    return verdict;
}

const struct sxs_push_target sxs_push_otlp = {
    .name = "otlp",
    .schemes = "http,https",
    .endpoint = "/v1development/profiles",
    .encode = encode,
    .judge = judge,
};
