/* SPDX-License-Identifier: MIT */
/* Format collapsed: one line "thread;frame;...;frame weight" per distinct stack, oldest frame
 * first. */
#include "cmd/report/format.h"

#include "cmd/output/must.h"

#include <string.h>

/* Writes a name. ';' separates frames, so it is replaced; names contain no line breaks, which
 * separate stacks. */
static void put_name(FILE *to, const char *text)
{
    for (; *text; text++)
        putc(*text == ';' ? ':' : *text, to);
}

static int by_text(const void *a, const void *b)
{
    const struct sxs_string *x = a, *y = b;
    return strcmp(x->text, y->text);
}

/* Joins equal lines, because overloads have equal text in this format. `hash` holds the weight. */
static void write_joined(struct sxs_string *lines, size_t n, FILE *to)
{
    qsort(lines, n, sizeof(*lines), by_text);
    for (size_t i = 0; i < n;) {
        uint64_t weight = 0;
        size_t   first = i;
        for (; i < n && strcmp(lines[i].text, lines[first].text) == 0; i++)
            weight += lines[i].hash;
        fprintf(to, "%s %llu\n", lines[first].text, (unsigned long long)weight);
    }
}

static char *stack_line(const struct sxs_model *m, uint32_t node)
{
    static char text[70000]; /* a name has at most 65535 bytes */
    uint32_t    frames[SXS_MAX_STACK];
    char       *line = NULL;
    size_t      size = 0, n = sxs_model_stack(m, node, frames);
    FILE       *to = sxs_must(open_memstream(&line, &size));
    put_name(to, sxs_thread_text(m, m->nodes[node].thread, text, sizeof(text)));
    for (size_t i = 0; i < n; i++) {
        putc(';', to);
        put_name(to, sxs_frame_text(m, frames[i], SXS_STYLE_SHORT, text, sizeof(text)));
    }
    fclose(to);
    return sxs_must(line);
}

/* Time in ns for which the stack's samples stand, or that calls spent in the function itself; the number
 * of calls when they were not timed. Samples are not counted, because they stand for different times: a
 * thread that waits has one sample for a tenth of a second. */
static uint64_t weight_of(const struct sxs_model *m, size_t node)
{
    return m->nodes[node].self_ns;
}

static int write_collapsed(const struct sxs_model *m, const struct sxs_report_options *o, FILE *to)
{
    size_t n = 0;
    (void)o;
    struct sxs_string *lines = sxs_must_zeroed(m->n_nodes, sizeof(*lines));
    for (size_t i = 0; i < m->n_nodes; i++)
        if (weight_of(m, i))
            lines[n++] = (struct sxs_string){stack_line(m, (uint32_t)i), weight_of(m, i)};
    write_joined(lines, n, to);
    for (size_t i = 0; i < n; i++)
        free(lines[i].text);
    free(lines);
    return 0;
}

const struct sxs_profile_format sxs_format_collapsed = {"collapsed", 0, write_collapsed};
