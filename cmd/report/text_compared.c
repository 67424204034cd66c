/* SPDX-License-Identifier: MIT */
#include "cmd/report/text_compared.h"

#include "cmd/output/print.h"

#include <inttypes.h>

static const char *const words[] = {
#define X(name, text) text,
    SXS_COMPARED(X)
#undef X
};

static uint64_t count_of(const struct sxs_samples_header *head, unsigned what)
{
    return atomic_load_explicit(&head->n_compared[what], memory_order_relaxed);
}

/* Writes "heading: 3 of this, 1 of that" for the counts from @first to @last that are not 0. */
static void write_counts(const struct sxs_samples_header *head, const char *heading, unsigned first,
                         unsigned last, FILE *to)
{
    const char *before = heading;
    for (unsigned i = first; i <= last; i++) {
        if (!count_of(head, i))
            continue;
        sxs_print_to(to, "%s%" PRIu64 " %s", before, count_of(head, i), words[i]);
        before = ", ";
    }
    if (before != heading)
        fputs("\n", to);
}

void sxs_text_compared(const struct sxs_samples_header *head, FILE *to)
{
    uint64_t stacks = count_of(head, SXS_COMPARED_STACKS),
             alike = count_of(head, SXS_COMPARED_ALIKE);
    if (head->walker != SXS_WALKER_SNAPSHOT)
        return;
    sxs_print_to(to, "  snapshot: %" PRIu64 " stacks compared", stacks);
    if (stacks)
        sxs_print_to(to, ", the fast walk had the same managed frames in %" PRIu64 " (%.2f %%)",
                     alike, 100.0 * (double)alike / (double)stacks);
    fputs("\n", to);
    write_counts(head, "    differing: ", SXS_COMPARED_LACKING, SXS_COMPARED_OTHER, to);
    write_counts(head, "    ", SXS_COMPARED_FRAMES, SXS_COMPARED_PINVOKES, to);
    write_counts(head, "    not compared: ", SXS_COMPARED_MOVED, SXS_COMPARED_BUSY, to);
}

static const char *verdict_text(unsigned verdict)
{
    static const char *const texts[] = {
        [SXS_VERDICT_NATIVE] = "",
        [SXS_VERDICT_SAME] = "both",
        [SXS_VERDICT_LACKING] = "REPORTED",
        [SXS_VERDICT_EXCESS] = "WALKED",
        [SXS_VERDICT_NO_METADATA] = "no metadata",
        [SXS_VERDICT_FUNCLET] = "funclet",
        [SXS_VERDICT_UNWOUND] = "unwound",
        [SXS_VERDICT_DISPATCH] = "exception",
        [SXS_VERDICT_ENTERING] = "entering",
    };
    return verdict < sizeof(texts) / sizeof(*texts) ? texts[verdict] : "?";
}

static void write_difference(const struct sxs_model *m, const struct sxs_model_difference *d,
                             FILE *to)
{
    static char              text[70000];
    static const char *const ends[] = {
#define X(name, end_text) end_text,
        SXS_SAMPLE_ENDS(X)
#undef X
    };
    sxs_print_to(to, "  thread %u, %s; the walk ended: %s\n", d->tid,
                 d->kind < SXS_N_COMPARED ? words[d->kind] : "?",
                 d->end < SXS_N_SAMPLE_ENDS ? ends[d->end] : "?");
    for (size_t i = 0; i < d->n; i++) {
        const struct sxs_model_compared *f = &d->frames[i];
        sxs_print_to(to, "    %-11s  0x%012" PRIx64 "  0x%012" PRIx64 "  %s\n",
                     verdict_text(f->verdict), f->sp, f->ip,
                     sxs_frame_text(m, f->frame, SXS_STYLE_FULL, text, sizeof(text)));
    }
}

void sxs_text_differences(const struct sxs_model *m, size_t top, FILE *to)
{
    if (!m->n_differences)
        return;
    fputs(
        "\nstacks that differ (SP, IP, function; reported by the runtime alone or walked alone)\n",
        to);
    for (size_t i = 0; i < m->n_differences && i < top; i++)
        write_difference(m, &m->differences[i], to);
    if (m->n_differences > top)
        sxs_print_to(to, "  and %zu more\n", m->n_differences - top);
}
