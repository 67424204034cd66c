/* SPDX-License-Identifier: MIT */
#include "cmd/top/curses.h"

#include "base/env.h"
#include "base/own_library.h"

#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static struct {
    bool           open;
    struct termios before;
    int (*endwin)(void);
} terminal;

/* ---- the terminal is given back ---- */

static void restore(void)
{
    if (!terminal.open)
        return;
    terminal.open = false;
    terminal.endwin();
}

int sxs_curses_leave(const struct termios *before)
{
    static const char leave[] = "\033[0m\033[?25h\033[?1049l\r\n";
    tcsetattr(STDIN_FILENO, TCSANOW, before);
    return write(STDOUT_FILENO, leave, sizeof(leave) - 1) < 0 ? -1 : 0;
}

/* This process has crashed: ncurses must not be called any more. */
static void restore_after_crash(int signal)
{
    if (terminal.open) {
        terminal.open = false;
        if (sxs_curses_leave(&terminal.before) != 0)
            _exit(128 + signal);
    }
    raise(signal); /* SA_RESETHAND: the default action now */
}

static void catch_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction act = {.sa_handler = restore_after_crash,
                            .sa_flags = SA_RESETHAND | SA_NODEFER};
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        sigaction(signals[i], &act, NULL);
}

/* ---- colors ---- */

static const struct {
    short foreground, background;
    bool  bold, reverse; /* also without colors */
} looks[SXS_N_COLORS] = {
    [SXS_COLOR_PLAIN] = {-1, -1, false, false},
    [SXS_COLOR_LABEL] = {COLOR_CYAN, -1, false, false},
    [SXS_COLOR_GOOD] = {COLOR_GREEN, -1, false, false},
    [SXS_COLOR_BUSY] = {COLOR_YELLOW, -1, false, false},
    [SXS_COLOR_BAD] = {COLOR_RED, -1, true, false},
    [SXS_COLOR_HEADING] = {COLOR_BLACK, COLOR_GREEN, false, true},
    [SXS_COLOR_SORTED] = {COLOR_BLACK, COLOR_CYAN, false, true},
    [SXS_COLOR_SELECTED] = {COLOR_BLACK, COLOR_CYAN, false, true},
    [SXS_COLOR_KEY] = {COLOR_BLACK, COLOR_CYAN, false, true},
    [SXS_COLOR_TAB] = {COLOR_WHITE, COLOR_BLUE, true, true},
    [SXS_COLOR_DIM] = {COLOR_BLUE, -1, false, false},
    [SXS_COLOR_NATIVE] = {COLOR_MAGENTA, -1, false, false},
};

void sxs_curses_color(const struct sxs_curses *c, enum sxs_color color)
{
    attr_t attr = looks[color].bold ? A_BOLD : A_NORMAL;
    if (c->colors)
        attr |= (attr_t)((color + 1) << NCURSES_ATTR_SHIFT) & A_COLOR;
    else if (looks[color].reverse)
        attr |= A_REVERSE;
    c->wattrset(c->screen, (int)attr);
}

static void begin_colors(struct sxs_curses *c)
{
    c->colors = c->has_colors();
    if (!c->colors)
        return;
    c->start_color();
    bool defaults = c->use_default_colors() == OK;
    for (int i = 0; i < SXS_N_COLORS; i++)
        c->init_pair((short)(i + 1),
                     looks[i].foreground < 0 && !defaults ? COLOR_WHITE : looks[i].foreground,
                     looks[i].background < 0 && !defaults ? COLOR_BLACK : looks[i].background);
}

/* ---- opening ---- */

/* Finds the functions. Returns false when the library is missing or lacks one. */
static bool find_functions(struct sxs_curses *c)
{
    static const char *const sonames[] = {"libncursesw.so.6"};
    void *library = sxs_own_library_open(sonames, sizeof(sonames) / sizeof(*sonames));
    if (!library)
        return false;
#define X(name)                                         \
    *(void **)(void *)&c->name = dlsym(library, #name); \
    if (!c->name)                                       \
        return false;
    SXS_CURSES(X)
#undef X
    return dlsym(library, "stdscr") != NULL;
}

static WINDOW *whole_screen(void)
{
    static const char *const sonames[] = {"libncursesw.so.6"};
    void    *library = sxs_own_library_open(sonames, sizeof(sonames) / sizeof(*sonames));
    WINDOW **screen = library ? (WINDOW **)dlsym(library, "stdscr") : NULL;
    return screen ? *screen : NULL;
}

int sxs_curses_open(struct sxs_curses *c, char *why, size_t why_size)
{
    const char *term = sxs_env_named("TERM");
    memset(c, 0, sizeof(*c));
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        snprintf(why, why_size, "standard input and output are no terminal: --batch prints");
        return -1;
    }
    if (!term || !*term || strcmp(term, "dumb") == 0) {
        snprintf(why, why_size, "TERM=%s cannot move its cursor: --batch prints", term ? term : "");
        return -1;
    }
    if (!find_functions(c)) {
        snprintf(why, why_size,
                 "libncursesw.so.6 is missing (Debian: libncursesw6); --batch "
                 "prints without it");
        return -1;
    }
    setlocale(LC_CTYPE, "");
    c->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    tcgetattr(STDIN_FILENO, &terminal.before);
    if (!c->newterm(NULL, stdout, stdin)) {
        snprintf(why, why_size, "TERM=%s is not known here: --batch prints", term);
        return -1;
    }
    terminal.endwin = c->endwin;
    terminal.open = true;
    atexit(restore);
    catch_crashes();
    c->screen = whole_screen();
    c->cbreak();
    c->noecho();
    c->nonl();
    c->keypad(c->screen, TRUE);
    c->set_escdelay(25);
    c->curs_set(0);
    begin_colors(c);
    return 0;
}

void sxs_curses_close(struct sxs_curses *c)
{
    (void)c;
    restore();
}
