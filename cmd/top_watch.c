/* SPDX-License-Identifier: MIT */
#include "cmd/top_watch.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "cmd/child.h"
#include "cmd/command.h"
#include "cmd/top/curses.h"
#include "cmd/top/top.h"

enum { MAX_PERIODS = 150 }; /* for one look, of those in which sxs_child_work() asks */

struct watched {
    int (*show)(void *arg);
    void             *arg;
    _Atomic unsigned *looks; /* shared with the child */
    unsigned          last;  /* value of looks */
    unsigned          n_periods;
};

static int show_counted(void *arg)
{
    struct watched *w = arg;
    sxs_top_count_looks(w->looks);
    sxs_top_catch();
    return w->show(w->arg);
}

static bool gives_up(void *arg, pid_t child)
{
    struct watched *w = arg;
    unsigned        looks = atomic_load(w->looks);
    (void)child;
    w->n_periods = looks == w->last && looks % 2 ? w->n_periods + 1 : 0;
    w->last = looks;
    return w->n_periods > MAX_PERIODS;
}

int sxs_top_watch(int (*show)(void *arg), void *arg, pid_t pid, bool screen)
{
    struct watched               w = {.show = show, .arg = arg};
    const struct sxs_child_limit limit = {gives_up, &w};
    struct termios               before;
    int                          status = 0;
    bool                         has_terminal = screen && tcgetattr(STDIN_FILENO, &before) == 0;
    w.looks =
        mmap(NULL, sizeof(*w.looks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w.looks == MAP_FAILED) {
        sxs_complain("top: %s", strerror(ENOMEM));
        return SXS_EXIT_FAILED;
    }
    atomic_store(w.looks, 1); /* the session is opened, as a part of the first look */
    int err = sxs_child_work(show_counted, &w, &limit, &status);
    munmap(w.looks, sizeof(*w.looks));
    if (!err && WIFEXITED(status))
        return WEXITSTATUS(status);
    if (has_terminal)
        sxs_curses_leave(&before);
    if (!err)
        sxs_child_exit_like(status); /* does not return */
    if (err != ETIMEDOUT) {
        sxs_complain("top: %s", strerror(err));
        return SXS_EXIT_FAILED;
    }
    sxs_complain("process %d: its session was given up, because a file of it does not answer; "
                 "expected a file system "
                 "that does",
                 (int)pid);
    return SXS_EXIT_PROBLEM;
}
