/* SPDX-License-Identifier: MIT */
#include "cmd/attach/link.h"

#include "cmd/processes/inside.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_NAMES 4 /* the name itself, and with /1 to /3 */

static bool is_peer(const struct sxs_process *p, int fd)
{
    struct ucred peer;
    socklen_t    size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == p->pid;
}

int sxs_link_open(const struct sxs_process *p, int *fd)
{
    char name[80];
    int  err = ECONNREFUSED;
    *fd = -1;
    for (int i = 0; i < MAX_NAMES; i++) {
        int n = snprintf(name, sizeof(name), "@sxsprof/%d/%llu", (int)p->ns_pid,
                         (unsigned long long)p->start_ticks);
        if (i)
            snprintf(name + n, sizeof(name) - (size_t)n, "/%d", i);
        err = sxs_inside_connect(p, name, fd);
        if (!err && is_peer(p, *fd))
            return 0;
        if (!err) { /* somebody else has taken the name */
            close(*fd);
            *fd = -1;
            err = ECONNREFUSED;
        } else if (err != ECONNREFUSED) {
            return err;
        }
    }
    return err;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int wait_ready(int fd, short events, int64_t deadline)
{
    struct pollfd ready = {.fd = fd, .events = events};
    int           n;
    do {
        int64_t left = deadline - now_ms();
        n = poll(&ready, 1, left > 0 ? (int)left : 0);
    } while (n < 0 && errno == EINTR);
    return n > 0 ? 0 : n == 0 ? ETIMEDOUT : errno;
}

static int send_all(int fd, const char *bytes, size_t size, int64_t deadline)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = send(fd, bytes + done, size - done, MSG_NOSIGNAL);
        int     err = 0;
        if (n > 0)
            done += (size_t)n;
        else
            err = n < 0 && errno == EAGAIN ? wait_ready(fd, POLLOUT, deadline) : errno;
        if (err && err != EINTR)
            return err;
    }
    return 0;
}

/* Receives one message. Returns 0 or an errno value; *@whole receives its size. */
static int receive_message(int fd, char *bytes, size_t room, int64_t deadline, size_t *whole)
{
    size_t got = 0;
    *whole = 0;
    while (!*whole) {
        ssize_t n = got < room ? recv(fd, bytes + got, room - got, 0) : 0;
        if (n == 0)
            return got < room ? ECONNRESET : EBADMSG;
        if (n < 0) {
            int err = errno == EAGAIN ? wait_ready(fd, POLLIN, deadline) : errno;
            if (err && err != EINTR)
                return err;
            continue;
        }
        got += (size_t)n;
        *whole = sxs_message_size(bytes, got);
    }
    return *whole == (size_t)-1 ? EBADMSG : 0;
}

int sxs_link_ask(int fd, const struct sxs_message_writer *request, unsigned timeout_ms,
                 struct sxs_link_answer *answer, char *why, size_t size)
{
    int64_t deadline = now_ms() + timeout_ms;
    size_t  whole = 0;
    int     err = request->full ? EMSGSIZE : send_all(fd, request->bytes, request->size, deadline);
    *why = '\0';
    if (!err)
        err = receive_message(fd, answer->bytes, sizeof(answer->bytes), deadline, &whole);
    if (!err && sxs_message_parse(answer->bytes, whole, &answer->message, why, size) != 0)
        err = EBADMSG;
    if (err) {
        snprintf(why, size, "the library in the process: %s",
                 err == ECONNRESET  ? "it closed the connection"
                 : err == ETIMEDOUT ? "no answer"
                                    : strerror(err));
        return err;
    }
    if (strcmp(answer->message.text, "ok") == 0)
        return 0;
    const char *told = sxs_message_get(&answer->message, "why");
    snprintf(why, size, "%s", told ? told : "refused without a reason");
    return EREMOTEIO;
}

int sxs_link_request(const struct sxs_process *p, const struct sxs_message_writer *request,
                     unsigned timeout_ms, struct sxs_link_answer *answer, char *why, size_t size)
{
    int fd, err = sxs_link_open(p, &fd);
    if (err) {
        snprintf(why, size, "the library in the process cannot be reached: %s", strerror(err));
        return err;
    }
    err = sxs_link_ask(fd, request, timeout_ms, answer, why, size);
    close(fd);
    return err;
}

size_t sxs_link_live(const struct sxs_link_answer *answer)
{
    const struct sxs_message *m = &answer->message;
    size_t                    n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->names[i], "runtime") == 0 && strstr(m->values[i], " live "))
            n++;
    return n;
}
