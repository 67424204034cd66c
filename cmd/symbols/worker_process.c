/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/worker_process.h"

#include "base/base.h"
#include "cmd/confined/confined.h"
#include "cmd/confined/descriptors.h"
#include "cmd/symbols/pe_debug.h"
#include "cmd/symbols/worker_serve.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WORKERS = 16, MAX_JOBS = 4 };

/* ---- here -------------------------------------------------------------------------------------- */

static pid_t start_here(const struct sxs_symbol_job *job, int fd)
{
    struct sxs_symbol_served served = {*job, fd};
    /* Root keeps what opens its own files, and what takes the rights of others. */
    const struct sxs_confinement c = {.calls = SXS_CONFINED_READ,
                                      .cpu_s = SXS_SYMBOL_WORKER_S,
                                      .file_size = SXS_MAX_PDB, /* files in memory */
                                      .keep = &fd,
                                      .n_keep = 1,
                                      .capabilities = 1u << CAP_DAC_OVERRIDE |
                                                      1u << CAP_DAC_READ_SEARCH | 1u << CAP_SETUID |
                                                      1u << CAP_SETGID};
    return sxs_confined_start(&c, sxs_symbol_worker_serve, &served);
}

static int end_here(pid_t pid)
{
    int   status;
    pid_t got = 0;
    for (int i = 0; i < 100 && (got = waitpid(pid, &status, WNOHANG)) == 0; i++) {
        struct timespec pause = {0, i ? 1000000 : 0};
        kill(pid, SIGKILL);
        nanosleep(&pause, NULL);
    }
    return got == pid ? status : -1;
}

/* ---- the starter --------------------------------------------------------------------------------- */

/* What it is asked: to start a worker for the job of this number, whose socket comes with the message, or
 * to end the worker of this PID. It answers with the PID, or the status. */
struct order {
    int32_t end; /* else: start */
    int32_t number;
};

static struct sxs_symbol_job jobs[MAX_JOBS];
static size_t                n_jobs;
static int                   starter = -1; /* the command's end of the connection; -1: none */
static pid_t                 workers[MAX_WORKERS]; /* of the starter; 0: none */

/* The command has ended. */
static void end_all(int number)
{
    (void)number;
    for (size_t i = 0; i < MAX_WORKERS; i++)
        if (workers[i])
            kill(workers[i], SIGKILL);
    _exit(0);
}

static pid_t *find_worker(pid_t pid)
{
    for (size_t i = 0; i < MAX_WORKERS; i++)
        if (workers[i] == pid)
            return &workers[i];
    return NULL;
}

/* Returns a place for a worker; NULL: there are too many. */
static pid_t *find_place(void)
{
    for (size_t i = 0; i < MAX_WORKERS; i++)
        if (workers[i] && waitpid(workers[i], NULL, WNOHANG) != 0)
            workers[i] = 0;
    return find_worker(0);
}

static int32_t obey(const struct order *o, int fd)
{
    pid_t *worker = o->end ? find_worker(o->number) : find_place();
    if (!worker || (o->end ? !*worker : fd < 0 || o->number < 0 || (size_t)o->number >= n_jobs))
        return -1;
    if (!o->end) {
        pid_t pid = start_here(&jobs[o->number], fd);
        *worker = pid > 0 ? pid : 0;
        return pid;
    }
    int status = end_here(*worker);
    if (status != -1)
        *worker = 0;
    return status;
}

/* The starter's process. A signal from the terminal is for the command: it decides what ends. */
static int obey_orders(void *arg)
{
    static const int       ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGPIPE};
    const struct sigaction ending = {.sa_handler = end_all};
    const int              socket = *(const int *)arg;
    sigset_t               term;
    for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
        signal(ignored[i], SIG_IGN);
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigaction(SIGTERM, &ending, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    struct order o;
    int          fd;
    while (sxs_confined_receive(socket, &o, sizeof(o), &fd) == (ssize_t)sizeof(o)) {
        sigprocmask(SIG_BLOCK, &term, NULL); /* until `workers` is right again */
        int32_t answer = obey(&o, fd);
        if (fd >= 0)
            close(fd);
        sigprocmask(SIG_UNBLOCK, &term, NULL);
        (void)sxs_confined_send(socket, &answer, sizeof(answer), -1);
    }
    end_all(0);
    return 0;
}

void sxs_symbol_starter(const struct sxs_confinement *confinement,
                        const struct sxs_symbol_job *wanted, size_t n)
{
    struct sxs_confinement c = *confinement;
    int                    pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return;
    for (n_jobs = 0; n_jobs < n && n_jobs < MAX_JOBS; n_jobs++)
        jobs[n_jobs] = wanted[n_jobs];
    c.calls =
        SXS_CONFINED_ANY; /* its workers have a filter that permits less than that of the command */
    c.cpu_s = 0;
    c.keep = &pair[1];
    c.n_keep = 1;
    if (sxs_confined_start(&c, obey_orders, &pair[1]) > 0)
        starter = pair[0];
    else
        close(pair[0]);
    close(pair[1]);
}

static int32_t ask_starter(int32_t end, int32_t number, int fd)
{
    const struct order o = {end, number};
    int32_t            answer;
    int                none;
    if (sxs_confined_send(starter, &o, sizeof(o), fd) != 0 ||
        sxs_confined_receive(starter, &answer, sizeof(answer), &none) != (ssize_t)sizeof(answer))
        return -1;
    return answer;
}

/* ---- the command --------------------------------------------------------------------------------- */

pid_t sxs_symbol_process_start(const struct sxs_symbol_job *job, int fd)
{
    if (starter < 0)
        return start_here(job, fd);
    for (size_t i = 0; i < n_jobs; i++)
        if (jobs[i].answer == job->answer && jobs[i].arg == job->arg)
            return ask_starter(false, (int32_t)i, fd);
    return -1;
}

int sxs_symbol_process_end(pid_t pid)
{
    return starter < 0 ? end_here(pid) : ask_starter(true, pid, -1);
}
