/* SPDX-License-Identifier: MIT */
/* draw_header.c - draws the lines of figures, and the help. */
#include "cmd/top/screen.h"

#include "cmd/output/text.h"

#include <string.h>
#include <unistd.h>

/* Draws "LABEL [|||||    12.3%]", @width columns wide; @share of 1 fills it. */
static void draw_bar(const struct sxs_screen *s, const char *label, double share, double percent,
                     int width)
{
    char text[32];
    int  room, len;
    sxs_curses_color(&s->curses, SXS_COLOR_LABEL);
    room = width - sxs_draw_text(s, label, width, false) - 2;
    sxs_curses_color(&s->curses, SXS_COLOR_PLAIN);
    if (room < 8)
        return;
    len = snprintf(text, sizeof(text), "%.1f%%", percent);
    int full = (int)(share * room + 0.5);
    full = full < 0 ? 0 : full > room - len ? room - len : full;
    s->curses.waddnstr(s->curses.screen, "[", 1);
    sxs_curses_color(&s->curses, share > 0.8   ? SXS_COLOR_BAD
                                 : share > 0.5 ? SXS_COLOR_BUSY
                                               : SXS_COLOR_GOOD);
    for (int i = 0; i < room - len; i++)
        s->curses.waddnstr(s->curses.screen, i < full ? "|" : " ", 1);
    sxs_curses_color(&s->curses, SXS_COLOR_PLAIN);
    s->curses.waddnstr(s->curses.screen, text, len);
    s->curses.waddnstr(s->curses.screen, "]", 1);
}

/* Draws "  LABEL value". Returns the columns. */
static int draw_figure(const struct sxs_screen *s, const char *label, const char *value, int room)
{
    int x = sxs_draw_text(s, "  ", room, false);
    sxs_curses_color(&s->curses, SXS_COLOR_LABEL);
    x += sxs_draw_text(s, label, room - x, false);
    x += sxs_draw_text(s, " ", room - x, false);
    sxs_curses_color(&s->curses, SXS_COLOR_PLAIN);
    return x + sxs_draw_text(s, value, room - x, false);
}

static void draw_title(const struct sxs_screen *s)
{
    const struct sxs_live_process *p = sxs_live_process(s->live);
    char                           right[96];
    unsigned                       t = p->seconds < 4e9 ? (unsigned)p->seconds : 0;
    const char                    *state = s->paused                      ? "  PAUSED"
                                           : !p->running                  ? "  ENDED"
                                           : s->changes & SXS_LIVE_BEHIND ? "  READING"
                                                                          : "";
    snprintf(right, sizeof(right), "  pid %u  %02u:%02u:%02u  every %.3g s%s", p->pid, t / 3600,
             t / 60 % 60, t % 60, s->interval_s, state);
    int room = s->width - (int)strlen(right);
    s->curses.wmove(s->curses.screen, 0, 0);
    sxs_curses_color(&s->curses, SXS_COLOR_LABEL);
    int x = sxs_draw_text(s, "sxsprof top ", room, false);
    sxs_curses_color(&s->curses, SXS_COLOR_PLAIN);
    x += sxs_draw_text(s, p->command, room - x, false);
    sxs_draw_text(s, "", room - x, true);
    sxs_curses_color(&s->curses, *state ? SXS_COLOR_BAD : SXS_COLOR_PLAIN);
    sxs_draw_text(s, right, s->width, false);
    sxs_curses_color(&s->curses, SXS_COLOR_PLAIN);
}

static void draw_cpu(const struct sxs_screen *s, const struct sxs_top_figures *f, int y, int bar)
{
    char   a[32];
    double processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
    int    x = bar;
    s->curses.wmove(s->curses.screen, y, 0);
    draw_bar(s, "CPU ", f->cpu / (processors > 0 ? processors : 1), 100 * f->cpu, bar);
    if (f->threads) {
        x += draw_figure(s, "Threads", sxs_top_number(f->threads, a, sizeof(a)), s->width - x);
        x += draw_figure(s, "Memory", sxs_text_bytes((double)f->rss, a, sizeof(a)), s->width - x);
    }
    x += draw_figure(s, "Exc/s", sxs_top_number(f->exceptions, a, sizeof(a)), s->width - x);
    draw_figure(s, "JIT/s", sxs_top_number(f->methods, a, sizeof(a)), s->width - x);
}

static void draw_gc(const struct sxs_screen *s, const struct sxs_top_figures *f, int y, int bar)
{
    char a[32], b[40];
    int  x = bar;
    s->curses.wmove(s->curses.screen, y, 0);
    draw_bar(s, "GC  ", f->has_pause ? f->pause : 0, f->has_pause ? 100 * f->pause : 0, bar);
    x += draw_figure(s, "GC/s", sxs_top_number(f->gcs, a, sizeof(a)), s->width - x);
    x += draw_figure(s, "Heap",
                     f->heap_bytes ? sxs_text_bytes((double)f->heap_bytes, a, sizeof(a)) : "-",
                     s->width - x);
    snprintf(b, sizeof(b), "%s%s",
             f->has_allocated ? sxs_text_bytes(f->allocated, a, sizeof(a)) : "-",
             f->has_allocated ? "/s" : "");
    draw_figure(s, "Alloc", b, s->width - x);
}

/* The runtimes with their share of a processor, and what is recorded. */
static void draw_runtimes(const struct sxs_screen *s, int y)
{
    const struct sxs_live_process *p = sxs_live_process(s->live);
    char                           text[128], tools[96];
    size_t                         n;
    int                            x = 0;
    const struct sxs_live_runtime *r = sxs_live_runtimes(s->live, &n);
    s->curses.wmove(s->curses.screen, y, 0);
    if (s->filter[0]) {
        sxs_curses_color(&s->curses, SXS_COLOR_BUSY);
        snprintf(text, sizeof(text), "filter: %.100s  ", s->filter);
        x += sxs_draw_text(s, text, s->width, false);
    }
    sxs_curses_color(&s->curses, SXS_COLOR_LABEL);
    x += sxs_draw_text(s, "CLRs", s->width - x, false);
    for (size_t i = 0; i < n; i++) {
        bool shown = !s->state.runtime || s->state.runtime == r[i].number;
        sxs_curses_color(&s->curses, shown && !r[i].ended ? SXS_COLOR_PLAIN : SXS_COLOR_DIM);
        snprintf(text, sizeof(text), " %u:%.64s %.0f%%%s", r[i].number,
                 r[i].version[0] ? r[i].version : "?",
                 p->covered_s > 0 ? 100 * r[i].cpu_s.window / p->covered_s : 0,
                 r[i].ended ? " ended" : "");
        x += sxs_draw_text(s, text, s->width - x, false);
    }
    sxs_curses_color(&s->curses, SXS_COLOR_PLAIN);
    draw_figure(s, "Tools",
                sxs_top_tools(p->recorded, tools, sizeof(tools))[0] ? tools : "counts only",
                s->width - x);
}

int sxs_draw_header(struct sxs_screen *s)
{
    struct sxs_top_figures f;
    int bar = s->width >= 100 ? s->width / 2 - 4 : s->width >= 60 ? 28 : s->width / 2;
    sxs_top_figures_get(s->live, &s->system, &f);
    if (s->height > 3)
        draw_title(s);
    if (s->height <= 9)
        return s->height > 3;
    draw_cpu(s, &f, 1, bar);
    draw_gc(s, &f, 2, bar);
    draw_runtimes(s, 3);
    return 4;
}

void sxs_draw_help(struct sxs_screen *s)
{
    static const char *const lines[] = {
        "sxsprof top: what a process with .NET runtimes does now",
        "",
        " F1 h ?       this help              F2 Tab    next view, Shift-Tab: the one before",
        " 1 to 9       a view                 F3 r      only one runtime, the next, all",
        " F4 / \\       filter                 Esc       no filter",
        " F5 t         sort by what is now, or since the beginning",
        " F6 > <       sort by the next column, or the one before",
        " F7 -  F8 +   look more often, less often",
        " F9 Space     pause                  F10 q     quit",
        " Up Down PgUp PgDn Home End          Left Right: scroll long names",
        " Enter        the whole name of the row, over several lines",
        "",
        " Values are those of the last seconds; -ALL: since the session began.",
        " SELF%   of the CPU time of the process, in the function itself",
        " TOTAL%  also in the functions that it called",
        " CPU%    100: one processor.  WAIT%: waited, of wall time",
        " PAUSE   all threads of a runtime stopped",
        " TIER    in which most of the function's samples were; R2R: precompiled",
        " native  code of no runtime. Blue views are not recorded.",
        "",
        " Any key goes back.",
    };
    sxs_curses_color(&s->curses, SXS_COLOR_PLAIN);
    for (int i = 0; i < (int)(sizeof(lines) / sizeof(*lines)) && i < s->height; i++) {
        s->curses.wmove(s->curses.screen, i, 0);
        sxs_draw_text(s, lines[i], s->width - 1, false);
    }
}
