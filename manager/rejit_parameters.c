/* SPDX-License-Identifier: MIT */
/* rejit_parameters.c - asks the tools for the new IL of a method, one after the other. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "manager/function_control.h"
#include "manager/rejit_internal.h"

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
    struct rejit_il     base; /* the body that the runtime has */
    struct rejit_il     il;   /* the body so far */
    uint32_t            flags;
    struct rejit_map    map; /* old offsets: of the runtime's body; owned */
    unsigned            n_done, n_failed;
    HRESULT             failure;
    uint64_t            asked;
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
    r->flags |= p->flags;
    if (p->map.n)
        rejit_map_append(&r->map, &p->map);
    r->n_done++;
}

enum answer { NOT_WANTED, KNOWN, TO_ASK };

/* Decides whether a tool must be asked. When its answer is known, adds it. */
static enum answer begin_part(struct round *r, const struct sxs_sub *sub)
{
    struct rejit_method *m;
    struct rejit_part   *p;
    enum answer          answer = NOT_WANTED;
    pthread_mutex_lock(&r->t->lock);
    m = rejit_find_locked(r->t, r->module.id, r->token);
    p = m ? rejit_part_locked(m, sub) : NULL;
    if (p && p->wanted) {
        int same = p->asked && !p->pending && p->input.bytes == r->il.bytes;
        answer = same || r->t->left & rejit_bit(sub) ? KNOWN : TO_ASK;
        p->pending = 0;
        if (answer == KNOWN)
            use_locked(r, p);
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
    if (r->il.bytes != r->base.bytes)
        frame.input = r->il;
    rejit_begin_asking(&frame);
    hr = sub->on->GetReJITParameters(sub, r->module, r->token, &c->com);
    rejit_end_asking(&frame);
    end_part(r, sub, c, hr);
    c->com.vtbl->Release(&c->com);
    return hr;
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
    if (SUCCEEDED(hr) && r->il.bytes != r->base.bytes)
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

HRESULT sxs_rejit_parameters(struct sxs_runtime *rt, sxs_module module, mdMethodDef token,
                             ICorProfilerFunctionControl *control)
{
    struct round r = {.t = rejit_table_of(rt), .module = module, .token = token};
    uint64_t     left = sxs_runtime_wants(rt, SXS_SLOT_GetReJITParameters), failed = 0;
    ULONG        size = 0;
    LPCBYTE      bytes = NULL;
    HRESULT      hr;
    if (!r.t)
        return ask_all_directly(rt, module, token, control, left);
    rejit_first_before_parameters(r.t, module, token);
    if (SUCCEEDED(sxs_info_GetILFunctionBody(rt, module, token, &bytes, &size)))
        r.il = r.base = (struct rejit_il){bytes, size};
    while (left) {
        struct sxs_sub *sub = sxs_runtime_next_sub(rt, &left);
        if (begin_part(&r, sub) != TO_ASK)
            continue;
        r.asked |= rejit_bit(sub);
        hr = ask_tool(&r, sub);
        if (FAILED(hr)) {
            r.failure = hr;
            r.n_failed++;
            failed |= rejit_bit(sub);
        }
    }
    finish_method(&r);
    if (r.n_failed && !r.n_done) {
        hr = r.failure;
    } else {
        hr = hand_over(&r, control);
        if (FAILED(hr))
            fail_all(&r);
    }
    free(r.map.rows);
    if (failed && SUCCEEDED(hr))
        report_failed(&r, failed);
    return hr;
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
