/* SPDX-License-Identifier: MIT */
/*
 * The targets "pyroscope" and "ingest": pprof profiles to Pyroscope, and to what takes the same
 * requests. docs/internals/push.md has the facts of both interfaces.
 * Each kind of data is a profile and a request of its own.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/output/must.h"
#include "cmd/push/base64.h"
#include "cmd/push/labels.h"
#include "cmd/push/targets.h"
#include "cmd/report/costs.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/gzip.h"
#include "cmd/report/pprof.h"

/* The name under which Pyroscope lists a profile; those of its own agents where there is one. */
static const char *profile_name(const struct sxs_model *m)
{
    switch (m->data) {
    case SXS_DATA_ALLOC: return "memory";
    case SXS_DATA_NATIVE: return "native_memory";
    case SXS_DATA_LOCKS: return "mutex";
    default:
        return m->n_processes && m->processes[0].head.mode == SXS_MODE_WALL ? "wall"
                                                                            : "process_cpu";
    }
}

static uint8_t *encode_model(const struct sxs_push_batch *b, const struct sxs_model *m,
                             size_t *size)
{
    const struct sxs_pprof_period period = {b->from_ns, b->to_ns};
    return sxs_pprof_encode(m, &period, NULL, size);
}

/* ---- pyroscope: the service push.v1.PusherService, as JSON ------------------------------------ */

/* Writes the name of a label: dots are not allowed in it. */
static void plain_key(const char *key, char *out, size_t size)
{
    snprintf(out, size, "%s", key);
    for (char *c = out; *c; c++)
        *c = *c == '.' ? '_' : *c;
}

static void add_pair(void *arg, const char *key, const char *value)
{
    char name[128];
    plain_key(key, name, sizeof(name));
    json_array_append_new(arg, json_pack("{s:s, s:s}", "name", name, "value", value));
}

/* The id as a UUID; that of each kind of data differs. */
static void uuid_of(const struct sxs_push_batch *b, enum sxs_data data, char out[40])
{
    const uint8_t *i = b->id;
    snprintf(out, 40, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", i[0],
             i[1], i[2], i[3], i[4], i[5], 0x40 | (i[6] & 15), i[7], 0x80 | (i[8] & 63), i[9],
             i[10], i[11], i[12], i[13], i[14], i[15] ^ (unsigned)data);
}

static int emit_push(const struct sxs_push_settings *s, const struct sxs_push_batch *b,
                     const struct sxs_model *m, struct sxs_push_out *out)
{
    size_t   size, body_size;
    char     uuid[40];
    json_t  *labels = json_array();
    uint8_t *profile = encode_model(b, m, &size);
    char    *text = sxs_base64(profile, size);
    free(profile);
    add_pair(labels, "__name__", profile_name(m));
    add_pair(labels, "__delta__", "false"); /* values are of this period, and do not grow */
    add_pair(labels, "service_name", b->service);
    sxs_push_labels(s, b, add_pair, labels);
    uuid_of(b, m->data, uuid);
    json_t *top = json_pack("{s:[{s:o, s:[{s:s, s:s}]}]}", "series", "labels", labels, "samples",
                            "ID", uuid, "rawProfile", text);
    char   *json = top ? json_dumps(top, JSON_COMPACT) : NULL;
    json_decref(top);
    free(text);
    if (!json)
        return -ENOMEM;
    uint8_t *body = sxs_gzip(json, strlen(json), &body_size);
    free(json);
    const struct sxs_push_request r = {"/push.v1.PusherService/Push", "application/json", "gzip",
                                       body, body_size};
    int                           err = sxs_push_emit(out, &r);
    free(body);
    return err;
}

static int encode_pyroscope(const struct sxs_push_settings *s, const struct sxs_push_batch *b,
                            struct sxs_push_out *out)
{
    int err = 0;
    for (size_t i = 0; i < b->n_models && !err; i++)
        err = emit_push(s, b, b->models[i], out);
    return err;
}

const struct sxs_push_target sxs_push_pyroscope = {
    .name = "pyroscope",
    .schemes = "http,https",
    .endpoint = "/push.v1.PusherService/Push",
    .encode = encode_pyroscope,
};

/* ---- ingest: POST /ingest, a form with the profile -------------------------------------------- */

struct name_text {
    FILE  *to;
    size_t n;
};

/* Writes a label of an application's name: k=v, without the characters that end it there. */
static void add_name_label(void *arg, const char *key, const char *value)
{
    struct name_text *t = arg;
    char              name[128];
    plain_key(key, name, sizeof(name));
    fprintf(t->to, "%s%s=", t->n++ ? "," : "{", name);
    for (; *value; value++)
        fputc(strchr("{},=\"", *value) ? '_' : *value, t->to);
}

/* Writes @text as a part of a query. */
static void put_query(FILE *to, const char *text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *text; text++)
        if (strchr(plain, *text))
            fputc(*text, to);
        else
            fprintf(to, "%%%02X", (unsigned char)*text);
}

/* Returns the path with its query: owned. */
static char *ingest_path(const struct sxs_push_settings *s, const struct sxs_push_batch *b,
                         const struct sxs_model *m)
{
    char            *name = NULL, *path = NULL;
    size_t           size;
    struct name_text t = {sxs_must(open_memstream(&name, &size)), 0};
    for (const char *c = b->service; *c; c++)
        fputc(strchr("{},=\"", *c) ? '_' : *c, t.to);
    sxs_push_labels(s, b, add_name_label, &t);
    add_name_label(&t, "data", sxs_data_kind(m->data)->name); /* "memory" is of two kinds */
    fputs(t.n ? "}" : "{}", t.to);
    fclose(t.to);
    FILE *to = sxs_must(open_memstream(&path, &size));
    fputs("/ingest?name=", to);
    put_query(to, name);
    fprintf(to, "&from=%" PRIu64 "&until=%" PRIu64 "&format=pprof&spyName=sxsprof",
            b->from_ns / 1000000000u, (b->to_ns + 999999999u) / 1000000000u);
    fclose(to);
    free(name);
    return path;
}

/* Returns the names and units of the values of a profile, as JSON: owned. */
static char *sample_type_config(const struct sxs_model *m)
{
    const struct sxs_data_kind *k = sxs_data_kind(m->data);
    bool                        lock = m->data == SXS_DATA_LOCKS;
    bool                        wall = m->n_processes && m->processes[0].head.mode == SXS_MODE_WALL;
    const char                 *weight = k->pprof_weight ? k->pprof_weight : wall ? "wall" : "cpu";
    const char                 *shown = lock ? "mutex_duration" : weight;
    json_t                     *top = json_pack(
                            "{s:{s:s, s:s, s:s, s:b}, s:{s:s, s:s, s:s, s:b}}", k->pprof_count, "units",
        k->cost ? lock ? "lock_samples" : "objects" : "samples", "aggregation", "sum",
                            "display-name", lock ? "mutex_count" : k->pprof_count, "sampled", false, weight, "units",
        k->unit == SXS_UNIT_BYTES ? "bytes"
                            : lock                    ? "lock_nanoseconds"
                                                      : "nanoseconds",
                            "aggregation", "sum", "display-name", shown, "sampled", false);
    char *text = top ? json_dumps(top, JSON_COMPACT) : NULL;
    json_decref(top);
    return text;
}

static void put_part(FILE *to, const char *boundary, const char *name, const void *bytes,
                     size_t size)
{
    fprintf(to,
            "--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n"
            "Content-Type: application/octet-stream\r\n\r\n",
            boundary, name, name);
    fwrite(bytes, 1, size, to);
    fputs("\r\n", to);
}

static int emit_ingest(const struct sxs_push_settings *s, const struct sxs_push_batch *b,
                       const struct sxs_model *m, struct sxs_push_out *out)
{
    static const char boundary[] = "sxsprof-7d1b9c0a52f04e6e9a0c3f58";
    size_t            size, body_size;
    char    *body = NULL, *config = sxs_must(sample_type_config(m)), *path = ingest_path(s, b, m);
    uint8_t *profile = encode_model(b, m, &size);
    FILE    *to = sxs_must(open_memstream(&body, &body_size));
    put_part(to, boundary, "profile", profile, size);
    put_part(to, boundary, "sample_type_config", config, strlen(config));
    fprintf(to, "--%s--\r\n", boundary);
    int err = fclose(to) != 0 ? -ENOMEM : 0;
    free(profile);
    free(config);
    const struct sxs_push_request r = {
        path, "multipart/form-data; boundary=sxsprof-7d1b9c0a52f04e6e9a0c3f58", NULL, body,
        body_size};
    if (!err)
        err = sxs_push_emit(out, &r);
    free(path);
    free(body);
    return err;
}

static int encode_ingest(const struct sxs_push_settings *s, const struct sxs_push_batch *b,
                         struct sxs_push_out *out)
{
    int err = 0;
    for (size_t i = 0; i < b->n_models && !err; i++)
        err = emit_ingest(s, b, b->models[i], out);
    return err;
}

const struct sxs_push_target sxs_push_ingest = {
    .name = "ingest",
    .schemes = "http,https",
    .endpoint = "/ingest",
    .encode = encode_ingest,
};
