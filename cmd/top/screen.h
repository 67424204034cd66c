/* SPDX-License-Identifier: MIT */
/** screen.h - the live view on a terminal. Private to screen.c, keys.c and draw*.c. */
#ifndef SXS_CMD_TOP_SCREEN_H
#define SXS_CMD_TOP_SCREEN_H

#include "cmd/top/curses.h"
#include "cmd/top/top.h"

/** What the keys go to. */
enum sxs_screen_mode { SXS_SCREEN_TABLE, SXS_SCREEN_HELP, SXS_SCREEN_FILTER, SXS_SCREEN_DETAIL };

struct sxs_screen {
    struct sxs_curses curses;
    struct sxs_live  *live;              /* borrowed */
    struct sxs_live *(*next)(void *arg); /* as in sxs_top_screen() */
    void                 *next_arg;
    struct sxs_top_system system;
    pid_t                 pid;
    enum sxs_screen_mode  mode;
    struct sxs_top_state  state;
    struct sxs_top_table  table;
    unsigned              sorted[SXS_TOP_N_VIEWS];
    char                  filter[128];
    size_t                selected; /* row, of all rows of the view */
    size_t                page;     /* rows that are visible */
    size_t                shift;    /* characters of the last column that are scrolled out */
    double                interval_s;
    bool                  paused, quit;
    unsigned              changes; /* of the last look */
    int                   width, height;
    int                   widths[SXS_TOP_COLUMNS]; /* of the table's columns; 0: left out */
};

/** sxs_screen_key - do what a key asks for. @special: it is one of KEY_... */
void sxs_screen_key(struct sxs_screen *s, wint_t key, bool special);

/** sxs_screen_draw - draw everything. */
void sxs_screen_draw(struct sxs_screen *s);

/** sxs_draw_text - write @text at most @width columns wide, padded if @pad. Returns the columns. */
int sxs_draw_text(const struct sxs_screen *s, const char *text, int width, bool pad);
/** sxs_draw_header - draw the lines of figures. Returns how many. */
int sxs_draw_header(struct sxs_screen *s);
/** sxs_draw_help - draw the keys and columns. */
void sxs_draw_help(struct sxs_screen *s);

#endif
