/* SPDX-License-Identifier: MIT */
#include "cmd/clickhouse/address.h"

#include "cmd/clickhouse/sql.h"
#include "cmd/output/must.h"
#include "cmd/output/strings.h"

#include <string.h>

static const char EXPECTED[] = "expected clickhouse://[USER@]HOST[:PORT][/DATABASE] (clickhouses:// "
                               "with TLS)";

static const struct scheme {
    const char *name, *http;
    const char *port; /* when the URL has none */
} schemes[] = {{"clickhouse://", "http://", ":8123"},
               {"clickhouses://", "https://", ":8443"},
               {"http://", "http://", ":8123"},
               {"https://", "https://", ":8443"}};

static const struct scheme *find_scheme(const char *url)
{
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
        if (strncmp(url, schemes[i].name, strlen(schemes[i].name)) == 0)
            return &schemes[i];
    return NULL;
}

/* Returns the length of the port with its colon at the end of @host, which has @len bytes; 0: none.
 * -1: it is no port. */
static int port_len(const char *host, size_t len)
{
    size_t digits = 0;
    while (digits < len && host[len - digits - 1] >= '0' && host[len - digits - 1] <= '9')
        digits++;
    if (host[0] == '[' && host[len - 1] == ']')
        return 0;
    if (digits < len && host[len - digits - 1] == ':')
        return digits && digits < 6 && len > digits + 1 && atoi(host + len - digits) < 65536
                   ? (int)digits + 1
                   : -1;
    return memchr(host, ':', len) ? -1 : 0;
}

static bool is_host(const char *host, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]", host[i]))
            return false;
    return len > 0 && port_len(host, len) >= 0;
}

int sxs_clickhouse_address_parse(const char *url, struct sxs_clickhouse_address *out, char *why,
                                 size_t size)
{
    const struct scheme *scheme = find_scheme(url);
    *out = (struct sxs_clickhouse_address){0};
    if (!scheme) {
        snprintf(why, size, "'%s': %s", url, EXPECTED);
        return -1;
    }
    const char *host = url + strlen(scheme->name), *path = host + strcspn(host, "/?#");
    const char *at = memrchr(host, '@', (size_t)(path - host));
    if (at && memchr(host, ':', (size_t)(at - host))) {
        snprintf(why, size, "a password in a URL can be seen by everybody; expected it in "
                            SXS_CLICKHOUSE_PASSWORD);
        return -1;
    }
    out->user = at ? sxs_must(strndup(host, (size_t)(at - host))) : NULL;
    host = at ? at + 1 : host;
    const char *database = *path == '/' && path[1] ? path + 1 : *path == '/' || !*path ? "sxsprof" : "";
    out->database = sxs_must(strdup(database));
    if (!is_host(host, (size_t)(path - host)) || !sxs_sql_is_name(database) ||
        (out->user && !*out->user)) {
        snprintf(why, size, "'%s': %s", url, EXPECTED);
        return -1;
    }
    bool has_port = port_len(host, (size_t)(path - host)) > 0;
    if (asprintf(&out->base, "%s%.*s%s", scheme->http, (int)(path - host), host,
                 has_port ? "" : scheme->port) < 0)
        sxs_must(NULL);
    return 0;
}

void sxs_clickhouse_address_free(struct sxs_clickhouse_address *a)
{
    free(a->base);
    free(a->user);
    free(a->database);
    *a = (struct sxs_clickhouse_address){0};
}

int sxs_clickhouse_reason(const char *body, char *why, size_t size)
{
    static const char exception[] = "DB::Exception: ";
    const char       *code = strstr(body, "Code: "), *text = strstr(body, exception);
    text = text ? text + sizeof(exception) - 1 : body;
    size_t      len = strcspn(text, "\n");
    const char *end = memmem(text, len, ", e.what()", 10);
    if (end)
        len = (size_t)(end - text);
    if (!len)
        text = "no reason was given";
    snprintf(why, size, "%.*s", (int)(len && len < 300 ? len : 300), text);
    sxs_strings_clean(why, strlen(why));
    return code ? atoi(code + 6) : 0;
}
