/* SPDX-License-Identifier: MIT */
#include "cmd/serve/child.h"
#include "cmd/output/temporary.h"

#include "cmd/confined/helper.h"
#include "cmd/confined/reader.h"
#include "cmd/processes/asked.h"
#include "cmd/serve/content.h"
#include "cmd/symbols/start_names.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_CPU_S = 120, MAX_OUTPUT = 1 << 30 };

/* The first descriptors of the child. */
enum { ROOT_FD = 3, SOURCE_FD, TELL_FD, FIRST_CLOSED, AWAY = 64 };

/* Half of the memory of this machine in bytes; 0: not known. */
static uint64_t half_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 2 : 0;
}

/* From now on, this process reads files of strangers. It writes to its output, which is open, and below
 * TMPDIR when it unpacks a packed session there. */
static void confine(const struct sxs_serve_child *c)
{
    const char                  *tmp = sxs_temporary_folder();
    struct stat                  st;
    const struct sxs_confinement limits = {
        .memory = half_of_memory(), .cpu_s = MAX_CPU_S, .file_size = MAX_OUTPUT};
    const struct sxs_confined_reader reader = {.writes = &tmp,
                                               .n_writes = c->wanted->kind != SXS_SERVE_LIST &&
                                                           fstat(SOURCE_FD, &st) == 0 &&
                                                           S_ISREG(st.st_mode),
                                               .start = sxs_symbol_start_names};
    if (!sxs_confined_is_off())
        sxs_helper_start(sxs_asked_answer, NULL); /* without: no session counts as running */
    sxs_confine_reader(&limits, &reader);
}

/* Moves the descriptors to the numbers above, and closes all others. Returns false when that
 * fails. */
static bool place_descriptors(const struct sxs_serve_child *c)
{
    const int from[] = {open("/dev/null", O_RDWR | O_CLOEXEC),
                        c->out_fd,
                        c->err_fd,
                        c->o->root_fd,
                        c->source_fd,
                        c->tell_fd};
    int       away[FIRST_CLOSED];
    for (int i = 0; i < FIRST_CLOSED; i++)
        if ((away[i] = fcntl(from[i], F_DUPFD_CLOEXEC, AWAY)) < 0)
            return false;
    for (int i = 0; i < FIRST_CLOSED; i++)
        if (dup2(away[i], i) < 0)
            return false;
    return close_range(FIRST_CLOSED, ~0U, 0) == 0;
}

static _Noreturn void work(const struct sxs_serve_child *c, pid_t parent)
{
    sigset_t                 none;
    struct sxs_serve_options o = *c->o;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || !place_descriptors(c))
        _exit(1);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    confine(c);
    o.root_fd = ROOT_FD;
    sxs_serve_make(&o, c->wanted, SOURCE_FD, TELL_FD);
}

pid_t sxs_serve_child_start(const struct sxs_serve_child *c)
{
    pid_t parent = getpid();
    fflush(NULL); /* the child must not write what this process has not written yet */
    pid_t child = fork();
    if (child == 0)
        work(c, parent);
    return child;
}
