/* SPDX-License-Identifier: MIT */
/* Format text: where the time went, for a terminal. Shares are shares of weight (CPU or wall
 * time). */
#include "cmd/report/format.h"
#include "cmd/report/text_compared.h"
#include "cmd/report/text_costs.h"
#include "cmd/report/text_waits.h"
#include "cmd/report/text_pools.h"

#include "cmd/output/must.h"
#include "cmd/output/names_of_values.h"
#include "cmd/output/print.h"
#include "cmd/output/text.h"

#include <errno.h>
#include <string.h>

static double percent_of(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

static double to_seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* Threads of one name with time that no sample stands for. */
struct unsampled {
    uint32_t name;
    uint64_t n, ns;
};

static int more_unsampled(const void *a, const void *b)
{
    const struct unsampled *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return (x->name > y->name) - (x->name < y->name);
}

static int by_name(const void *a, const void *b)
{
    const struct unsampled *x = a, *y = b;
    return (x->name > y->name) - (x->name < y->name);
}

#define UNSAMPLED_NAMES 5 /* names of threads that are listed */

/* Writes how much of the lives of threads no sample stands for, and of which threads. */
static void write_unsampled_time(const struct sxs_model *m, const struct sxs_model_process *p,
                                 FILE *to)
{
    uint64_t          n_all = atomic_load_explicit(&p->head.n_unsampled, memory_order_relaxed);
    uint64_t          ns = atomic_load_explicit(&p->head.unsampled_ns, memory_order_relaxed);
    struct unsampled *all = sxs_must_zeroed(m->n_threads, sizeof(*all));
    size_t            n = 0, names = 0;
    for (size_t i = 0; i < m->n_threads; i++)
        if (&m->processes[m->threads[i].process] == p && m->threads[i].unsampled)
            all[n++] = (struct unsampled){m->threads[i].name, m->threads[i].unsampled,
                                          m->threads[i].unsampled_ns};
    if (n)
        qsort(all, n, sizeof(*all), by_name);
    for (size_t i = 0; i < n; i++) {
        if (names && all[names - 1].name == all[i].name) {
            all[names - 1].n += all[i].n;
            all[names - 1].ns += all[i].ns;
        } else {
            all[names++] = all[i];
        }
    }
    if (names)
        qsort(all, names, sizeof(*all), more_unsampled);
    if (n_all)
        sxs_print_to(to, "  %s, %.3f s of their %s not sampled%s\n", SXS_COUNT(n_all, "thread"),
                     to_seconds(ns), p->head.mode == SXS_MODE_WALL ? "life" : "CPU time",
                     names ? ":" : "");
    for (size_t i = 0; i < names && i < UNSAMPLED_NAMES; i++)
        sxs_print_to(to, "    %.3f s of %s, named %s\n", to_seconds(all[i].ns),
                     SXS_COUNT(all[i].n, "thread"), sxs_model_text(m, all[i].name));
    if (names > UNSAMPLED_NAMES)
        sxs_print_to(to, "    and of threads with %s\n",
                     SXS_COUNT(names - UNSAMPLED_NAMES, "other name"));
    free(all);
}

/* Writes how many threads left no sample, and why. */
static void write_unsampled(const struct sxs_samples_header *h, FILE *to)
{
    uint64_t unlisted = atomic_load_explicit(&h->n_unlisted, memory_order_relaxed);
    uint64_t brief = atomic_load_explicit(&h->n_short_threads, memory_order_relaxed);
    uint64_t brief_ns = atomic_load_explicit(&h->short_cpu_ns, memory_order_relaxed);
    if (unlisted)
        sxs_print_to(to, "  %s or more were not sampled: too many at once, or too small a stack\n",
                     SXS_COUNT(unlisted, "thread"));
    if (brief)
        sxs_print_to(
            to, "  %s lived less than 50 ms without a sample, with %.3f s of CPU time in all\n",
            SXS_COUNT(brief, "thread"), to_seconds(brief_ns));
}

/* Returns why the system refused a clock or a signal. @err: an errno, as a file has it. */
static const char *refusal_text(uint64_t err)
{
    return err == EAGAIN ? "the limit of pending signals, RLIMIT_SIGPENDING, is reached"
                         : strerror(err < 4096 ? (int)err : 0);
}

/* Writes what the system has refused, and what that means. */
static void write_refused(const struct sxs_samples_header *h, FILE *to)
{
    uint64_t threads = atomic_load_explicit(&h->n_without_clock, memory_order_relaxed);
    uint64_t signals = atomic_load_explicit(&h->n_signals_refused, memory_order_relaxed);
    if (threads)
        sxs_print_to(to, "  %s had no clock, because the system refused it (%s); samples of %s came in rounds\n",
                     SXS_COUNT(threads, "thread"),
                     refusal_text(atomic_load(&h->without_clock_errno)),
                     threads == 1 ? "it" : "them");
    if (signals)
        sxs_print_to(to, "  the system refused %s to threads (%s): no samples came of these\n",
                     SXS_COUNT(signals, "signal"),
                     refusal_text(atomic_load(&h->signals_refused_errno)));
}

/* Writes the rate that was reached, and why it is lower than the one that was asked for. */
static void write_reached(double hz, uint32_t asked_hz, FILE *to)
{
    sxs_print_to(to, ", reached %.0f%s", hz,
                 hz < 0.95 * asked_hz
                     ? ": a sample that comes late stands for the time since it was due"
                     : "");
}

static void write_process(const struct sxs_model *m, const struct sxs_model_process *p, FILE *to)
{
    static const char *const walkers[] = {"?", "fast", "unwind", "snapshot"};
    const struct sxs_samples_header *h = &p->head;
    uint64_t ended = atomic_load_explicit(&h->ended_ns, memory_order_relaxed);
    uint64_t n = atomic_load_explicit(&h->n_samples, memory_order_relaxed);
    uint64_t handler = atomic_load_explicit(&h->handler_ns, memory_order_relaxed);
    uint64_t weight = 0, samples = 0;
    for (size_t i = 0; i < m->n_threads; i++)
        if (&m->processes[m->threads[i].process] == p) {
            weight += m->threads[i].weight_ns - m->threads[i].waiting_ns;
            samples += m->threads[i].samples - m->threads[i].waiting;
        }
    sxs_print_to(to, "process %s: %s\n", p->folder, h->command);
    sxs_print_to(to, "  %s time, walker %s, clock %s, asked for %u samples a second of %s",
                 h->mode == SXS_MODE_WALL ? "wall" : "CPU", walkers[h->walker < 4 ? h->walker : 0],
                 sxs_sample_clock_text(h->clock), h->asked_hz,
                 h->mode == SXS_MODE_WALL ? "each thread" : "CPU time");
    if (weight &&
        h->mode != SXS_MODE_WALL) /* in wall time a sample stands for as long as it must */
        write_reached((double)samples / to_seconds(weight), h->asked_hz, to);
    sxs_print_to(to, "\n  %s, %llu dropped", SXS_COUNT(n, "sample"),
                 (unsigned long long)atomic_load_explicit(&h->n_dropped, memory_order_relaxed));
    if (n && handler)
        sxs_print_to(to, ", %.1f us each in the signal handler", (double)handler / 1e3 / (double)n);
    if (!ended)
        fputs(", still running or ended without saying so", to);
    fputs("\n", to);
    write_refused(h, to);
    write_unsampled(h, to);
    write_unsampled_time(m, p, to);
    sxs_text_compared(h, to);
}

static void write_shares(const struct sxs_model *m, FILE *to)
{
    sxs_print_to(to, "\nshares of %.3f s\n", to_seconds(m->total_ns));
    for (size_t i = 0; i < m->n_runtimes; i++) {
        const struct sxs_model_runtime *r = &m->runtimes[i];
        sxs_print_to(to, "  %6.2f %%  runtime %u, %s (%.2f %% with it on the stack)\n",
                     percent_of(r->self_ns, m->total_ns), r->number, sxs_model_text(m, r->version),
                     percent_of(r->total_ns, m->total_ns));
    }
    sxs_print_to(to, "  %6.2f %%  native\n", percent_of(m->native_ns, m->total_ns));
    sxs_print_to(to, "  %6.2f %%  GC\n", percent_of(m->gc_ns, m->total_ns));
    sxs_print_to(to, "  %6.2f %%  JIT\n", percent_of(m->jit_ns, m->total_ns));
    if (m->own_ns)
        sxs_print_to(to, "  %6.2f %%  sxsprof itself\n", percent_of(m->own_ns, m->total_ns));
    if (m->waiting)
        sxs_print_to(to, "  %6.2f %%  of it waiting\n", percent_of(m->waiting_ns, m->total_ns));
}

static const struct sxs_model *sorted; /* for qsort(), which passes no argument; one thread */

static int heavier_thread(const void *a, const void *b)
{
    const struct sxs_model_thread *x = &sorted->threads[*(const uint32_t *)a];
    const struct sxs_model_thread *y = &sorted->threads[*(const uint32_t *)b];
    bool idles[] = {sxs_thread_idles(sorted, x), sxs_thread_idles(sorted, y)};
    if (sorted->data == SXS_DATA_SAMPLES && idles[0] != idles[1])
        return idles[0] ? 1 : -1; /* what waits all the time comes last */
    return x->weight_ns < y->weight_ns ? 1 : x->weight_ns > y->weight_ns ? -1 : 0;
}

static int heavier_self(const void *a, const void *b)
{
    const struct sxs_model_frame *x = &sorted->frames[*(const uint32_t *)a];
    const struct sxs_model_frame *y = &sorted->frames[*(const uint32_t *)b];
    return x->self_ns < y->self_ns ? 1 : x->self_ns > y->self_ns ? -1 : 0;
}

static int heavier_total(const void *a, const void *b)
{
    const struct sxs_model_frame *x = &sorted->frames[*(const uint32_t *)a];
    const struct sxs_model_frame *y = &sorted->frames[*(const uint32_t *)b];
    return x->total_ns < y->total_ns ? 1 : x->total_ns > y->total_ns ? -1 : 0;
}

static uint32_t *sort_nodes(const struct sxs_model *m, size_t n,
                            int (*compare)(const void *, const void *))
{
    uint32_t *all = sxs_must_zeroed(n, sizeof(*all));
    for (size_t i = 0; i < n; i++)
        all[i] = (uint32_t)i;
    sorted = m;
    qsort(all, n, sizeof(*all), compare);
    return all;
}

static void write_threads(const struct sxs_model *m, size_t top, FILE *to)
{
    char      name[512];
    uint32_t *all = sort_nodes(m, m->n_threads, heavier_thread);
    sxs_print_to(to, "\nthreads\n    share    samples  waiting  thread\n");
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < m->n_threads; i++) {
        const struct sxs_model_thread *t = &m->threads[all[i]];
        more += t->samples && shown == top;
        if (t->samples && shown < top && ++shown)
            sxs_print_to(to, "  %6.2f %%  %9llu  %5.1f %%  %s\n",
                         percent_of(t->weight_ns, m->total_ns), (unsigned long long)t->samples,
                         percent_of(t->waiting_ns, t->weight_ns),
                         sxs_thread_text(m, all[i], name, sizeof(name)));
    }
    if (more)
        sxs_print_to(to, "  and %zu more\n", more);
    free(all);
}

/* Formats the tier in which most of a function's own samples were: " (tier 1)"; "" for native
 * code. */
static const char *main_tier(const struct sxs_model_frame *f, char *buf, size_t size)
{
    unsigned best = 0;
    for (unsigned t = 1; t < 8; t++)
        if (f->tier_self[t] > f->tier_self[best])
            best = t;
    buf[0] = '\0';
    if (f->runtime && best)
        snprintf(buf, size, " (%s)", sxs_tier_text(best));
    return buf;
}

static void write_top(const struct sxs_model *m, const char *heading, size_t top,
                      int (*compare)(const void *, const void *), FILE *to)
{
    static char text[70000];
    char        tier[32];
    uint32_t   *all = sort_nodes(m, m->n_frames, compare);
    sxs_print_to(to, "\n%s\n      self     total  function\n", heading);
    for (size_t i = 0, shown = 0; i < m->n_frames && shown < top; i++) {
        const struct sxs_model_frame *f = &m->frames[all[i]];
        if (f->flags & SXS_FRAME_TYPE)
            continue;
        if (compare == heavier_self ? !f->self : !f->total)
            break;
        shown++;
        sxs_print_to(to, "  %6.2f %%  %6.2f %%  %s%s\n", percent_of(f->self_ns, m->total_ns),
                     percent_of(f->total_ns, m->total_ns),
                     sxs_frame_text(m, all[i], SXS_STYLE_FULL, text, sizeof(text)),
                     main_tier(f, tier, sizeof(tier)));
    }
    free(all);
}

static int heavier_line(const void *a, const void *b)
{
    const struct sxs_model_line *x = &sorted->lines[*(const uint32_t *)a];
    const struct sxs_model_line *y = &sorted->lines[*(const uint32_t *)b];
    return x->self_ns < y->self_ns ? 1 : x->self_ns > y->self_ns ? -1 : 0;
}

/* Writes the source lines that took most time, as far as PDBs and DWARF have lines. */
static void write_lines(const struct sxs_model *m, size_t top, FILE *to)
{
    static char text[70000];
    uint32_t   *all = sort_nodes(m, m->n_lines, heavier_line);
    if (m->n_lines)
        fputs("\ntop lines by self\n      self  line\n", to);
    for (size_t i = 0; i < m->n_lines && i < top; i++) {
        const struct sxs_model_line  *l = &m->lines[all[i]];
        const struct sxs_model_frame *f = &m->frames[l->frame];
        if (l->self)
            sxs_print_to(to, "  %6.2f %%  %s:%u  %s\n", percent_of(l->self_ns, m->total_ns),
                         sxs_base_name(sxs_model_text(m, f->source)), l->line,
                         sxs_frame_text(m, l->frame, SXS_STYLE_SHORT, text, sizeof(text)));
    }
    free(all);
}

/* Writes the samples in managed code by tier. */
static void write_tiers(const struct sxs_model *m, FILE *to)
{
    uint64_t n[8] = {0}, all = 0;
    for (size_t i = 0; i < m->n_frames; i++)
        for (unsigned t = 0; t < 8 && m->frames[i].runtime; t++) {
            n[t] += m->frames[i].tier_self[t];
            all += m->frames[i].tier_self[t];
        }
    if (all)
        fputs("\ntiers of managed code, by samples in it\n", to);
    for (unsigned t = 0; t < 8; t++)
        if (n[t])
            sxs_print_to(to, "  %6.2f %%  %9llu  %s\n", percent_of(n[t], all),
                         (unsigned long long)n[t], sxs_tier_text(t));
}

static void write_ends(const struct sxs_model *m, FILE *to)
{
    static const char *const text[] = {
#define X(name, words) words,
        SXS_SAMPLE_ENDS(X)
#undef X
    };
    sxs_print_to(to, "\nhow walks ended\n");
    for (size_t i = 0; i < SXS_N_SAMPLE_ENDS; i++)
        if (m->ends[i])
            sxs_print_to(to, "  %6.2f %%  %9llu  %s\n", percent_of(m->ends[i], m->total),
                         (unsigned long long)m->ends[i], text[i]);
}

struct pauses {
    uint64_t n, sum_ns, longest_ns;
};

static void add_pause(struct pauses *all, const struct sxs_model_pause *p)
{
    all->n++;
    all->sum_ns += p->duration_ns;
    all->longest_ns = p->duration_ns > all->longest_ns ? p->duration_ns : all->longest_ns;
}

static void write_pause_row(const struct pauses *p, const char *what, FILE *to)
{
    if (p->n)
        sxs_print_to(to, "  %7llu  %9.3f s  %9.3f ms  %s\n", (unsigned long long)p->n,
                     to_seconds(p->sum_ns), (double)p->longest_ns / 1e6, what);
}

/* For each runtime: all pauses, then the pauses by reason. */
static void write_pauses(const struct sxs_model *m, FILE *to)
{
    enum { REASONS = 16 };
    fputs("\npauses\n    times        total       longest  runtime, reason\n", to);
    for (size_t r = 0; r <= m->n_runtimes; r++) {
        struct pauses all = {0}, by[REASONS] = {{0}};
        char          title[160] = "an unknown runtime";
        for (size_t i = 0; i < m->n_pauses; i++) {
            if (m->pauses[i].runtime != r)
                continue;
            add_pause(&all, &m->pauses[i]);
            add_pause(&by[m->pauses[i].reason < REASONS ? m->pauses[i].reason : REASONS - 1],
                      &m->pauses[i]);
        }
        if (r)
            snprintf(title, sizeof(title), "runtime %u, %.64s", m->runtimes[r - 1].number,
                     sxs_model_text(m, m->runtimes[r - 1].version));
        write_pause_row(&all, title, to);
        for (unsigned i = 0; i < REASONS; i++) {
            snprintf(title, sizeof(title), "  %s", sxs_suspension_text(i));
            write_pause_row(&by[i], title, to);
        }
    }
}

static int write_text(const struct sxs_model *m, const struct sxs_report_options *o, FILE *to)
{
    size_t top = o->top ? o->top : 30;
    if (m->costs) {
        sxs_text_costs(m, o, to);
        if (m->data == SXS_DATA_LOCKS)
            sxs_text_pools(m, to);
        return 0;
    }
    for (size_t i = 0; i < m->n_processes; i++)
        write_process(m, &m->processes[i], to);
    if (m->filtered_out)
        sxs_print_to(to, "%s %s not of what was asked for: left out\n",
                     SXS_COUNT(m->filtered_out, "sample"), m->filtered_out == 1 ? "is" : "are");
    if (m->merged)
        sxs_print_to(to, "counted at their callers, because there are more than %u stacks: %s\n",
                     SXS_MODEL_MAX_NODES, SXS_COUNT(m->merged, "frame"));
    if (m->off_timeline)
        sxs_print_to(to, "not on the time line: %s\n", SXS_COUNT(m->off_timeline, "sample"));
    if (m->total == 0) {
        fputs("no samples\n", to);
        return 0;
    }
    write_shares(m, to);
    if (m->data == SXS_DATA_WAIT)
        sxs_text_waits(m, o->top ? o->top : 5, to);
    if (!o->brief)
        write_threads(m, top, to);
    write_top(m, "top functions by self", top, heavier_self, to);
    if (o->brief)
        return 0;
    write_top(m, "top functions by total", top, heavier_total, to);
    write_lines(m, top < 10 ? top : 10, to);
    write_tiers(m, to);
    write_ends(m, to);
    sxs_text_differences(m, o->top ? o->top : 10, to);
    if (m->n_pauses)
        write_pauses(m, to);
    return 0;
}

const struct sxs_profile_format sxs_format_text = {"text", 0, write_text};
