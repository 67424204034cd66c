/* SPDX-License-Identifier: MIT */
/* draw.c - draws tabs, table, keys; the header and the help are in draw_header.c. */
#include "cmd/top/screen.h"

#include "base/displayed.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define UNDRAWABLE  "?"
#define LAST_COLUMN 42 /* columns that the text of a row has at least, if others can be left out */

/* Reads one character. Returns its bytes, and its columns in *columns. */
static size_t next_character(const struct sxs_screen *s, const char *text, int *columns)
{
    wchar_t wide;
    size_t  n = mbrtowc(&wide, text, strlen(text), &(mbstate_t){0});
    *columns = 1;
    if (n == 0 || n == (size_t)-1 || n == (size_t)-2)
        return 1;
    if (s->curses.utf8)
        *columns = wcwidth(wide);
    return n;
}

/* Returns true when the bytes can be drawn as they are. */
static bool is_drawable(const struct sxs_screen *s, const char *text, size_t n, int columns)
{
    unsigned char c = (unsigned char)text[0];
    return columns >= 0 && sxs_displayed_len(text, n) == n && (c < 0x80 || (s->curses.utf8 && n > 1));
}

int sxs_draw_text(const struct sxs_screen *s, const char *text, int width, bool pad)
{
    int used = 0;
    while (*text && used < width) {
        int    columns;
        size_t n = next_character(s, text, &columns);
        bool   plain = is_drawable(s, text, n, columns);
        if (!plain)
            columns = 1;
        if (used + columns > width)
            break;
        s->curses.waddnstr(s->curses.screen, plain ? text : UNDRAWABLE, plain ? (int)n : 1);
        used += columns;
        text += n;
        while (!s->curses.utf8 && ((unsigned char)*text & 0xc0) == 0x80) /* one "?" a character */
            text++;
    }
    for (; pad && used < width; used++)
        s->curses.waddnstr(s->curses.screen, " ", 1);
    return used;
}

/* Returns the columns that a text takes. */
static int columns_of(const struct sxs_screen *s, const char *text)
{
    int all = 0, columns;
    for (; *text; all += columns > 0 ? columns : 1)
        text += next_character(s, text, &columns);
    return all;
}

/* Returns the text after its first @n characters. */
static const char *skip_characters(const struct sxs_screen *s, const char *text, size_t n)
{
    int columns;
    for (; n && *text; n--)
        text += next_character(s, text, &columns);
    return text;
}

/* ---- tabs ---- */

static bool is_recorded(const struct sxs_screen *s, unsigned view)
{
    static const unsigned needs[SXS_TOP_N_VIEWS] = {
        [SXS_TOP_FUNCTIONS] = SXS_LIVE_HAS_SAMPLES,       [SXS_TOP_THREADS] = SXS_LIVE_HAS_SAMPLES,
        [SXS_TOP_ALLOCATIONS] = SXS_LIVE_HAS_ALLOCATIONS, [SXS_TOP_NATIVE] = SXS_LIVE_HAS_NATIVE,
        [SXS_TOP_EXCEPTIONS] = SXS_LIVE_HAS_EXCEPTIONS,   [SXS_TOP_LOCKS] = SXS_LIVE_HAS_LOCKS,
        [SXS_TOP_COLLECTIONS] = SXS_LIVE_HAS_COLLECTIONS, [SXS_TOP_JIT] = SXS_LIVE_HAS_COMPILATIONS,
    };
    return !needs[view] || (sxs_live_process(s->live)->recorded & needs[view]);
}

static void draw_tabs(const struct sxs_screen *s, int y)
{
    int      used = 0, need = 0;
    unsigned first = 0;
    for (unsigned i = 0; i <= s->state.view; i++) /* the view that is shown must be visible */
        need += 2 + (int)strlen(sxs_top_view_title(i));
    for (; need > s->width && first < s->state.view; first++)
        need -= 2 + (int)strlen(sxs_top_view_title(first));
    s->curses.wmove(s->curses.screen, y, 0);
    for (unsigned i = first; i < SXS_TOP_N_VIEWS && used < s->width - 1; i++) {
        char tab[40];
        snprintf(tab, sizeof(tab), "%u%s ", i + 1, sxs_top_view_title(i));
        sxs_curses_color(&s->curses, i == s->state.view  ? SXS_COLOR_TAB
                                     : is_recorded(s, i) ? SXS_COLOR_PLAIN
                                                         : SXS_COLOR_DIM);
        used += sxs_draw_text(s, tab, s->width - 1 - used, false);
    }
    sxs_curses_color(&s->curses, SXS_COLOR_PLAIN);
    s->curses.wclrtoeol(s->curses.screen);
}

/* ---- table ---- */

/* Calculates the columns' widths. On a narrow terminal columns are left out, so that the last one
 * keeps some room; the one that the view is sorted by stays. */
static void set_widths(struct sxs_screen *s)
{
    const struct sxs_top_table *t = &s->table;
    int                         rest = s->width, need = LAST_COLUMN;
    for (unsigned i = 0; i < t->n_columns; i++) {
        s->widths[i] = (int)t->columns[i].width;
        rest -= s->widths[i] ? s->widths[i] + 1 : 0;
    }
    for (unsigned i = 0; i < t->n_columns; i++) /* another text can be read, too */
        need = t->columns[i].width > 24 ? LAST_COLUMN / 2 : need;
    while (rest < need) {
        unsigned out = t->n_columns;
        for (unsigned i = 0; i < t->n_columns; i++)
            if (s->widths[i] && t->columns[i].drop && i != t->sorted &&
                (out == t->n_columns || t->columns[i].drop > t->columns[out].drop))
                out = i;
        if (out == t->n_columns)
            break;
        rest += s->widths[out] + 1;
        s->widths[out] = 0;
    }
    for (unsigned i = 0; i < t->n_columns; i++)
        if (!t->columns[i].width)
            s->widths[i] = rest > 8 ? rest : 8;
}

static void draw_cell(const struct sxs_screen *s, unsigned k, const char *text, int width)
{
    const struct sxs_top_column *c = &s->table.columns[k];
    int                          pad = c->right ? width - columns_of(s, text) : 0;
    for (; pad > 0; pad--, width--)
        s->curses.waddnstr(s->curses.screen, " ", 1);
    sxs_draw_text(s, text, width, true);
}

static void draw_heading(const struct sxs_screen *s, int y)
{
    int x = 0;
    s->curses.wmove(s->curses.screen, y, 0);
    for (unsigned k = 0; k < s->table.n_columns; k++) {
        int  width = s->widths[k];
        bool sorted = k == s->table.sorted && s->table.columns[k].sortable;
        if (!width)
            continue;
        if (width > s->width - x)
            width = s->width - x;
        sxs_curses_color(&s->curses, sorted ? SXS_COLOR_SORTED : SXS_COLOR_HEADING);
        draw_cell(s, k, s->table.columns[k].heading, width);
        sxs_curses_color(&s->curses, SXS_COLOR_HEADING);
        x += width;
        if (x < s->width)
            x += sxs_draw_text(s, " ", 1, false);
    }
    sxs_draw_text(s, "", s->width - x, true);
}

static enum sxs_color color_of_row(const struct sxs_screen *s, size_t i)
{
    if (i + s->state.first == s->selected)
        return SXS_COLOR_SELECTED;
    for (unsigned k = 0; k < s->table.n_columns; k++)
        if (strcmp(s->table.rows[i][k], "native") == 0)
            return SXS_COLOR_NATIVE;
    return SXS_COLOR_PLAIN;
}

static void draw_row(const struct sxs_screen *s, size_t i, int y)
{
    int x = 0;
    s->curses.wmove(s->curses.screen, y, 0);
    sxs_curses_color(&s->curses, color_of_row(s, i));
    for (unsigned k = 0; k < s->table.n_columns; k++) {
        const char *text = s->table.rows[i][k];
        int         width = s->widths[k];
        if (!width)
            continue;
        if (width > s->width - x)
            width = s->width - x;
        if (!s->table.columns[k].width)
            text = skip_characters(s, text, s->shift);
        draw_cell(s, k, text, width);
        x += width;
        if (x < s->width)
            x += sxs_draw_text(s, " ", 1, false);
    }
    sxs_draw_text(s, "", s->width - x, true);
    sxs_curses_color(&s->curses, SXS_COLOR_PLAIN);
}

/* Fills the table, with the cursor's row in it. */
static void fill_table(struct sxs_screen *s)
{
    s->state.sorted = s->sorted[s->state.view];
    if (s->selected < s->state.first)
        s->state.first = s->selected;
    if (s->page && s->selected >= s->state.first + s->page)
        s->state.first = s->selected - s->page + 1;
    sxs_top_table_fill(&s->table, s->live, &s->state, s->page ? s->page : 1);
    if (s->table.of && s->selected >= s->table.of) { /* the list is shorter than it was */
        s->selected = s->table.of - 1;
        s->state.first = s->table.of > s->page ? s->table.of - s->page : 0;
        sxs_top_table_fill(&s->table, s->live, &s->state, s->page ? s->page : 1);
    }
}

static void draw_table(struct sxs_screen *s, int y, int end)
{
    const char *empty = s->table.missing;
    set_widths(s);
    draw_heading(s, y++);
    if (!empty && !s->table.n)
        empty = s->filter[0] ? "nothing matches the filter" : "nothing yet";
    if (empty && y < end) {
        s->curses.wmove(s->curses.screen, y, 1);
        sxs_curses_color(&s->curses, SXS_COLOR_LABEL);
        sxs_draw_text(s, empty, s->width - 1, false);
    }
    for (size_t i = 0; i < s->table.n && y < end; i++, y++)
        draw_row(s, i, y);
    sxs_curses_color(&s->curses, SXS_COLOR_PLAIN);
}

/* Writes the whole text of the selected row over the lower lines. */
static void draw_detail(struct sxs_screen *s)
{
    size_t i = s->selected - s->state.first;
    int    y;
    if (i >= s->table.n || s->height < 4 || s->width < 4) {
        s->mode = SXS_SCREEN_TABLE;
        return;
    }
    char     text[8192];
    size_t   len = 0;
    unsigned last = s->table.n_columns - 1;
    if (s->state.view == SXS_TOP_EXCEPTIONS)
        len = (size_t)snprintf(text, sizeof(text), "%s: ", s->table.rows[i][last - 1]);
    snprintf(text + len, sizeof(text) - len, "%s", s->table.rows[i][last]);
    int lines = columns_of(s, text) / s->width + 1;
    y = s->height - 1 - lines < 1 ? 1 : s->height - 1 - lines;
    sxs_curses_color(&s->curses, SXS_COLOR_SELECTED);
    for (const char *at = text; y < s->height - 1; y++) {
        s->curses.wmove(s->curses.screen, y, 0);
        sxs_draw_text(s, at, s->width, true);
        at = skip_characters(s, at, (size_t)s->width);
    }
    sxs_curses_color(&s->curses, SXS_COLOR_PLAIN);
}

/* ---- keys ---- */

static void draw_keys(const struct sxs_screen *s, int y)
{
    static const struct {
        const char *key, *does;
    } keys[] = {{"F1", "Help"},    {"F2", "View"}, {"F3", "Runtime"}, {"F4", "Filter"},
                {"F5", "Now/All"}, {"F6", "Sort"}, {"F7", "Faster"},  {"F8", "Slower"},
                {"F9", "Pause"},   {"F10", "Quit"}};
    int x = 0;
    s->curses.wmove(s->curses.screen, y, 0);
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys) && x < s->width - 1; i++) {
        sxs_curses_color(&s->curses, SXS_COLOR_PLAIN);
        x += sxs_draw_text(s, keys[i].key, s->width - 1 - x, false);
        sxs_curses_color(&s->curses, SXS_COLOR_KEY);
        x += sxs_draw_text(s, keys[i].does, s->width - 1 - x, false);
    }
    sxs_draw_text(s, "", s->width - 1 - x, true);
    sxs_curses_color(&s->curses, SXS_COLOR_PLAIN);
}

static void draw_bottom(const struct sxs_screen *s, int y)
{
    if (s->mode != SXS_SCREEN_FILTER) {
        draw_keys(s, y);
        return;
    }
    s->curses.wmove(s->curses.screen, y, 0);
    sxs_curses_color(&s->curses, SXS_COLOR_KEY);
    int x = sxs_draw_text(s, "Enter keeps, Esc clears  Filter: ", s->width - 1, false);
    x += sxs_draw_text(s, s->filter, s->width - 1 - x, false);
    x += sxs_draw_text(s, "_", s->width - 1 - x, false);
    sxs_draw_text(s, "", s->width - 1 - x, true);
    sxs_curses_color(&s->curses, SXS_COLOR_PLAIN);
}

void sxs_screen_draw(struct sxs_screen *s)
{
    s->width = s->curses.getmaxx(s->curses.screen);
    s->height = s->curses.getmaxy(s->curses.screen);
    s->curses.werase(s->curses.screen);
    if (s->mode == SXS_SCREEN_HELP) {
        sxs_draw_help(s);
    } else {
        int y = sxs_draw_header(s);
        if (s->height > 5)
            draw_tabs(s, y++);
        int end = s->height > 6 || s->mode == SXS_SCREEN_FILTER ? s->height - 1 : s->height;
        s->page = end - y > 1 ? (size_t)(end - y - 1) : 0;
        fill_table(s);
        if (y < end)
            draw_table(s, y, end);
        if (end < s->height)
            draw_bottom(s, end);
        if (s->mode == SXS_SCREEN_DETAIL)
            draw_detail(s);
    }
    s->curses.wrefresh(s->curses.screen);
}
