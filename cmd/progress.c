/* SPDX-License-Identifier: MIT */
#include "cmd/progress.h"

#include "base/clock.h"
#include "base/env.h"
#include "session/format/samples.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS 2000000000u /* a shorter run needs no progress line */

void sxs_progress_init(struct sxs_progress *p, const struct sxs_out_dir *out, bool quiet)
{
    const char *term = sxs_env_named("TERM");
    memset(p, 0, sizeof(*p));
    p->out = out;
    p->began_ns = p->last_ns = sxs_now_ns(CLOCK_MONOTONIC);
    p->enabled = !quiet && !out->segments_ns && isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

struct sample_sums {
    size_t   processes, runtimes;
    uint64_t samples, dropped;
};

/* Adds the counters of a process's sample file; returns false when there is none. The recorded
 * process writes the header meanwhile, so only single counters, which are always valid, are
 * used. */
static bool add_samples(int dir_fd, const char *folder, struct sample_sums *t)
{
    static struct sxs_samples_header head;
    char                             path[300];
    struct stat                      st;
    snprintf(path, sizeof(path), "%s/" SXS_SAMPLES_FILE, folder);
    int  fd = openat(dir_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool ours = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
                memcmp(head.magic, SXS_SAMPLES_MAGIC, sizeof(head.magic)) == 0;
    if (ours) {
        t->samples += atomic_load(&head.n_samples);
        t->dropped += atomic_load(&head.n_dropped);
    }
    if (fd >= 0)
        close(fd);
    return ours;
}

/* Sums up what this run has recorded so far; returns false when no process is sampled. */
static bool count_samples(const struct sxs_progress *p, struct sample_sums *t)
{
    struct sxs_session s;
    bool               sampled = false;
    int                dir_fd = open(p->out->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    memset(t, 0, sizeof(*t));
    if (dir_fd < 0)
        return false;
    if (sxs_session_read(p->out->path, &s) == 0) {
        sxs_out_dir_keep_new(p->out, &s);
        for (size_t i = 0; i < s.n_processes; i++) {
            t->processes++;
            t->runtimes += s.processes[i].n_runtimes;
            sampled |= add_samples(dir_fd, s.processes[i].folder, t);
        }
    }
    sxs_session_free(&s);
    close(dir_fd);
    return sampled;
}

static bool may_draw(void)
{
    struct termios tty;
    return tcgetpgrp(STDERR_FILENO) == getpgrp() && tcgetattr(STDERR_FILENO, &tty) == 0 &&
           (tty.c_lflag & ICANON);
}

/* Draws @text. The cursor moves down a row and up again, which makes room below without changing
 * the column (a newline would change it). Everything from the cursor on is erased: that is the
 * previously drawn line, or lies below it. The text is dim and right-aligned so that the rest of it
 * stands apart when output of the command overwrites it before the next tick. A single write()
 * keeps other output from coming in between. */
static void draw_line(const char *text)
{
    struct winsize size;
    char           line[512];
    int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
    int column = width - 1 - (int)strlen(text);
    int n = snprintf(line, sizeof(line), "\033[J\033D\033[A\0337\033[B\033[%dG\033[2m%.*s\0338",
                     column > 1 ? column : 1, width - 1, text);
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        return; /* the terminal is gone: ignore the error */
}

void sxs_progress_tick(struct sxs_progress *p)
{
    struct sample_sums t;
    char         text[256];
    uint64_t           now = sxs_now_ns(CLOCK_MONOTONIC);
    if (!p->enabled || now - p->began_ns < WAIT_NS || !may_draw() || !count_samples(p, &t))
        return;
    if (now - p->last_ns >= 1000000000u) { /* a rate over a shorter time would flicker */
        p->rate = (double)(t.samples - p->last_samples) * 1e9 / (double)(now - p->last_ns);
        p->last_ns = now;
        p->last_samples = t.samples;
    }
    snprintf(text, sizeof(text),
             "sxsprof: %.1f s  %zu process%s  %zu runtime%s  %llu samples, %.0f/s  %llu dropped",
             (double)(now - p->began_ns) / 1e9, t.processes, t.processes == 1 ? "" : "es",
             t.runtimes, t.runtimes == 1 ? "" : "s", (unsigned long long)t.samples, p->rate,
             (unsigned long long)t.dropped);
    draw_line(text);
    p->drawn = true;
}

void sxs_progress_erase(struct sxs_progress *p)
{
    static const char erase[] = "\033[J";
    if (p->drawn && may_draw() && write(STDERR_FILENO, erase, sizeof(erase) - 1) < 0)
        return;
    p->drawn = false;
}
