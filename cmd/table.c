/* SPDX-License-Identifier: MIT */
#include "cmd/table.h"

#include "base/mask.h"
#include "cmd/output/print.h"
#include "cmd/output/text.h"

#include <inttypes.h>
#include <string.h>

#define N_COUNTS 6

struct column {
    const char *title;
    int         width; /* of the widest cell, including the title */
};

/* The cells of one row as text; a number has at most 20 digits. */
struct cells {
    char number[12];
    char version[64];
    char state[12];
    char count[N_COUNTS][24];
};

static void fill_cells(struct cells *c, const struct sxs_session_runtime *r)
{
    const uint64_t counts[N_COUNTS] = {r->modules, r->methods,    r->threads,
                                       r->gcs,     r->exceptions, r->signals};
    snprintf(c->number, sizeof(c->number), "%" PRIu32, r->number);
    sxs_text_clean(r->version[0] ? r->version : "?", c->version, sizeof(c->version));
    snprintf(c->state, sizeof(c->state), "%s", sxs_state_text((uint32_t)r->state));
    for (size_t i = 0; i < N_COUNTS; i++)
        snprintf(c->count[i], sizeof(c->count[i]), "%" PRIu64, counts[i]);
}

static void widen_column(int *width, const char *text)
{
    int n = (int)strlen(text);
    if (n > *width)
        *width = n;
}

/* Makes each column wide enough for the whole session, so that the tables of its processes
 * align. */
static void measure_columns(struct column col[3 + N_COUNTS], const struct sxs_session *s)
{
    static const char *const titles[3 + N_COUNTS] = {"runtime", "version",    "state",
                                                     "modules", "methods",    "threads",
                                                     "GCs",     "exceptions", "signals"};
    for (size_t i = 0; i < 3 + N_COUNTS; i++) {
        col[i].title = titles[i];
        col[i].width = (int)strlen(titles[i]);
    }
    for (size_t p = 0; p < s->n_processes; p++)
        for (size_t r = 0; r < s->processes[p].n_runtimes; r++) {
            struct cells c;
            fill_cells(&c, &s->processes[p].runtimes[r]);
            widen_column(&col[0].width, c.number);
            widen_column(&col[1].width, c.version);
            widen_column(&col[2].width, c.state);
            for (size_t i = 0; i < N_COUNTS; i++)
                widen_column(&col[3 + i].width, c.count[i]);
        }
}

static void print_titles(FILE *to, const struct column *col)
{
    sxs_print_to(to, "%*s  %-*s  %-*s", col[0].width, col[0].title, col[1].width, col[1].title,
                 col[2].width, col[2].title);
    for (size_t i = 3; i < 3 + N_COUNTS; i++)
        sxs_print_to(to, "  %*s", col[i].width, col[i].title);
    fputc('\n', to);
}

static void print_row(FILE *to, const struct column *col, const struct sxs_session_runtime *r)
{
    struct cells c;
    fill_cells(&c, r);
    sxs_print_to(to, "%*s  %-*s  %-*s", col[0].width, c.number, col[1].width, c.version,
                 col[2].width, c.state);
    for (size_t i = 0; i < N_COUNTS; i++)
        sxs_print_to(to, "  %*s", col[3 + i].width, c.count[i]);
    fputc('\n', to);
}

static void print_heading(FILE *to, const struct sxs_session_process *p)
{
    char line[1200], command[1024];
    sxs_text_clean(p->command, command, sizeof(command));
    snprintf(line, sizeof(line), "process %" PRIu32 ": %s", p->pid, command);
    sxs_text_cut(line, sxs_text_columns(to));
    sxs_print_to(to, "%s\n", line);
}

static void print_notes(FILE *to, const struct sxs_session_process *p)
{
    if (p->signals_unwanted)
        sxs_print_to(to, "%" PRIu64 " signals belonged to no runtime\n", p->signals_unwanted);
    if (p->signals_off)
        fputs("signals were left alone (SXSPROF_SIGNALS=off)\n", to);
}

/* False for a process without runtimes, for example one that was just starting: it gets neither
 * heading nor row. */
static bool has_content(const struct sxs_session_process *p)
{
    return p->n_runtimes || p->n_unlisted;
}

void sxs_table_print(FILE *to, const struct sxs_session *s)
{
    struct column col[3 + N_COUNTS];
    size_t        n = 0;
    for (size_t p = 0; p < s->n_processes; p++)
        n += has_content(&s->processes[p]);
    if (n == 0)
        return;
    measure_columns(col, s);
    print_titles(to, col);
    for (size_t p = 0; p < s->n_processes; p++) {
        const struct sxs_session_process *proc = &s->processes[p];
        if (!has_content(proc))
            continue;
        if (n > 1)
            print_heading(to, proc);
        for (size_t r = 0; r < proc->n_runtimes; r++)
            print_row(to, col, &proc->runtimes[r]);
        print_notes(to, proc);
    }
}

size_t sxs_table_rows(const struct sxs_session *s)
{
    size_t n = 0;
    for (size_t p = 0; p < s->n_processes; p++)
        n += s->processes[p].n_runtimes + s->processes[p].n_unlisted;
    return n;
}
