/* SPDX-License-Identifier: MIT */
#include "cmd/fleet/server.h"

#include "base/env.h"
#include "cmd/http/http.h"
#include "cmd/output/must.h"

#include <string.h>

enum { TIMEOUT_S = 600 };

/* Error codes of the server. */
enum {
    UNKNOWN_TABLE = 60,
    UNKNOWN_DATABASE = 81,
    WRONG_PASSWORD = 193,
    UNKNOWN_USER = 192,
    NO_AUTHENTICATION = 194,
    AUTHENTICATION_FAILED = 516,
    READONLY = 164,
    ACCESS_DENIED = 497,
    DATABASE_ACCESS_DENIED = 291
};

struct sxs_fleet_server {
    const struct sxs_clickhouse_address *address;
    struct sxs_http_settings             settings;
    struct sxs_http                     *http;
};

struct sxs_fleet_server *sxs_fleet_server_open(const struct sxs_clickhouse_address   *address,
                                               const struct sxs_fleet_server_options *options,
                                               char *why, size_t size)
{
    struct sxs_fleet_server *c = sxs_must_zeroed(1, sizeof(*c));
    c->address = address;
    c->settings.ca = options->ca;
    c->settings.timeout_s = options->timeout_s ? options->timeout_s : TIMEOUT_S;
    c->settings.user = address->user;
    c->settings.password = sxs_env_named(SXS_CLICKHOUSE_PASSWORD);
    if (c->settings.password && !c->settings.user)
        c->settings.user = "default";
    if (c->settings.user && !c->settings.password)
        c->settings.password = "";
    if (sxs_http_open(&c->settings, &c->http, why, size) == 0)
        return c;
    sxs_fleet_server_close(c);
    return NULL;
}

void sxs_fleet_server_close(struct sxs_fleet_server *c)
{
    if (!c)
        return;
    sxs_http_close(c->http);
    free(c);
}

/* Takes a piece of an answer. Returns false when the answer is too long. */
static bool take(void *arg, const char *bytes, size_t size)
{
    struct sxs_fleet_answer *a = arg;
    if (size > SXS_FLEET_MAX_ANSWER - a->size)
        return false;
    if (a->cap - a->size <= size) {
        a->cap = (a->cap + size) * 2 + 4096;
        a->bytes = sxs_must(realloc(a->bytes, a->cap));
    }
    memcpy(a->bytes + a->size, bytes, size);
    a->size += size;
    a->bytes[a->size] = '\0';
    return true;
}

/* Says why a statement was refused, and what to do. */
static void explain(const struct sxs_fleet_server *c, const char *body, long status, char *why,
                    size_t size)
{
    char reason[400];
    int  code = sxs_clickhouse_reason(body, reason, sizeof(reason));
    switch (code) {
    case UNKNOWN_TABLE:
    case UNKNOWN_DATABASE:
        snprintf(why, size,
                 "%s: no tables of sxsprof in database %s; make them with sxsprof fleet init",
                 c->address->base, c->address->database);
        return;
    case WRONG_PASSWORD:
    case UNKNOWN_USER:
    case NO_AUTHENTICATION:
    case AUTHENTICATION_FAILED:
        snprintf(why, size,
                 "%s: the server knows no user %s with this password (from " SXS_CLICKHOUSE_PASSWORD
                 ")",
                 c->address->base, c->address->user ? c->address->user : "default");
        return;
    case READONLY:
    case ACCESS_DENIED:
    case DATABASE_ACCESS_DENIED:
        snprintf(why, size, "%s: user %s may not do this: %s", c->address->base,
                 c->address->user ? c->address->user : "default", reason);
        return;
    default: snprintf(why, size, "%s: HTTP status %ld: %s", c->address->base, status, reason);
    }
}

static char *make_url(const struct sxs_fleet_server *c, bool in_database)
{
    char *url = NULL;
    if (asprintf(&url, "%s/?wait_end_of_query=1%s%s", c->address->base,
                 in_database ? "&database=" : "", in_database ? c->address->database : "") < 0)
        sxs_must(NULL);
    return url;
}

int sxs_fleet_query(struct sxs_fleet_server *c, const char *sql, bool in_database,
                    struct sxs_fleet_answer *out, char *why, size_t size)
{
    *out = (struct sxs_fleet_answer){0};
    char                   *url = make_url(c, in_database);
    struct sxs_http_answer *a = sxs_must_zeroed(1, sizeof(*a));
    struct sxs_http_request r = {.url = url,
                                 .body = sql,
                                 .size = strlen(sql),
                                 .content_type = "text/plain; charset=UTF-8",
                                 .take = take,
                                 .take_arg = out};
    take(out, "", 0);
    sxs_http_send(c->http, &r, a);
    bool ok = a->status >= 200 && a->status < 300;
    if (a->status == 0)
        snprintf(why, size, "%s: %s", c->address->base, a->why);
    else if (!ok)
        explain(c, a->body, a->status, why, size);
    free(url);
    free(a);
    return ok ? 0 : -1;
}

void sxs_fleet_answer_free(struct sxs_fleet_answer *a)
{
    free(a->bytes);
    *a = (struct sxs_fleet_answer){0};
}
