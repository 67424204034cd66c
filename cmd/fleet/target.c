/* SPDX-License-Identifier: MIT */
#include "cmd/fleet/target.h"

#include "cmd/clickhouse/address.h"
#include "cmd/clickhouse/encode.h"
#include "cmd/fleet/joining.h"
#include "cmd/output/must.h"
#include "cmd/push/labels.h"

#include <string.h>

/* ---- the address ----------------------------------------------------------------------------- */

static int check(const struct sxs_push_settings *s, char *why, size_t size)
{
    struct sxs_clickhouse_address address;
    int                           err = sxs_clickhouse_address_parse(s->to, &address, why, size);
    if (!err && address.user) {
        snprintf(why, size, "'%s': a user is given by --user, the password by --password-file",
                 s->to);
        err = -1;
    }
    sxs_clickhouse_address_free(&address);
    return err;
}

static char *base(const struct sxs_push_settings *s)
{
    struct sxs_clickhouse_address address;
    char                          why[400];
    char                         *url = NULL;
    if (sxs_clickhouse_address_parse(s->to, &address, why, sizeof(why)) == 0)
        url = strdup(address.base);
    sxs_clickhouse_address_free(&address);
    return url;
}

/* ---- the source ------------------------------------------------------------------------------ */

struct fleet_source {
    struct sxs_clickhouse_source is;
    struct sxs_clickhouse_label *labels; /* owned, with their texts */
    size_t                       cap_labels;
    const char                 **runtimes;   /* owned */
    char                        *columns[4]; /* owned; texts of the columns below */
};

/* Takes a label: those that have a column of their own become its text. */
static void take_label(void *arg, const char *key, const char *value)
{
    static const char *const columns[] = {"service.version", "host.name", "container.id",
                                          "process.pid"};
    struct fleet_source     *s = arg;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        if (strcmp(key, columns[i]) == 0) {
            free(s->columns[i]);
            s->columns[i] = sxs_must(strdup(value));
            return;
        }
    if (strncmp(key, "process.", 8) == 0) /* the command and the runtimes are columns, too */
        return;
    SXS_GROW(s->labels, s->is.n_labels, s->cap_labels);
    s->labels[s->is.n_labels++] =
        (struct sxs_clickhouse_label){sxs_must(strdup(key)), sxs_must(strdup(value))};
}

static void describe(const struct sxs_push_settings *s, const struct sxs_push_batch *b,
                     struct fleet_source *out)
{
    const struct sxs_session_process *p = b->process;
    *out =
        (struct fleet_source){.runtimes = sxs_must_zeroed(p->n_runtimes, sizeof(*out->runtimes))};
    for (size_t i = 0; i < p->n_runtimes; i++)
        out->runtimes[i] = p->runtimes[i].version;
    sxs_push_labels(s, b, take_label, out);
    out->is.service = b->service;
    out->is.version = out->columns[0] ? out->columns[0] : "";
    out->is.machine = out->columns[1] ? out->columns[1] : "";
    out->is.container = out->columns[2] ? out->columns[2] : "";
    out->is.process = out->columns[3] ? out->columns[3] : "";
    out->is.command = p->command;
    out->is.runtimes = out->runtimes;
    out->is.n_runtimes = p->n_runtimes;
    out->is.labels = out->labels;
}

static void free_source(struct fleet_source *s)
{
    for (size_t i = 0; i < s->is.n_labels; i++) {
        free(s->labels[i].key);
        free(s->labels[i].value);
    }
    for (size_t i = 0; i < sizeof(s->columns) / sizeof(s->columns[0]); i++)
        free(s->columns[i]);
    free(s->labels);
    free(s->runtimes);
}

/* ---- batches ---------------------------------------------------------------------------------- */

/* A batch waits as one request, which is never sent as it is: see cmd/fleet/joining.h. */
static int encode(const struct sxs_push_settings *s, const struct sxs_push_batch *b,
                  struct sxs_push_out *out)
{
    struct fleet_source        source;
    struct sxs_clickhouse_rows rows;
    struct sxs_rows            body = {0};
    describe(s, b, &source);
    struct sxs_clickhouse_batch batch = {.from_ns = b->from_ns,
                                         .to_ns = b->to_ns,
                                         .source = &source.is,
                                         .models = b->models,
                                         .n_models = b->n_models};
    memcpy(&batch.id, b->id, sizeof(batch.id));
    sxs_clickhouse_encode(&batch, &rows);
    for (unsigned t = 0; t < SXS_CLICKHOUSE_N_TABLES; t++) {
        sxs_rows_u64(&body, rows.of[t].size);
        sxs_rows_bytes(&body, rows.of[t].bytes, rows.of[t].size);
    }
    const struct sxs_push_request r = {SXS_FLEET_ROWS, "application/octet-stream", NULL, body.bytes,
                                       body.size};
    int                           err = sxs_push_emit(out, &r);
    sxs_rows_free(&body);
    sxs_clickhouse_rows_free(&rows);
    free_source(&source);
    return err;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Error codes of the server. All come with status 500 from old servers. */
enum {
    UNKNOWN_ELEMENT = 49, /* of an Enum: tables of an earlier version */
    UNKNOWN_TABLE = 60,
    UNKNOWN_DATABASE = 81,
    READONLY = 164,
    UNKNOWN_USER = 192,
    WRONG_PASSWORD = 193,
    NO_PASSWORD = 194,
    DATABASE_ACCESS_DENIED = 291,
    ACCESS_DENIED = 497,
    AUTHENTICATION_FAILED = 516,
};

/* Damage that the same bytes have each time. */
static bool is_our_fault(int code)
{
    static const int codes[] = {6, 16, 20, 27, 33, 36, 43, 47, 48, 50, 53, 62};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (codes[i] == code)
            return true;
    return false;
}

static enum sxs_push_verdict judge(const struct sxs_push_answer *a, char *why, size_t size)
{
    int code = sxs_clickhouse_reason(a->body ? a->body : "", why, size);
    if (!code) {
        why[0] = '\0';
        return sxs_push_judge(a->status);
    }
    switch (code) {
    case UNKNOWN_ELEMENT:
        snprintf(why, size,
                 "the tables there are of an earlier version of sxsprof; sxsprof fleet init brings "
                 "them up to date");
        return SXS_PUSH_STOP;
    case UNKNOWN_TABLE:
    case UNKNOWN_DATABASE:
        snprintf(why, size, "no tables of sxsprof there; make them with sxsprof fleet init");
        return SXS_PUSH_STOP;
    case READONLY:
    case UNKNOWN_USER:
    case WRONG_PASSWORD:
    case NO_PASSWORD:
    case DATABASE_ACCESS_DENIED:
    case ACCESS_DENIED:
    case AUTHENTICATION_FAILED: return SXS_PUSH_STOP;
    default: return is_our_fault(code) ? SXS_PUSH_REFUSED : SXS_PUSH_LATER;
    }
}

/* ---- the target ------------------------------------------------------------------------------ */

static const struct sxs_push_joining joining = {
    .open = sxs_fleet_joining_open,
    .close = sxs_fleet_joining_close,
    .join = sxs_fleet_joining_join,
    .accepted = sxs_fleet_joining_accepted,
    .failed = sxs_fleet_joining_failed,
};

const struct sxs_push_target sxs_push_clickhouse = {
    .name = "clickhouse",
    .schemes = "clickhouse,clickhouses",
    .check = check,
    .base = base,
    .encode = encode,
    .judge = judge,
    .joining = &joining,
    .more_data = 1u << SXS_DATA_LIVE | 1u << SXS_DATA_NATIVE_LIVE | 1u << SXS_DATA_WAIT,
};
