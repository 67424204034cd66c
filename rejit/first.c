/* SPDX-License-Identifier: MIT */
/*
 * first.c - the first compilation of a method that was requested before it.
 *
 * A runtime compiles such a method as a ReJIT version from the start: it calls GetReJITParameters,
 * raises ReJITCompilationStarted, and never JITCompilationStarted. A tool that has not requested the
 * method, and alone would get JITCompilationStarted now, gets it from here (first_compilation() of
 * struct sxs_tool): before the other tools are asked for their IL, so that they build on the IL that
 * it sets. A method whose FunctionID is not known by then (a generic one) is reported at its
 * ReJITCompilationStarted. If the runtime compiles the original afterwards, the events of that
 * compilation are not passed to the tool again.
 */
#include <stdlib.h>

#include "base/base.h"
#include "rejit/rejit_internal.h"

/* What tools got for one function. */
struct rejit_first {
    struct rejit_first *next; /* of the same method */
    FunctionID          fn;
    uint64_t            started, finished; /* bit i: subs[i] got the event from here */
    uint64_t            again; /* bit i: the runtime has begun to compile the original */
};

static struct rejit_first *find_locked(const struct rejit_method *m, FunctionID fn)
{
    struct rejit_first *f = m ? m->firsts : NULL;
    while (f && f->fn != fn)
        f = f->next;
    return f;
}

static struct rejit_first *make_locked(struct rejit_table *t, struct rejit_method *m, FunctionID fn)
{
    struct rejit_first *f = find_locked(m, fn);
    if (f)
        return f;
    f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->fn = fn;
    f->next = m->firsts;
    m->firsts = f;
    atomic_store(&t->firsts.any, 1);
    return f;
}

void rejit_free_firsts(struct rejit_method *m)
{
    while (m->firsts) {
        struct rejit_first *f = m->firsts;
        m->firsts = f->next;
        free(f);
    }
}

/* Returns the tools to which first compilations are reported. */
static uint64_t find_candidates(struct sxs_runtime *rt)
{
    uint64_t left = sxs_runtime_wants(rt, SXS_SLOT_JITCompilationStarted), found = 0;
    while (left) {
        const struct sxs_sub *sub = sxs_runtime_next_sub(rt, &left);
        if (sub->tool->first_compilation)
            found |= rejit_bit(sub);
    }
    return found;
}

/* Returns nonzero when the original was compiled, or a thread is compiling it. */
static int is_compiled(struct rejit_table *t, sxs_function fn)
{
    ULONG32 n = 0;
    return sxs_info_GetCodeInfo3(fn.rt, fn, (sxs_rejit){fn.rt, 0}, 0, &n, NULL) !=
               CORPROF_E_FUNCTION_NOT_COMPILED ||
           atomic_load(&t->firsts.latest[sxs_rejit_latest(fn.id)]) == fn.id;
}

/* Reports that the first compilation of @fn begins, to those of @tools that have not requested the
 * method and do not know of the compilation. */
static void begin_first(struct rejit_table *t, sxs_function fn, ModuleID module, mdMethodDef token,
                        uint64_t tools)
{
    struct rejit_method *m;
    struct rejit_first  *f;
    pthread_mutex_lock(&t->lock);
    m = rejit_find_locked(t, module, token);
    f = find_locked(m, fn.id);
    for (const struct rejit_part *p = m ? m->parts : NULL; p; p = p->next)
        if (p->wanted)
            tools &= ~rejit_bit(p->sub);
    if (f)
        tools &= ~f->started;
    pthread_mutex_unlock(&t->lock);
    if (!m || !tools || is_compiled(t, fn))
        return;
    pthread_mutex_lock(&t->lock);
    m = rejit_find_locked(t, module, token);
    f = m ? make_locked(t, m, fn.id) : NULL;
    tools &= f ? ~f->started : 0;
    if (f)
        f->started |= tools;
    pthread_mutex_unlock(&t->lock);
    while (tools) {
        struct sxs_sub     *sub = sxs_runtime_next_sub(fn.rt, &tools);
        struct rejit_asking frame = {.sub = sub, .module = module, .token = token};
        rejit_begin_asking(&frame); /* GetILFunctionBody returns the runtime's body */
        sub->tool->first_compilation(sub, fn, 0, S_OK);
        rejit_end_asking(&frame);
    }
}

void rejit_first_before_parameters(struct rejit_table *t, sxs_module module, mdMethodDef token)
{
    uint64_t     tools = find_candidates(module.rt);
    sxs_function fn = {module.rt, 0};
    if (tools && SUCCEEDED(sxs_info_GetFunctionFromToken(module.rt, module, token, &fn)))
        begin_first(t, fn, module.id, token, tools);
}

/* Finds the method of a function. Returns 0 when that fails. */
static int find_method(sxs_function fn, sxs_module *module, mdToken *token)
{
    sxs_class cls;
    return SUCCEEDED(sxs_info_GetFunctionInfo(fn.rt, fn, &cls, module, token));
}

void sxs_rejit_first_begins(struct sxs_sub *sub, sxs_function fn)
{
    struct rejit_table *t = rejit_table_of(sub->rt);
    sxs_module          module;
    mdToken             token;
    if (t && find_candidates(sub->rt) & rejit_bit(sub) && find_method(fn, &module, &token))
        begin_first(t, fn, module.id, token, rejit_bit(sub));
}

void sxs_rejit_first_ends(struct sxs_sub *sub, sxs_function fn, HRESULT status)
{
    struct rejit_table *t = rejit_table_of(sub->rt);
    struct rejit_first *f;
    sxs_module          module;
    mdToken             token;
    int                 is_due;
    if (!t || !atomic_load(&t->firsts.any) || !find_method(fn, &module, &token))
        return;
    pthread_mutex_lock(&t->lock);
    f = find_locked(rejit_find_locked(t, module.id, token), fn.id);
    is_due = f && f->started & ~f->finished & rejit_bit(sub);
    if (is_due)
        f->finished |= rejit_bit(sub);
    pthread_mutex_unlock(&t->lock);
    if (is_due)
        sub->tool->first_compilation(sub, fn, 1, status);
}

int sxs_rejit_is_due(struct sxs_sub *sub, sxs_function fn, int finished)
{
    struct rejit_table *t = rejit_table_of(sub->rt);
    uint64_t            bit = rejit_bit(sub);
    struct rejit_first *f;
    sxs_module          module;
    mdToken             token;
    int                 is_due = 1;
    if (sxs_rejit_is_usual(sub->rt, fn.id, finished) || !t || !find_method(fn, &module, &token))
        return 1;
    pthread_mutex_lock(&t->lock);
    f = find_locked(rejit_find_locked(t, module.id, token), fn.id);
    if (f && !finished && f->started & bit) {
        is_due = 0;
        f->again |= bit;
    } else if (f && finished && f->again & bit) {
        is_due = !(f->finished & bit);
        f->started &= ~bit; /* later tiers of the original are reported by the runtime */
        f->finished &= ~bit;
        f->again &= ~bit;
    }
    pthread_mutex_unlock(&t->lock);
    return is_due;
}
