/* SPDX-License-Identifier: MIT */
/* keys.c - handles the keys of the live view. */
#include "cmd/top/screen.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define ESCAPE 27

static void show_view(struct sxs_screen *s, unsigned view)
{
    s->state.view = view % SXS_TOP_N_VIEWS;
    s->selected = s->state.first = s->shift = 0;
}

/* Sorts by the window or by all of the same, whichever is not the case. */
static void toggle_window(struct sxs_screen *s)
{
    unsigned  recent = sxs_top_sorted_first(s->state.view, true);
    unsigned  all = sxs_top_sorted_first(s->state.view, false);
    unsigned *sorted = &s->sorted[s->state.view];
    *sorted = *sorted == recent ? all : recent;
}

static void next_runtime(struct sxs_screen *s)
{
    size_t                         n;
    const struct sxs_live_runtime *r = sxs_live_runtimes(s->live, &n);
    uint32_t                       next = 0;
    for (size_t i = n; i-- > 0;) /* the smallest number above the present one */
        if (r[i].number > s->state.runtime)
            next = r[i].number;
    s->state.runtime = next;
    s->selected = s->state.first = 0;
}

static void change_interval(struct sxs_screen *s, double factor)
{
    double v = s->interval_s * factor;
    s->interval_s = v < 0.2 ? 0.2 : v > 60 ? 60 : v;
}

static void move_to(struct sxs_screen *s, size_t row)
{
    size_t of = s->table.of;
    s->selected = row < of ? row : of ? of - 1 : 0;
}

static void back(struct sxs_screen *s, size_t rows)
{
    move_to(s, s->selected > rows ? s->selected - rows : 0);
}

/* Keys that move. Returns false for other keys. */
static bool take_motion(struct sxs_screen *s, wint_t key)
{
    size_t page = s->page > 1 ? s->page - 1 : 1;
    switch (key) {
    case KEY_UP: back(s, 1); break;
    case KEY_DOWN: move_to(s, s->selected + 1); break;
    case KEY_PPAGE: back(s, page); break;
    case KEY_NPAGE: move_to(s, s->selected + page); break;
    case KEY_HOME:
        s->shift = 0;
        move_to(s, 0);
        break;
    case KEY_END: move_to(s, SIZE_MAX); break;
    case KEY_LEFT: s->shift -= s->shift < 8 ? s->shift : 8; break;
    case KEY_RIGHT: s->shift += s->shift < 4000 ? 8 : 0; break;
    default: return false;
    }
    return true;
}

/* Function keys and others that are no characters, as the characters that do the same. */
static wint_t as_character(wint_t key)
{
    switch (key) {
    case KEY_F(1): return 'h';
    case KEY_F(2): return '\t';
    case KEY_BTAB: return 'V';
    case KEY_F(3): return 'r';
    case KEY_F(4): return '/';
    case KEY_F(5): return 't';
    case KEY_F(6): return '>';
    case KEY_F(7): return '-';
    case KEY_F(8): return '+';
    case KEY_F(9): return ' ';
    case KEY_F(10): return 'q';
    case KEY_ENTER: return '\r';
    default: return 0;
    }
}

static void take_command(struct sxs_screen *s, wint_t key)
{
    unsigned *sorted = &s->sorted[s->state.view];
    if (key >= '1' && key < '1' + SXS_TOP_N_VIEWS) {
        show_view(s, key - '1');
        return;
    }
    switch (key) {
    case 'q': s->quit = true; break;
    case 'h':
    case '?': s->mode = SXS_SCREEN_HELP; break;
    case '\t': show_view(s, s->state.view + 1); break;
    case 'V': show_view(s, s->state.view + SXS_TOP_N_VIEWS - 1); break;
    case 'r': next_runtime(s); break;
    case '/':
    case '\\': s->mode = SXS_SCREEN_FILTER; break;
    case 't': toggle_window(s); break;
    case '<':
    case ',': *sorted = sxs_top_sort_by(s->state.view, *sorted, -1); break;
    case '>':
    case '.': *sorted = sxs_top_sort_by(s->state.view, *sorted, 1); break;
    case '-': change_interval(s, 0.5); break;
    case '+':
    case '=': change_interval(s, 2); break;
    case ' ': s->paused = !s->paused; break;
    case 'k': back(s, 1); break;
    case 'j': move_to(s, s->selected + 1); break;
    case '\r':
    case '\n': s->mode = SXS_SCREEN_DETAIL; break;
    case ESCAPE: s->filter[0] = '\0'; break;
    case 'L' - '@': s->curses.clearok(s->curses.screen, TRUE); break;
    default: break;
    }
}

/* Removes the last character of the filter. */
static void erase_character(struct sxs_screen *s)
{
    size_t len = strlen(s->filter);
    while (len && ((unsigned char)s->filter[len - 1] & 0xc0) == 0x80)
        len--;
    s->filter[len ? len - 1 : 0] = '\0';
}

static void take_filter_key(struct sxs_screen *s, wint_t key, bool special)
{
    char   bytes[MB_LEN_MAX + 1];
    size_t len = strlen(s->filter);
    int    n;
    if (key == '\r' || key == '\n' || (special && key == KEY_ENTER)) {
        s->mode = SXS_SCREEN_TABLE;
    } else if (key == ESCAPE) {
        s->filter[0] = '\0';
        s->mode = SXS_SCREEN_TABLE;
    } else if ((special && key == KEY_BACKSPACE) || key == 127 || key == 8) {
        erase_character(s);
    } else if (!special && key >= ' ' && (n = wctomb(bytes, (wchar_t)key)) > 0 &&
               len + (size_t)n < sizeof(s->filter)) {
        memcpy(s->filter + len, bytes, (size_t)n);
        s->filter[len + (size_t)n] = '\0';
    }
    s->selected = s->state.first = 0;
}

void sxs_screen_key(struct sxs_screen *s, wint_t key, bool special)
{
    if (special && key == KEY_RESIZE)
        return;
    if (s->mode == SXS_SCREEN_FILTER) {
        take_filter_key(s, key, special);
        return;
    }
    if (special && s->mode == SXS_SCREEN_TABLE && take_motion(s, key))
        return;
    if (special)
        key = as_character(key);
    if (s->mode == SXS_SCREEN_TABLE) {
        take_command(s, key);
        return;
    }
    s->mode = SXS_SCREEN_TABLE; /* help and detail: any key ends them */
    s->quit |= key == 'q';
}
