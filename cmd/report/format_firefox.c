/* SPDX-License-Identifier: MIT */
/*
 * Format firefox: the processed profile format of profiler.firefox.com, version 46, which the site
 * upgrades to its current version when loading.
 * A thread is a set of tables: samples refer to stacks (the nodes of the tree), stacks to frames (a
 * function at a line), frames to functions, functions to names. Categories are the owners of
 * frames. For calls, which are sums, each path is one sample, one after the other, weighted with
 * the time spent in the function itself.
 */
#include "cmd/report/format.h"

#include "cmd/output/must.h"

/* The tables of one thread: the nodes, spots (a frame at a line) and frames that it uses, with
 * numbers of their own. */
struct tables {
    const struct sxs_model *m;
    uint32_t               *frame_at;  /* by the model's frame: number in the thread + 1 */
    uint32_t               *frames;    /* by number in the thread: the model's frame */
    size_t                  n_frames;
    uint64_t               *spots;     /* of the model: frame << 32 | line */
    size_t                  n_spots;
    uint32_t               *spot_at;   /* by spot: number in the thread + 1 */
    uint32_t               *thread_spots; /* by number in the thread: the spot */
    size_t                  n_thread_spots;
    uint32_t               *nodes;     /* the thread's nodes; a parent comes before its children */
    size_t                  n_nodes;
    uint32_t               *by_thread; /* all nodes sorted by thread */
    size_t                 *first_node;/* each thread's first node in by_thread, and the end */
    uint32_t               *node_at;   /* by the model's node: number in its thread */
};

static void write_repeated(FILE *to, const char *name, const char *value, size_t n)
{
    fprintf(to, ",\"%s\":[", name);
    for (size_t i = 0; i < n; i++)
        fprintf(to, i ? ",%s" : "%s", value);
    fputs("]", to);
}

static void count_up(FILE *to, const char *name, size_t n)
{
    fprintf(to, ",\"%s\":[", name);
    for (size_t i = 0; i < n; i++)
        fprintf(to, i ? ",%zu" : "%zu", i);
    fputs("]", to);
}

/* 0 other, 1 native, 2 GC, 3 JIT, then the runtimes. */
static unsigned category_of(const struct sxs_model *m, uint32_t frame)
{
    const struct sxs_model_frame *f = &m->frames[frame];
    if (f->flags & SXS_FRAME_OWN)
        return 0;
    if (f->runtime)
        return 3u + f->runtime;
    return f->flags & SXS_FRAME_GC ? 2 : f->flags & SXS_FRAME_JIT ? 3 : 1;
}

static void write_meta(const struct sxs_model *m, FILE *to)
{
    static const char *const colors[] = {"blue", "green", "orange", "purple", "magenta", "lightblue"};
    const struct sxs_samples_header *h = &m->processes[0].head;
    fputs("{\"meta\":{\"categories\":["
          "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
          "{\"name\":\"Native\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
          "{\"name\":\"GC\",\"color\":\"red\",\"subcategories\":[\"Other\"]},"
          "{\"name\":\"JIT\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]}", to);
    for (size_t i = 0; i < m->n_runtimes; i++) {
        char name[96];
        snprintf(name, sizeof(name), ".NET %.64s", sxs_model_text(m, m->runtimes[i].version));
        fputs(",{\"name\":", to);
        sxs_json_string(to, name);
        fprintf(to, ",\"color\":\"%s\",\"subcategories\":[\"Other\"]}", colors[i % 6]);
    }
    fputs("],\"debug\":false,\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[],"
          "\"version\":[]},\"markerSchema\":[],\"processType\":0,\"stackwalk\":1,"
          "\"preprocessedProfileVersion\":46,\"version\":24,\"symbolicated\":true,"
          "\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,"
          "\"sourceCodeIsNotOnSearchfox\":true,\"pausedRanges\":[],\"product\":", to);
    sxs_json_string(to, sxs_model_title(m));
    fprintf(to, ",\"interval\":%.6f,\"startTime\":%.3f,"
                "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}},\n"
                "\"libs\":[],\"pages\":[],\"profilerOverhead\":[],\"counters\":[],\n\"threads\":[",
            h->asked_hz ? 1000.0 / h->asked_hz : 1.0, (double)h->started_realtime_ns / 1e6);
}

static void collect_frames(struct tables *t, uint32_t thread)
{
    const struct sxs_model *m = t->m;
    t->n_frames = t->n_nodes = t->n_thread_spots = 0;
    for (size_t at = t->first_node[thread]; at < t->first_node[thread + 1]; at++) {
        uint32_t                     i = t->by_thread[at];
        const struct sxs_model_node *n = &m->nodes[i];
        if (n->parent == SXS_NO_NODE)
            continue;
        t->node_at[i] = (uint32_t)t->n_nodes;
        t->nodes[t->n_nodes++] = i;
        size_t spot = sxs_model_spot(m, i, t->spots, t->n_spots);
        if (!t->spot_at[spot]) {
            t->thread_spots[t->n_thread_spots++] = (uint32_t)spot;
            t->spot_at[spot] = (uint32_t)t->n_thread_spots;
        }
        if (!t->frame_at[n->frame]) {
            t->frames[t->n_frames++] = n->frame;
            t->frame_at[n->frame] = (uint32_t)t->n_frames;
        }
    }
}

static void write_stacks(const struct tables *t, FILE *to)
{
    const struct sxs_model *m = t->m;
    fprintf(to, ",\n\"stackTable\":{\"length\":%zu,\"prefix\":[", t->n_nodes);
    for (size_t i = 0; i < t->n_nodes; i++) {
        uint32_t parent = m->nodes[t->nodes[i]].parent;
        fputs(i ? "," : "", to);
        if (m->nodes[parent].parent == SXS_NO_NODE)
            fputs("null", to);
        else
            fprintf(to, "%u", t->node_at[parent]);
    }
    fputs("],\"frame\":[", to);
    for (size_t i = 0; i < t->n_nodes; i++)
        fprintf(to, i ? ",%u" : "%u",
                t->spot_at[sxs_model_spot(m, t->nodes[i], t->spots, t->n_spots)] - 1);
    fputs("],\"category\":[", to);
    for (size_t i = 0; i < t->n_nodes; i++)
        fprintf(to, i ? ",%u" : "%u", category_of(m, m->nodes[t->nodes[i]].frame));
    fputs("]", to);
    write_repeated(to, "subcategory", "0", t->n_nodes);
    fputs("}", to);
}

/* Writes an element of a list; 0 means not known and is written as null. */
static void number_or_null(FILE *to, size_t at, uint32_t number)
{
    fputs(at ? "," : "", to);
    if (number)
        fprintf(to, "%u", number);
    else
        fputs("null", to);
}

static void write_frames(const struct tables *t, FILE *to)
{
    size_t n = t->n_thread_spots;
    fprintf(to, ",\n\"frameTable\":{\"length\":%zu", n);
    write_repeated(to, "address", "-1", n);
    write_repeated(to, "inlineDepth", "0", n);
    fputs(",\"category\":[", to);
    for (size_t i = 0; i < n; i++)
        fprintf(to, i ? ",%u" : "%u",
                category_of(t->m, (uint32_t)(t->spots[t->thread_spots[i]] >> 32)));
    fputs("]", to);
    write_repeated(to, "subcategory", "0", n);
    fputs(",\"func\":[", to);
    for (size_t i = 0; i < n; i++)
        fprintf(to, i ? ",%u" : "%u", t->frame_at[t->spots[t->thread_spots[i]] >> 32] - 1);
    fputs("],\"line\":[", to);
    for (size_t i = 0; i < n; i++)
        number_or_null(to, i, (uint32_t)t->spots[t->thread_spots[i]]);
    fputs("]", to);
    static const char *const nulls[] = {"nativeSymbol", "innerWindowID", "implementation", "column",
                                        "optimizations"};
    for (size_t i = 0; i < sizeof(nulls) / sizeof(*nulls); i++)
        write_repeated(to, nulls[i], "null", n);
    fputs("}", to);
}

/* String i is the name of function i, string n + i its file. */
static void write_functions(const struct tables *t, FILE *to)
{
    static char text[70000];
    size_t      n = t->n_frames;
    fprintf(to, ",\n\"funcTable\":{\"length\":%zu", n);
    count_up(to, "name", n);
    write_repeated(to, "isJS", "false", n);
    write_repeated(to, "relevantForJS", "false", n);
    write_repeated(to, "resource", "-1", n);
    fputs(",\"fileName\":[", to);
    for (size_t i = 0; i < n; i++)
        fprintf(to, i ? ",%zu" : "%zu", n + i);
    fputs("],\"lineNumber\":[", to);
    for (size_t i = 0; i < n; i++)
        number_or_null(to, i, t->m->frames[t->frames[i]].line);
    fputs("]", to);
    write_repeated(to, "columnNumber", "null", n);
    fputs("},\n\"stringArray\":[", to);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ",\n" : "", to);
        sxs_json_string(to, sxs_frame_text(t->m, t->frames[i], SXS_STYLE_FULL, text, sizeof(text)));
    }
    for (size_t i = 0; i < n; i++) {
        const struct sxs_model_frame *f = &t->m->frames[t->frames[i]];
        fputs(",\n", to);
        sxs_json_string(to, sxs_model_text(t->m, f->source ? f->source : f->file));
    }
    fputs("]", to);
}

static void write_samples(const struct tables *t, const uint32_t *thread_samples, size_t n,
                          FILE *to)
{
    const struct sxs_model *m = t->m;
    fprintf(to, ",\n\"samples\":{\"length\":%zu,\"weightType\":\"samples\",\"stack\":[", n);
    for (size_t i = 0; i < n; i++) {
        uint32_t node = m->samples[thread_samples[i]].node;
        fputs(i ? "," : "", to);
        if (m->nodes[node].parent == SXS_NO_NODE)
            fputs("null", to);
        else
            fprintf(to, "%u", t->node_at[node]);
    }
    fputs("],\"time\":[", to);
    for (size_t i = 0; i < n; i++)
        fprintf(to, i ? ",%.3f" : "%.3f",
                (double)(m->samples[thread_samples[i]].time_ns - m->first_ns) / 1e6);
    fputs("]", to);
    write_repeated(to, "weight", "1", n);
    fputs(",\"threadCPUDelta\":[", to);
    for (size_t i = 0; i < n; i++)
        fprintf(to, i ? ",%llu" : "%llu",
                m->samples[thread_samples[i]].waiting ? 0ull
                                                      : m->samples[thread_samples[i]].weight);
    fputs("]}", to);
}

/* Calls and costs are sums. */
static bool is_sum(const struct sxs_model *m)
{
    return m->data == SXS_DATA_CALLS || m->costs;
}

static void write_sums(const struct tables *t, FILE *to)
{
    const struct sxs_model *m = t->m;
    bool                    timed = m->unit == SXS_UNIT_NS;
    uint64_t                at = 0;
    size_t                  n = 0;
    fprintf(to, ",\n\"samples\":{\"weightType\":\"%s\",\"stack\":[",
            m->unit == SXS_UNIT_NS      ? "tracing-ms"
            : m->unit == SXS_UNIT_BYTES ? "bytes"
                                        : "samples");
    for (size_t i = 0; i < t->n_nodes; i++)
        if (m->nodes[t->nodes[i]].self_ns)
            fprintf(to, n++ ? ",%zu" : "%zu", i);
    fprintf(to, "],\"length\":%zu,\"time\":[", n);
    for (size_t i = 0, k = 0; i < t->n_nodes; i++) {
        if (!m->nodes[t->nodes[i]].self_ns)
            continue;
        fprintf(to, k++ ? ",%.6f" : "%.6f", (double)at / 1e6);
        at += m->nodes[t->nodes[i]].self_ns;
    }
    fputs("],\"weight\":[", to);
    for (size_t i = 0, k = 0; i < t->n_nodes; i++)
        if (m->nodes[t->nodes[i]].self_ns)
            fprintf(to, k++ ? ",%.*f" : "%.*f", timed ? 6 : 0,
                    (double)m->nodes[t->nodes[i]].self_ns / (timed ? 1e6 : 1));
    fputs("]}", to);
}

static void write_thread(struct tables *t, uint32_t thread, const uint32_t *thread_samples,
                         size_t n, FILE *to)
{
    const struct sxs_model         *m = t->m;
    const struct sxs_model_thread  *v = &m->threads[thread];
    const struct sxs_model_process *p = &m->processes[v->process];
    char                            text[512];
    collect_frames(t, thread);
    fputs("\n{\"name\":", to);
    sxs_json_string(to, sxs_thread_text(m, thread, text, sizeof(text)));
    fputs(",\"processName\":", to);
    sxs_json_string(to, p->head.command);
    fprintf(to, ",\"isMainThread\":%s,\"pid\":\"%u\",\"tid\":%u,\"processType\":\"default\","
                "\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,"
                "\"unregisterTime\":null,\"pausedRanges\":[],"
                "\"markers\":{\"length\":0,\"category\":[],\"data\":[],\"endTime\":[],\"name\":[],"
                "\"phase\":[],\"startTime\":[]},"
                "\"nativeSymbols\":{\"length\":0,\"address\":[],\"functionSize\":[],"
                "\"libIndex\":[],\"name\":[]},"
                "\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]}",
            v->tid == p->pid ? "true" : "false", p->pid, v->tid);
    write_stacks(t, to);
    write_frames(t, to);
    write_functions(t, to);
    if (is_sum(m))
        write_sums(t, to);
    else
        write_samples(t, thread_samples, n, to);
    fputs("}", to);
    for (size_t i = 0; i < t->n_frames; i++)
        t->frame_at[t->frames[i]] = 0;
    for (size_t i = 0; i < t->n_thread_spots; i++)
        t->spot_at[t->thread_spots[i]] = 0;
}

/* Sorts the samples' numbers by thread, and by time within a thread: a counting sort. @first:
 * n_threads + 1 zeroed elements; receives where each thread begins. Returns an owned list. */
static uint32_t *by_thread(const struct sxs_model *m, size_t *first)
{
    uint32_t *all = sxs_must_zeroed(m->n_samples, sizeof(*all));
    size_t   *at = sxs_must_zeroed(m->n_threads + 1, sizeof(*at));
    for (size_t i = 0; i < m->n_samples; i++)
        first[m->nodes[m->samples[i].node].thread + 1]++;
    for (size_t i = 0; i < m->n_threads; i++) {
        first[i + 1] += first[i];
        at[i] = first[i];
    }
    for (size_t i = 0; i < m->n_samples; i++)
        all[at[m->nodes[m->samples[i].node].thread]++] = (uint32_t)i;
    free(at);
    return all;
}

static void sort_nodes(struct tables *t)
{
    const struct sxs_model *m = t->m;
    size_t                 *at = sxs_must_zeroed(m->n_threads + 1, sizeof(*at));
    t->by_thread = sxs_must_zeroed(m->n_nodes, sizeof(*t->by_thread));
    t->first_node = sxs_must_zeroed(m->n_threads + 1, sizeof(*t->first_node));
    for (size_t i = 0; i < m->n_nodes; i++)
        t->first_node[m->nodes[i].thread + 1]++;
    for (size_t i = 0; i < m->n_threads; i++) {
        t->first_node[i + 1] += t->first_node[i];
        at[i] = t->first_node[i];
    }
    for (size_t i = 0; i < m->n_nodes; i++)
        t->by_thread[at[m->nodes[i].thread]++] = (uint32_t)i;
    free(at);
}

static int write_firefox(const struct sxs_model *m, const struct sxs_report_options *o, FILE *to)
{
    struct tables t = {.m = m};
    size_t       *first = sxs_must_zeroed(m->n_threads + 1, sizeof(*first));
    uint32_t     *samples = by_thread(m, first);
    bool          began = false;
    (void)o;
    t.frame_at = sxs_must_zeroed(m->n_frames, sizeof(*t.frame_at));
    t.frames = sxs_must_zeroed(m->n_frames, sizeof(*t.frames));
    t.nodes = sxs_must_zeroed(m->n_nodes, sizeof(*t.nodes));
    t.node_at = sxs_must_zeroed(m->n_nodes, sizeof(*t.node_at));
    t.spots = sxs_model_spots(m, NULL, &t.n_spots);
    t.spot_at = sxs_must_zeroed(t.n_spots, sizeof(*t.spot_at));
    t.thread_spots = sxs_must_zeroed(t.n_spots, sizeof(*t.thread_spots));
    sort_nodes(&t);
    write_meta(m, to);
    for (size_t i = 0; i < m->n_threads; i++) {
        if (is_sum(m) ? !m->threads[i].weight_ns : first[i + 1] == first[i])
            continue;
        fputs(began ? "," : "", to);
        write_thread(&t, (uint32_t)i, samples + first[i], first[i + 1] - first[i], to);
        began = true;
    }
    fputs("]}\n", to);
    free(t.frame_at);
    free(t.frames);
    free(t.spots);
    free(t.spot_at);
    free(t.thread_spots);
    free(t.nodes);
    free(t.node_at);
    free(t.by_thread);
    free(t.first_node);
    free(samples);
    free(first);
    return 0;
}

const struct sxs_profile_format sxs_format_firefox = {
    "firefox", SXS_DETAIL_TIMELINE | SXS_DETAIL_LINES, write_firefox};
