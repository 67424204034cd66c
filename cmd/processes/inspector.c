/* SPDX-License-Identifier: MIT */
#include "cmd/processes/inspector.h"

#include "cmd/confined/confined.h"
#include "cmd/confined/descriptors.h"
#include "cmd/processes/deadline.h"
#include "cmd/processes/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MS = 2000, MAX_STARTS = 16, CHILD_CPU_S = 20, CHILD_DESCRIPTORS = 64 };
#define CHILD_MEMORY (UINT64_C(64) << 20)

/* To the opener, with the descriptor of /proc/PID. */
struct inspector_request {
    bool                   version, has_file;
    struct sxs_mapped_file file;
};

/* To the parser, with the file, or with the memory of the process. */
struct task {
    bool     version, in_memory;
    uint64_t base; /* address of the file in that memory */
    dev_t dev;
    ino_t ino;
};

static struct {
    int opener, parser;  /* PIDs; 0: not started */
    int to, from_opener; /* sockets: the same one */
    int from_parser;     /* socket */
    int starts;
} now = {.to = -1, .from_opener = -1, .from_parser = -1};

/* ---- the children ---- */

/* What the children have: sockets to the parent and to each other. */
struct ends {
    int parent, other;
};

/* Opens the memory of a process that has mapped the file of @r, when the file itself could not be opened,
 * because it was deleted or replaced, or this user may not open it. Returns a descriptor, or @err. */
static int open_memory(int dir, const struct inspector_request *r, int err)
{
    bool none = err == -EACCES || err == -EPERM || err == -ENOENT || err == -ESTALE;
    int  fd = none && r->has_file ? openat(dir, "mem", O_RDONLY | O_CLOEXEC) : -1;
    return fd >= 0 ? fd : err;
}

/* Opens a file and hands it to the parser, or tells the parent why not. */
static void serve_opener(const struct ends *e, int dir, const struct inspector_request *r)
{
    struct sxs_inspector_answer answer = {0};
    struct stat                 st = {0};
    int  fd = dir < 0 ? -EBADF : sxs_mapped_open(dir, r->has_file ? &r->file : NULL, &st);
    bool in_memory = fd < 0;
    if (fd < 0)
        fd = open_memory(dir, r, fd);
    answer.err = fd < 0 ? -fd : 0;
    if (fd >= 0) {
        struct task t = {r->version, in_memory, r->file.start, in_memory ? 0 : st.st_dev,
                         in_memory ? 0 : st.st_ino};
        if (sxs_confined_send(e->other, &t, sizeof(t), fd) != 0)
            answer.err = EIO;
        close(fd);
    }
    if (answer.err)
        (void)sxs_confined_send(e->parent, &answer, sizeof(answer), -1);
}

static int run_opener(void *arg)
{
    const struct ends              *e = arg;
    static struct inspector_request r;
    int                             dir;
    while (sxs_confined_receive(e->parent, &r, sizeof(r), &dir) == (ssize_t)sizeof(r)) {
        serve_opener(e, dir, &r);
        if (dir >= 0)
            close(dir);
    }
    return 0;
}

static int run_parser(void *arg)
{
    const struct ends *e = arg;
    struct task        t;
    int                fd;
    while (sxs_confined_receive(e->other, &t, sizeof(t), &fd) == (ssize_t)sizeof(t)) {
        struct sxs_inspector_answer answer = {.dev = t.dev, .ino = t.ino};
        answer.found.kind = t.in_memory ? sxs_examine_memory(fd, t.base) : sxs_examine_kind(fd);
        if (t.version && !t.in_memory)
            sxs_examine_version(fd, answer.found.version, sizeof(answer.found.version));
        (void)sxs_confined_send(e->parent, &answer, sizeof(answer), -1);
        close(fd);
    }
    return 0;
}

/* To look into processes of others, to read their files, and to find them by their addresses. */
static uint64_t opener_rights(void)
{
    uint64_t rights = UINT64_C(1) << CAP_SYS_PTRACE | UINT64_C(1) << CAP_DAC_READ_SEARCH;
    bool     fine = prctl(PR_CAPBSET_READ, CAP_CHECKPOINT_RESTORE, 0, 0, 0) >= 0;
    return rights | UINT64_C(1) << (fine ? CAP_CHECKPOINT_RESTORE : CAP_SYS_ADMIN);
}

static int start_one(int (*work)(void *arg), struct ends *e, bool opens)
{
    const int                    keep[] = {e->parent, e->other};
    const struct sxs_confinement c = {
        .memory = CHILD_MEMORY,
        .cpu_s = CHILD_CPU_S,
        .file_size = 1,
        .descriptors = CHILD_DESCRIPTORS,
        .capabilities = opens ? opener_rights() : 0,
        .drop_root = true, /* the opener keeps its capabilities for reading */
        .calls = opens ? SXS_CONFINED_LOOK : SXS_CONFINED_PARSE,
        .keep = keep,
        .n_keep = 2,
    };
    return sxs_confined_start(&c, work, e);
}

static void close_all(int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static int start_children(void)
{
    enum { OPENER = 0, PARSER = 2, BETWEEN = 4 }; /* the first end of each pair is the parent's */
    int fds[6] = {-1, -1, -1, -1, -1, -1};
    if (now.starts++ >= MAX_STARTS)
        return EAGAIN;
    for (int i = 0; i < 6; i += 2)
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds + i) != 0) {
            int err = errno;
            close_all(fds, 6);
            return err;
        }
    struct ends opener = {fds[OPENER + 1], fds[BETWEEN]},
                parser = {fds[PARSER + 1], fds[BETWEEN + 1]};
    now.opener = start_one(run_opener, &opener, true);
    now.parser = now.opener > 0 ? start_one(run_parser, &parser, false) : -1;
    int err = now.parser > 0 ? 0 : errno;
    now.to = now.from_opener = fds[OPENER];
    now.from_parser = fds[PARSER];
    fds[OPENER] = fds[PARSER] = -1;
    close_all(fds, 6);
    if (err)
        sxs_inspector_end();
    return err;
}

void sxs_inspector_end(void)
{
    if (now.to >= 0)
        close(now.to);
    if (now.from_parser >= 0)
        close(now.from_parser);
    if (now.opener > 0)
        sxs_confined_end(now.opener);
    if (now.parser > 0)
        sxs_confined_end(now.parser);
    now.to = now.from_opener = now.from_parser = -1;
    now.opener = now.parser = 0;
}

/* ---- the parent ---- */

/* Waits for the answer of one of the children. */
static int wait_for_answer(struct sxs_inspector_answer *out)
{
    int64_t end = sxs_deadline_now_ms() + (int64_t)sxs_deadline_stretch(ANSWER_MS);
    for (;;) {
        struct pollfd both[2] = {{.fd = now.from_parser, .events = POLLIN},
                                 {.fd = now.from_opener, .events = POLLIN}};
        int64_t       left = end - sxs_deadline_now_ms();
        if (left <= 0)
            return ETIMEDOUT;
        if (poll(both, 2, (int)left) <= 0)
            continue;
        int     fd;
        ssize_t n =
            sxs_confined_receive(both[0].revents ? both[0].fd : both[1].fd, out, sizeof(*out), &fd);
        if (fd >= 0) /* no answer has one, but a child that a file has taken over may send one */
            close(fd);
        return n == (ssize_t)sizeof(*out) ? 0 : EBADMSG;
    }
}

int sxs_inspector_ask(int dir, const struct sxs_mapped_file *f, bool version,
                      struct sxs_inspector_answer *out)
{
    static struct inspector_request r;
    int                             err = now.to >= 0 ? 0 : start_children();
    if (err)
        return err;
    r.version = version;
    r.has_file = f != NULL;
    if (f)
        r.file = *f;
    err = sxs_confined_send(now.to, &r, sizeof(r), dir) == 0 ? wait_for_answer(out) : EBADMSG;
    out->found.version[sizeof(out->found.version) - 1] = '\0';
    if (err)
        sxs_inspector_end();
    return err;
}
