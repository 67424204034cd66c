/* SPDX-License-Identifier: MIT */
#include "cmd/report/merged.h"

#include "cmd/output/must.h"
#include "cmd/output/runtime_pairs.h"

#include <stdlib.h>
#include <string.h>

/* The sides of a comparison. */
enum { BEFORE, NOW };

/* How a frame of one model is shown in both. */
struct shown_frame {
    bool     used;       /* the tree has it */
    uint32_t name, file; /* strings of both */
    uint32_t version;    /* of its pair of runtimes: string of both; only of managed code */
    uint32_t number;     /* of its runtime, on the side of now if that has it */
    uint32_t merged;     /* frame of both + 1; 0: not added yet */
};

struct merging {
    struct sxs_model        *both;
    const struct sxs_model  *of[2];
    struct shown_frame      *frames[2]; /* by frame of the model; owned */
    struct sxs_runtime_pairs pairs;
    uint64_t                *old; /* weights of before, by node of both; owned */
    size_t                   n_old;
};

/* ---- frames ---------------------------------------------------------------------------------- */

/* Managed code of one side. */
struct managed {
    uint32_t name, file; /* strings of both */
    uint32_t runtime;    /* index among the pairs */
    uint32_t frame;      /* of its model */
};

static int by_function(const void *a, const void *b)
{
    const struct managed *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->runtime > y->runtime) - (x->runtime < y->runtime);
}

static bool same_function(const struct managed *x, const struct managed *y)
{
    return x->name == y->name && x->file == y->file;
}

static uint32_t add_text(struct merging *g, const char *text)
{
    return sxs_strings_add(&g->both->strings, text, strlen(text));
}

static const char *version_of(const struct sxs_model *m, const struct sxs_model_runtime *r)
{
    return sxs_model_text(m, r->version);
}

/* Finds out which frames the tree of one side has, their names, and their runtimes. */
static void take_frames(struct merging *g, int side)
{
    const struct sxs_model *m = g->of[side];
    g->frames[side] = sxs_must_zeroed(m->n_frames, sizeof(*g->frames[side]));
    for (size_t i = 0; i < m->n_nodes; i++) {
        if (m->nodes[i].parent == SXS_NO_NODE)
            continue;
        const struct sxs_model_frame *f = &m->frames[m->nodes[i].frame];
        struct shown_frame           *shown = &g->frames[side][m->nodes[i].frame];
        if (shown->used)
            continue;
        shown->used = true;
        shown->name = add_text(g, sxs_model_text(m, f->name));
        shown->file = add_text(g, sxs_base_name(sxs_model_text(m, f->file)));
        if (f->runtime) {
            const struct sxs_model_runtime *r = &m->runtimes[f->runtime - 1];
            sxs_runtime_pairs_add(&g->pairs, side, version_of(m, r), r->number);
        }
    }
}

/* Returns an owned list of the managed code of one side, by function. */
static struct managed *list_managed(const struct merging *g, int side, size_t *n)
{
    const struct sxs_model *m = g->of[side];
    struct managed         *all = sxs_must_zeroed(m->n_frames, sizeof(*all));
    *n = 0;
    for (uint32_t i = 0; i < m->n_frames; i++) {
        const struct shown_frame *shown = &g->frames[side][i];
        if (!shown->used || !m->frames[i].runtime)
            continue;
        const struct sxs_model_runtime *r = &m->runtimes[m->frames[i].runtime - 1];
        all[(*n)++] = (struct managed){
            shown->name, shown->file,
            sxs_runtime_pairs_find(&g->pairs, side, version_of(m, r), r->number), i};
    }
    qsort(all, *n, sizeof(*all), by_function);
    return all;
}

/* The managed code of one side, and what of it belongs to the function that is matched. */
struct managed_side {
    struct managed *all;                /* owned; by function */
    size_t          n, at, end;         /* from `at` to `end`: the frames of the function */
    uint32_t       *runtimes, *partner; /* of the function, as in struct sxs_runtimes_of; owned */
    size_t          n_runtimes;
};

/* Finds the frames of the function @like, which are next in the list, and their runtimes. */
static void find_function(struct managed_side *s, const struct managed *like)
{
    s->n_runtimes = 0;
    for (s->end = s->at; s->end < s->n && same_function(&s->all[s->end], like); s->end++)
        if (!s->n_runtimes || s->runtimes[s->n_runtimes - 1] != s->all[s->end].runtime)
            s->runtimes[s->n_runtimes++] = s->all[s->end].runtime;
}

/* Sets the versions with which the frames of one function are shown. */
static void show_function(struct merging *g, const struct managed_side of[2])
{
    const struct sxs_runtimes_of have[2] = {
        {of[BEFORE].runtimes, of[BEFORE].partner, of[BEFORE].n_runtimes},
        {of[NOW].runtimes, of[NOW].partner, of[NOW].n_runtimes},
    };
    char text[1024];
    sxs_runtime_pairs_choose(&g->pairs, have);
    for (int side = BEFORE; side <= NOW; side++) {
        const struct managed_side *s = &of[side];
        for (size_t i = s->at, k = 0; i < s->end; i++) {
            k += s->runtimes[k] != s->all[i].runtime;
            const struct sxs_paired_runtime *own = &g->pairs.of[side][s->runtimes[k]];
            /* a function on one side only is shown as one of its runtime's pair */
            const uint32_t partner =
                s->partner[k] ? of[!side].runtimes[s->partner[k] - 1] + 1 : own->partner;
            const struct sxs_paired_runtime *other =
                partner ? &g->pairs.of[!side][partner - 1] : NULL;
            const char         *version = other ? other->version : NULL;
            struct shown_frame *shown = &g->frames[side][s->all[i].frame];
            sxs_runtime_pair_version(side == BEFORE ? own->version : version,
                                     side == NOW ? own->version : version, text, sizeof(text));
            shown->version = add_text(g, text);
            shown->number = side == BEFORE && other ? other->number : own->number;
        }
    }
}

/* Matches the managed code of both sides. */
static void match_frames(struct merging *g)
{
    struct managed_side of[2] = {{.n = 0}, {.n = 0}};
    sxs_runtime_pairs_match(&g->pairs);
    for (int side = BEFORE; side <= NOW; side++) {
        of[side].all = list_managed(g, side, &of[side].n);
        of[side].runtimes = sxs_must_zeroed(of[side].n, sizeof(*of[side].runtimes));
        of[side].partner = sxs_must_zeroed(of[side].n, sizeof(*of[side].partner));
    }
    for (;;) {
        const struct managed *next = NULL;
        for (int side = BEFORE; side <= NOW; side++)
            if (of[side].at < of[side].n &&
                (!next || by_function(&of[side].all[of[side].at], next) < 0))
                next = &of[side].all[of[side].at];
        if (!next)
            break;
        for (int side = BEFORE; side <= NOW; side++)
            find_function(&of[side], next);
        show_function(g, of);
        for (int side = BEFORE; side <= NOW; side++)
            of[side].at = of[side].end;
    }
    for (int side = BEFORE; side <= NOW; side++) {
        free(of[side].all);
        free(of[side].runtimes);
        free(of[side].partner);
    }
}

/* Returns the frame of both that stands for a frame of one side. */
static uint32_t merged_frame(struct merging *g, int side, uint32_t frame)
{
    struct shown_frame *shown = &g->frames[side][frame];
    if (!shown->merged) {
        struct sxs_model_frame f = g->of[side]->frames[frame];
        f.name = shown->name;
        f.file = shown->file;
        f.source = f.line = 0;
        f.home = 0;
        if (f.runtime)
            f.runtime =
                (uint16_t)(sxs_model_runtime(g->both, shown->number, shown->version, 0) + 1);
        memset(f.tier_self, 0, sizeof(f.tier_self));
        shown->merged = sxs_model_frame(g->both, &f) + 1;
    }
    return shown->merged - 1;
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* Adds the whole tree of one side below the root of one thread. */
static void merge_tree(struct merging *g, uint32_t root, int side)
{
    const struct sxs_model *from = g->of[side];
    uint32_t               *node = sxs_must_zeroed(from->n_nodes, sizeof(*node));
    for (size_t i = 0; i < from->n_nodes; i++) {
        const struct sxs_model_node *n = &from->nodes[i];
        node[i] = root;
        if (n->parent != SXS_NO_NODE)
            node[i] =
                sxs_model_child(g->both, node[n->parent], merged_frame(g, side, n->frame), 0, 0);
        if (g->both->n_nodes > g->n_old) {
            size_t grown = g->both->n_nodes * 2;
            g->old = sxs_must(realloc(g->old, grown * sizeof(*g->old)));
            memset(g->old + g->n_old, 0, (grown - g->n_old) * sizeof(*g->old));
            g->n_old = grown;
        }
        if (side == BEFORE) {
            g->old[node[i]] += n->self_ns;
        } else {
            g->both->nodes[node[i]].self += n->self;
            g->both->nodes[node[i]].self_ns += n->self_ns;
        }
    }
    free(node);
}

void sxs_merged_make(struct sxs_merged *out, const struct sxs_model *before,
                     const struct sxs_model *now)
{
    struct sxs_model *both = &out->both;
    *out = (struct sxs_merged){.both = {.total = now->total,
                                        .waiting_ns = now->waiting_ns,
                                        .total_ns = now->total_ns,
                                        .data = now->data,
                                        .unit = now->unit,
                                        .costs = now->costs}}; /* borrowed */
    struct merging g = {.both = both, .of = {before, now}, .n_old = 1};
    g.old = sxs_must_zeroed(g.n_old, sizeof(*g.old));
    sxs_strings_add(&both->strings, "", 0);
    SXS_GROW(both->processes, both->n_processes, both->cap_processes);
    both->processes[0] = (struct sxs_model_process){.folder = sxs_must(strdup("diff"))};
    if (now->n_processes)
        memcpy(&both->processes[0].head, &now->processes[0].head, sizeof(now->processes[0].head));
    both->n_processes = 1;
    uint32_t root = both->threads ? 0 : sxs_model_thread(both, 0, 0);
    root = both->threads[root].root;
    for (int side = BEFORE; side <= NOW; side++)
        take_frames(&g, side);
    match_frames(&g);
    merge_tree(&g, root, NOW);
    merge_tree(&g, root, BEFORE);
    out->before = g.old;
    free(g.frames[BEFORE]);
    free(g.frames[NOW]);
    sxs_runtime_pairs_free(&g.pairs);
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
