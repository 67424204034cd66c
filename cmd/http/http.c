/* SPDX-License-Identifier: MIT */
#include "cmd/http/http.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Options that newer versions replace: the older ones work with every version. */
#define CURL_DISABLE_DEPRECATION
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/own_library.h"
#include "cmd/http/url.h"

enum { MAX_REDIRECTS = 3, MAX_TOKEN = 16384, CONNECT_S = 10 };

/* The functions of libcurl. X(name, result, parameters) */
#define CURL_FUNCTIONS(X)                                                          \
    X(curl_global_init, CURLcode, (long))                                          \
    X(curl_easy_init, CURL *, (void))                                              \
    X(curl_easy_cleanup, void, (CURL *))                                           \
    X(curl_easy_reset, void, (CURL *))                                             \
    X(curl_easy_setopt, CURLcode, (CURL *, CURLoption, ...))                       \
    X(curl_easy_getinfo, CURLcode, (CURL *, CURLINFO, ...))                        \
    X(curl_easy_perform, CURLcode, (CURL *))                                       \
    X(curl_easy_strerror, const char *, (CURLcode))                                \
    X(curl_slist_append, struct curl_slist *, (struct curl_slist *, const char *)) \
    X(curl_slist_free_all, void, (struct curl_slist *))

struct functions {
#define X(name, result, parameters) result(*name) parameters;
    CURL_FUNCTIONS(X)
#undef X
};

struct sxs_http {
    struct functions                f;
    const struct sxs_http_settings *s;
    CURL                           *curl; /* keeps its connection from request to request */
};

/* One request in progress. */
struct transfer {
    struct sxs_http               *h;
    const struct sxs_http_request *r;
    struct sxs_http_answer        *a;
    char                           error[CURL_ERROR_SIZE];
};

static int load(struct functions *f, char *why, size_t size)
{
    static const char *const sonames[] = {"libcurl.so.4", "libcurl-gnutls.so.4",
                                          "libcurl-nss.so.4"};
    void *library = sxs_own_library_open(sonames, sizeof(sonames) / sizeof(sonames[0]));
    if (!library) {
        snprintf(why, size,
                 "libcurl.so.4, which sends requests, cannot be loaded (Debian: libcurl4)");
        return -1;
    }
#define X(name, result, parameters) *(void **)&f->name = dlsym(library, #name);
    CURL_FUNCTIONS(X)
#undef X
#define X(name, result, parameters) &&f->name
    if (1 CURL_FUNCTIONS(X))
        return 0;
#undef X
    snprintf(why, size, "libcurl lacks a function that is needed; expected version 7.66 or later");
    return -1;
}

static int check_file(const char *option, const char *path, char *why, size_t size)
{
    if (!path || access(path, R_OK) == 0)
        return 0;
    snprintf(why, size, "%s %s: it cannot be read", option, path);
    return -1;
}

/* Reads the token. Returns 0, or -1 with a line in @why, which does not have the token. */
static int read_token(const char *path, char *out, size_t out_size, char *why, size_t size)
{
    FILE  *file = fopen(path, "re");
    size_t n = file ? fread(out, 1, out_size - 1, file) : 0;
    if (file)
        fclose(file);
    while (n && isspace((unsigned char)out[n - 1]))
        n--;
    out[n] = '\0';
    bool plain = n > 0;
    for (size_t i = 0; i < n; i++)
        plain = plain && (unsigned char)out[i] > ' ' && (unsigned char)out[i] < 127;
    if (plain)
        return 0;
    snprintf(why, size, "--token-file %s: expected a file with one token", path);
    return -1;
}

int sxs_http_open(const struct sxs_http_settings *s, struct sxs_http **out, char *why, size_t size)
{
    char             token[MAX_TOKEN];
    struct sxs_http *h = NULL;
    *out = NULL;
    if (check_file("--ca", s->ca, why, size) != 0 ||
        check_file("--cert", s->cert, why, size) != 0 ||
        check_file("--key", s->key, why, size) != 0 ||
        (s->token_file && read_token(s->token_file, token, sizeof(token), why, size) != 0))
        return -1;
    explicit_bzero(token, sizeof(token));
    h = calloc(1, sizeof(*h));
    if (h && load(&h->f, why, size) != 0) {
        free(h);
        return -1;
    }
    if (h && h->f.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
        h->curl = h->f.curl_easy_init();
    if (!h || !h->curl) {
        free(h);
        snprintf(why, size, "libcurl cannot be started");
        return -1;
    }
    h->s = s;
    *out = h;
    return 0;
}

void sxs_http_close(struct sxs_http *h)
{
    if (!h)
        return;
    h->f.curl_easy_cleanup(h->curl);
    free(h);
}

/* ---- callbacks of libcurl --------------------------------------------------------------------- */

static size_t take_body(char *bytes, size_t one, size_t n, void *arg)
{
    struct transfer *t = arg;
    size_t           size = one * n, room = SXS_HTTP_BODY_MAX - t->a->size;
    long             status = 0;
    t->h->f.curl_easy_getinfo(t->h->curl, CURLINFO_RESPONSE_CODE, &status);
    if (t->r->take && status / 100 == 2)
        return t->r->take(t->r->take_arg, bytes, size) ? size : 0;
    size_t kept = size < room ? size : room;
    memcpy(t->a->body + t->a->size, bytes, kept);
    t->a->size += kept;
    t->a->body[t->a->size] = '\0';
    return size;
}

static int on_progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct transfer *t = arg;
    (void)a, (void)b, (void)c, (void)d;
    return t->h->s->stop && t->h->s->stop(t->h->s->stop_arg);
}

/* ---- one request ------------------------------------------------------------------------------ */

static void add_header(struct sxs_http *h, struct curl_slist **list, const char *name,
                       const char *value)
{
    char *line = NULL;
    if (asprintf(&line, "%s: %s", name, value) < 0)
        return;
    struct curl_slist *longer = h->f.curl_slist_append(*list, line);
    *list = longer ? longer : *list;
    explicit_bzero(line, strlen(line));
    free(line);
}

/* Returns the headers, owned by the caller; NULL with a line in a->why. */
static struct curl_slist *make_headers(struct transfer *t)
{
    struct sxs_http   *h = t->h;
    struct curl_slist *list = h->f.curl_slist_append(NULL, "Expect:");
    if (t->r->content_type)
        add_header(h, &list, "Content-Type", t->r->content_type);
    if (t->r->encoding)
        add_header(h, &list, "Content-Encoding", t->r->encoding);
    for (size_t i = 0; i <= h->s->n_headers; i++) {
        const char        *line = i < h->s->n_headers ? h->s->headers[i] : t->r->header;
        struct curl_slist *longer = line ? h->f.curl_slist_append(list, line) : NULL;
        list = longer ? longer : list;
    }
    if (h->s->token_file) {
        char token[MAX_TOKEN + 8] = "Bearer ";
        if (read_token(h->s->token_file, token + 7, MAX_TOKEN, t->a->why, sizeof(t->a->why)) != 0) {
            h->f.curl_slist_free_all(list);
            return NULL;
        }
        add_header(h, &list, "Authorization", token);
        explicit_bzero(token, sizeof(token));
    }
    return list;
}

static void set_tls(struct sxs_http *h)
{
#define SET(option, value) h->f.curl_easy_setopt(h->curl, option, value)
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (h->s->ca) {
        SET(CURLOPT_CAINFO, h->s->ca);
        SET(CURLOPT_CAPATH, NULL);
    }
    if (h->s->cert) {
        SET(CURLOPT_SSLCERT, h->s->cert);
        SET(CURLOPT_SSLKEY, h->s->key ? h->s->key : h->s->cert);
    }
}

static void set_options(struct transfer *t, const char *url, struct curl_slist *headers)
{
    struct sxs_http *h = t->h;
    h->f.curl_easy_reset(h->curl);
    SET(CURLOPT_URL, url);
    SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    SET(CURLOPT_TIMEOUT, (long)(h->s->timeout_s ? h->s->timeout_s : 30));
    SET(CURLOPT_ERRORBUFFER, t->error);
    SET(CURLOPT_HTTPHEADER, headers);
    SET(CURLOPT_USERAGENT, "sxsprof/" SXS_VERSION);
    SET(CURLOPT_WRITEFUNCTION, take_body);
    SET(CURLOPT_WRITEDATA, t);
    SET(CURLOPT_XFERINFOFUNCTION, on_progress);
    SET(CURLOPT_XFERINFODATA, t);
    SET(CURLOPT_NOPROGRESS, 0L);
    if (h->s->user) {
        SET(CURLOPT_USERNAME, h->s->user);
        SET(CURLOPT_PASSWORD, h->s->password ? h->s->password : "");
    }
    if (t->r->body) {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->r->size);
        SET(CURLOPT_POSTFIELDS, t->r->body);
    }
    set_tls(h);
#undef SET
}

/* Returns true for errors that no repetition cures. */
static bool is_hopeless(CURLcode code)
{
    switch ((int)code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION: /* also a certificate of another name */
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR: return true;
    default: return false;
    }
}

static void send_once(struct transfer *t, const char *url)
{
    struct sxs_http        *h = t->h;
    struct sxs_http_answer *a = t->a;
    char                   *to = NULL;
    curl_off_t              later = 0;
    a->status = a->retry_after_s = 0;
    a->size = 0;
    a->body[0] = a->why[0] = a->redirect[0] = t->error[0] = '\0';
    struct curl_slist *headers = make_headers(t);
    if (!headers) {
        a->hopeless = true;
        return;
    }
    set_options(t, url, headers);
    CURLcode code = h->f.curl_easy_perform(h->curl);
    if (code == CURLE_OK) {
        h->f.curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &a->status);
        h->f.curl_easy_getinfo(h->curl, CURLINFO_REDIRECT_URL, &to);
        if (h->f.curl_easy_getinfo(h->curl, CURLINFO_RETRY_AFTER, &later) == CURLE_OK && later > 0)
            a->retry_after_s = later < INT_MAX ? (long)later : INT_MAX;
        snprintf(a->redirect, sizeof(a->redirect), "%s", to ? to : "");
    } else {
        snprintf(a->why, sizeof(a->why), "%s",
                 t->error[0] ? t->error : h->f.curl_easy_strerror(code));
        a->hopeless = is_hopeless(code);
    }
    h->f.curl_slist_free_all(headers);
}

void sxs_http_send(struct sxs_http *h, const struct sxs_http_request *r, struct sxs_http_answer *a)
{
    struct transfer t = {.h = h, .r = r, .a = a};
    char            url[4096];
    a->hopeless = false;
    if (snprintf(url, sizeof(url), "%s", r->url) >= (int)sizeof(url)) {
        *a = (struct sxs_http_answer){.hopeless = true, .why = "the address is too long"};
        return;
    }
    for (int i = 0; i <= MAX_REDIRECTS; i++) {
        send_once(&t, url);
        if (a->status / 100 != 3 || !a->redirect[0] || !sxs_url_may_redirect(url, a->redirect))
            return;
        snprintf(url, sizeof(url), "%s", a->redirect);
    }
}
