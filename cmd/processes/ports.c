/* SPDX-License-Identifier: MIT */
#include "cmd/processes/ports.h"

#include "cmd/processes/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PROCESS_SET  4u
#define PROCESS_INFO 4u /* ProcessInfo2 */
#define STEP_MS      50
/* A runtime tries to connect at least every half second, if its thread gets to run. A machine with 40
 * runnable threads for each core needed more than 700 ms. Waited for only while a runtime is missing. */
#define SETTLE_MS 5000

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void add_port(struct sxs_ports *out, const char *path, size_t len, bool connects)
{
    char copy[PATH_MAX];
    if (!len || len >= sizeof(copy) || *path != '/' || out->n == SXS_MAX_PORTS)
        return;
    snprintf(copy, sizeof(copy), "%.*s", (int)len, path);
    for (size_t i = 0; i < out->n; i++)
        if (strcmp(out->ports[i].path, copy) == 0)
            return;
    struct sxs_port *port = &out->ports[out->n++];
    memcpy(port->path, copy, sizeof(copy));
    port->connects = connects;
    port->listener = -1;
}

void sxs_ports_of_setting(const char *value, struct sxs_ports *out)
{
    while (*value) {
        size_t whole = strcspn(value, ";"), path = strcspn(value, ",;");
        bool   connects = true;
        for (size_t at = path; at < whole;) {
            at++;
            size_t len = strcspn(value + at, ",;");
            if (len == strlen("listen") && strncasecmp(value + at, "listen", len) == 0)
                connects = false;
            at += len;
        }
        add_port(out, value, path, connects);
        value += whole + (value[whole] == ';');
    }
}

/* Adds the sockets with the default name that processes of the target's network listen at: also
 * those that a change of TMPDIR has put elsewhere. A name does not prove who listens. */
static void add_default_ports(const struct sxs_process *p, struct sxs_ports *out)
{
    char   name[64], *line = NULL;
    size_t room = 0;
    int    fd = openat(p->dir, "net/unix", O_RDONLY | O_CLOEXEC);
    FILE  *from = fd >= 0 ? fdopen(fd, "r") : NULL;
    snprintf(name, sizeof(name), "/dotnet-diagnostic-%d-", (int)p->ns_pid);
    while (from && getline(&line, &room, from) > 0) {
        char *path = strchr(line, '/');
        if (path && strstr(path, name))
            add_port(out, path, strcspn(path, "\n"), false);
    }
    free(line);
    if (from)
        fclose(from);
}

static void add_usual_port(const struct sxs_process *p, struct sxs_ports *out)
{
    char tmp[PATH_MAX - 128], path[PATH_MAX];
    if (sxs_process_variable(p, "TMPDIR", tmp, sizeof(tmp)) != 0 || tmp[0] != '/')
        snprintf(tmp, sizeof(tmp), "/tmp");
    int n = snprintf(path, sizeof(path), "%s%sdotnet-diagnostic-%d-%llu-socket", tmp,
                     tmp[strlen(tmp) - 1] == '/' ? "" : "/", (int)p->ns_pid,
                     (unsigned long long)p->start_ticks);
    add_port(out, path, (size_t)n, false);
}

void sxs_ports_find(const struct sxs_process *p, struct sxs_ports *out)
{
    char setting[8192];
    memset(out, 0, sizeof(*out));
    add_default_ports(p, out);
    if (!out->n)
        add_usual_port(p, out);
    if (sxs_process_variable(p, "DOTNET_DiagnosticPorts", setting, sizeof(setting)) == 0 ||
        sxs_process_variable(p, "COMPlus_DiagnosticPorts", setting, sizeof(setting)) == 0)
        sxs_ports_of_setting(setting, out);
}

/* Returns true when the other end of the connection belongs to the process. */
static bool is_peer(const struct sxs_process *p, int fd)
{
    struct ucred peer;
    socklen_t    size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == p->pid;
}

/* Connects to a port at which a runtime listens. Returns 0 or an errno value. */
static int connect_port(const struct sxs_process *p, const struct sxs_port *port, int *fd)
{
    int err = sxs_inside_connect(p, port->path, fd);
    if (!err && !is_peer(p, *fd)) {
        close(*fd);
        *fd = -1;
        err = ECONNREFUSED; /* a process of the same name in another container */
    }
    return err;
}

/* Accepts a connection of a runtime of the process. @want: its cookie; NULL: any. */
static int accept_runtime(const struct sxs_process *p, const struct sxs_port *port,
                          const uint8_t *want, unsigned timeout_ms, struct sxs_diag_info *info,
                          int *fd)
{
    int64_t deadline = now_ms() + timeout_ms;
    while (now_ms() < deadline) {
        struct pollfd ready = {.fd = port->listener, .events = POLLIN};
        uint8_t       advert[SXS_DIAG_ADVERT];
        if (poll(&ready, 1, STEP_MS) <= 0)
            continue;
        *fd = accept4(port->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (*fd < 0)
            continue;
        if (is_peer(p, *fd) && sxs_diag_receive(*fd, advert, sizeof(advert), 1000) == 0 &&
            sxs_diag_parse_advert(advert, info) == 0 &&
            (!want || memcmp(want, info->cookie, sizeof(info->cookie)) == 0))
            return 0;
        close(*fd); /* that runtime connects again */
    }
    *fd = -1;
    return ETIMEDOUT;
}

/* Opens the socket of a port in connect mode. A socket at which nobody listens is replaced. */
static int open_listener(const struct sxs_process *p, struct sxs_port *port)
{
    int fd = -1, err;
    if (port->listener >= 0)
        return 0;
    err = sxs_inside_listen(p, port->path, &port->listener);
    if (err == EADDRINUSE && sxs_inside_connect(p, port->path, &fd) == ECONNREFUSED &&
        sxs_inside_unlink(p, port->path) == 0)
        err = sxs_inside_listen(p, port->path, &port->listener);
    if (fd >= 0)
        close(fd);
    return err;
}

/* Asks who is at the other end. */
static int ask_info(int fd, unsigned timeout_ms, struct sxs_diag_info *info)
{
    static uint8_t         buf[SXS_DIAG_MAX];
    uint8_t                request[SXS_DIAG_HEADER];
    struct sxs_diag_answer answer;
    size_t                 size = sxs_diag_request(request, PROCESS_SET, PROCESS_INFO, NULL, 0);
    int                    err = sxs_diag_exchange(fd, request, size, timeout_ms, buf, &answer);
    if (!err && (answer.failed || sxs_diag_parse_info(answer.payload, answer.size, info) != 0))
        err = EBADMSG;
    return err;
}

static bool is_known(const struct sxs_ports *ports, const struct sxs_diag_info *info)
{
    for (size_t i = 0; i < ports->n_runtimes; i++)
        if (memcmp(ports->runtimes[i].info.cookie, info->cookie, sizeof(info->cookie)) == 0)
            return true;
    return false;
}

static void add_reached(struct sxs_ports *ports, const struct sxs_diag_info *info, size_t port)
{
    if (!is_known(ports, info) && ports->n_runtimes < SXS_MAX_REACHED)
        ports->runtimes[ports->n_runtimes++] = (struct sxs_reached){*info, port};
}

static int ask_listening(const struct sxs_process *p, struct sxs_ports *ports, size_t port,
                         unsigned timeout_ms)
{
    struct sxs_diag_info info;
    int                  fd, err = connect_port(p, &ports->ports[port], &fd);
    if (err)
        return err;
    err = ask_info(fd, timeout_ms, &info);
    close(fd);
    if (!err)
        add_reached(ports, &info, port);
    return err;
}

/* Returns how many runtimes can have a port. */
static size_t count_clrs(const struct sxs_process *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_runtimes; i++)
        n += p->runtimes[i].kind != SXS_RUNTIME_NATIVE_AOT;
    return n;
}

/* Asks each runtime that connects, until all runtimes of the process are known or no new one has
 * come for a time. */
static int ask_connecting(const struct sxs_process *p, struct sxs_ports *ports, size_t port,
                          unsigned timeout_ms)
{
    int64_t until = now_ms() + (timeout_ms < SETTLE_MS ? timeout_ms : SETTLE_MS);
    size_t  wanted = count_clrs(p);
    int     err = open_listener(p, &ports->ports[port]);
    while (!err && now_ms() < until && ports->n_runtimes < wanted) {
        struct sxs_diag_info advert_info, info;
        int                  fd;
        if (accept_runtime(p, &ports->ports[port], NULL, STEP_MS, &advert_info, &fd) != 0)
            continue;
        if (!is_known(ports, &advert_info) && ask_info(fd, timeout_ms, &info) == 0) {
            add_reached(ports, &info, port);
            until = now_ms() + SETTLE_MS;
        }
        close(fd);
    }
    return err;
}

void sxs_ports_ask(const struct sxs_process *p, struct sxs_ports *ports, unsigned timeout_ms,
                   char *why, size_t size)
{
    *why = '\0';
    ports->n_runtimes = 0;
    for (size_t i = 0; i < ports->n; i++) {
        int err = ports->ports[i].connects ? ask_connecting(p, ports, i, timeout_ms)
                                           : ask_listening(p, ports, i, timeout_ms);
        if (err)
            snprintf(why, size, "%s: %s", ports->ports[i].path,
                     err == ETIMEDOUT    ? "no answer"
                     : err == EBADMSG    ? "the answer is damaged"
                     : err == EADDRINUSE ? "another tool listens there"
                                         : strerror(err));
    }
}

int sxs_ports_exchange(const struct sxs_process *p, const struct sxs_ports *ports, size_t runtime,
                       const uint8_t *request, size_t size, unsigned timeout_ms, uint8_t *buf,
                       struct sxs_diag_answer *out)
{
    const struct sxs_reached *r = &ports->runtimes[runtime];
    const struct sxs_port    *port = &ports->ports[r->port];
    struct sxs_diag_info      advert_info;
    int                       fd = -1;
    int err = port->connects ? accept_runtime(p, port, r->info.cookie, timeout_ms, &advert_info, &fd)
                             : connect_port(p, port, &fd);
    if (err)
        return err;
    err = sxs_diag_exchange(fd, request, size, timeout_ms, buf, out);
    close(fd);
    return err;
}

void sxs_ports_close(const struct sxs_process *p, struct sxs_ports *ports)
{
    for (size_t i = 0; i < ports->n; i++)
        if (ports->ports[i].listener >= 0) {
            close(ports->ports[i].listener);
            ports->ports[i].listener = -1;
            sxs_inside_unlink(p, ports->ports[i].path);
        }
}
