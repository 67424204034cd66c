/* SPDX-License-Identifier: MIT */
#include "cmd/report/merged.h"

#include "cmd/output/must.h"

#include <stdlib.h>
#include <string.h>

/* Adds the whole tree of @from below the root of one thread of @into. @old: the weights of before, by
 * node; grows. */
static void merge_tree(struct sxs_model *into, uint32_t root, const struct sxs_model *from,
                       bool before, uint64_t **old, size_t *n_old)
{
    uint32_t *node = sxs_must_zeroed(from->n_nodes, sizeof(*node));
    for (size_t i = 0; i < from->n_nodes; i++) {
        const struct sxs_model_node *n = &from->nodes[i];
        node[i] = root;
        if (n->parent != SXS_NO_NODE) {
            struct sxs_model_frame f = from->frames[n->frame];
            const char            *name = sxs_model_text(from, f.name);
            const char            *file = sxs_base_name(sxs_model_text(from, f.file));
            f.name = sxs_strings_add(&into->strings, name, strlen(name));
            f.file = sxs_strings_add(&into->strings, file, strlen(file));
            f.source = f.line = 0;
            f.home = 0;
            if (f.runtime) {
                const struct sxs_model_runtime *r = &from->runtimes[f.runtime - 1];
                const char                     *version = sxs_model_text(from, r->version);
                f.runtime =
                    (uint16_t)(sxs_model_runtime(
                                   into, r->number,
                                   sxs_strings_add(&into->strings, version, strlen(version)), 0) +
                               1);
            }
            memset(f.tier_self, 0, sizeof(f.tier_self));
            node[i] = sxs_model_child(into, node[n->parent], sxs_model_frame(into, &f), 0, 0);
        }
        if (into->n_nodes > *n_old) {
            size_t grown = into->n_nodes * 2;
            *old = sxs_must(realloc(*old, grown * sizeof(**old)));
            memset(*old + *n_old, 0, (grown - *n_old) * sizeof(**old));
            *n_old = grown;
        }
        if (before) {
            (*old)[node[i]] += n->self_ns;
        } else {
            into->nodes[node[i]].self += n->self;
            into->nodes[node[i]].self_ns += n->self_ns;
        }
    }
    free(node);
}

void sxs_merged_make(struct sxs_merged *out, const struct sxs_model *before,
                     const struct sxs_model *now)
{
    size_t            n_old = 1;
    struct sxs_model *both = &out->both;
    *out = (struct sxs_merged){.both = {.total = now->total,
                                        .waiting_ns = now->waiting_ns,
                                        .total_ns = now->total_ns,
                                        .data = now->data,
                                        .unit = now->unit,
                                        .costs = now->costs}}; /* borrowed */
    out->before = sxs_must_zeroed(n_old, sizeof(*out->before));
    sxs_strings_add(&both->strings, "", 0);
    SXS_GROW(both->processes, both->n_processes, both->cap_processes);
    both->processes[0] = (struct sxs_model_process){.folder = sxs_must(strdup("diff"))};
    if (now->n_processes)
        memcpy(&both->processes[0].head, &now->processes[0].head, sizeof(now->processes[0].head));
    both->n_processes = 1;
    uint32_t root = both->threads ? 0 : sxs_model_thread(both, 0, 0);
    root = both->threads[root].root;
    merge_tree(both, root, now, false, &out->before, &n_old);
    merge_tree(both, root, before, true, &out->before, &n_old);
}

void sxs_merged_sum(struct sxs_merged *m, bool before)
{
    struct sxs_model *both = &m->both;
    for (size_t i = 0; i < both->n_frames; i++)
        both->frames[i].self = both->frames[i].total = both->frames[i].self_ns =
            both->frames[i].total_ns = 0;
    for (size_t i = 0; before && i < both->n_nodes; i++)
        both->nodes[i].self_ns = m->before[i];
    sxs_model_sum(both);
}

void sxs_merged_free(struct sxs_merged *m)
{
    free(m->before);
    m->both.costs = NULL;
    sxs_model_free(&m->both);
}
