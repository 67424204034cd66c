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
#include "base/mask.h"
#include "cmd/output/text.h"
#include "cmd/processes/control_names.h"
#include "cmd/processes/deadline.h"
#include "cmd/processes/inside_sockets.h"

#define NS_PER_MS  UINT64_C(1000000)
#define CONNECT_NS (5000 * NS_PER_MS) /* for all names together */
#define WHOLE_NS   (3000 * NS_PER_MS) /* for an answer, from its first byte on */
#define LOOK_NS    (2000 * NS_PER_MS) /* without an answer: the process is asked whether it works */
#define REPLY_NS   (8000 * NS_PER_MS) /* for its answer to that */

enum { TRY_EVERY_US = 20000, STEP_MS = 100 };

/* ---- connecting ------------------------------------------------------------------------------ */

/* Tells whether the process at the other end of @fd is @p. Else @why says which process it is. Credentials
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

/* Tries one name of the socket. Returns 0 or an errno value; EEXIST: it is another's; EAGAIN: too
 * many clients wait there. */
static int try_name(const struct sxs_process *p, const char *name, int *fd,
                    char why[SXS_CONTROL_WHY])
{
    int err = sxs_inside_connect(p, name, fd);
    if (err || is_meant(*fd, p, why))
        return err;
    close(*fd);
    *fd = -1;
    return EEXIST;
}

/* Tries each name once, up to @due_ns, and forgets those that nobody or another process has. Returns 0
 * or an errno value: EAGAIN: names are left; EEXIST: another process has one; ECONNREFUSED: nobody has one; any
 * other value: the process cannot be reached. */
static int try_names(const struct sxs_process *p, struct sxs_control_names *names, int *fd,
                     uint64_t due_ns, char why[SXS_CONTROL_WHY])
{
    int result = ECONNREFUSED;
    for (unsigned i = 0; i < names->n; i++) {
        if (i >= SXS_CONTROL_NAMES && sxs_now_ns(CLOCK_MONOTONIC) >= due_ns)
            return EAGAIN;
        int err = names->text[i][0] ? try_name(p, names->text[i], fd, why) : ECONNREFUSED;
        if (err == EEXIST || err == ECONNREFUSED)
            names->text[i][0] = '\0';
        else if (err != EAGAIN)
            return err;
        if (err == EAGAIN || (err == EEXIST && result != EAGAIN))
            result = err;
    }
    return result;
}

/* Writes why there is no socket, as far as it can be seen from outside. */
static void explain_none(const struct sxs_process *p, char why[SXS_CONTROL_WHY])
{
    char value[16] = "";
    bool lacks_library = !p->problem && !sxs_process_own_profiler(p);
    if (lacks_library && p->partly)
        snprintf(why, SXS_CONTROL_WHY,
                 "whether libsxsprof.so is in this process is not known: " SXS_PROCESS_PARTLY);
    else if (lacks_library)
        snprintf(why, SXS_CONTROL_WHY,
                 "libsxsprof.so is not in this process: expected one that sxsprof has started, or "
                 "in which it has recorded (sxsprof sample -p PID)");
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

/* Connects. A name whose queue is full does not keep this command from the next one, because a
 * stranger may have taken it; all of them have until @due_ns (CLOCK_MONOTONIC). */
static int connect_until(const struct sxs_process *p, int *fd, uint64_t due_ns,
                         char why[SXS_CONTROL_WHY])
{
    struct sxs_control_names names;
    int                      err;
    *fd = -1;
    sxs_control_names_find(p, &names);
    /* The file of the library may be gone, and be of no use to know it by: its thread is there. */
    if (!p->problem && !sxs_process_own_profiler(p) && !names.has_thread) {
        explain_none(p, why);
        return ECONNREFUSED;
    }
    while ((err = try_names(p, &names, fd, due_ns, why)) == EAGAIN &&
           sxs_now_ns(CLOCK_MONOTONIC) < due_ns && sxs_deadline_left(1))
        usleep(TRY_EVERY_US);
    switch (err) {
    case 0: break;
    case EEXIST: return EPERM;
    case ECONNREFUSED: explain_none(p, why); break;
    case EAGAIN:
        snprintf(why, SXS_CONTROL_WHY, "it serves too many clients now, or it is stopped%s",
                 names.are_its_own ? "" : ", or somebody else has taken the name of its socket");
        break;
    default:
        snprintf(why, SXS_CONTROL_WHY, "its control socket cannot be reached: %s%s", strerror(err),
                 err == EPERM || err == EACCES ? "; expected its own user, or root" : "");
    }
    return err;
}

bool sxs_control_is_in(const struct sxs_process *p)
{
    struct sxs_control_names names;
    if (sxs_process_own_profiler(p))
        return true;
    sxs_control_names_find(p, &names);
    return names.has_thread;
}

int sxs_control_connect(const struct sxs_process *p, int *fd, char why[SXS_CONTROL_WHY])
{
    return connect_until(p, fd, sxs_now_ns(CLOCK_MONOTONIC) + CONNECT_NS, why);
}

/* ---- requests -------------------------------------------------------------------------------- */

bool sxs_control_masks(const struct sxs_control_answer *answer, const char *wanted)
{
    const char *has = sxs_message_get(&answer->message, "mask");
    return !wanted || (has && sxs_mask_parse(has) >= sxs_mask_parse(wanted));
}

void sxs_control_request(struct sxs_message_writer *request, const char *verb)
{
    char text[40];
    snprintf(text, sizeof(text), "sxsprof %u %s", SXS_CONTROL_VERSION, verb);
    sxs_message_begin(request, text);
}

/* Waits for @events. Returns 0, or ETIMEDOUT after @due_ns (CLOCK_MONOTONIC) or when the deadline of the
 * command has passed (deadline.h), which a signal can bring forward meanwhile. */
static int wait_for(int fd, short events, uint64_t due_ns)
{
    struct pollfd p = {.fd = fd, .events = events};
    for (;;) {
        uint64_t now = sxs_now_ns(CLOCK_MONOTONIC);
        uint64_t left = now < due_ns ? (due_ns - now) / NS_PER_MS + 1 : 0;
        unsigned step = sxs_deadline_left(left < STEP_MS ? (unsigned)left : STEP_MS);
        int      n = poll(&p, 1, (int)step);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return errno;
        if (n == 0 && !step)
            return ETIMEDOUT;
    }
}

/* A process that refuses the request before it has read it closes the connection; its answer can be
 * read nevertheless. So a failure to write is no error here. */
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

/* Reads an answer. From its first byte on it has WHOLE_NS, so that a process cannot drip it. */
static int read_answer(int fd, struct sxs_control_answer *answer, uint64_t due_ns,
                       char why[SXS_CONTROL_WHY])
{
    size_t   size = 0, whole = 0;
    uint64_t limit_ns = 0;
    while (!whole) {
        ssize_t n = recv(fd, answer->bytes + size, sizeof(answer->bytes) - size, 0);
        int     err = n < 0 ? errno : 0;
        if (limit_ns && sxs_now_ns(CLOCK_MONOTONIC) >= due_ns)
            return ETIMEDOUT;
        if (err == EAGAIN)
            err = wait_for(fd, POLLIN, due_ns);
        if (err && err != EINTR)
            return err;
        if (n == 0)
            return ECONNRESET;
        if (n > 0) {
            limit_ns = limit_ns ? limit_ns : sxs_now_ns(CLOCK_MONOTONIC) + WHOLE_NS;
            due_ns = limit_ns < due_ns ? limit_ns : due_ns;
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

/* Returns true when the process answers `status`, on a connection of its own, up to @due_ns. */
static bool does_answer(const struct sxs_process *p, uint64_t due_ns)
{
    static struct sxs_message_writer request;
    static struct sxs_control_answer answer;
    char                             why[SXS_CONTROL_WHY];
    int                              fd, err = connect_until(p, &fd, due_ns, why);
    if (err)
        return false;
    memset(&request, 0, sizeof(request));
    sxs_control_request(&request, "status");
    sxs_message_end(&request);
    err = send_request(fd, &request, due_ns);
    if (!err)
        err = read_answer(fd, &answer, due_ns, why);
    close(fd);
    return !err && strcmp(answer.message.text, "ok") == 0;
}

/* Waits for the first byte of an answer, as long as the process answers other requests. Returns 0 or
 * ETIMEDOUT. */
static int wait_watching(int fd, uint64_t due_ns, const struct sxs_control_wait *wait)
{
    for (;;) {
        uint64_t now = sxs_now_ns(CLOCK_MONOTONIC), look = now + LOOK_NS;
        int      err = wait_for(fd, POLLIN, look < due_ns ? look : due_ns);
        if (err != ETIMEDOUT || look >= due_ns)
            return err;
        if (wait->waits)
            wait->waits(wait->arg);
        if (!does_answer(wait->process, sxs_now_ns(CLOCK_MONOTONIC) + REPLY_NS))
            return wait_for(fd, POLLIN, 0); /* it may have answered meanwhile, or ended */
    }
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

/* Sends @request and reads the answer of the process, which has until @due_ns. @wait: what to do until
 * its first byte is there. */
static int exchange(int fd, const struct sxs_message_writer *request,
                    struct sxs_control_answer *answer, uint64_t due_ns,
                    const struct sxs_control_wait *wait, char why[SXS_CONTROL_WHY])
{
    const char *reason;
    int         err;
    why[0] = '\0';
    if (request->full) {
        snprintf(why, SXS_CONTROL_WHY, "the request is longer than %u bytes", SXS_CONTROL_MAX);
        return EMSGSIZE;
    }
    err = send_request(fd, request, due_ns);
    if (!err && wait)
        err = wait_watching(fd, due_ns, wait);
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

int sxs_control_ask(int fd, const struct sxs_message_writer *request,
                    struct sxs_control_answer *answer, int timeout_ms, char why[SXS_CONTROL_WHY])
{
    uint64_t due_ns = sxs_now_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * NS_PER_MS;
    return exchange(fd, request, answer, due_ns, NULL, why);
}

int sxs_control_ask_watching(int fd, const struct sxs_message_writer *request,
                             struct sxs_control_answer *answer, int timeout_ms,
                             const struct sxs_control_wait *wait, char why[SXS_CONTROL_WHY])
{
    uint64_t due_ns = sxs_now_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * NS_PER_MS;
    return exchange(fd, request, answer, due_ns, wait, why);
}
