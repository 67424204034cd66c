/* SPDX-License-Identifier: MIT */
/**
 * answer.h - answers requests: first checks whether the client may ask, then sends what was asked for. Called
 * by libmicrohttpd in the server's one thread.
 */
#ifndef SXS_CMD_SERVE_ANSWER_H
#define SXS_CMD_SERVE_ANSWER_H

#include "cmd/serve/microhttpd.h"
#include "cmd/serve/store.h"

/** What all answers share. */
struct sxs_serve_pages {
    const struct sxs_microhttpd    *http;
    const struct sxs_serve_options *o;
    struct sxs_serve_store         *store;
    char   cookie[32]; /* name of the cookie: cookies have no port, so the name has it */
    char   secret[65]; /* its value */
    char   once[65]; /* a token that is taken once, for the browser that --open starts; "": none */
    char  *page;     /* the page of a session, without data; owned */
    size_t page_size;
    char  *policy, *heap_policy, *list_policy; /* Content-Security-Policy of each page; owned */
};

/** Progress of a connection, for its time limits. */
struct sxs_serve_progress {
    bool     answering; /* a request has arrived, and its answer is not complete */
    uint64_t since_ms;  /* when that began */
};

/** sxs_serve_pages_open - fill in the pages. Returns false when memory ran out. */
bool sxs_serve_pages_open(struct sxs_serve_pages *pages);
void sxs_serve_pages_close(struct sxs_serve_pages *pages);

/** The callbacks of libmicrohttpd; @pages is a struct sxs_serve_pages. A request's context is made
 * by the first and freed by the last. The connection's own context is a struct
 *  sxs_serve_progress. */
void           *sxs_serve_on_target(void *pages, const char *target, struct MHD_Connection *c);
enum MHD_Result sxs_serve_on_request(void *pages, struct MHD_Connection *c, const char *url,
                                     const char *method, const char *version, const char *body,
                                     size_t *body_size, void **context);
void            sxs_serve_on_end(void *pages, struct MHD_Connection *c, void **context,
                                 enum MHD_RequestTerminationCode why);

#endif
