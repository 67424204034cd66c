/* SPDX-License-Identifier: MIT */
#include "cmd/serve/answer.h"

#include "cmd/heap/heap.h"
#include "cmd/report/page_data.h"
#include "cmd/serve/content.h"
#include "sxs_list_page.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SAID = 8 << 10 };

/* One request. */
struct page_request {
    struct sxs_serve_waiter waiter; /* the first field */
    struct sxs_serve_pages *pages;
    struct MHD_Connection  *connection;
    struct sxs_serve_wanted wanted;
    struct sxs_serve_entry *entry;
    bool                    begun, waited;
    char                    target[SXS_SERVE_TARGET_MAX + 2]; /* cut, and then too long */
};

/* ---- responses ---- */

static void add_header(const struct page_request *r, struct MHD_Response *to, const char *name,
                       const char *value)
{
    r->pages->http->add_response_header(to, name, value);
}

/* Sends @response, which is freed, with the headers that all responses have. */
static enum MHD_Result send_response(const struct page_request *r, unsigned status,
                                     struct MHD_Response *response, const char *type,
                                     const char *policy)
{
    if (!response)
        return MHD_NO;
    add_header(r, response, "Content-Type", type);
    add_header(r, response, "Content-Security-Policy",
               policy ? policy : "default-src 'none'; frame-ancestors 'none'");
    add_header(r, response, "X-Content-Type-Options", "nosniff");
    add_header(r, response, "X-Frame-Options", "DENY");
    add_header(r, response, "Referrer-Policy", "no-referrer");
    add_header(r, response, "Cross-Origin-Resource-Policy", "same-origin");
    add_header(r, response, "Cross-Origin-Opener-Policy", "same-origin");
    add_header(r, response, "Cache-Control", "no-store");
    enum MHD_Result result = r->pages->http->queue_response(r->connection, status, response);
    r->pages->http->destroy_response(response);
    return result;
}

static struct MHD_Response *response_of(const struct page_request *r, const char *text, size_t size)
{
    char *copy = malloc(size + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, size);
    return r->pages->http->create_response_from_buffer(size, copy, MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result say(const struct page_request *r, unsigned status, const char *text)
{
    struct MHD_Response *response = response_of(r, text, strlen(text));
    if (response && status == MHD_HTTP_METHOD_NOT_ALLOWED)
        add_header(r, response, "Allow", "GET, HEAD");
    return send_response(r, status, response, "text/plain; charset=utf-8", NULL);
}

static const char *header_of(const struct page_request *r, const char *name)
{
    return r->pages->http->lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

/* ---- who may ask ---- */

static bool is_token(const struct sxs_serve_pages *pages, const char *text)
{
    return sxs_serve_same(text, pages->o->token);
}

/* Returns true when the token of the target is right. The token that is taken once is gone then. */
static bool has_token(struct page_request *r)
{
    struct sxs_serve_pages *pages = r->pages;
    if (!*r->wanted.token)
        return false;
    if (*pages->once && sxs_serve_same(r->wanted.token, pages->once)) {
        memset(pages->once, 0, sizeof(pages->once));
        return true;
    }
    return is_token(pages, r->wanted.token);
}

static bool has_cookie(const struct page_request *r)
{
    char        value[sizeof(r->pages->secret)];
    const char *bearer = header_of(r, "Authorization");
    if (bearer && strncmp(bearer, "Bearer ", 7) == 0 && is_token(r->pages, bearer + 7))
        return true;
    return sxs_serve_cookie(header_of(r, "Cookie"), r->pages->cookie, value, sizeof(value)) &&
           sxs_serve_same(value, r->pages->secret);
}

static bool is_page(enum sxs_serve_kind kind)
{
    return kind == SXS_SERVE_LIST_PAGE || kind == SXS_SERVE_PAGE || kind == SXS_SERVE_HEAP;
}

/* The token was in the address: gives the browser a cookie, and sends it to the same address
 * without the token, which is then in no history and in no bookmark. */
static enum MHD_Result let_in(const struct page_request *r)
{
    char                 cookie[256], place[SXS_SERVE_TARGET_MAX + 2];
    struct MHD_Response *response = response_of(r, "", 0);
    if (!response)
        return MHD_NO;
    snprintf(place, sizeof(place), "%s", r->target);
    place[strcspn(place, "?")] = '\0';
    snprintf(cookie, sizeof(cookie), "%s=%s; Path=/; HttpOnly; SameSite=Strict", r->pages->cookie,
             r->pages->secret);
    add_header(r, response, "Set-Cookie", cookie);
    add_header(r, response, "Location", place);
    return send_response(r, MHD_HTTP_SEE_OTHER, response, "text/plain", NULL);
}

/* ---- what was asked for ---- */

static enum MHD_Result send_page(const struct page_request *r)
{
    const struct sxs_serve_pages *pages = r->pages;
    bool                          list = r->wanted.kind == SXS_SERVE_LIST_PAGE;
    int                           fd = list ? -1 : sxs_serve_open(pages->o, r->wanted.name);
    if (!list && fd < 0)
        return say(r, MHD_HTTP_NOT_FOUND, "There is no session of this name.\n");
    if (fd >= 0)
        close(fd);
    if (!list)
        return send_response(r, MHD_HTTP_OK, response_of(r, pages->page, pages->page_size),
                             "text/html; charset=utf-8", pages->policy);
    char *page = NULL;
    int   size = asprintf(&page, "%s{}%s", sxs_list_page_head, sxs_list_page_tail);
    if (size < 0)
        return MHD_NO;
    return send_response(
        r, MHD_HTTP_OK,
        pages->http->create_response_from_buffer((size_t)size, page, MHD_RESPMEM_MUST_FREE),
        "text/html; charset=utf-8", pages->list_policy);
}

/* Sends what the child has said instead of a result. */
static enum MHD_Result send_failure(const struct page_request *r, const struct sxs_serve_entry *e)
{
    char    text[MAX_SAID];
    ssize_t n = e->err_fd < 0 ? 0 : pread(e->err_fd, text, sizeof(text) - 1, 0);
    if (n <= 0)
        n = snprintf(text, sizeof(text), "sxsprof: this could not be made\n");
    text[n] = '\0';
    return say(r,
               r->wanted.kind == SXS_SERVE_REPORT || r->wanted.kind == SXS_SERVE_HEAP
                   ? MHD_HTTP_NOT_FOUND
                   : MHD_HTTP_INTERNAL_SERVER_ERROR,
               text);
}

/* The names of files that a browser saves, and their types. */
static const struct {
    const char *format, *extension, *type;
} files[] = {
    {"text", "txt", "text/plain; charset=utf-8"},
    {"json", "json", "application/json"},
    {"html", "html", "text/html; charset=utf-8"},
    {"collapsed", "collapsed", "text/plain"},
    {"speedscope", "speedscope.json", "application/json"},
    {"pprof", "pb.gz", "application/octet-stream"},
    {"chrome", "trace.json", "application/json"},
    {"firefox", "firefox.json", "application/json"},
};
enum { N_FILES = sizeof(files) / sizeof(files[0]) };

static size_t file_of(const char *format)
{
    size_t i = 0;
    while (i < N_FILES && strcmp(files[i].format, format) != 0)
        i++;
    return i;
}

static const char *type_of(const struct sxs_serve_wanted *wanted)
{
    size_t i = file_of(wanted->format);
    return wanted->kind == SXS_SERVE_HEAP     ? "text/html; charset=utf-8"
           : wanted->kind != SXS_SERVE_REPORT ? "application/json"
           : i < N_FILES                      ? files[i].type
                                              : "application/octet-stream";
}

/* Lets a browser save the report as NAME-DATA.EXTENSION. */
static void name_file(const struct page_request *r, struct MHD_Response *response)
{
    char   name[sizeof(r->wanted.name)], text[512];
    size_t i = file_of(r->wanted.format);
    snprintf(name, sizeof(name), "%s", r->wanted.name);
    for (char *at = name; *at; at++)
        if (*at <= ' ' || *at > '~' || strchr("\"\\%;", *at))
            *at = '_';
    snprintf(text, sizeof(text), "attachment; filename=\"%s%s%s.%s\"", name,
             *r->wanted.data ? "-" : "", r->wanted.data, i < N_FILES ? files[i].extension : "bin");
    add_header(r, response, "Content-Disposition", text);
}

static enum MHD_Result send_made(const struct page_request *r, const struct sxs_serve_entry *e)
{
    char        tag[24], path[64];
    const char *known = header_of(r, "If-None-Match");
    if (!e->complete)
        return send_failure(r, e);
    snprintf(tag, sizeof(tag), "\"%016llx\"", (unsigned long long)e->hash);
    bool                 same = known && strcmp(known, tag) == 0;
    struct MHD_Response *response = NULL;
    if (same) {
        response = response_of(r, "", 0);
    } else {
        /* opened again, so that each response has a position of its own */
        snprintf(path, sizeof(path), "/proc/self/fd/%d", e->out_fd);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        response = fd < 0 ? NULL : r->pages->http->create_response_from_fd64(e->size, fd);
        if (!response && fd >= 0)
            close(fd);
    }
    if (!response)
        return say(r, MHD_HTTP_SERVICE_UNAVAILABLE, "Too many files are open.\n");
    add_header(r, response, "ETag", tag);
    if (r->wanted.kind == SXS_SERVE_REPORT)
        name_file(r, response);
    return send_response(r, same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, response,
                         type_of(&r->wanted),
                         r->wanted.kind == SXS_SERVE_HEAP ? r->pages->heap_policy : NULL);
}

static void wake_request(struct sxs_serve_waiter *w)
{
    struct page_request *r = (struct page_request *)w;
    r->waited = true;
    r->pages->http->resume_connection(r->connection);
}

/* Sends what a child makes, when it is made. */
static enum MHD_Result send_content(struct page_request *r)
{
    if (r->waited) {
        if (r->entry->state != SXS_SERVE_MADE)
            return say(r, MHD_HTTP_SERVICE_UNAVAILABLE, "The server ends.\n");
        return send_made(r, r->entry);
    }
    if (r->wanted.kind == SXS_SERVE_REPORT && file_of(r->wanted.format) == N_FILES)
        return say(r, MHD_HTTP_NOT_FOUND, "There is no such format.\n");
    int fd = sxs_serve_open(r->pages->o, r->wanted.name);
    if (fd < 0)
        return say(r, MHD_HTTP_NOT_FOUND, "There is no session of this name.\n");
    r->entry = sxs_serve_store_get(r->pages->store, &r->wanted, fd);
    if (!r->entry)
        return say(r, MHD_HTTP_SERVICE_UNAVAILABLE, "Too much is asked for at a time.\n");
    if (r->entry->state == SXS_SERVE_MADE)
        return send_made(r, r->entry);
    r->waiter.wake = wake_request;
    sxs_serve_store_wait(r->entry, &r->waiter);
    r->pages->http->suspend_connection(r->connection);
    return MHD_YES;
}

/* ---- the callbacks ---- */

static enum MHD_Result answer(struct page_request *r, const char *method)
{
    const char *host = header_of(r, "Host");
    if (!sxs_serve_host_ok(host, &r->pages->o->names))
        return say(r, MHD_HTTP_FORBIDDEN,
                   "The server does not answer to this name. Its address is in the terminal; "
                   "--host adds a name.\n");
    if (!sxs_serve_origin_ok(header_of(r, "Origin"), header_of(r, "Sec-Fetch-Site"), host))
        return say(r, MHD_HTTP_FORBIDDEN,
                   "Another site asks for this, which is refused. Open the address yourself.\n");
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return say(r, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD are answered.\n");
    bool known = sxs_serve_parse(r->target, &r->wanted);
    bool token = known && has_token(r);
    if (!token && !has_cookie(r))
        return say(r, MHD_HTTP_FORBIDDEN,
                   "The address needs the token: open the one that is in the terminal.\n");
    if (!known)
        return say(r, MHD_HTTP_NOT_FOUND, "There is no such page.\n");
    if (token && is_page(r->wanted.kind))
        return let_in(r);
    if (r->wanted.kind == SXS_SERVE_LIST_PAGE || r->wanted.kind == SXS_SERVE_PAGE)
        return send_page(r);
    return send_content(r);
}

/* Returns the connection's own context. */
static struct sxs_serve_progress *progress_of(const struct sxs_serve_pages *pages,
                                              struct MHD_Connection        *c)
{
    const union MHD_ConnectionInfo *info =
        pages->http->get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void set_progress(const struct sxs_serve_pages *pages, struct MHD_Connection *c,
                         bool answering)
{
    struct sxs_serve_progress *p = progress_of(pages, c);
    if (p)
        *p = (struct sxs_serve_progress){answering, sxs_serve_now_ms()};
}

void *sxs_serve_on_target(void *arg, const char *target, struct MHD_Connection *c)
{
    struct page_request *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->pages = arg;
    r->connection = c;
    snprintf(r->target, sizeof(r->target), "%s", target);
    return r;
}

enum MHD_Result sxs_serve_on_request(void *pages, struct MHD_Connection *c, const char *url,
                                     const char *method, const char *version, const char *body,
                                     size_t *body_size, void **context)
{
    struct page_request *r = *context;
    (void)url;
    (void)version;
    (void)body;
    if (!r)
        return MHD_NO;
    *body_size = 0;
    if (!r->begun) {
        r->begun = true;
        set_progress(pages, c, true);
        /* An answer at this first call would close the connection, which is right for a request
         * with a body: the body is not read. */
        if (!header_of(r, "Content-Length") && !header_of(r, "Transfer-Encoding"))
            return MHD_YES;
    }
    return r->waited ? send_content(r) : answer(r, method);
}

void sxs_serve_on_end(void *pages, struct MHD_Connection *c, void **context,
                      enum MHD_RequestTerminationCode why)
{
    struct page_request *r = *context;
    (void)why;
    set_progress(pages, c, false);
    if (r)
        sxs_serve_store_leave(&r->waiter);
    free(r);
    *context = NULL;
}

/* ---- the pages ---- */

/* Returns a policy: nothing but the page's own script and style, and data of this server. */
static char *policy_of(const char *hashes)
{
    char *text = NULL;
    if (asprintf(&text,
                 "default-src 'none'; %s; connect-src 'self'; img-src data:; base-uri 'none'; "
                 "form-action 'none'; frame-ancestors 'none'",
                 hashes) < 0)
        return NULL;
    return text;
}

bool sxs_serve_pages_open(struct sxs_serve_pages *pages)
{
    FILE *to = open_memstream(&pages->page, &pages->page_size);
    if (!to)
        return false;
    sxs_page_shell(to);
    bool written = fclose(to) == 0;
    pages->policy = policy_of(sxs_page_policy());
    pages->heap_policy = policy_of(sxs_heap_page_policy());
    pages->list_policy = policy_of(sxs_list_page_hashes);
    return written && pages->policy && pages->heap_policy && pages->list_policy;
}

void sxs_serve_pages_close(struct sxs_serve_pages *pages)
{
    free(pages->page);
    free(pages->policy);
    free(pages->heap_policy);
    free(pages->list_policy);
}
