/* SPDX-License-Identifier: MIT */
/**
 * request.h - what a request asks for, and whether it may: the parsing of all text that a client
 * sends. Pure functions of their arguments; any thread.
 */
#ifndef SXS_CMD_SERVE_REQUEST_H
#define SXS_CMD_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

enum sxs_serve_kind {
    SXS_SERVE_LIST_PAGE, /* /                     the page with the list of sessions */
    SXS_SERVE_LIST,      /* /sessions             the list as JSON */
    SXS_SERVE_PAGE,      /* /session/NAME/        the page of a session, without data */
    SXS_SERVE_DATA,      /* /session/NAME/data    its data as JSON: ?data=KIND */
    SXS_SERVE_REPORT,    /* /session/NAME/report  a report as a file: ?format=FORMAT&data=KIND */
    SXS_SERVE_HEAP,      /* /session/NAME/heap    the page of the newest heap snapshot */
};

/** The longest target of a request, in bytes. */
#define SXS_SERVE_TARGET_MAX 2048

/** A parsed target: "/session/NAME/report?format=pprof". Absent parts are "". */
struct sxs_serve_wanted {
    enum sxs_serve_kind kind;
    char name[256];  /* of the session's folder or file; without '/', not "." or ".." */
    char data[16];   /* a word: lower-case letters and '-' */
    char format[16]; /* the same */
    char token[132]; /* any bytes but zero */
};

/**
 * sxs_serve_parse - parse the target of a request as the client sent it: a path with an optional
 * query, percent-encoded.
 * @out: receives the parts. Returns true; false when there is nothing of this name, or when a part
 * is malformed, too long, unknown or repeated.
 */
bool sxs_serve_parse(const char *target, struct sxs_serve_wanted *out);

/** sxs_serve_same - return true when two texts are equal. The time that it takes depends on their
 *  lengths only, not on where they differ. */
bool sxs_serve_same(const char *a, const char *b);

/**
 * sxs_serve_cookie - find the value of the cookie @name in a Cookie header.
 * @header: NULL: there is none. @out: receives the value of the first cookie of that name; holds
 * @size bytes. Returns false when there is no such cookie or its value is too long.
 */
bool sxs_serve_cookie(const char *header, const char *name, char *out, size_t size);

/** The names that the server answers to. */
struct sxs_serve_names {
    const char        *address; /* on which it listens: "127.0.0.1", "::1" */
    bool               any;     /* it listens on all addresses: any address in digits is its own */
    const char *const *more;    /* further names, a list that ends with NULL; may be NULL */
};

/**
 * sxs_serve_host_ok - return true when a Host header names this server: "localhost", a loopback
 * address, the address on which it listens, or one of the further names; with any port, because a
 * port may be forwarded. The check refuses requests of a page whose own name was made to point at
 * this server (DNS rebinding). @host: NULL: there is no such header, which is refused.
 */
bool sxs_serve_host_ok(const char *host, const struct sxs_serve_names *names);

/**
 * sxs_serve_origin_ok - return true when the request was not made by a page of another server.
 * @origin, @fetch: the headers Origin and Sec-Fetch-Site; NULL: absent. @host: the header Host.
 */
bool sxs_serve_origin_ok(const char *origin, const char *fetch, const char *host);

/**
 * sxs_serve_listen_parse - parse the value of --listen: "PORT", "ADDRESS", "ADDRESS:PORT" or
 * "[ADDRESS]:PORT", with ADDRESS in digits or "localhost".
 * @address: receives the address in digits, "127.0.0.1" by default; holds @size bytes.
 * @port: receives the port; 0: the system chooses one. Returns false when @text is none of these.
 */
bool sxs_serve_listen_parse(const char *text, char *address, size_t size, unsigned *port);

#endif
