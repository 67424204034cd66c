/* SPDX-License-Identifier: MIT */
#include "control/server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/user.h"
#include "control/requests.h"
#include "control/session_thread.h"
#include "manager/sessions.h"

#define PATIENCE_NS UINT64_C(5000000000) /* for a whole request, and for reading an answer */
#define PAUSE_NS    UINT64_C(100000000)  /* after a failure of accept4() */
#define ACCEPTS     64                   /* clients accepted in one turn */

enum client_phase {
    FREE,
    READING, /* a request is expected */
    RUNNING, /* the session thread has the request, or ends the session that the client held */
    WRITING, /* the answer is written */
};

/* The large parts of a client, apart from the rest, so that memory of clients that are never there
 * is never touched. */
struct buffers {
    struct sxs_message        message;
    struct sxs_message_writer answer;
    char                      in[SXS_CONTROL_MAX];
};

struct client {
    enum client_phase  phase;
    int                fd;      /* -1: the client has gone */
    int                pid;     /* as seen from here; 0: not visible */
    int                last;    /* 1: close the connection after the answer */
    int                served;  /* 1: the client has had an answer */
    uint64_t           due_ns;  /* CLOCK_MONOTONIC; when the client is closed; 0: never */
    size_t             in_size; /* bytes in `in` */
    size_t             taken;   /* of these the request that is being served */
    size_t             sent;    /* bytes of the answer */
    unsigned           holds;   /* number of the session that ends with the connection */
    int                detach;  /* and the runtimes are detached then */
    struct sxs_job     job;
    struct sxs_request request;
    struct buffers    *buffers;
};

static struct {
    int           listener, woken;
    uint64_t      pause_ns; /* CLOCK_MONOTONIC; do not accept before; 0: no pause */
    struct client clients[SXS_SERVER_CLIENTS];
} server;

static struct buffers buffers[SXS_SERVER_CLIENTS];

/* ---- clients --------------------------------------------------------------------------------- */

static struct client *find_free(void)
{
    for (size_t i = 0; i < SXS_SERVER_CLIENTS; i++)
        if (server.clients[i].phase == FREE)
            return &server.clients[i];
    return NULL;
}

/* Returns a client that has its answer and asks for nothing more, the one that has been silent for
 * longest; NULL: there is none. */
static struct client *find_idle(void)
{
    struct client *found = NULL;
    for (size_t i = 0; i < SXS_SERVER_CLIENTS; i++) {
        struct client *c = &server.clients[i];
        if (c->phase == READING && c->served && !c->holds && !c->in_size &&
            (!found || c->due_ns < found->due_ns))
            found = c;
    }
    return found;
}

static unsigned count(enum client_phase phase)
{
    unsigned n = 0;
    for (size_t i = 0; i < SXS_SERVER_CLIENTS; i++)
        n += server.clients[i].phase == phase;
    return n;
}

static void run_job(struct sxs_job *job)
{
    sxs_request_run(&container_of(job, struct client, job)->request);
}

static void run_end(struct sxs_job *job)
{
    const struct client *c = container_of(job, struct client, job);
    sxs_session_thread_end(c->holds, c->detach);
}

static void submit(struct client *c, void (*run)(struct sxs_job *job))
{
    c->phase = RUNNING;
    c->due_ns = 0;
    c->job.run = run;
    sxs_session_thread_submit(&c->job);
}

/* Closes the connection. The session that the client held ends. While a request runs, the client is
 * kept until the request is done. */
static void close_client(struct client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    if (c->phase == RUNNING)
        return;
    if (c->holds) {
        submit(c, run_end);
        return;
    }
    c->phase = FREE;
}

static void expect_request(struct client *c)
{
    c->phase = READING;
    c->due_ns = c->holds && !c->in_size ? 0 : sxs_now_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
}

static void write_answer(struct client *c)
{
    while (c->sent < c->buffers->answer.size) {
        ssize_t n = send(c->fd, c->buffers->answer.bytes + c->sent,
                         c->buffers->answer.size - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            close_client(c);
            return;
        }
        c->sent += (size_t)n;
    }
    if (c->last) {
        close_client(c);
        return;
    }
    c->in_size -= c->taken;
    memmove(c->buffers->in, c->buffers->in + c->taken, c->in_size);
    c->taken = 0;
    c->served = 1;
    expect_request(c);
}

static void begin_answer(struct client *c)
{
    c->phase = WRITING;
    c->sent = 0;
    c->due_ns = sxs_now_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    write_answer(c);
}

static void refuse(struct client *c, const char *why, int last)
{
    c->last = last;
    sxs_request_refuse(&c->buffers->answer, why);
    begin_answer(c);
}

/* Serves the request of @size bytes at the beginning of `in`. */
static void serve(struct client *c, size_t size)
{
    char why[200];
    c->taken = size;
    if (sxs_message_parse(c->buffers->in, size, &c->buffers->message, why, sizeof(why)) != 0) {
        refuse(c, why, 1);
        return;
    }
    c->request = (struct sxs_request){
        .verb = sxs_request_verb_of(c->buffers->message.text, why, sizeof(why)),
        .message = &c->buffers->message,
        .answer = &c->buffers->answer,
        .client = c->pid,
    };
    if (c->request.verb == SXS_REQUEST_UNKNOWN) {
        refuse(c, why, 0);
    } else if (c->request.verb == SXS_REQUEST_STATUS) {
        sxs_request_status(&c->buffers->answer);
        begin_answer(c);
    } else if (count(RUNNING) >= SXS_SERVER_JOBS) {
        refuse(c, "too many requests wait: expected fewer clients at once", 0);
    } else {
        submit(c, run_job);
    }
}

/* Serves what has arrived. Several requests may have arrived at once. */
static void serve_arrived(struct client *c)
{
    while (c->phase == READING && c->in_size) {
        size_t size = sxs_message_size(c->buffers->in, c->in_size);
        if (!size)
            return;
        if (size == (size_t)-1)
            refuse(c, "not a request of sxsprof", 1);
        else
            serve(c, size);
    }
}

static void read_request(struct client *c)
{
    ssize_t n =
        recv(c->fd, c->buffers->in + c->in_size, sizeof(c->buffers->in) - c->in_size, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        close_client(c);
        return;
    }
    if (!c->due_ns)
        c->due_ns = sxs_now_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    c->in_size += (size_t)n;
    serve_arrived(c);
}

/* Goes on with a client whose job is done. */
static void end_job(struct client *c)
{
    if (c->job.run == run_end) {
        c->phase = FREE;
        return;
    }
    c->phase = WRITING;
    if (c->request.holds) {
        c->holds = c->request.holds;
        c->detach = c->request.detach;
    }
    if (c->fd < 0) {
        close_client(c);
        return;
    }
    begin_answer(c);
    serve_arrived(c);
}

/* ---- new clients ----------------------------------------------------------------------------- */

static void add(struct client *c, int fd, int pid)
{
    c->buffers = &buffers[c - server.clients];
    c->fd = fd;
    c->pid = pid;
    c->last = c->detach = c->served = 0;
    c->holds = 0;
    c->in_size = c->taken = 0;
    expect_request(c);
}

int sxs_server_add(int fd)
{
    struct client *c = find_free();
    if (!c) {
        close(fd);
        return -1;
    }
    add(c, fd, 0);
    return 0;
}

/* Tells a stranger that nothing is done for them. */
static void turn_away(int fd)
{
    static const char text[] = "error\nwhy=you are neither the user of this process nor root\n\n";
    ssize_t           n = send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)n;
    close(fd);
}

/* Returns 1 if the client at @fd may ask: the user of this process, or user 0 of its user namespace.
 * Credentials are those of connect(). All users that the user namespace does not have look the same:
 * they may not ask, nor may anybody when this process's own user looks like them. *@pid: receives the
 * client's process ID. */
static int may_ask(int fd, int *pid)
{
    struct ucred peer = {0};
    socklen_t    size = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return 0;
    *pid = peer.pid;
    return peer.uid == 0 || (peer.uid == geteuid() && sxs_user_is_known(peer.uid));
}

/* Serves a client, instead of an idle one if there are too many. */
static void add_accepted(int fd, int pid)
{
    if (!find_free())
        close_client(find_idle());
    add(find_free(), fd, pid);
}

/* Accepts one client. Returns 0 when there is no more. */
static int accept_client(void)
{
    int fd, pid = 0;
    if (!find_free() && !find_idle())
        return 0;
    fd = accept4(server.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno == ECONNABORTED || errno == EINTR)
            return 1;
        if (errno != EAGAIN)
            server.pause_ns = sxs_now_ns(CLOCK_MONOTONIC) + PAUSE_NS;
        return 0;
    }
    if (may_ask(fd, &pid))
        add_accepted(fd, pid);
    else
        turn_away(fd);
    return 1;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Returns for how many milliseconds nothing is due, at most @max_ms (-1: for ever). */
static int find_wait(int max_ms)
{
    uint64_t now = sxs_now_ns(CLOCK_MONOTONIC), first = server.pause_ns;
    for (size_t i = 0; i < SXS_SERVER_CLIENTS; i++) {
        const struct client *c = &server.clients[i];
        if (c->phase != FREE && c->due_ns && (!first || c->due_ns < first))
            first = c->due_ns;
    }
    if (!first)
        return max_ms;
    int ms = first <= now ? 0 : (int)((first - now) / 1000000u) + 1;
    return max_ms >= 0 && max_ms < ms ? max_ms : ms;
}

static short events_of(const struct client *c)
{
    switch (c->phase) {
    case READING: return POLLIN;
    case WRITING: return POLLOUT;
    default: return 0; /* RUNNING: poll() also reports when the client disconnects */
    }
}

static void look_after(struct client *c, short events)
{
    if (c->phase == RUNNING && atomic_load(&c->job.done))
        end_job(c);
    else if (c->phase == RUNNING && events)
        close_client(c);
    else if (c->phase == READING && events)
        read_request(c);
    else if (c->phase == WRITING && events) {
        write_answer(c);
        serve_arrived(c);
    }
    if (c->phase != FREE && c->due_ns && sxs_now_ns(CLOCK_MONOTONIC) >= c->due_ns)
        close_client(c);
}

/* Closes the connections that held a session that has ended otherwise. One that goes on as another
 * one is looked at later. */
static void drop_holders(void)
{
    struct sxs_session_state state;
    unsigned                 n = sxs_session_thread_n_changes();
    int                      read = 0;
    for (size_t i = 0; i < SXS_SERVER_CLIENTS; i++) {
        struct client *c = &server.clients[i];
        if (c->phase != READING || !c->holds)
            continue;
        if (!read)
            sxs_session_get_state(&state);
        read = 1;
        if (n % 2 || n != sxs_session_thread_n_changes())
            return;
        if (state.phase == SXS_SESSION_NONE ||
            !sxs_session_thread_is_same(state.number, c->holds)) {
            c->holds = 0;
            close_client(c);
        }
    }
}

static void accept_clients(void)
{
    for (int n = 0; n < ACCEPTS && accept_client(); n++)
        continue;
}

void sxs_server_init(int listener, int woken)
{
    memset(&server, 0, offsetof(typeof(server), clients));
    server.listener = listener;
    server.woken = woken;
}

unsigned sxs_server_turn(int max_ms)
{
    struct pollfd fds[2 + SXS_SERVER_CLIENTS] = {{.fd = server.woken, .events = POLLIN}};
    uint64_t      value;
    if (server.pause_ns && sxs_now_ns(CLOCK_MONOTONIC) >= server.pause_ns)
        server.pause_ns = 0;
    fds[1].fd = (find_free() || find_idle()) && !server.pause_ns ? server.listener : -1;
    fds[1].events = POLLIN;
    for (size_t i = 0; i < SXS_SERVER_CLIENTS; i++) {
        const struct client *c = &server.clients[i];
        fds[2 + i].fd = c->phase == FREE ? -1 : c->fd;
        fds[2 + i].events = events_of(c);
    }
    if (poll(fds, ARRAY_LEN(fds), find_wait(max_ms)) < 0)
        return SXS_SERVER_CLIENTS - count(FREE);
    if (fds[0].revents && read(server.woken, &value, sizeof(value)) < 0)
        value = 0; /* another turn */
    for (size_t i = 0; i < SXS_SERVER_CLIENTS; i++)
        look_after(&server.clients[i], fds[2 + i].revents);
    drop_holders();
    if (fds[1].revents)
        accept_clients();
    return SXS_SERVER_CLIENTS - count(FREE);
}
