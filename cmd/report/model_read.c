/* SPDX-License-Identifier: MIT */
/* Reading a model: sums over the tree, texts of frames and threads. */
#include "cmd/report/model.h"
#include "cmd/output/must.h"
#include "cmd/report/costs.h"
#include "base/sum.h"

#include <string.h>

/* Returns an owned list: the weight of each node with all nodes below it. */
static uint64_t *sum_totals(const struct sxs_model *m)
{
    uint64_t *total = sxs_must_zeroed(m->n_nodes, sizeof(*total));
    for (size_t i = m->n_nodes; i-- > 0;) {
        sxs_sum_add(&total[i], m->nodes[i].self_ns);
        if (m->nodes[i].parent != SXS_NO_NODE)
            sxs_sum_add(&total[m->nodes[i].parent], total[i]);
    }
    return total;
}

size_t sxs_model_stack(const struct sxs_model *m, uint32_t node, uint32_t *out)
{
    size_t n = 0;
    for (uint32_t i = node; m->nodes[i].parent != SXS_NO_NODE && n < SXS_MAX_STACK;
         i = m->nodes[i].parent)
        n++;
    size_t at = n;
    for (uint32_t i = node; at > 0; i = m->nodes[i].parent)
        out[--at] = m->nodes[i].frame;
    return n;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static uint64_t spot_of(const struct sxs_model_node *n)
{
    return (uint64_t)n->frame << 32 | n->line;
}

bool *sxs_model_used_nodes(const struct sxs_model *m)
{
    bool *used = sxs_must_zeroed(m->n_nodes, sizeof(*used));
    for (size_t i = m->n_nodes; i-- > 0;) { /* children come after their parents */
        used[i] |= m->nodes[i].self != 0 || (m->costs && m->costs->nodes[i].n > 0);
        if (used[i] && m->nodes[i].parent != SXS_NO_NODE)
            used[m->nodes[i].parent] = true;
    }
    return used;
}

uint64_t *sxs_model_spots(const struct sxs_model *m, const bool *nodes, size_t *n)
{
    uint64_t *all = sxs_must_zeroed(m->n_nodes, sizeof(*all));
    size_t    found = 0, kept = 0;
    for (size_t i = 0; i < m->n_nodes; i++)
        if (m->nodes[i].parent != SXS_NO_NODE && (!nodes || nodes[i]))
            all[found++] = spot_of(&m->nodes[i]);
    qsort(all, found, sizeof(*all), by_value);
    for (size_t i = 0; i < found; i++)
        if (!kept || all[kept - 1] != all[i])
            all[kept++] = all[i];
    *n = kept;
    return all;
}

size_t sxs_model_spot(const struct sxs_model *m, uint32_t node, const uint64_t *spots, size_t n)
{
    uint64_t        key = spot_of(&m->nodes[node]);
    const uint64_t *at = bsearch(&key, spots, n, sizeof(*spots), by_value);
    return at ? (size_t)(at - spots) : 0;
}

/* Returns an owned list: whether a node is below another node of the same frame. Walks the tree
 * depth first and counts how often each frame is on the path from the root. */
static bool *find_repeating(const struct sxs_model *m)
{
    size_t    n = m->n_nodes;
    bool     *repeats = sxs_must_zeroed(n, sizeof(*repeats));
    uint32_t *above = sxs_must_zeroed(m->n_frames, sizeof(*above));
    uint32_t *first = sxs_must_zeroed(n, sizeof(*first)); /* by node: next child to visit + 1 */
    uint32_t *next = sxs_must_zeroed(n, sizeof(*next));   /* by node: next sibling + 1 */
    for (size_t i = n; i-- > 0;)
        if (m->nodes[i].parent != SXS_NO_NODE) {
            next[i] = first[m->nodes[i].parent];
            first[m->nodes[i].parent] = (uint32_t)i + 1;
        }
    for (size_t root = 0; root < n; root++)
        for (uint32_t at = (uint32_t)root; m->nodes[root].parent == SXS_NO_NODE;) {
            if (first[at]) {
                uint32_t child = first[at] - 1;
                first[at] = next[child];
                at = child;
                repeats[at] = above[m->nodes[at].frame]++ > 0;
            } else if (at == root) {
                break;
            } else {
                above[m->nodes[at].frame]--;
                at = m->nodes[at].parent;
            }
        }
    free(above);
    free(first);
    free(next);
    return repeats;
}

/* Adds each node's weight to the (first 64) runtimes that have a frame on its stack, except for the
 * profiler's own work. */
static void sum_runtimes(struct sxs_model *m)
{
    uint64_t *seen = sxs_must_zeroed(m->n_nodes, sizeof(*seen));
    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct sxs_model_node *n = &m->nodes[i];
        if (n->parent == SXS_NO_NODE)
            continue;
        uint32_t runtime = m->frames[n->frame].runtime;
        seen[i] = seen[n->parent] | (runtime && runtime <= 64 ? 1ull << (runtime - 1) : 0);
        for (uint64_t left = n->self && !(n->flags & SXS_FRAME_OWN) ? seen[i] : 0; left; left &= left - 1)
            sxs_sum_add(&m->runtimes[__builtin_ctzll(left)].total_ns, n->self_ns);
    }
    free(seen);
}

static void sum_class(struct sxs_model *m, const struct sxs_model_node *n)
{
    uint32_t runtime = n->parent == SXS_NO_NODE ? 0 : m->frames[n->frame].runtime;
    if (n->flags & SXS_FRAME_OWN)
        sxs_sum_add(&m->own_ns, n->self_ns);
    else if (n->flags & SXS_FRAME_GC)
        sxs_sum_add(&m->gc_ns, n->self_ns);
    else if (n->flags & SXS_FRAME_JIT)
        sxs_sum_add(&m->jit_ns, n->self_ns);
    else if (runtime)
        sxs_sum_add(&m->runtimes[runtime - 1].self_ns, n->self_ns);
    else
        sxs_sum_add(&m->native_ns, n->self_ns);
}

void sxs_model_sum(struct sxs_model *m)
{
    uint64_t *total = sum_totals(m);
    uint64_t *count = sxs_must_zeroed(m->n_nodes, sizeof(*count));
    bool     *repeats = find_repeating(m);
    for (size_t i = m->n_nodes; i-- > 0;) {
        const struct sxs_model_node *n = &m->nodes[i];
        sxs_sum_add(&count[i], n->self);
        sum_class(m, n);
        if (n->parent == SXS_NO_NODE)
            continue;
        sxs_sum_add(&count[n->parent], count[i]);
        struct sxs_model_frame *f = &m->frames[n->frame];
        sxs_sum_add(&f->self, n->self);
        sxs_sum_add(&f->self_ns, n->self_ns);
        if ((f->flags & SXS_FRAME_TYPE) && m->nodes[n->parent].parent != SXS_NO_NODE) {
            struct sxs_model_frame *by = &m->frames[m->nodes[n->parent].frame];
            sxs_sum_add(&by->self, n->self); /* a function's own costs are those of the types below it */
            sxs_sum_add(&by->self_ns, n->self_ns);
        }
        if (!repeats[i]) {
            sxs_sum_add(&f->total, count[i]);
            f->total_ns += total[i];
        }
    }
    free(count);
    free(total);
    free(repeats);
    sum_runtimes(m);
}

uint64_t sxs_model_quantile(const struct sxs_model_latency *l, double q)
{
    uint64_t all = 0, seen = 0;
    for (size_t i = 0; i < l->n; i++)
        all += l->all[i].n;
    for (size_t i = 0; i < l->n; i++) {
        seen += l->all[i].n;
        if ((double)seen < q * (double)all)
            continue;
        uint64_t ns = l->all[i].ns;
        return ns < l->min_ns ? l->min_ns : ns > l->max_ns ? l->max_ns : ns;
    }
    return all ? l->max_ns : 0;
}

const char *sxs_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Returns the length of "Type.Method(parameters)" without the parameters, which begin at the
 * bracket that matches the last one. */
static size_t short_len(const char *name)
{
    size_t len = strlen(name), at = len;
    int    depth = 0;
    if (len == 0 || name[len - 1] != ')')
        return len;
    while (at-- > 0) {
        depth += name[at] == ')';
        depth -= name[at] == '(';
        if (depth == 0)
            return at ? at : len;
    }
    return len;
}

const char *sxs_frame_text(const struct sxs_model *m, uint32_t frame, enum sxs_frame_style style,
                           char *buf, size_t size)
{
    const struct sxs_model_frame *f = &m->frames[frame];
    const char                   *name = sxs_model_text(m, f->name);
    if (f->flags & (SXS_FRAME_WAIT | SXS_FRAME_OWN)) {
        snprintf(buf, size, "%s", name);
    } else if (f->flags & SXS_FRAME_TYPE) {
        if (f->runtime)
            snprintf(buf, size, "[%s] %s (type)",
                     sxs_model_text(m, m->runtimes[f->runtime - 1].version), name);
        else
            snprintf(buf, size, "[native] %s", name);
    } else if (f->runtime) {
        size_t len = style == SXS_STYLE_SHORT ? short_len(name) : strlen(name);
        snprintf(buf, size, "[%s] %.*s", sxs_model_text(m, m->runtimes[f->runtime - 1].version),
                 (int)len, name);
    } else {
        snprintf(buf, size, "[native] %s!%s", sxs_base_name(sxs_model_text(m, f->file)), name);
    }
    return buf;
}

/* What a thread does until it waits, in a few samples, is no reason to show it first. */
#define IDLE_SHARE 20u /* at most one part of so many is not waiting */

bool sxs_thread_idles(const struct sxs_model *m, const struct sxs_model_thread *t)
{
    bool helps = strncmp(sxs_model_text(m, t->name), ".NET ", 5) == 0 || !(t->runtimes >> 1);
    return helps && t->waiting_ns && t->weight_ns - t->waiting_ns <= t->weight_ns / IDLE_SHARE;
}

const char *sxs_thread_text(const struct sxs_model *m, uint32_t thread, char *buf, size_t size)
{
    const struct sxs_model_thread *t = &m->threads[thread];
    const char                    *name = sxs_model_text(m, t->name);
    char                           prefix[280] = "";
    if (m->n_processes > 1)
        snprintf(prefix, sizeof(prefix), "%s/", m->processes[t->process].folder);
    if (t->tid)
        snprintf(buf, size, "%s%s [%u]", prefix, name, t->tid);
    else
        snprintf(buf, size, "%s%s", prefix, name);
    return buf;
}
