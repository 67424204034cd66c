/* SPDX-License-Identifier: MIT */
/* parameters.c - asks the tools for the new IL of a method, one after the other. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "rejit/function_control.h"
#include "rejit/rejit_internal.h"

/* The tool that this thread is asking. */
static SXS_TLS const struct rejit_asking *asking;

void rejit_begin_asking(struct rejit_asking *frame)
{
    frame->outer = asking;
    asking = frame;
}

void rejit_end_asking(const struct rejit_asking *frame)
{
    asking = frame->outer;
}

/* The state of one GetReJITParameters. */
struct round {
    struct rejit_table *t;
    sxs_module          module;
    mdMethodDef         token;
    struct rejit_il     runtimes; /* the body that the runtime has */
    struct rejit_il     base;     /* what the first tool is shown */
    struct rejit_il     il;       /* the body so far */
    uint32_t            flags;
    struct rejit_map    map; /* old offsets: of the base; owned */
    unsigned            n_done, n_failed;
    HRESULT             failure;
    uint64_t            asked;
    uint64_t            failed; /* bit i: subs[i] has failed */
    uint64_t            silent; /* bit i: subs[i] has set no body, or has failed */
};

/* ---- one tool --------------------------------------------------------------------------------- */

/* Returns the method's copy of a body: an equal one that is there already, or a new one. */
static struct rejit_il keep_body_locked(struct rejit_method *m, const uint8_t *bytes, uint32_t size)
{
    struct rejit_body *b = m->bodies;
    while (b && (b->size != size || memcmp(b->bytes, bytes, size) != 0))
        b = b->next;
    if (!b) {
        b = malloc(sizeof(*b) + size);
        if (!b)
            return (struct rejit_il){0};
        b->next = m->bodies;
        b->size = size;
        memcpy(b->bytes, bytes, size);
        m->bodies = b;
    }
    return (struct rejit_il){b->bytes, b->size};
}

/* Adds what the tool has set to the round's outcome. */
static void use_locked(struct round *r, const struct rejit_part *p)
{
    if (p->body.bytes)
        r->il = p->body;
    else
        r->silent |= rejit_bit(p->sub);
    r->flags |= p->flags;
    if (p->map.n)
        rejit_map_append(&r->map, &p->map);
    r->n_done++;
}

enum part_decision { NOT_WANTED, KNOWN, TO_ASK };

/* Decides whether a tool must be asked. When its answer is known, adds it. */
static enum part_decision begin_part(struct round *r, const struct sxs_sub *sub)
{
    struct rejit_method *m;
    struct rejit_part   *p;
    enum part_decision   answer = NOT_WANTED;
    pthread_mutex_lock(&r->t->lock);
    m = rejit_find_locked(r->t, r->module.id, r->token);
    p = m ? rejit_part_locked(m, sub) : NULL;
    if (p && p->wanted) {
        int same = p->asked && !p->pending && p->input.bytes == r->il.bytes;
        if (r->silent & rejit_bit(sub))
            answer = p->asked ? KNOWN : NOT_WANTED;
        else
            answer = same || r->t->left & rejit_bit(sub) ? KNOWN : TO_ASK;
        if (answer != NOT_WANTED)
            p->pending = 0;
        if (answer == KNOWN) {
            if (r->silent & rejit_bit(sub)) /* in this round it has set nothing for another input */
                p->input = r->il;
            use_locked(r, p);
        }
    }
    pthread_mutex_unlock(&r->t->lock);
    return answer;
}

/* Records what a tool has answered. */
static void end_part(struct round *r, const struct sxs_sub *sub, struct function_control *c,
                     HRESULT hr)
{
    struct rejit_method *m;
    struct rejit_part   *p;
    pthread_mutex_lock(&r->t->lock);
    m = rejit_find_locked(r->t, r->module.id, r->token);
    p = m ? rejit_part_locked(m, sub) : NULL;
    if (p && FAILED(hr)) {
        p->failed = 1;
        p->asked = 0;
        p->wanted = p->pending; /* a request that was made meanwhile stays */
    } else if (p && p->wanted) {
        p->asked = 1;
        p->input = r->il;
        p->flags = c->flags;
        p->body = c->body ? keep_body_locked(m, c->body, c->size) : (struct rejit_il){0};
        free(p->map.rows);
        p->map = (struct rejit_map){c->map, c->n_map};
        c->map = NULL;
        c->n_map = 0;
        use_locked(r, p);
    }
    pthread_mutex_unlock(&r->t->lock);
}

static HRESULT ask_tool(struct round *r, struct sxs_sub *sub)
{
    struct function_control *c = function_control_new();
    struct rejit_asking      frame = {.sub = sub, .module = r->module.id, .token = r->token};
    HRESULT                  hr;
    if (!c)
        return E_OUTOFMEMORY;
    if (r->il.bytes != r->runtimes.bytes)
        frame.input = r->il;
    rejit_begin_asking(&frame);
    hr = sub->on->GetReJITParameters(sub, r->module, r->token, &c->com);
    rejit_end_asking(&frame);
    end_part(r, sub, c, hr);
    c->com.vtbl->Release(&c->com);
    return hr;
}

/* ---- the base --------------------------------------------------------------------------------- */

/* Returns 1 when the tool takes part, and begins with *start rather than with what the runtime has. */
static int find_start(struct round *r, struct sxs_sub *sub, struct rejit_il *start)
{
    struct rejit_method *m;
    struct rejit_part   *p;
    int                  takes_part, has_left;
    pthread_mutex_lock(&r->t->lock);
    m = rejit_find_locked(r->t, r->module.id, r->token);
    p = m ? rejit_part_locked(m, sub) : NULL;
    takes_part = p && p->wanted && !(r->silent & rejit_bit(sub)) &&
                 (!p->asked || p->pending || p->body.bytes);
    has_left = (r->t->left & rejit_bit(sub)) != 0;
    if (takes_part)
        *start = p->start;
    pthread_mutex_unlock(&r->t->lock);
    if (!takes_part || has_left) /* one that has left keeps the answer that it has given */
        return takes_part && start->bytes;
    *start = (struct rejit_il){0};
    sub->tool->first_body(sub, r->module, r->token, &start->bytes, &start->size);
    pthread_mutex_lock(&r->t->lock);
    m = rejit_find_locked(r->t, r->module.id, r->token);
    p = m ? rejit_part_locked(m, sub) : NULL;
    if (p)
        p->start = *start;
    pthread_mutex_unlock(&r->t->lock);
    return start->bytes != NULL;
}

/*
 * Returns the body that the tools begin with. The runtime's body contains what tools have changed in
 * the first compilation. A tool that changes the original body in each ReJIT must not find its
 * own changes there, and neither must the tools before it, whose body it gets.
 */
static struct rejit_il choose_base(struct round *r)
{
    uint64_t        left = sxs_runtime_wants(r->module.rt, SXS_SLOT_GetReJITParameters);
    struct rejit_il start;
    while (left) {
        struct sxs_sub *sub = sxs_runtime_next_sub(r->module.rt, &left);
        if (sub->tool->first_body && find_start(r, sub, &start))
            return start;
    }
    return r->runtimes;
}

/* ---- all tools -------------------------------------------------------------------------------- */

/* Raises ReJITError for the tools that have failed, because the runtime gets what others set. */
static void report_failed(struct round *r, uint64_t failed)
{
    struct sxs_runtime *rt = r->module.rt;
    sxs_function        fn = {rt, 0};
    if (FAILED(sxs_info_GetFunctionFromToken(rt, r->module, r->token, &fn)))
        fn = (sxs_function){rt, 0};
    while (failed) {
        struct sxs_sub *sub = sxs_runtime_next_sub(rt, &failed);
        if (sub->on->ReJITError)
            sub->on->ReJITError(sub, r->module, r->token, fn, r->failure);
    }
}

/* Marks all tools as failed, because the runtime has refused what they have set together: the
 * runtime raises ReJITError. */
static void fail_all(struct round *r)
{
    struct rejit_method *m;
    pthread_mutex_lock(&r->t->lock);
    m = rejit_find_locked(r->t, r->module.id, r->token);
    for (struct rejit_part *p = m ? m->parts : NULL; p; p = p->next)
        if (p->wanted) {
            p->failed = 1;
            p->asked = 0;
            p->wanted = p->pending;
        }
    pthread_mutex_unlock(&r->t->lock);
}

static void finish_method(struct round *r)
{
    struct rejit_method *m;
    pthread_mutex_lock(&r->t->lock);
    m = rejit_find_locked(r->t, r->module.id, r->token);
    if (m) {
        m->asked = r->asked;
        m->is_new = 1;
    }
    pthread_mutex_unlock(&r->t->lock);
}

/* Gives the runtime what the tools have set. */
static HRESULT hand_over(const struct round *r, ICorProfilerFunctionControl *control)
{
    HRESULT hr = S_OK;
    if (r->flags)
        hr = control->vtbl->SetCodegenFlags(control, r->flags);
    if (SUCCEEDED(hr) && r->il.bytes != r->runtimes.bytes)
        hr = control->vtbl->SetILFunctionBody(control, r->il.size, r->il.bytes);
    if (SUCCEEDED(hr) && r->map.n) /* a runtime without a debugger may refuse it: no error */
        control->vtbl->SetILInstrumentedCodeMap(control, r->map.n, r->map.rows);
    return hr;
}

static HRESULT ask_all_directly(struct sxs_runtime *rt, sxs_module module, mdMethodDef token,
                                ICorProfilerFunctionControl *control, uint64_t left)
{
    HRESULT outcome = S_OK;
    while (left) {
        struct sxs_sub *sub = sxs_runtime_next_sub(rt, &left);
        HRESULT         hr = sub->on->GetReJITParameters(sub, module, token, control);
        if (FAILED(hr))
            outcome = hr;
    }
    return outcome;
}

static void ask_all(struct round *r)
{
    uint64_t left = sxs_runtime_wants(r->module.rt, SXS_SLOT_GetReJITParameters);
    while (left) {
        struct sxs_sub *sub = sxs_runtime_next_sub(r->module.rt, &left);
        HRESULT         hr;
        if (begin_part(r, sub) != TO_ASK)
            continue;
        r->asked |= rejit_bit(sub);
        hr = ask_tool(r, sub);
        if (FAILED(hr)) {
            r->failure = hr;
            r->n_failed++;
            r->failed |= rejit_bit(sub);
            r->silent |= rejit_bit(sub);
        }
    }
}

/*
 * Asks all tools. When the tool whose first body they began with sets none, its changes of the first
 * compilation stay: then all but this tool begin again, with these changes. A tool that set none when
 * it was asked last is expected to set none again. So there are three rounds at most: without it, with
 * it because it has set a body now, and again without it.
 */
static void ask_all_from_base(struct round *r)
{
    for (int again = 0; again < 3; again++) {
        struct rejit_il base = choose_base(r);
        if (again && base.bytes == r->base.bytes)
            return;
        r->il = r->base = base;
        r->flags = 0;
        r->n_done = 0;
        free(r->map.rows);
        r->map = (struct rejit_map){0};
        ask_all(r);
    }
}

HRESULT sxs_rejit_parameters(struct sxs_runtime *rt, sxs_module module, mdMethodDef token,
                             ICorProfilerFunctionControl *control)
{
    struct round r = {.t = rejit_table_of(rt), .module = module, .token = token};
    ULONG        size = 0;
    LPCBYTE      bytes = NULL;
    HRESULT      hr;
    if (!r.t)
        return ask_all_directly(rt, module, token, control,
                                sxs_runtime_wants(rt, SXS_SLOT_GetReJITParameters));
    rejit_first_before_parameters(r.t, module, token);
    if (SUCCEEDED(sxs_info_GetILFunctionBody(rt, module, token, &bytes, &size)))
        r.runtimes = (struct rejit_il){bytes, size};
    ask_all_from_base(&r);
    finish_method(&r);
    if (r.n_failed && !r.n_done) {
        hr = r.failure;
    } else {
        hr = hand_over(&r, control);
        if (FAILED(hr))
            fail_all(&r);
    }
    free(r.map.rows);
    if (r.failed && SUCCEEDED(hr))
        report_failed(&r, r.failed);
    return hr;
}

int sxs_rejit_get_input(sxs_module module, mdMethodDef token, LPCBYTE *bytes, ULONG *size)
{
    const struct rejit_asking *a = asking;
    if (!a || a->sub->rt != module.rt || a->module != module.id || a->token != token ||
        !a->input.bytes)
        return 0;
    *bytes = a->input.bytes;
    *size = a->input.size;
    return 1;
}

int sxs_rejit_get_body(struct sxs_sub *sub, ModuleID module, mdMethodDef token, LPCBYTE *bytes,
                       ULONG *size)
{
    struct rejit_table  *t = rejit_table_of(sub->rt);
    struct rejit_method *m;
    struct rejit_il      il = {0};
    const struct rejit_asking *a = asking;
    while (a && (a->sub != sub || a->module != module || a->token != token))
        a = a->outer;
    if (a) {
        il = a->input;
    } else if (t) {
        pthread_mutex_lock(&t->lock);
        m = rejit_find_locked(t, module, token);
        for (struct rejit_part *p = m ? m->parts : NULL; p && p->sub < sub; p = p->next)
            if (p->wanted && p->asked && p->body.bytes)
                il = p->body;
        pthread_mutex_unlock(&t->lock);
    }
    if (!il.bytes)
        return 0;
    if (bytes)
        *bytes = il.bytes;
    if (size)
        *size = il.size;
    return 1;
}
