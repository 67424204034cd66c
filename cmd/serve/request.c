/* SPDX-License-Identifier: MIT */
#include "cmd/serve/request.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the target ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes @len bytes of percent-encoded text. Returns false when the text is malformed, contains a
 * zero, or does not fit into @size bytes with a final zero. */
static bool decode(const char *text, size_t len, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        int c = (unsigned char)text[i];
        if (c == '%') {
            int high = len - i > 2 ? hex_digit(text[i + 1]) : -1;
            int low = len - i > 2 ? hex_digit(text[i + 2]) : -1;
            c = high < 0 || low < 0 ? 0 : high * 16 + low;
            i += 2;
        }
        if (!c || n + 1 >= size)
            return false;
        out[n++] = (char)c;
    }
    out[n] = '\0';
    return true;
}

/* Takes the name of a session. Hidden names are refused together with "." and "..". */
static bool take_name(const char *text, size_t len, struct sxs_serve_wanted *out)
{
    return decode(text, len, out->name, sizeof(out->name)) && out->name[0] && out->name[0] != '.' &&
           !strchr(out->name, '/');
}

static bool is_word(const char *text)
{
    return *text && strspn(text, "abcdefghijklmnopqrstuvwxyz-") == strlen(text);
}

/* Takes "key=value" of a query. */
static bool take_option(const char *text, size_t len, struct sxs_serve_wanted *out)
{
    static const char *const keys[] = {"data=", "format=", "token="};
    char *const              values[] = {out->data, out->format, out->token};
    const size_t             sizes[] = {sizeof(out->data), sizeof(out->format), sizeof(out->token)};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        size_t key = strlen(keys[i]);
        if (len < key || strncmp(text, keys[i], key) != 0)
            continue;
        return !*values[i] && decode(text + key, len - key, values[i], sizes[i]) &&
               (values[i] == out->token ? *values[i] != '\0' : is_word(values[i]));
    }
    return false;
}

static bool take_query(const char *query, struct sxs_serve_wanted *out)
{
    for (const char *at = query; *at;) {
        size_t len = strcspn(at, "&");
        if (!take_option(at, len, out))
            return false;
        at += len;
        if (*at == '&' && !*++at)
            return false;
    }
    return true;
}

/* Returns true when the text from @path to @end is @name. */
static bool is_path(const char *path, const char *end, const char *name)
{
    return (size_t)(end - path) == strlen(name) && strncmp(path, name, strlen(name)) == 0;
}

static bool take_session(const char *path, const char *end, struct sxs_serve_wanted *out)
{
    static const struct {
        const char         *name;
        enum sxs_serve_kind kind;
    } parts[] = {{"", SXS_SERVE_PAGE},
                 {"data", SXS_SERVE_DATA},
                 {"report", SXS_SERVE_REPORT},
                 {"heap", SXS_SERVE_HEAP}};
    const char *slash = memchr(path, '/', (size_t)(end - path));
    if (!slash || !take_name(path, (size_t)(slash - path), out))
        return false;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (is_path(slash + 1, end, parts[i].name)) {
            out->kind = parts[i].kind;
            return true;
        }
    return false;
}

bool sxs_serve_parse(const char *target, struct sxs_serve_wanted *out)
{
    static const char session[] = "/session/";
    *out = (struct sxs_serve_wanted){.kind = SXS_SERVE_LIST_PAGE};
    if (strlen(target) > SXS_SERVE_TARGET_MAX)
        return false;
    const char *end = target + strcspn(target, "?");
    if (is_path(target, end, "/sessions"))
        out->kind = SXS_SERVE_LIST;
    else if (strncmp(target, session, sizeof(session) - 1) == 0) {
        if (!take_session(target + sizeof(session) - 1, end, out))
            return false;
    } else if (!is_path(target, end, "/"))
        return false;
    if (*end && !take_query(end + 1, out))
        return false;
    bool has_data = out->kind == SXS_SERVE_DATA || out->kind == SXS_SERVE_REPORT;
    return (has_data || !*out->data) && (out->kind == SXS_SERVE_REPORT) == (*out->format != '\0');
}

/* ---- secrets ---- */

bool sxs_serve_same(const char *a, const char *b)
{
    size_t            n = strlen(a), m = strlen(b);
    volatile unsigned differ = n != m;
    for (size_t i = 0; i < n; i++)
        differ |= (unsigned char)a[i] ^ (unsigned char)b[m ? i % m : 0];
    return !differ;
}

bool sxs_serve_cookie(const char *header, const char *name, char *out, size_t size)
{
    size_t len = strlen(name);
    for (const char *at = header; at && *at;) {
        at += strspn(at, " \t;");
        size_t whole = strcspn(at, ";");
        if (whole > len && at[len] == '=' && strncmp(at, name, len) == 0) {
            size_t value = whole - len - 1;
            while (value && (at[len + value] == ' ' || at[len + value] == '\t'))
                value--;
            if (value >= size)
                return false;
            memcpy(out, at + len + 1, value);
            out[value] = '\0';
            return true;
        }
        at += whole;
    }
    return false;
}

/* ---- names of the server ---- */

/* Splits "NAME:PORT" or "[ADDRESS]:PORT". @out: receives the name without brackets; holds @size
 * bytes. @port: receives the text after the colon, which is in @text; NULL: there is no port. */
static bool split_host(const char *text, char *out, size_t size, const char **port)
{
    bool        bracket = *text == '[';
    const char *end = bracket ? strchr(++text, ']') : text + strcspn(text, ":");
    if (!end || end == text || (size_t)(end - text) >= size)
        return false;
    memcpy(out, text, (size_t)(end - text));
    out[end - text] = '\0';
    end += bracket;
    *port = *end == ':' ? end + 1 : NULL;
    return *end == ':' || *end == '\0';
}

static bool parse_port(const char *text, unsigned *port)
{
    char *end;
    if (*text < '0' || *text > '9' || strlen(text) > 5)
        return false;
    *port = (unsigned)strtoul(text, &end, 10);
    return *end == '\0' && *port <= 65535;
}

/* An address of either family; an IPv4 address is mapped to IPv6. */
static bool parse_address(const char *text, uint8_t out[16])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    if (inet_pton(AF_INET6, text, out) == 1)
        return true;
    memcpy(out, mapped, sizeof(mapped));
    return inet_pton(AF_INET, text, out + 12) == 1;
}

static bool is_loopback(const uint8_t a[16])
{
    static const uint8_t six[16] = {[15] = 1}, four[13] = {[10] = 0xff, [11] = 0xff, [12] = 127};
    return memcmp(a, six, sizeof(six)) == 0 || memcmp(a, four, sizeof(four)) == 0;
}

bool sxs_serve_host_ok(const char *host, const struct sxs_serve_names *names)
{
    char        name[256];
    const char *port;
    unsigned    number;
    uint8_t     address[16], own[16];
    if (!host || !split_host(host, name, sizeof(name), &port) ||
        (port && !parse_port(port, &number)))
        return false;
    if (strcasecmp(name, "localhost") == 0)
        return true;
    for (size_t i = 0; names->more && names->more[i]; i++)
        if (strcasecmp(name, names->more[i]) == 0)
            return true;
    if (!parse_address(name, address))
        return false;
    return names->any || is_loopback(address) ||
           (parse_address(names->address, own) && memcmp(address, own, sizeof(own)) == 0);
}

bool sxs_serve_origin_ok(const char *origin, const char *fetch, const char *host)
{
    if (fetch && strcmp(fetch, "same-origin") != 0 && strcmp(fetch, "none") != 0)
        return false;
    return !origin ||
           (host && strncmp(origin, "http://", 7) == 0 && strcasecmp(origin + 7, host) == 0);
}

bool sxs_serve_listen_parse(const char *text, char *address, size_t size, unsigned *port)
{
    char        name[64];
    const char *digits;
    uint8_t     bytes[16];
    *port = 0;
    snprintf(address, size, "127.0.0.1");
    if (parse_port(text, port))
        return true;
    if (strchr(text, ':') != strrchr(text, ':') && *text != '[') { /* IPv6 without a port */
        snprintf(address, size, "%s", text);
        return strlen(text) < size && parse_address(text, bytes);
    }
    if (!split_host(text, name, sizeof(name), &digits) || (digits && !parse_port(digits, port)))
        return false;
    if (strcmp(name, "localhost") == 0)
        return true;
    snprintf(address, size, "%s", name);
    return strlen(name) < size && parse_address(name, bytes);
}
