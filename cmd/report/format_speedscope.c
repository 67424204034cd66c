/* SPDX-License-Identifier: MIT */
/*
 * Format speedscope: https://www.speedscope.app/file-format-schema.json, one "sampled" profile per
 * thread.
 * Samples are in order of time, and neighbours with the same stack are joined. When there are too
 * many for a browser, and for calls and costs, each distinct stack is written once.
 */
#include "cmd/report/format.h"

#include "cmd/output/must.h"

#define MAX_IN_ORDER 300000u /* samples after joining */

struct speedscope_event {
    uint32_t thread, node;
    uint64_t time_ns, weight; /* us; for calls ns, or the number of calls */
};

static int by_thread_and_time(const void *a, const void *b)
{
    const struct speedscope_event *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static size_t join_entries(struct speedscope_event *all, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept && all[kept - 1].node == all[i].node)
            all[kept - 1].weight += all[i].weight;
        else
            all[kept++] = all[i];
    }
    return kept;
}

/* Calls and costs are sums: each distinct stack is written once. */
static bool is_sum(const struct sxs_model *m)
{
    return m->data == SXS_DATA_CALLS || m->costs;
}

static const char *unit_name(const struct sxs_model *m)
{
    if (m->unit == SXS_UNIT_BYTES)
        return "bytes";
    return m->unit == SXS_UNIT_COUNT ? "none" : "nanoseconds";
}

static struct speedscope_event *in_order(const struct sxs_model *m, size_t *n)
{
    struct speedscope_event *all = sxs_must_zeroed(m->n_samples, sizeof(*all));
    for (size_t i = 0; i < m->n_samples; i++) {
        const struct sxs_model_sample *s = &m->samples[i];
        all[i] =
            (struct speedscope_event){m->nodes[s->node].thread, s->node, s->time_ns, s->weight};
    }
    qsort(all, m->n_samples, sizeof(*all), by_thread_and_time);
    *n = join_entries(all, m->n_samples);
    return all;
}

static struct speedscope_event *by_stack(const struct sxs_model *m, size_t *n)
{
    struct speedscope_event *all = sxs_must_zeroed(m->n_nodes, sizeof(*all));
    *n = 0;
    for (size_t i = 0; i < m->n_nodes; i++)
        if (m->nodes[i].self && (!is_sum(m) || m->nodes[i].self_ns))
            all[(*n)++] =
                (struct speedscope_event){m->nodes[i].thread, (uint32_t)i, 0, m->nodes[i].self_ns};
    qsort(all, *n, sizeof(*all), by_thread_and_time);
    return all;
}

static void write_frames(const struct sxs_model *m, FILE *to)
{
    static char text[70000];
    fputs("\"shared\":{\"frames\":[", to);
    for (size_t i = 0; i < m->n_frames; i++) {
        const struct sxs_model_frame *f = &m->frames[i];
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", to);
        sxs_json_string(to, sxs_frame_text(m, (uint32_t)i, SXS_STYLE_FULL, text, sizeof(text)));
        const char *file = sxs_model_text(m, f->source ? f->source : f->file);
        if (file[0]) {
            fputs(",\"file\":", to);
            sxs_json_string(to, file);
        }
        if (f->line)
            fprintf(to, ",\"line\":%u", f->line);
        putc('}', to);
    }
    fputs("]},\n", to);
}

static void write_profile(const struct sxs_model *m, const struct speedscope_event *all, size_t n,
                          FILE *to)
{
    char     name[512];
    uint32_t frames[SXS_MAX_STACK];
    uint64_t end = 0;
    fprintf(to, "{\"type\":\"sampled\",\"unit\":\"%s\",\"name\":",
            unit_name(m));
    sxs_json_string(to, sxs_thread_text(m, all->thread, name, sizeof(name)));
    fputs(",\"samples\":[", to);
    for (size_t i = 0; i < n; i++) {
        size_t depth = sxs_model_stack(m, all[i].node, frames);
        fputs(i ? ",\n[" : "\n[", to);
        for (size_t d = 0; d < depth; d++)
            fprintf(to, d ? ",%u" : "%u", frames[d]);
        putc(']', to);
        end += all[i].weight;
    }
    fputs("],\"weights\":[", to);
    for (size_t i = 0; i < n; i++)
        fprintf(to, i ? ",%llu" : "%llu", (unsigned long long)all[i].weight);
    fprintf(to, "],\"startValue\":0,\"endValue\":%llu}", (unsigned long long)end);
}

static int write_speedscope(const struct sxs_model *m, const struct sxs_report_options *o, FILE *to)
{
    size_t                   n;
    struct speedscope_event *all = in_order(m, &n);
    (void)o;
    if (n > MAX_IN_ORDER || m->off_timeline || is_sum(m)) {
        free(all);
        all = by_stack(m, &n);
    }
    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
          "\"exporter\":\"sxsprof\",\"activeProfileIndex\":0,\"name\":", to);
    sxs_json_string(to, sxs_model_title(m));
    fputs(",\n", to);
    write_frames(m, to);
    fputs("\"profiles\":[", to);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i; next < n && all[next].thread == all[i].thread;)
            next++;
        fputs(i ? ",\n" : "\n", to);
        write_profile(m, all + i, next - i, to);
    }
    fputs("]}\n", to);
    free(all);
    return 0;
}

const struct sxs_profile_format sxs_format_speedscope = {"speedscope", SXS_DETAIL_TIMELINE,
                                                         write_speedscope};
