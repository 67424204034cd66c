/* SPDX-License-Identifier: MIT */
/* Adds recorded stacks to the tree of the model. */
#include "cmd/output/must.h"
#include "cmd/report/cost_stacks.h"
#include "cmd/report/loader.h"
#include "cmd/report/own.h"
#include "cmd/report/wait_class.h"

#include <string.h>

/* A cache of stacks: most samples have a stack that occurred before, and then cost one hash and one
 * lookup. */
#define STACK_SLOTS (1u << 20)

void sxs_loader_begin(struct sxs_loader *l)
{
    if (!l->n_stacks)
        l->n_stacks = STACK_SLOTS;
    l->stacks = sxs_must_zeroed(l->n_stacks, sizeof(*l->stacks)); /* pages use memory when used */
}

void sxs_loader_forget(struct sxs_loader *l)
{
    memset(l->stacks, 0, l->n_stacks * sizeof(*l->stacks));
}

void sxs_loader_end(struct sxs_loader *l)
{
    free(l->stacks);
    l->stacks = NULL;
}

bool sxs_loader_thread(struct sxs_loader *l, uint32_t thread)
{
    enum { UNASKED, YES, NO }; /* the answer is kept: the name is known since the first pass */
    if (thread >= l->n_states) {
        size_t n = thread * 2 + 64;
        l->thread_state = sxs_must(realloc(l->thread_state, n));
        memset(l->thread_state + l->n_states, UNASKED, n - l->n_states);
        l->n_states = n;
    }
    if (l->thread_state[thread] == UNASKED)
        l->thread_state[thread] = sxs_model_thread_wanted(l->o, l->m, thread) ? YES : NO;
    return l->thread_state[thread] == YES;
}

static bool frame_wanted(const struct sxs_loader *l, const struct sxs_model_frame *f)
{
    if (f->flags & SXS_FRAME_OWN)
        return true;
    if (l->o->only == SXS_ONLY_NATIVE)
        return f->runtime == 0;
    return l->o->only != SXS_ONLY_MANAGED || f->runtime != 0;
}

/* Returns the frame that stands for the collection of a runtime, because the runtime's own code has
 * no names. */
static uint32_t collection_frame(struct sxs_model *m, uint16_t runtime)
{
    static const char      name[] = "garbage collection";
    struct sxs_model_frame f = {
        .name = sxs_strings_add(&m->strings, name, sizeof(name) - 1),
        .file = m->runtimes[runtime - 1].path,
        .home = runtime,
        .flags = SXS_FRAME_GC,
    };
    return sxs_model_frame(m, &f);
}

/* Returns how many of the youngest frames are native: the collection begins there. */
static size_t youngest_native(const struct sxs_loader *l, const struct sxs_named *frame, size_t n)
{
    size_t i = 0;
    while (i < n && l->m->frames[frame[i].frame].runtime == 0)
        i++;
    return i;
}

/* True for frames of a stripped file: several of them in a row give no more information than
 * one. */
static bool is_nameless(const struct sxs_model *m, const struct sxs_model_frame *f)
{
    return f->runtime == 0 && strcmp(sxs_model_text(m, f->name), "?") == 0;
}

static void add_frame(struct sxs_loader *l, struct sxs_loaded_stack *at,
                      const struct sxs_named *frame)
{
    const struct sxs_model_frame *f = &l->m->frames[frame->frame];
    uint32_t                      line = l->detail & SXS_DETAIL_LINES ? frame->line : 0, child;
    if (!frame_wanted(l, f) || (at->leaf == frame->frame && is_nameless(l->m, f)))
        return;
    at->line = frame->line && f->source ? sxs_model_line(l->m, frame->frame, frame->line) + 1 : 0;
    child = sxs_model_child(l->m, at->node, frame->frame, line, frame->tier);
    if (child == at->node)
        l->m->merged++;
    at->node = child;
    at->leaf = frame->frame;
    at->tier = frame->tier;
}

/* Adds a frame that is no code: a type, or what a thread waits for. */
static void add_leaf(struct sxs_loader *l, struct sxs_loaded_stack *out, uint32_t frame)
{
    uint32_t child = sxs_model_child(l->m, out->node, frame, 0, 0);
    if (child == out->node)
        l->m->merged++;
    out->node = child;
}

/* Adds the frames of a sample, the profiler's own work apart. */
static void add_sample(struct sxs_loader *l, const struct sxs_recorded_stack *v,
                       const struct sxs_named *frame, struct sxs_loaded_stack *out)
{
    size_t own = sxs_own_frames(l->m, frame, v->n, l->starts_sessions);
    if (l->m->nodes[out->node].flags & SXS_FRAME_OWN)
        own = v->n;
    size_t native = v->collecting && !own ? youngest_native(l, frame, v->n) : 0;
    if (own) {
        struct sxs_named profiler = {.frame = sxs_own_frame(l->m)};
        add_frame(l, out, &profiler);
    }
    for (size_t i = own ? own : v->n; i-- > 0;) {
        if (i + 1 == native) {
            struct sxs_named collection = {.frame = collection_frame(l->m, v->collecting)};
            add_frame(l, out, &collection);
        }
        add_frame(l, out, &frame[i]);
    }
    if (v->waiting)
        add_leaf(l, out, sxs_wait_frame(l->m, frame, v->n, v->waiting, v->suspended));
}

/* Adds the frames of a cost, and the frame of its type. */
static void add_cost(struct sxs_loader *l, const struct sxs_recorded_stack *v,
                     const struct sxs_named *frame, struct sxs_loaded_stack *out)
{
    size_t young = sxs_cost_stack_begin(l->m, frame, v->n, v->kind);
    size_t own = sxs_own_frames(l->m, frame + young, v->n - young, l->starts_sessions);
    sxs_cost_stack_call_site(l->m, frame + young, v->n - young, &out->call_site, &out->callee);
    if (own) {
        struct sxs_named profiler = {.frame = sxs_own_frame(l->m)};
        add_frame(l, out, &profiler);
    }
    for (size_t i = own ? young + own : v->n; i-- > young;)
        add_frame(l, out, &frame[i]);
    if (v->type != UINT32_MAX)
        add_leaf(l, out, v->type);
}

/* Adds the stack to the tree. Returns false when one of its addresses can have another name at
 * another time. */
static bool add_stack(struct sxs_loader *l, const struct sxs_recorded_stack *v,
                      struct sxs_loaded_stack *out)
{
    struct sxs_named frame[SXS_MAX_STACK];
    bool             steady = true, found = l->o->runtime == 0 || v->selected;
    for (size_t i = 0; i < v->n; i++) {
        /* a return address may already belong to the next function */
        frame[i] = sxs_addresses_name(l->names, v->ips[i] - (i > 0), v->time_ns);
        uint16_t runtime = l->m->frames[frame[i].frame].runtime;
        found |= runtime && l->m->runtimes[runtime - 1].number == l->o->runtime;
        steady &= !frame[i].varies;
    }
    *out = (struct sxs_loaded_stack){.node = found ? l->m->threads[v->thread].root : SXS_NO_NODE,
                                     .leaf = UINT32_MAX,
                                     .call_site = UINT32_MAX,
                                     .callee = UINT32_MAX};
    if (found && v->kind)
        add_cost(l, v, frame, out);
    else if (found)
        add_sample(l, v, frame, out);
    return steady;
}

const struct sxs_loaded_stack *sxs_loader_stack(struct sxs_loader               *l,
                                                const struct sxs_recorded_stack *v,
                                                struct sxs_loaded_stack         *spare)
{
    size_t         size = v->n * sizeof(v->ips[0]);
    const uint32_t what[4] = {v->thread, v->collecting, v->type, v->kind + 256u * v->selected + 512u * v->waiting +
                                  131072u * v->suspended};
    uint64_t       seed = sxs_hash_bytes(what, sizeof(what), 7);
    uint64_t       h0 = sxs_hash_bytes(v->ips, size, seed);
    uint64_t       h1 = sxs_hash_bytes(v->ips, size, ~h0) | 1;
    struct sxs_loaded_stack *slot = &l->stacks[(h0 ^ (h0 >> 40)) & (l->n_stacks - 1)];
    if (slot->hash[0] == h0 && slot->hash[1] == h1)
        return slot;
    if (!add_stack(l, v, spare))
        return spare;
    spare->hash[0] = h0;
    spare->hash[1] = h1;
    *slot = *spare;
    return slot;
}
