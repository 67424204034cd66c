/* SPDX-License-Identifier: MIT */
#include "report/calls/replay.h"

#define MAX_ASIDE 256

/* While a call lies below those who await it, what is under way on the stack below it stands aside. */
struct aside {
    uint32_t path, was;
};

struct player {
    const struct sxs_calls        *c;
    const struct sxs_calls_replay *r;
    uint32_t                       root, current; /* paths; current: the youngest call under way */
    uint64_t                       repaired;
    struct aside                   aside[MAX_ASIDE];
    unsigned                       n_aside;
};

static unsigned depth_of(const struct player *p, uint32_t path)
{
    unsigned depth = 0;
    for (; path != p->root; path = p->c->paths[path].parent)
        depth++;
    return depth;
}

static void end_current(struct player *p, uint64_t ns, const struct sxs_calls_known *known)
{
    p->r->at(p->r->arg, p->current, ns, false, known);
    p->current = p->c->paths[p->current].parent;
}

/* From the path that is left to @path: @depth calls below it, the oldest first. */
static void begin_down_to(struct player *p, uint32_t path, unsigned depth, uint64_t ns)
{
    for (; depth; depth--) {
        uint32_t next = path;
        for (unsigned i = 1; i < depth; i++)
            next = p->c->paths[next].parent;
        p->r->at(p->r->arg, next, ns, true, NULL);
        p->current = next;
        p->repaired++;
    }
}

/* Makes @path the youngest call under way, as it must be. */
static void move_to(struct player *p, uint32_t path, uint64_t ns)
{
    if (p->current == path)
        return;
    unsigned have = depth_of(p, p->current), want = depth_of(p, path), deep = want;
    uint32_t common = path;
    while (deep > have) {
        common = p->c->paths[common].parent;
        deep--;
    }
    for (; have > deep; have--, p->repaired++)
        end_current(p, ns, NULL);
    while (p->current != common) {
        end_current(p, ns, NULL);
        common = p->c->paths[common].parent;
        deep--;
        p->repaired++;
    }
    begin_down_to(p, path, want - deep, ns);
}

static void enter(struct player *p, const struct sxs_calls_moment *e,
                  const struct sxs_calls_known *known)
{
    uint32_t parent = p->c->paths[e->path].parent;
    if (p->current != parent && (parent == p->root || p->c->paths[parent].awaits) &&
        p->n_aside < MAX_ASIDE)
        p->aside[p->n_aside++] = (struct aside){e->path, p->current};
    move_to(p, parent, e->ns);
    p->r->at(p->r->arg, e->path, e->ns, true, known);
    p->current = e->path;
}

static void leave(struct player *p, const struct sxs_calls_moment *e,
                  const struct sxs_calls_known *known)
{
    move_to(p, e->path, e->ns);
    end_current(p, e->ns, known);
    for (unsigned i = p->n_aside; i-- > 0;)
        if (p->aside[i].path == e->path) {
            p->n_aside = i;
            move_to(p, p->aside[i].was, e->ns);
            break;
        }
}

void sxs_calls_replay(const struct sxs_calls *c, size_t index, const struct sxs_calls_replay *r,
                      uint64_t *repaired)
{
    const struct sxs_calls_thr *t = &c->threads[index];
    struct player               p = {.c = c, .r = r, .root = t->root, .current = t->root};
    uint64_t                    end = 0;
    size_t                      text = 0;
    for (size_t i = 0; i < t->n_moments; i++) {
        const struct sxs_calls_moment *e = &t->moments[i];
        struct sxs_calls_known         known = {NULL, e->kind == SXS_CALLS_UNWOUND};
        end = e->ns;
        if (text < t->n_texts && t->texts[text].moment == i)
            known.values = t->texts[text++].text;
        if (e->kind == SXS_CALLS_ENTER)
            enter(&p, e, &known);
        else
            leave(&p, e, &known);
    }
    if (!t->events_lost && t->ended_ns > end)
        end = t->ended_ns;
    while (p.current != p.root)
        end_current(&p, end, NULL);
    if (repaired)
        *repaired = p.repaired;
}
