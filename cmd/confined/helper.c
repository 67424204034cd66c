/* SPDX-License-Identifier: MIT */
#include "cmd/confined/helper.h"

#include "cmd/confined/confined.h"
#include "cmd/confined/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is asked. */
enum message_kind { STAT, OTHER };

struct message {
    uint32_t kind;
    uint32_t pid; /* STAT */
    uint8_t  bytes[SXS_HELPER_MESSAGE] __attribute__((aligned(8)));
};

#define HEAD offsetof(struct message, bytes)

static struct {
    pid_t              owner; /* that asks; a child process of it does not */
    pid_t              pid;
    int                fd; /* the own end of the connection */
    sxs_helper_answer *answer;
    void              *arg;
} helper;

static bool read_stat(pid_t pid, char *text, size_t size)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int     fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* ---- in the helper ---------------------------------------------------------------------------- */

static size_t answer_to(const struct message *question, size_t size, struct message *answer,
                        int *fd)
{
    if (question->kind == STAT && read_stat((pid_t)question->pid, (char *)answer->bytes, 2048))
        return strlen((char *)answer->bytes);
    if (question->kind == OTHER && helper.answer)
        return helper.answer(helper.arg, question->bytes, size, answer->bytes, fd);
    return 0;
}

/* Answers questions until there are no more. */
static int serve(void *arg)
{
    static struct message question, answer;
    (void)arg;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* the confined process cannot write to its memory */
    /* Signals of the terminal are for the confined process. When it ends, this process ends, too. */
    setpgid(0, 0);
    for (;;) {
        int     passed, fd = -1;
        ssize_t n = sxs_confined_receive(helper.fd, &question, sizeof(question), &passed);
        if (passed >= 0)
            close(passed);
        if (n < (ssize_t)HEAD)
            _exit(0); /* nothing that this process has in common with its parent is done */
        size_t size = answer_to(&question, (size_t)n - HEAD, &answer, &fd);
        int    err = sxs_confined_send(helper.fd, &answer, HEAD + size, fd);
        if (fd >= 0)
            close(fd);
        if (err)
            _exit(0);
    }
}

/* ---- in the process that asks ------------------------------------------------------------------- */

/* The helper ends when nobody can ask any more. */
static void end(void)
{
    if (helper.owner != getpid())
        return;
    close(helper.fd);
    while (waitpid(helper.pid, NULL, 0) < 0 && errno == EINTR)
        ;
    helper.owner = 0;
}

int sxs_helper_start(sxs_helper_answer *answer, void *arg)
{
    static const int room = 2 * (int)sizeof(struct message);
    int              pair[2], err = 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return errno;
    for (int i = 0; i < 2; i++)
        setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
    const struct sxs_confinement c = {
        .capabilities = SXS_CONFINED_KEEP_ALL, .keep = &pair[1], .n_keep = 1};
    helper.answer = answer;
    helper.arg = arg;
    helper.fd = pair[1];
    helper.pid = sxs_confined_start(&c, serve, NULL);
    if (helper.pid < 0)
        err = errno;
    close(pair[1]);
    if (!err && atexit(end) == 0) {
        helper.fd = pair[0];
        helper.owner = getpid();
        return 0;
    }
    close(pair[0]);
    return err ? err : ENOMEM;
}

bool sxs_helper_runs(void)
{
    return helper.owner && helper.owner == getpid();
}

static ssize_t ask(struct message *m, size_t size, void *answer, size_t room, int *fd)
{
    *fd = -1;
    if (sxs_confined_send(helper.fd, m, HEAD + size, -1) != 0)
        return -1;
    ssize_t n = sxs_confined_receive(helper.fd, m, sizeof(*m), fd);
    if (n >= (ssize_t)HEAD && (size_t)n - HEAD <= room) {
        memcpy(answer, m->bytes, (size_t)n - HEAD);
        return n - (ssize_t)HEAD;
    }
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return -1;
}

ssize_t sxs_helper_ask(const void *question, size_t size, void *answer, size_t room, int *fd)
{
    static struct message m;
    *fd = -1;
    if (!sxs_helper_runs() || size > sizeof(m.bytes))
        return -1;
    m.kind = OTHER;
    memcpy(m.bytes, question, size);
    return ask(&m, size, answer, room, fd);
}

bool sxs_helper_stat(pid_t pid, char *text, size_t size)
{
    static struct message m;
    int                   fd;
    if (!sxs_helper_runs())
        return read_stat(pid, text, size);
    m.kind = STAT;
    m.pid = (uint32_t)pid;
    ssize_t n = ask(&m, 0, text, size - 1, &fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}
