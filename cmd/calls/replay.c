/* SPDX-License-Identifier: MIT */
#include "cmd/calls/replay.h"

#include <stdlib.h>

#define MAX_ASIDE 256

/* Maximum number of inferred begins and ends. The limit is enough for deep stacks around events
 * that did not fit into the file. In a damaged file every event could leave one deep stack and
 * enter another. */
#define MAX_REPAIRED(events) ((UINT64_C(4) << 20) + 16 * (uint64_t)(events))

/* A call whose parent path awaits it can run on top of an unrelated stack. While it runs, the calls
 * of that stack are set aside; @was is the call to return to when the call at @path ends. */
struct aside {
    uint32_t path, was;
};

struct player {
    const struct sxs_calls        *c;
    const struct sxs_calls_replay *r;
    uint32_t                       root, current; /* paths; current: the youngest call under way */
    uint64_t                       repaired, max_repaired;
    uint32_t                      *way; /* owned; scratch space of begin_down_to() */
    size_t                         cap_way;
    struct aside                   aside[MAX_ASIDE];
    unsigned                       n_aside;
};

static void end_current(struct player *p, uint64_t ns, const struct sxs_calls_details *details)
{
    p->r->at(p->r->arg, p->current, ns, false, details);
    p->current = p->c->paths[p->current].parent;
}

/* Begins @depth calls below the current one, the oldest first; the last one is @path. Returns false
 * when out of memory. */
static bool begin_down_to(struct player *p, uint32_t path, unsigned depth, uint64_t ns)
{
    if (depth > p->cap_way) {
        uint32_t *more = reallocarray(p->way, (size_t)depth * 2, sizeof(*more));
        if (!more)
            return false;
        p->way = more;
        p->cap_way = (size_t)depth * 2;
    }
    for (unsigned i = 0; i < depth; i++, path = p->c->paths[path].parent)
        p->way[i] = path;
    for (; depth; depth--) {
        p->current = p->way[depth - 1];
        p->r->at(p->r->arg, p->current, ns, true, NULL);
        p->repaired++;
    }
    return true;
}

/* Makes @path the youngest call under way by ending and beginning calls. Returns false when that
 * exceeds the limit of inferred begins and ends, or when out of memory. */
static bool move_to(struct player *p, uint32_t path, uint64_t ns)
{
    if (p->current == path)
        return true;
    unsigned have = p->c->paths[p->current].depth, want = p->c->paths[path].depth, deep = want;
    uint32_t common = path;
    if (p->repaired + have + want > p->max_repaired)
        return false;
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
    return begin_down_to(p, path, want - deep, ns);
}

static bool replay_enter(struct player *p, const struct sxs_calls_read_event *e,
                         const struct sxs_calls_details *details)
{
    uint32_t parent = p->c->paths[e->path].parent;
    if (p->current != parent && (parent == p->root || p->c->paths[parent].awaits) &&
        p->n_aside < MAX_ASIDE)
        p->aside[p->n_aside++] = (struct aside){e->path, p->current};
    if (!move_to(p, parent, e->ns))
        return false;
    p->r->at(p->r->arg, e->path, e->ns, true, details);
    p->current = e->path;
    return true;
}

static bool replay_leave(struct player *p, const struct sxs_calls_read_event *e,
                         const struct sxs_calls_details *details)
{
    if (!move_to(p, e->path, e->ns))
        return false;
    end_current(p, e->ns, details);
    for (unsigned i = p->n_aside; i-- > 0;)
        if (p->aside[i].path == e->path) {
            p->n_aside = i;
            return move_to(p, p->aside[i].was, e->ns);
        }
    return true;
}

size_t sxs_calls_replay(const struct sxs_calls *c, size_t index, const struct sxs_calls_replay *r,
                        uint64_t *repaired)
{
    const struct sxs_calls_read_thread *t = &c->threads[index];
    struct player                       p = {.c = c,
                                             .r = r,
                                             .root = t->root,
                                             .current = t->root,
                                             .max_repaired = MAX_REPAIRED(t->n_events)};
    uint64_t                    end = 0;
    size_t                      text = 0, i;
    for (i = 0; i < t->n_events; i++) {
        const struct sxs_calls_read_event *e = &t->events[i];
        struct sxs_calls_details           details = {NULL, e->kind == SXS_CALLS_UNWOUND};
        end = e->ns;
        if (text < t->n_texts && t->texts[text].event == i)
            details.values = t->texts[text++].text;
        if (!(e->kind == SXS_CALLS_ENTER ? replay_enter(&p, e, &details)
                                         : replay_leave(&p, e, &details)))
            break;
    }
    if (!t->events_lost && t->ended_ns > end)
        end = t->ended_ns;
    while (p.current != p.root)
        end_current(&p, end, NULL);
    if (repaired)
        *repaired = p.repaired;
    free(p.way);
    return t->n_events - i;
}
