/* SPDX-License-Identifier: MIT */
#include "cmd/processes/ports.h"

#include "base/tree.h"
#include "cmd/processes/deadline.h"
#include "cmd/processes/unix_lines.h"
#include "cmd/processes/unix_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PROCESS_SET  4u
#define PROCESS_INFO 4u /* ProcessInfo2 */
#define STEP_MS      50
/* A runtime tries to connect at least every half second, if its thread gets to run. A machine with 40
 * runnable threads for each core needed more than 700 ms. Waited for only while a runtime is missing. */
#define CONNECT_MS  5000
#define MAX_SOCKETS (1u << 20)
/* Sockets whose names the kernel is asked for, the oldest first: a runtime opens its port early. */
#define MAX_ASKED 16384u
#define ADVERT_MS 1000u /* a runtime sends its name with the first bytes of a connection */

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

/* ---- names of sockets in the network of the process ------------------------------------------ */

/* The sockets that the process has open. */
struct open_sockets {
    uint64_t *inodes; /* owned, ascending */
    size_t    n;
    bool      known; /* false: this user may not see them */
};

static int by_inode(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Adds the socket that the descriptor @name stands for. */
static void add_socket(struct open_sockets *s, int fds, const char *name, size_t *room)
{
    char               link[64];
    unsigned long long inode;
    ssize_t            n = readlinkat(fds, name, link, sizeof(link) - 1);
    link[n > 0 ? n : 0] = '\0';
    if (sscanf(link, "socket:[%llu]", &inode) != 1)
        return;
    if (s->n == *room) {
        size_t    more = *room ? 2 * *room : 64;
        uint64_t *grown = realloc(s->inodes, more * sizeof(*grown));
        if (!grown)
            return;
        s->inodes = grown;
        *room = more;
    }
    s->inodes[s->n++] = inode;
}

static struct open_sockets find_sockets(const struct sxs_process *p)
{
    struct open_sockets s = {0};
    size_t              room = 0;
    DIR                *fds = sxs_tree_list(p->dir, "fd");
    s.known = fds != NULL;
    for (struct dirent *e; fds && s.n < MAX_SOCKETS && (e = readdir(fds));)
        if (e->d_name[0] != '.')
            add_socket(&s, dirfd(fds), e->d_name, &room);
    if (fds)
        closedir(fds);
    if (s.n)
        qsort(s.inodes, s.n, sizeof(*s.inodes), by_inode);
    return s;
}

/* Tells whether the process has the socket open, as far as this user may see that. */
static bool has_socket(const void *arg, uint64_t inode)
{
    const struct open_sockets *own = arg;
    return !own->known ||
           (own->n && bsearch(&inode, own->inodes, own->n, sizeof(inode), by_inode) != NULL);
}

static void add_found(void *arg, const char *path, size_t len)
{
    add_port(arg, path, len, false);
}

/* Adds those of @own whose names, as the kernel tells them by @fd, contain @name. */
static void add_own_names(int fd, const char *name, const struct open_sockets *own,
                          struct sxs_ports *out)
{
    struct sxs_unix_name found;
    for (size_t i = 0; i < own->n && i < MAX_ASKED && sxs_deadline_left(1); i++)
        if (sxs_unix_names_ask(fd, own->inodes[i], &found) == 0 && found.listens &&
            strstr(found.text, name))
            add_port(out, found.text, strlen(found.text), false);
}

/* Adds the sockets with the default name that the process listens at, also those that a change of
 * TMPDIR has put elsewhere. */
static void add_open_ports(const struct sxs_process *p, struct sxs_ports *out)
{
    struct open_sockets own = find_sockets(p);
    char                name[64];
    int                 fd = own.known ? sxs_unix_names_open(p) : -1;
    snprintf(name, sizeof(name), "/dotnet-diagnostic-%d-", (int)p->ns_pid);
    if (fd >= 0) {
        add_own_names(fd, name, &own, out);
        close(fd);
    } else {
        sxs_unix_lines_find(p, name, has_socket, &own, add_found, out);
    }
    free(own.inodes);
}

void sxs_ports_find(const struct sxs_process *p, struct sxs_ports *out)
{
    char setting[8192];
    memset(out, 0, sizeof(*out));
    add_usual_port(p, out);
    if (sxs_process_variable(p, "DOTNET_DiagnosticPorts", setting, sizeof(setting)) == 0 ||
        sxs_process_variable(p, "COMPlus_DiagnosticPorts", setting, sizeof(setting)) == 0)
        sxs_ports_of_setting(setting, out);
    add_open_ports(p, out);
}

/* ---- asking ---------------------------------------------------------------------------------- */

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
    int64_t deadline = sxs_deadline_now_ms() + timeout_ms;
    while (sxs_deadline_now_ms() < deadline && sxs_deadline_left(1)) {
        struct pollfd ready = {.fd = port->listener, .events = POLLIN};
        uint8_t       advert[SXS_DIAG_ADVERT];
        if (poll(&ready, 1, STEP_MS) <= 0)
            continue;
        *fd = accept4(port->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (*fd < 0)
            continue;
        if (is_peer(p, *fd) && sxs_diag_receive(*fd, advert, sizeof(advert), ADVERT_MS) == 0 &&
            sxs_diag_parse_advert(advert, info) == 0 &&
            (!want || memcmp(want, info->cookie, sizeof(info->cookie)) == 0))
            return 0;
        close(*fd); /* that runtime connects again */
    }
    *fd = -1;
    return ETIMEDOUT;
}

/* Opens the socket of a port in connect mode. */
static int open_listener(const struct sxs_process *p, struct sxs_port *port)
{
    if (port->listener >= 0)
        return 0;
    return sxs_inside_listen(p, port->path, &port->listener, &port->made);
}

/* Asks which process and runtime are at the other end. */
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
    int64_t until = sxs_deadline_now_ms() + (timeout_ms < CONNECT_MS ? timeout_ms : CONNECT_MS);
    size_t  wanted = count_clrs(p);
    int     err = open_listener(p, &ports->ports[port]);
    while (!err && sxs_deadline_now_ms() < until && sxs_deadline_left(1) &&
           ports->n_runtimes < wanted) {
        struct sxs_diag_info advert_info, info;
        int                  fd;
        if (accept_runtime(p, &ports->ports[port], NULL, STEP_MS, &advert_info, &fd) != 0)
            continue;
        if (!is_known(ports, &advert_info) && ask_info(fd, timeout_ms, &info) == 0) {
            add_reached(ports, &info, port);
            until = sxs_deadline_now_ms() + CONNECT_MS;
        }
        close(fd);
    }
    return err;
}

/* Writes why a port did not answer. */
static void explain(const struct sxs_port *port, int err, char *why, size_t size)
{
    const struct sxs_inside_file *file = &port->made;
    char                          owner[64];
    snprintf(owner, sizeof(owner), "a socket of user %u is there", (unsigned)file->owner);
    snprintf(why, size, "%s: %s", port->path,
             err == ETIMEDOUT             ? "no answer"
             : err == EBADMSG             ? "the answer is damaged"
             : err == EADDRINUSE          ? "another tool listens there"
             : err == EPERM && file->mode ? owner
             : err != ENOTSOCK            ? strerror(err)
             : S_ISREG(file->mode)        ? "it is a regular file; expected a socket or a free name"
             : S_ISLNK(file->mode)        ? "it is a link; expected a socket or a free name"
                                          : "it is no socket; expected a socket or a free name");
}

void sxs_ports_ask(const struct sxs_process *p, struct sxs_ports *ports, unsigned timeout_ms,
                   char *why, size_t size)
{
    *why = '\0';
    ports->n_runtimes = 0;
    for (size_t i = 0; i < ports->n; i++) {
        struct sxs_port *port = &ports->ports[i];
        int              err = !sxs_deadline_left(1) ? ETIMEDOUT
                               : port->connects      ? ask_connecting(p, ports, i, timeout_ms)
                                                     : ask_listening(p, ports, i, timeout_ms);
        if (err)
            explain(port, err, why, size);
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
    int                       err = port->connects
                                        ? accept_runtime(p, port, r->info.cookie, timeout_ms, &advert_info, &fd)
                                        : connect_port(p, port, &fd);
    if (err)
        return err;
    err = sxs_diag_exchange(fd, request, size, timeout_ms, buf, out);
    close(fd);
    return err;
}

void sxs_ports_close(const struct sxs_process *p, struct sxs_ports *ports)
{
    static struct sxs_inside_socket made[SXS_MAX_PORTS];
    size_t                          n = 0;
    for (size_t i = 0; i < ports->n; i++)
        if (ports->ports[i].listener >= 0) {
            close(ports->ports[i].listener);
            ports->ports[i].listener = -1;
            memcpy(made[n].path, ports->ports[i].path, sizeof(made[n].path));
            made[n++].made = ports->ports[i].made;
        }
    sxs_inside_unlink(p, made, n);
}
