/* SPDX-License-Identifier: MIT */
#include "guests/hook.h"

#include "base/log.h"
#include "clrie/link/link.h"
#include "guests/elt.h"
#include "guests/eventpipe.h"
#include "rejit/rejit.h"

enum { NEWEST = 7 }; /* version of ICorProfilerCallback that CLRIE asks a hook for */

/* The engine's callback object on @rt, or NULL when the engine is off there. */
static IUnknown *engine_on(const struct guest *engine, struct sxs_runtime *rt)
{
    for (unsigned i = 0; i < rt->n_subs; i++) {
        const struct guest_instance *g = rt->subs[i].state;
        if (rt->subs[i].tool == &engine->tool && g)
            return (IUnknown *)(void *)g->callback;
    }
    return NULL;
}

ICorProfilerCallback11 *guest_hook_find(const struct guest *guest, struct sxs_runtime *rt,
                                        unsigned *version)
{
    IUnknown *hook = clrie_link()->hook(engine_on(guest->hook_of, rt));
    void     *found = NULL;
    if (!hook)
        return NULL;
    for (*version = NEWEST; *version > 0 && !found; *version -= !found)
        if (FAILED(hook->vtbl->QueryInterface(hook, guest_callback_iids[*version], &found)))
            found = NULL;
    if (!found)
        sxs_error("%s has no ICorProfilerCallback: it is left out", guest->title);
    hook->vtbl->Release(hook);
    return found;
}

/* The plug-in has called RemoveRawProfilerHook(). Events end at once; threads that are inside the hook
 * may still be there, so its object is released when the runtime ends. */
static void removed(void *arg)
{
    struct guest_instance *g = arg;
    if (!guest_claim_end(g)) /* its runtime has ended or is ending */
        return;
    sxs_sub_set_mask(g->sub, 0, 0);
    sxs_rejit_leave(g->sub);
    guest_eventpipe_end(g);
    guest_elt_forget(g);
    guest_end(g, SXS_GUEST_DETACHED, 0);
    sxs_note("%s is removed from runtime %u", g->guest->title, sxs_runtime_number(g->rt));
    guest_disconnect(g);
}

static void drop(void *arg)
{
    guest_info_unref(arg);
}

void guest_hook_started(struct guest_instance *g)
{
    const struct clrie_hook_user user = {g, removed, drop};
    atomic_fetch_add(&g->refs, 1);
    if (!clrie_link()->use_hook(engine_on(g->guest->hook_of, g->rt), &user))
        drop(g);
}
