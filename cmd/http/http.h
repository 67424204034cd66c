/* SPDX-License-Identifier: MIT */
/**
 * http.h - HTTP requests by libcurl, which is loaded when the first client is opened.
 *
 * Only http and https. Certificates and names of servers are checked. The proxy is that of the usual
 * variables (https_proxy, no_proxy...). One thread; not signal-safe.
 */
#ifndef SXS_CMD_HTTP_HTTP_H
#define SXS_CMD_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>

/** Strings are borrowed as long as the client lives. */
struct sxs_http_settings {
    const char        *ca; /* file of certificates to trust instead of the system's; NULL: those */
    const char        *cert;    /* client certificate (PEM); NULL: none */
    const char        *key;     /* its key (PEM); NULL: in the same file */
    const char *const *headers; /* "Name: value" */
    size_t             n_headers;
    const char *token_file; /* read for each request: "Authorization: Bearer ..."; NULL: none */
    const char *user, *password; /* of HTTP's own authentication; NULL: none */
    unsigned    timeout_s;       /* of a whole request */
    bool (*stop)(void *arg);     /* returns true to end a request; NULL: never */
    void *stop_arg;
};

struct sxs_http;

struct sxs_http_request {
    const char *url;
    const void *body; /* POST; NULL: GET */
    size_t      size;
    const char *content_type, *encoding; /* NULL: none */
    const char *header;                  /* one more, "Name: value"; NULL: none */
    /** Takes the body of an answer with status 2xx in pieces; returns false to end the request. NULL:
     *  the answer keeps its beginning. */
    bool (*take)(void *arg, const char *bytes, size_t size);
    void *take_arg;
};

enum { SXS_HTTP_BODY_MAX = 65536 };

struct sxs_http_answer {
    long status;                      /* 0: no answer: see `why` and `hopeless` */
    long retry_after_s;               /* as the server asks; 0: it does not */
    char body[SXS_HTTP_BODY_MAX + 1]; /* its beginning, zero-terminated; what take() did not get */
    size_t size;
    char   why[400];      /* one line when status is 0 */
    bool   hopeless;      /* with status 0: it would fail again, until certificates, files or the
                           * address are corrected */
    char   redirect[512]; /* where the server sends the request; "": nowhere */
};

/** sxs_http_open - load libcurl and check files of @s. Returns 0, or -1 with one line in @why. */
int sxs_http_open(const struct sxs_http_settings *s, struct sxs_http **out, char *why, size_t size);
/** sxs_http_close - NULL is allowed. */
void sxs_http_close(struct sxs_http *h);

/** sxs_http_send - send a request and wait for the answer. Redirects on the same server and with the
 *  same scheme, or from http to https, are followed. @a: overwritten. */
void sxs_http_send(struct sxs_http *h, const struct sxs_http_request *r, struct sxs_http_answer *a);

#endif
