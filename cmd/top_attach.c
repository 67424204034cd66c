/* SPDX-License-Identifier: MIT */
#include "cmd/top_attach.h"

#include "cmd/command.h"
#include "cmd/confined/confined.h"
#include "cmd/output/print.h"
#include "cmd/top/top.h"
#include "cmd/verbs.h"
#include "session/read/session_read.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *const tools[] = SXS_TOP_ATTACH_TOOLS;
#define N_TOOLS (sizeof(tools) / sizeof(tools[0]))

/* In the child: becomes "sxsprof attach". Messages go to the file of this path. */
__attribute__((noreturn)) static void become_attach(pid_t pid, const char *session, const char *log,
                                                    pid_t parent)
{
    char number[16], self[] = "/proc/self/exe", verb[] = "attach", quiet[] = "--quiet",
                     option[] = "--tool", out[] = "-o", name[] = "sxsprof", names[N_TOOLS][32],
                     folder[PATH_MAX + 32];
    char *argv[8 + 2 * N_TOOLS];
    int   n = 0, fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
    }
    setpgid(0, 0); /* Ctrl-C is for the view, which ends the attach itself */
    signal(SIGINT, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGINT);
    if (getppid() != parent) /* it ended before that */
        _exit(SXS_EXIT_FAILED);
    snprintf(number, sizeof(number), "%d", (int)pid);
    snprintf(folder, sizeof(folder), "%s", session);
    argv[n++] = name;
    argv[n++] = verb;
    argv[n++] = quiet;
    for (size_t i = 0; i < N_TOOLS; i++) {
        snprintf(names[i], sizeof(names[i]), "%s", tools[i]);
        argv[n++] = option;
        argv[n++] = names[i];
    }
    argv[n++] = out;
    argv[n++] = folder;
    argv[n++] = number;
    argv[n] = NULL;
    execv(self, argv);
    _exit(SXS_EXIT_FAILED);
}

/* Prints what the attach has said. */
static void print_log(const char *path)
{
    char  line[1024];
    FILE *log = fopen(path, "re");
    while (log && fgets(line, sizeof(line), log))
        sxs_print_lines(stderr, line);
    if (log)
        fclose(log);
}

/* What is looked at in a confined child: the census is the process's. */
struct recording {
    int         dir;
    const char *folder;
};

static int read_census(void *arg, int out_fd)
{
    const struct recording *r = arg;
    struct sxs_session      session = {0};
    (void)out_fd;
    return sxs_session_read_one(r->dir, r->folder, &session) == 0 && session.n_processes ? 0 : EIO;
}

/* Returns true when the process records into a session that can be read: its census is mapped
 * before it is complete. */
static bool is_recording(pid_t pid, struct sxs_process_session *found)
{
    static const struct sxs_confinement limits = {.memory = UINT64_C(64) << 20,
                                                  .cpu_s = 5,
                                                  .wall_ms = 3000,
                                                  .file_size = 1,
                                                  .capabilities = UINT64_C(1)
                                                                  << CAP_DAC_READ_SEARCH,
                                                  .calls = SXS_CONFINED_LOOK};
    int                                 err = sxs_process_session_find(pid, found);
    struct recording                    r = {.dir = -1, .folder = found->folder};
    char                                none[1];
    size_t                              len;
    if (!err && found->dir)
        r.dir = open(found->open, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool readable = r.dir >= 0 && sxs_confined_run(&limits, read_census, &r, none, 1, &len) == 0;
    if (r.dir >= 0)
        close(r.dir);
    if (!readable)
        sxs_process_session_free(found);
    return readable;
}

/* Waits until the process records, or the attach has failed. */
static int wait_for_session(pid_t pid, struct sxs_top_attach *a, struct sxs_process_session *found)
{
    const struct timespec step = {0, 50000000};
    int                   status;
    while (!is_recording(pid, found)) {
        if (waitpid(a->child, &status, WNOHANG) == a->child) {
            a->child = 0;
            return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status)
                                                            : SXS_EXIT_PROBLEM;
        }
        if (sxs_top_stopped())
            return SXS_EXIT_PROBLEM;
        nanosleep(&step, NULL);
    }
    return SXS_EXIT_OK;
}

int sxs_top_attach(pid_t pid, struct sxs_top_attach *a, struct sxs_process_session *found)
{
    char why[512], log[PATH_MAX + 32], session[PATH_MAX + 32];
    memset(a, 0, sizeof(*a));
    if (!sxs_verb_find("attach"))
        return sxs_wrong_input(
            "top: process %d records no session now: start it by sxsprof sample, "
            "and name that process",
            (int)pid);
    if (sxs_out_dir_make(&a->out, false, why, sizeof(why)) != SXS_EXIT_OK) {
        sxs_complain("top: %s", why);
        return SXS_EXIT_FAILED;
    }
    a->has_out = true;
    snprintf(log, sizeof(log), "%s/log", a->out.path);
    snprintf(session, sizeof(session), "%s/session", a->out.path);
    pid_t parent = getpid();
    a->child = fork();
    if (a->child == 0)
        become_attach(pid, session, log, parent);
    if (a->child < 0) {
        a->child = 0;
        sxs_complain("top: %s", strerror(errno));
        return SXS_EXIT_FAILED;
    }
    int status = wait_for_session(pid, a, found);
    if (status != SXS_EXIT_OK)
        print_log(log);
    return status;
}

void sxs_top_detach(struct sxs_top_attach *a)
{
    if (a->child) {
        kill(a->child, SIGINT);
        while (waitpid(a->child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (a->has_out)
        sxs_out_dir_close(&a->out);
}
