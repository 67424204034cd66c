/* SPDX-License-Identifier: MIT */
/**
 * curses.h - the functions of ncurses that the live view uses, from the library as it is found at
 * run time: only this verb needs it, and --batch works without it.
 */
#ifndef SXS_CMD_TOP_CURSES_H
#define SXS_CMD_TOP_CURSES_H

#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#define SXS_CURSES(X)                                                                              \
    X(newterm)                                                                                     \
    X(endwin)                                                                                      \
    X(cbreak) X(noecho) X(nonl) X(keypad) X(wtimeout) X(wget_wch) X(wmove) X(waddnstr) X(wattrset) \
        X(wclrtoeol) X(werase) X(wrefresh) X(curs_set) X(start_color) X(use_default_colors)        \
            X(init_pair) X(has_colors) X(getmaxx) X(getmaxy) X(set_escdelay) X(clearok)

struct sxs_curses {
#define X(name) __typeof__(name) *name;
    SXS_CURSES(X)
#undef X
    WINDOW *screen; /* the whole terminal */
    bool    colors;
    bool    utf8; /* the terminal shows UTF-8, as the locale says */
};

/**
 * sxs_curses_open - take over the terminal. @why: receives a sentence about a failure.
 * Returns 0, and sxs_curses_close() must follow; or -1, and the terminal is as it was. The terminal
 * is also restored by exit() and when this process crashes.
 */
int sxs_curses_open(struct sxs_curses *c, char *why, size_t why_size);

/** sxs_curses_close - give the terminal back, as it was. */
void sxs_curses_close(struct sxs_curses *c);

/** sxs_curses_leave - give the terminal back without ncurses, for a process that has ended and had it as it was
 *  @before. Returns 0, or -1 when the terminal is gone. Signal-safe. */
int sxs_curses_leave(const struct termios *before);

/** Colors of the view. */
enum sxs_color {
    SXS_COLOR_PLAIN,
    SXS_COLOR_LABEL,    /* words in the header */
    SXS_COLOR_GOOD,     /* bars: up to half */
    SXS_COLOR_BUSY,     /* bars: up to 80 % */
    SXS_COLOR_BAD,      /* bars: above; an ended process */
    SXS_COLOR_HEADING,  /* of the columns */
    SXS_COLOR_SORTED,   /* heading of the column that it is sorted by */
    SXS_COLOR_SELECTED, /* the row of the cursor */
    SXS_COLOR_KEY,      /* keys at the bottom */
    SXS_COLOR_TAB,      /* the view that is shown */
    SXS_COLOR_DIM,      /* what is not recorded */
    SXS_COLOR_NATIVE,   /* names of native code */
    SXS_N_COLORS
};

/** sxs_curses_color - draw with a color from now on; with bold and reverse where there are none. */
void sxs_curses_color(const struct sxs_curses *c, enum sxs_color color);

#endif
