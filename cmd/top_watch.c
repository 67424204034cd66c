/* SPDX-License-Identifier: MIT */
#include "cmd/top_watch.h"

#include "cmd/top/curses.h"
#include "cmd/top/top.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

enum { MAX_PERIODS = 150 }; /* for one look, of those in which sxs_child_work() asks */

static struct {
    _Atomic unsigned *looks; /* shared with the child */
    unsigned          last;  /* value of looks */
    unsigned          n_periods;
    bool              has_terminal;
    struct termios    before;
} watched;

static bool gives_up(void *arg, pid_t child)
{
    unsigned looks = atomic_load(watched.looks);
    (void)arg;
    (void)child;
    watched.n_periods = looks == watched.last && looks % 2 ? watched.n_periods + 1 : 0;
    watched.last = looks;
    return watched.n_periods > MAX_PERIODS;
}

const struct sxs_child_limit *sxs_top_watch(bool screen)
{
    static const struct sxs_child_limit limit = {gives_up, NULL};
    void *shared = mmap(NULL, sizeof(*watched.looks), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    watched.has_terminal = screen && tcgetattr(STDIN_FILENO, &watched.before) == 0;
    if (shared == MAP_FAILED)
        return NULL;
    watched.looks = shared;
    atomic_store(watched.looks, 1); /* the session is opened, as a part of the first look */
    sxs_top_count_looks(watched.looks);
    return &limit;
}

void sxs_top_watch_lost(void)
{
    if (watched.has_terminal)
        sxs_curses_leave(&watched.before);
}
