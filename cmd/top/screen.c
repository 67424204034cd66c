/* SPDX-License-Identifier: MIT */
/* screen.c - the loop of the live view: look, draw, wait for a key. */
#include "cmd/top/screen.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void take_signal(int signal)
{
    stopped = signal;
}

int sxs_top_stopped(void)
{
    return stopped;
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
#define N_SIGNALS (sizeof(signals) / sizeof(*signals))

static sigset_t signal_set(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < N_SIGNALS; i++)
        sigaddset(&set, signals[i]);
    return set;
}

void sxs_top_hold(void)
{
    const sigset_t set = signal_set();
    sigprocmask(SIG_BLOCK, &set, NULL);
}

void sxs_top_catch(void)
{
    const sigset_t   set = signal_set();
    struct sigaction act = {.sa_handler = take_signal}; /* without SA_RESTART: waits end */
    for (size_t i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &act, NULL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static _Atomic unsigned *looks;

void sxs_top_count_looks(_Atomic unsigned *count)
{
    looks = count;
}

unsigned sxs_top_look(struct sxs_live *live)
{
    if (looks)
        atomic_fetch_or(looks, 1);
    unsigned changes = sxs_live_look(live);
    if (looks)
        atomic_fetch_add(looks, 1);
    return changes;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool terminal_is_gone(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&in, 1, 0) > 0 && (in.revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void look(struct sxs_screen *s)
{
    struct sxs_live *next = NULL;
    s->changes = sxs_top_look(s->live);
    if (s->changes & SXS_LIVE_ENDED)
        next = s->next(s->next_arg);
    if (next) {
        s->live = next;
        s->changes = sxs_top_look(next);
    }
    sxs_top_system_read(&s->system, s->pid);
}

static void run(struct sxs_screen *s)
{
    double next = 0;
    while (!s->quit && !stopped) {
        double now = now_s();
        if (!s->paused && (now >= next || (s->changes & SXS_LIVE_BEHIND))) {
            look(s);
            next = now + s->interval_s;
        }
        sxs_screen_draw(s);
        wint_t key = 0;
        double wait = s->changes & SXS_LIVE_BEHIND && !s->paused ? 0.02 : next - now_s();
        wait = s->paused || wait > 1 ? 1 : wait > 0.001 ? wait : 0.001;
        s->curses.wtimeout(s->curses.screen, (int)(wait * 1000) + 1);
        int got = s->curses.wget_wch(s->curses.screen, &key);
        if (got == ERR && terminal_is_gone())
            return;
        if (got != ERR)
            sxs_screen_key(s, key, got == KEY_CODE_YES);
    }
}

int sxs_top_screen(struct sxs_live *live, const struct sxs_top_options *o, pid_t pid,
                   struct sxs_live *(*next)(void *arg), void *arg, char *why, size_t why_size)
{
    static struct sxs_screen s;
    s = (struct sxs_screen){
        .live = live, .pid = pid, .next = next, .next_arg = arg, .interval_s = o->interval_s};
    s.state.runtime = o->runtime;
    s.state.view = o->view ? sxs_top_view_named(o->view) : SXS_TOP_FUNCTIONS;
    snprintf(s.filter, sizeof(s.filter), "%s", o->filter ? o->filter : "");
    s.state.filter = s.filter;
    sxs_top_look(live);
    for (unsigned i = 0; i < SXS_TOP_N_VIEWS; i++)
        s.sorted[i] = sxs_top_sorted_first(i, sxs_live_process(live)->running);
    if (sxs_curses_open(&s.curses, why, why_size) != 0)
        return -1;
    run(&s);
    sxs_curses_close(&s.curses);
    sxs_top_table_free(&s.table);
    return 0;
}
