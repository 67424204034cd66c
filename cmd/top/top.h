/* SPDX-License-Identifier: MIT */
/**
 * top.h - the parts of the verb "top": which session to follow, what to show, and on what.
 */
#ifndef SXS_CMD_TOP_TOP_H
#define SXS_CMD_TOP_TOP_H

#include "cmd/live/live.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/** What the user asked for. Strings are borrowed. */
struct sxs_top_options {
    double      interval_s; /* between two looks */
    double      window_s;
    size_t      count;   /* batch: how many times to print; 0: until the process ends */
    size_t      lines;   /* batch: rows of each list */
    const char *view;    /* name of a view; NULL: the first one; batch: the most important ones */
    const char *filter;  /* NULL: all */
    const char *process; /* of a session: folder or pid; NULL: chosen by sxs_live_open() */
    uint32_t    runtime; /* 0: all */
    bool        json;
};

/* ---- the process as the system sees it (system.c) ---- */

struct sxs_top_system {
    bool     there; /* the process exists; else everything is 0 */
    double   cpu;   /* processors in use since the last call; 1.0: one */
    uint64_t rss;   /* resident memory, bytes */
    unsigned threads;
    uint64_t ticks, at_ns; /* private: CPU time and time of the last call */
};

/** sxs_top_system_read - read /proc of @pid. @s: zeroed before the first call. */
void sxs_top_system_read(struct sxs_top_system *s, pid_t pid);

/* ---- views (view.c) ---- */

enum sxs_top_view {
    SXS_TOP_FUNCTIONS,
    SXS_TOP_THREADS,
    SXS_TOP_ALLOCATIONS,
    SXS_TOP_NATIVE,
    SXS_TOP_EXCEPTIONS,
    SXS_TOP_LOCKS,
    SXS_TOP_COLLECTIONS,
    SXS_TOP_JIT,
    SXS_TOP_RUNTIMES,
    SXS_TOP_N_VIEWS
};

/** sxs_top_view_name - return "functions", "threads"... Static. */
const char *sxs_top_view_name(enum sxs_top_view view);
/** sxs_top_view_title - return the name with a capital, for tabs. Static. */
const char *sxs_top_view_title(enum sxs_top_view view);
/** sxs_top_view_named - return the view of a name; SXS_TOP_N_VIEWS when there is none. */
enum sxs_top_view sxs_top_view_named(const char *name);
/** sxs_top_view_names - return "functions|threads|...", for messages. Static. */
const char *sxs_top_view_names(void);

/** What a view shows. */
struct sxs_top_state {
    enum sxs_top_view view;
    unsigned          sorted;  /* column that it is sorted by; see struct sxs_top_table */
    uint32_t          runtime; /* number; 0: all */
    const char       *filter;  /* borrowed; NULL or "": all */
    size_t            first;   /* of the rows that are filled in */
};

#define SXS_TOP_COLUMNS 10u

struct sxs_top_column {
    const char *heading;
    unsigned    width; /* columns of the terminal; 0: the rest of the line */
    bool        right;
    bool        sortable;
    unsigned    drop; /* on narrow terminals the highest is left out first; 0: never */
};

/** A view's rows as text. */
struct sxs_top_table {
    struct sxs_top_column columns[SXS_TOP_COLUMNS];
    unsigned              n_columns;
    unsigned              sorted;  /* the column it is sorted by */
    size_t                n, of;   /* rows filled in; rows there are */
    char               ***rows;    /* owned: n_columns texts for each row; clean UTF-8 */
    const char           *missing; /* why there are no rows: "not recorded: ..."; NULL */
    size_t                cap;
};

/**
 * sxs_top_table_fill - fill in at most @n rows of a view.
 * @t: zeroed, or filled in before. Release it by sxs_top_table_free().
 */
void sxs_top_table_fill(struct sxs_top_table *t, struct sxs_live *live,
                        const struct sxs_top_state *state, size_t n);
void sxs_top_table_free(struct sxs_top_table *t);

/** sxs_top_sort_by - return the next sortable column of the view after @from, to the left or right;
 *  @from when there is none. */
unsigned sxs_top_sort_by(enum sxs_top_view view, unsigned from, int direction);
/** sxs_top_sorted_first - return the column that a view is sorted by at first. @running: false: by
 * what
 *  is since the beginning, because an ended process does nothing in the window. */
unsigned sxs_top_sorted_first(enum sxs_top_view view, bool running);

/* ---- figures of the header (figures.c) ---- */

/** What the header shows. Rates are per second; shares from 0 to 1 of one processor or of the
 * time. */
struct sxs_top_figures {
    double   cpu; /* of the process, by the system; or by samples when it has ended */
    double   pause, gcs, exceptions, methods, allocated; /* allocated: bytes a second */
    bool     has_pause, has_allocated;
    uint64_t heap_bytes, rss;
    unsigned threads;
};
void sxs_top_figures_get(struct sxs_live *live, const struct sxs_top_system *system,
                         struct sxs_top_figures *out);

/** sxs_top_number - format a count or rate: "12.3", "4,567k". Returns @buf. */
const char *sxs_top_number(double n, char *buf, size_t size);
/** sxs_top_time - format seconds: "1.23 s", "4.56 ms". Returns @buf. */
const char *sxs_top_time(double s, char *buf, size_t size);
/** sxs_top_tools - format what the session records: "sample gc". Returns @buf. */
const char *sxs_top_tools(unsigned recorded, char *buf, size_t size);

/* ---- output ---- */

/** sxs_top_print - print one look as text or as a line of JSON. Returns 0, or -1 when @to fails. */
int sxs_top_print_text(struct sxs_live *live, const struct sxs_top_options *o,
                       const struct sxs_top_system *system, FILE *to);
int sxs_top_print_json(struct sxs_live *live, const struct sxs_top_options *o,
                       const struct sxs_top_system *system, FILE *to);

/** sxs_top_stopped - return the signal that asked to end, or 0. sxs_top_catch() catches them. */
int  sxs_top_stopped(void);
void sxs_top_catch(void);
/** sxs_top_hold - let these signals wait until sxs_top_catch() is called, also by a child process. */
void sxs_top_hold(void);

/** sxs_top_look - sxs_live_look(). */
unsigned sxs_top_look(struct sxs_live *live);
/** sxs_top_count_looks - from now on, have sxs_top_look() change @count when it begins, to an odd number, and when it
 *  has ended, to a higher, even one. */
void sxs_top_count_looks(_Atomic unsigned *count);

/**
 * sxs_top_screen - show the live view on the terminal, until the user ends it or a signal does.
 * @live: the session; borrowed.
 * @pid: of the process here; 0: it has ended.
 * @next: called at each look when the session has ended. Returns the session to show from now on, in
 *   place of @live, or NULL: go on with the same. @arg: its argument.
 * @why: receives a sentence when the terminal cannot be used; then nothing was shown.
 * Returns 0, or -1.
 */
int sxs_top_screen(struct sxs_live *live, const struct sxs_top_options *o, pid_t pid,
                   struct sxs_live *(*next)(void *arg), void *arg, char *why, size_t why_size);

#endif
