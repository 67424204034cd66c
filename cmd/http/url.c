/* SPDX-License-Identifier: MIT */
#include "cmd/http/url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parts of a URL: borrowed from it. */
struct parts {
    const char *host, *port, *path; /* path: from its first slash; "" */
    size_t      scheme_size, host_size, port_size;
};

/* Returns false when @url is not SCHEME://HOST... */
static bool split(const char *url, struct parts *out)
{
    const char *mark = strstr(url, "://");
    if (!mark || mark == url)
        return false;
    out->scheme_size = (size_t)(mark - url);
    out->host = mark + 3;
    size_t      authority = strcspn(out->host, "/?#");
    const char *end = out->host + authority, *colon = NULL;
    out->path = end;
    if (*out->host == '[') {
        const char *close = memchr(out->host, ']', authority);
        if (!close)
            return false;
        out->host_size = (size_t)(close + 1 - out->host);
        if (close + 1 < end)
            colon = close[1] == ':' ? close + 1 : NULL;
        if (close + 1 < end && !colon)
            return false;
    } else {
        colon = memchr(out->host, ':', authority);
        out->host_size = colon ? (size_t)(colon - out->host) : authority;
    }
    out->port = colon ? colon + 1 : end;
    out->port_size = (size_t)(end - out->port);
    return out->host_size > 0 && (!colon || out->port_size > 0);
}

static bool is_in_list(const char *word, size_t size, const char *list)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        if (n == size && strncasecmp(word, list, n) == 0)
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

bool sxs_url_has_scheme(const char *url, const char *schemes)
{
    const char *mark = strstr(url, "://");
    return mark && is_in_list(url, (size_t)(mark - url), schemes);
}

static bool is_port(const struct parts *p)
{
    long number = p->port_size <= 5 ? strtol(p->port, NULL, 10) : 0;
    return !p->port_size ||
           (strspn(p->port, "0123456789") >= p->port_size && number > 0 && number < 65536);
}

const char *sxs_url_check(const char *url, const char *schemes, char *buf, size_t size)
{
    struct parts p;
    for (const char *c = url; *c; c++)
        if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 127) {
            snprintf(buf, size, "it has a character that an address cannot have");
            return buf;
        }
    if (!sxs_url_has_scheme(url, schemes))
        snprintf(buf, size, "expected an address that begins with one of these, and ://: %s",
                 schemes);
    else if (!split(url, &p))
        snprintf(buf, size, "expected SCHEME://HOST:PORT, with a path or without");
    else if (memchr(p.host, '@', strcspn(p.host, "/?#")))
        snprintf(buf, size,
                 "an address with a user or a password can be seen in the list of "
                 "processes; expected --user, and the password in a file");
    else if (!is_port(&p))
        snprintf(buf, size, "expected a port from 1 to 65535");
    else if (strpbrk(p.path, "?#"))
        snprintf(buf, size, "expected an address without '?' and '#'");
    else
        return NULL;
    return buf;
}

bool sxs_url_is_local(const char *url)
{
    struct parts p;
    if (!split(url, &p))
        return false;
    return (p.host_size == 9 && strncasecmp(p.host, "localhost", 9) == 0) ||
           (p.host_size == 5 && strncmp(p.host, "[::1]", 5) == 0) ||
           (p.host_size > 4 && strncmp(p.host, "127.", 4) == 0 &&
            strspn(p.host, "0123456789.") >= p.host_size);
}

/* Returns the port as a number, by the scheme when the URL has none. */
static long port_of(const char *url, const struct parts *p)
{
    if (p->port_size)
        return strtol(p->port, NULL, 10);
    return is_in_list(url, p->scheme_size, "https") ? 443 : 80;
}

bool sxs_url_may_redirect(const char *from, const char *to)
{
    struct parts a, b;
    if (!sxs_url_has_scheme(to, "http,https") || !split(from, &a) || !split(to, &b))
        return false;
    bool same_host = a.host_size == b.host_size && strncasecmp(a.host, b.host, a.host_size) == 0;
    bool same_scheme = a.scheme_size == b.scheme_size && strncasecmp(from, to, a.scheme_size) == 0;
    bool safer = sxs_url_has_scheme(from, "http") && sxs_url_has_scheme(to, "https") &&
                 port_of(from, &a) == 80 && port_of(to, &b) == 443;
    return same_host && ((same_scheme && port_of(from, &a) == port_of(to, &b)) || safer);
}

bool sxs_url_has_path(const char *url, const char *path)
{
    size_t n = strlen(url), size = strlen(path);
    while (n && url[n - 1] == '/')
        n--;
    return n > size && strncmp(url + n - size, path, size) == 0;
}
