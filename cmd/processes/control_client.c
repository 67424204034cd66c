/* SPDX-License-Identifier: MIT */
#include "cmd/processes/control_client.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/output/text.h"
#include "cmd/processes/inside.h"
#include "control/message/name.h"

#define NS_PER_MS UINT64_C(1000000)

enum { MAX_TRIES = 250, TRY_EVERY_US = 20000 }; /* five seconds */

/* ---- connecting ------------------------------------------------------------------------------ */

/* Tells whether the process at the other end of @fd is @p. Else @why has who it is. Credentials
 * are those of the process that listens; the kernel tells them. */
static bool is_meant(int fd, const struct sxs_process *p, char why[SXS_CONTROL_WHY])
{
    struct ucred peer = {0};
    socklen_t    size = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == p->pid)
        return true;
    snprintf(why, SXS_CONTROL_WHY,
             "process %d of user %u has taken the name of its control socket: nothing was sent",
             peer.pid, (unsigned)peer.uid);
    return false;
}

/* Tries name number @n of the socket. Returns 0 or an errno value; EEXIST: it is another's. */
static int try_name(const struct sxs_process *p, unsigned n, int *fd, char why[SXS_CONTROL_WHY])
{
    struct sockaddr_un address;
    char               name[sizeof(address.sun_path) + 1];
    socklen_t          len = sxs_control_name(&address, p->ns_pid, p->start_ticks, n);
    int                err, text = (int)(len - offsetof(struct sockaddr_un, sun_path)) - 1;
    snprintf(name, sizeof(name), "@%.*s", text, address.sun_path + 1);
    /* EAGAIN: too many clients wait already */
    for (int tries = 0; (err = sxs_inside_connect(p, name, fd)) == EAGAIN && tries < MAX_TRIES;
         tries++)
        usleep(TRY_EVERY_US);
    if (err || is_meant(*fd, p, why))
        return err;
    close(*fd);
    *fd = -1;
    return EEXIST;
}

/* Writes why there is no socket, as far as it can be seen from outside. */
static void explain_none(const struct sxs_process *p, char why[SXS_CONTROL_WHY])
{
    char value[16] = "";
    if (!p->problem && !sxs_process_own_profiler(p))
        snprintf(
            why, SXS_CONTROL_WHY,
            "libsxsprof.so is not in this process: expected one that sxsprof run has started, or "
            "sxsprof attach");
    else if (sxs_process_variable(p, "SXSPROF_CONTROL", value, sizeof(value)) == 0 &&
             strcmp(value, "off") == 0)
        snprintf(why, SXS_CONTROL_WHY,
                 "it was started with SXSPROF_CONTROL=off: it takes no requests");
    else
        snprintf(
            why, SXS_CONTROL_WHY,
            "it has no control socket: its library is of an earlier version, or the system refused "
            "the socket (the process says so on standard error)");
}

int sxs_control_connect(const struct sxs_process *p, int *fd, char why[SXS_CONTROL_WHY])
{
    int taken = 0;
    *fd = -1;
    if (!p->problem && !sxs_process_own_profiler(p)) {
        explain_none(p, why);
        return ECONNREFUSED;
    }
    for (unsigned n = 0; n < SXS_CONTROL_NAMES; n++) {
        int err = try_name(p, n, fd, why);
        if (!err)
            return 0;
        if (err == EEXIST) {
            taken = 1;
        } else if (err == EAGAIN) {
            snprintf(why, SXS_CONTROL_WHY, "it serves too many clients now, or it is stopped");
            return err;
        } else if (err != ECONNREFUSED) {
            snprintf(why, SXS_CONTROL_WHY, "its control socket cannot be reached: %s%s",
                     strerror(err),
                     err == EPERM || err == EACCES ? "; expected its own user, or root" : "");
            return err;
        }
    }
    if (taken)
        return EPERM;
    explain_none(p, why);
    return ECONNREFUSED;
}

/* ---- requests -------------------------------------------------------------------------------- */

void sxs_control_request(struct sxs_message_writer *request, const char *verb)
{
    char text[40];
    snprintf(text, sizeof(text), "sxsprof %u %s", SXS_CONTROL_VERSION, verb);
    sxs_message_begin(request, text);
}

/* Waits for @events. Returns 0, or ETIMEDOUT after @due_ns (CLOCK_MONOTONIC). */
static int wait_for(int fd, short events, uint64_t due_ns)
{
    struct pollfd p = {.fd = fd, .events = events};
    for (;;) {
        uint64_t now = sxs_now_ns(CLOCK_MONOTONIC);
        int      n = poll(&p, 1, now < due_ns ? (int)((due_ns - now) / NS_PER_MS) + 1 : 0);
        if (n > 0)
            return 0;
        if (n == 0)
            return ETIMEDOUT;
        if (errno != EINTR)
            return errno;
    }
}

/* A process that refuses the request before it has read it closes the connection; its answer can be
 * read all the same. So a failure is none here. */
static int send_request(int fd, const struct sxs_message_writer *request, uint64_t due_ns)
{
    for (size_t sent = 0; sent < request->size;) {
        ssize_t n = send(fd, request->bytes + sent, request->size - sent, MSG_NOSIGNAL);
        if (n > 0) {
            sent += (size_t)n;
            continue;
        }
        int err = n < 0 && errno == EAGAIN ? wait_for(fd, POLLOUT, due_ns) : 0;
        if (err)
            return err;
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return 0;
    }
    return 0;
}

static int read_answer(int fd, struct sxs_control_answer *answer, uint64_t due_ns,
                       char why[SXS_CONTROL_WHY])
{
    size_t size = 0, whole = 0;
    while (!whole) {
        ssize_t n = recv(fd, answer->bytes + size, sizeof(answer->bytes) - size, 0);
        int     err = n < 0 ? errno : 0;
        if (err == EAGAIN)
            err = wait_for(fd, POLLIN, due_ns);
        if (err && err != EINTR)
            return err;
        if (n == 0)
            return ECONNRESET;
        if (n > 0) {
            size += (size_t)n;
            whole = sxs_message_size(answer->bytes, size);
        }
    }
    if (whole == (size_t)-1) {
        snprintf(why, SXS_CONTROL_WHY, "not a message");
        return EPROTO;
    }
    return sxs_message_parse(answer->bytes, whole, &answer->message, why, SXS_CONTROL_WHY) ? EPROTO
                                                                                           : 0;
}

/* Adds the sentence to an errno value of talking to the process. Returns @err. */
static int explain(int err, char why[SXS_CONTROL_WHY])
{
    char detail[SXS_CONTROL_WHY];
    snprintf(detail, sizeof(detail), "%s", why);
    switch (err) {
    case ETIMEDOUT: snprintf(why, SXS_CONTROL_WHY, "it does not answer: is it stopped?"); break;
    case EPROTO:
        snprintf(why, SXS_CONTROL_WHY, "its answer is not understood (%.300s)", detail);
        break;
    case ECONNRESET:
        snprintf(why, SXS_CONTROL_WHY,
                 "it has closed the connection without an answer: it may have ended");
        break;
    default: snprintf(why, SXS_CONTROL_WHY, "%s", strerror(err)); break;
    }
    return err;
}

int sxs_control_ask(int fd, const struct sxs_message_writer *request,
                    struct sxs_control_answer *answer, int timeout_ms, char why[SXS_CONTROL_WHY])
{
    uint64_t    due_ns = sxs_now_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * NS_PER_MS;
    const char *reason;
    int         err;
    why[0] = '\0';
    if (request->full) {
        snprintf(why, SXS_CONTROL_WHY, "the request is longer than %u bytes", SXS_CONTROL_MAX);
        return EMSGSIZE;
    }
    err = send_request(fd, request, due_ns);
    if (!err)
        err = read_answer(fd, answer, due_ns, why);
    if (err)
        return explain(err, why);
    if (strcmp(answer->message.text, "ok") == 0)
        return 0;
    reason = sxs_message_get(&answer->message, "why");
    sxs_text_clean(reason ? reason : "it gives no reason", why, SXS_CONTROL_WHY);
    return EREMOTEIO;
}
