/* SPDX-License-Identifier: MIT */
/* The server: its socket, its connections with their limits, and the loop. */
#include "cmd/output/print.h"
#include "cmd/serve/serve.h"

#include "cmd/serve/answer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MAX_CONNECTIONS = 64,
    CONNECTION_BYTES = 24 << 10, /* of a request's line and headers, and of the answer's headers */
    QUIET_S = 15,                /* a connection ends when nothing moves for so long */
    REQUEST_MS = 10000,          /* the time for a request to arrive, however it trickles */
    ANSWER_MS = 600000,          /* the time for an answer to be made and taken */
    TICK_MS = 500,
};

/* A connection. */
struct connection {
    struct sxs_serve_progress progress; /* the first field; libmicrohttpd's context */
    int                       fd;       /* borrowed */
    bool                      ended;    /* shut down by its time limit */
    struct connection        *next;
};

struct server {
    struct sxs_serve_pages pages;
    struct MHD_Daemon     *daemon;
    struct connection     *connections;
    int                    epoll_fd, signal_fd;
};

/* ---- connections ---- */

static void on_connection(void *arg, struct MHD_Connection *c, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct server     *s = arg;
    struct connection *own = *context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            s->pages.http->get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        own = calloc(1, sizeof(*own));
        if (!own || !info) {
            free(own);
            return;
        }
        own->fd = info->connect_fd;
        own->progress.since_ms = sxs_serve_now_ms();
        own->next = s->connections;
        s->connections = own;
        *context = own;
        return;
    }
    for (struct connection **at = &s->connections; *at; at = &(*at)->next)
        if (*at == own) {
            *at = own->next;
            break;
        }
    free(own);
    *context = NULL;
}

/* Ends connections whose time is over. libmicrohttpd ends those on which nothing moves; a client
 * that sends or takes a byte now and then would stay for ever. */
static void end_late_connections(struct server *s)
{
    uint64_t now = sxs_serve_now_ms();
    for (struct connection *c = s->connections; c; c = c->next) {
        uint64_t age = now - c->progress.since_ms;
        if (!c->ended && age > (c->progress.answering ? ANSWER_MS : REQUEST_MS)) {
            c->ended = true;
            shutdown(c->fd, SHUT_RDWR);
        }
    }
}

/* ---- the address ---- */

union address {
    struct sockaddr     any;
    struct sockaddr_in  four;
    struct sockaddr_in6 six;
};

static socklen_t make_address(const struct sxs_serve_options *o, union address *a)
{
    memset(a, 0, sizeof(*a));
    if (inet_pton(AF_INET, o->names.address, &a->four.sin_addr) == 1) {
        a->four.sin_family = AF_INET;
        a->four.sin_port = htons((uint16_t)o->port);
        return sizeof(a->four);
    }
    a->six.sin6_family = AF_INET6;
    a->six.sin6_port = htons((uint16_t)o->port);
    return inet_pton(AF_INET6, o->names.address, &a->six.sin6_addr) == 1 ? sizeof(a->six) : 0;
}

/* Opens the listening socket. @port: receives the port. Returns -1 after a message. */
static int listen_on(const struct sxs_serve_options *o, unsigned *port)
{
    union address a;
    socklen_t     size = make_address(o, &a);
    const int     on = 1;
    int           fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (fd < 0 || bind(fd, &a.any, size) != 0 || listen(fd, MAX_CONNECTIONS) != 0 ||
        getsockname(fd, &a.any, &size) != 0) {
        sxs_print_to(stderr, "sxsprof: --listen: %s port %u: %s%s\n", o->names.address, o->port,
                     strerror(errno),
                     errno == EADDRINUSE
                         ? "; another program has it: expected another port, or 0 for "
                           "any that is free"
                         : "");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *port = ntohs(a.any.sa_family == AF_INET ? a.four.sin_port : a.six.sin6_port);
    return fd;
}

/* ---- the loop ---- */

/* Waits until there is something to do, at most for a tick. Returns false when a signal asks the
 * server to end. */
static bool wait_for_work(struct server *s)
{
    MHD_UNSIGNED_LONG_LONG ms = TICK_MS;
    struct pollfd          fds[2 + SXS_SERVE_CHILDREN] = {{.fd = s->epoll_fd, .events = POLLIN},
                                                          {.fd = s->signal_fd, .events = POLLIN}};
    if (s->pages.http->get_timeout(s->daemon, &ms) != MHD_YES || ms > TICK_MS)
        ms = TICK_MS;
    size_t n = 2 + sxs_serve_store_fds(s->pages.store, fds + 2);
    poll(fds, n, (int)ms);
    return !(fds[1].revents & POLLIN);
}

static void loop(struct server *s)
{
    while (wait_for_work(s)) {
        s->pages.http->run(s->daemon);
        sxs_serve_store_work(s->pages.store);
        s->pages.http->run(s->daemon); /* sends what was made */
        end_late_connections(s);
    }
}

/* ---- beginning and end ---- */

static bool make_secret(char *out)
{
    uint8_t bytes[32];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return false;
    for (size_t i = 0; i < sizeof(bytes); i++)
        sprintf(out + 2 * i, "%02x", bytes[i]);
    return true;
}

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void no_log(void *arg, const char *format, va_list list)
{
    (void)arg;
    (void)format;
    (void)list;
}

/* Names in targets stay encoded: sxs_serve_parse() decodes them. */
static size_t keep_encoded(void *arg, struct MHD_Connection *c, char *text)
{
    (void)arg;
    (void)c;
    return strlen(text);
}

static bool start_daemon(struct server *s, int listen_fd)
{
    s->daemon = s->pages.http->start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        sxs_serve_on_request, &s->pages, MHD_OPTION_EXTERNAL_LOGGER, no_log, NULL,
        MHD_OPTION_LISTEN_SOCKET, listen_fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)QUIET_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_BYTES, MHD_OPTION_URI_LOG_CALLBACK, sxs_serve_on_target, &s->pages,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_encoded, NULL, MHD_OPTION_NOTIFY_COMPLETED,
        sxs_serve_on_end, &s->pages, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
        MHD_OPTION_END);
    if (!s->daemon)
        return false;
    const union MHD_DaemonInfo *info =
        s->pages.http->get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    s->epoll_fd = info ? info->epoll_fd : -1;
    return s->epoll_fd >= 0;
}

/* Prints the address, with the token. With --open, a browser gets one with a token that is taken
 * once: other users of the machine can see the arguments of its process. */
static void announce(struct server *s, unsigned port)
{
    const struct sxs_serve_options *o = s->pages.o;
    char                            base[128], url[400];
    bool                            six = strchr(o->names.address, ':') != NULL;
    snprintf(base, sizeof(base), "http://%s%s%s:%u/", six ? "[" : "",
             !o->names.any ? o->names.address
             : six         ? "::1"
                           : "127.0.0.1",
             six ? "]" : "", port);
    sxs_print("%s?token=%s\n", base, o->token);
    fflush(stdout);
    if (!o->open || !make_secret(s->pages.once))
        return;
    snprintf(url, sizeof(url), "%s?token=%s", base, s->pages.once);
    if (!o->verbs->open_page(url))
        sxs_print_to(stderr, "sxsprof: no browser could be started\n");
}

static void close_server(struct server *s)
{
    if (s->daemon) {
        sxs_serve_store_wake_all(s->pages.store);
        s->pages.http->run(s->daemon);
        s->pages.http->stop_daemon(s->daemon); /* closes the listening socket, too */
    }
    sxs_serve_store_free(s->pages.store);
    sxs_serve_pages_close(&s->pages);
    if (s->signal_fd >= 0)
        close(s->signal_fd);
}

enum sxs_serve_result sxs_serve(const struct sxs_serve_options *o)
{
    static struct server s = {.signal_fd = -1, .epoll_fd = -1};
    unsigned             port;
    s.pages.o = o;
    s.pages.http = sxs_microhttpd_open();
    if (!s.pages.http)
        return SXS_SERVE_FAILED;
    int listen_fd = listen_on(o, &port);
    if (listen_fd < 0)
        return SXS_SERVE_NO_ADDRESS;
    snprintf(s.pages.cookie, sizeof(s.pages.cookie), "sxsprof-%u", port);
    s.pages.store = sxs_serve_store_new(o);
    s.signal_fd = open_signals();
    bool good = s.pages.store && s.signal_fd >= 0 && make_secret(s.pages.secret) &&
                sxs_serve_pages_open(&s.pages) && start_daemon(&s, listen_fd);
    if (good) {
        announce(&s, port);
        loop(&s);
    } else {
        sxs_print_to(stderr, "sxsprof: serve: the server cannot be started: %s\n", strerror(errno));
        if (!s.daemon)
            close(listen_fd);
    }
    close_server(&s);
    return good ? SXS_SERVE_ENDED : SXS_SERVE_FAILED;
}
