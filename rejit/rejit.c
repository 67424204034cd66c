/* SPDX-License-Identifier: MIT */
/* rejit.c - requests and reverts of tools, merged for one runtime. */
#include "rejit/rejit.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "rejit/rejit_internal.h"

/* The tool whose request this thread is passing to the runtime, which reports errors on the same
 * thread meanwhile. */
static SXS_TLS const struct sxs_sub *requesting;

static HRESULT ask_runtime(const struct sxs_sub *sub, const struct sxs_rejit_how *how, ULONG n,
                           ModuleID *modules, mdMethodDef *methods)
{
    const struct sxs_sub *outer = requesting;
    HRESULT               hr;
    requesting = sub;
    hr = how->with_inliners
             ? sxs_info_RequestReJITWithInliners(sub->rt, how->flags, n, modules, methods)
             : sxs_info_RequestReJIT(sub->rt, n, modules, methods);
    requesting = outer;
    return hr;
}

static HRESULT ask_revert(const struct sxs_sub *sub, ULONG n, ModuleID *modules,
                          mdMethodDef *methods, HRESULT *status)
{
    const struct sxs_sub *outer = requesting;
    HRESULT               hr;
    requesting = sub;
    hr = sxs_info_RequestRevert(sub->rt, n, modules, methods, status);
    requesting = outer;
    return hr;
}

/* A list of methods in the form of the runtime's functions. */
struct method_list {
    ModuleID    *modules;
    mdMethodDef *methods;
    ULONG       *from; /* indexes in the caller's list */
    HRESULT     *status;
    struct wish *before; /* what the tool wanted */
    ULONG        n;
};

/* The state of a part before a revert. */
struct wish {
    int wanted, pending, asked;
};

static int make_list(struct method_list *list, size_t room)
{
    *list = (struct method_list){
        .modules = calloc(room, sizeof(*list->modules)),
        .methods = calloc(room, sizeof(*list->methods)),
        .from = calloc(room, sizeof(*list->from)),
        .status = calloc(room, sizeof(*list->status)),
        .before = calloc(room, sizeof(*list->before)),
    };
    return list->modules && list->methods && list->from && list->status && list->before;
}

static void put_method(struct method_list *list, ModuleID module, mdMethodDef method, ULONG from)
{
    list->modules[list->n] = module;
    list->methods[list->n] = method;
    list->from[list->n++] = from;
}

static void free_list(struct method_list *list)
{
    free(list->modules);
    free(list->methods);
    free(list->from);
    free(list->status);
    free(list->before);
}

/* Returns nonzero when a tool other than @sub wants the method. */
static int is_others_locked(const struct rejit_method *m, const struct sxs_sub *sub)
{
    for (const struct rejit_part *p = m->parts; p; p = p->next)
        if (p->wanted && p->sub != sub)
            return 1;
    return 0;
}

/* ---- requests --------------------------------------------------------------------------------- */

/*
 * A runtime compiles the methods that inline a requested one with their original IL, also those
 * that have new IL. Requests those that other tools want once more, so that they get it again.
 */
static void restore_inliners(struct rejit_table *t, const struct sxs_sub *sub)
{
    static const struct sxs_rejit_how plainly = {0};

    struct method_list list = {0};
    size_t             room = 0;
    pthread_mutex_lock(&t->lock);
    for (unsigned i = 0; i < REJIT_BUCKETS; i++)
        for (struct rejit_method *m = t->buckets[i]; m; m = m->next)
            room += (size_t)is_others_locked(m, sub);
    if (room && make_list(&list, room))
        for (unsigned i = 0; i < REJIT_BUCKETS; i++)
            for (struct rejit_method *m = t->buckets[i]; m; m = m->next)
                if (is_others_locked(m, sub))
                    put_method(&list, m->module, m->token, 0);
    pthread_mutex_unlock(&t->lock);
    if (list.n)
        ask_runtime(sub, &plainly, list.n, list.modules, list.methods);
    free_list(&list);
}

/* Records that the tool wants the methods. Returns 0, or -1 without memory. */
static int want(struct rejit_table *t, struct sxs_sub *sub, const struct sxs_rejit_how *how,
                ULONG n, const ModuleID *modules, const mdMethodDef *methods)
{
    int err = 0;
    pthread_mutex_lock(&t->lock);
    for (ULONG i = 0; i < n && !err; i++) {
        struct rejit_part *p = rejit_make_locked(t, sub, modules[i], methods[i]);
        if (p) {
            p->wanted = p->pending = 1;
            p->failed = 0;
        }
        err = p ? 0 : -1;
    }
    if (how->with_inliners)
        t->with_inliners |= rejit_bit(sub);
    pthread_mutex_unlock(&t->lock);
    return err;
}

/* Forgets a request that the runtime has refused: what the tool had before stays. */
static void forget(struct rejit_table *t, const struct sxs_sub *sub, ULONG n,
                   const ModuleID *modules, const mdMethodDef *methods)
{
    pthread_mutex_lock(&t->lock);
    for (ULONG i = 0; i < n; i++) {
        struct rejit_method *m = rejit_find_locked(t, modules[i], methods[i]);
        struct rejit_part   *p = m ? rejit_part_locked(m, sub) : NULL;
        if (p && p->pending) {
            p->pending = 0;
            p->wanted = p->asked;
        }
    }
    pthread_mutex_unlock(&t->lock);
}

HRESULT sxs_rejit_request(struct sxs_sub *sub, const struct sxs_rejit_how *how, ULONG n,
                          ModuleID *modules, mdMethodDef *methods)
{
    struct rejit_table *t = rejit_table_of(sub->rt);
    HRESULT             hr;
    if (!t || !n || !modules || !methods)
        return ask_runtime(sub, how, n, modules, methods);
    hr = want(t, sub, how, n, modules, methods) ? E_OUTOFMEMORY
                                                : ask_runtime(sub, how, n, modules, methods);
    if (FAILED(hr))
        forget(t, sub, n, modules, methods);
    else if (how->with_inliners)
        restore_inliners(t, sub);
    return hr;
}

/* ---- reverts ---------------------------------------------------------------------------------- */

/* Withdraws what the tool wants. *real: receives the methods that nobody wants any more; *again:
 * those that must be compiled without the tool. */
static void withdraw(struct rejit_table *t, const struct sxs_sub *sub, ULONG n,
                     const ModuleID *modules, const mdMethodDef *methods, struct method_list *real,
                     struct method_list *again)
{
    pthread_mutex_lock(&t->lock);
    for (ULONG i = 0; i < n; i++) {
        struct rejit_method *m = rejit_find_locked(t, modules[i], methods[i]);
        struct rejit_part   *p = m ? rejit_part_locked(m, sub) : NULL;
        struct method_list  *to = NULL;
        if (!m || !is_others_locked(m, sub))
            to = real;
        else if (p && p->wanted)
            to = again;
        if (to)
            put_method(to, modules[i], methods[i], i);
        if (!p)
            continue;
        if (to)
            to->before[to->n - 1] = (struct wish){p->wanted, p->pending, p->asked};
        p->wanted = p->pending = p->asked = 0;
    }
    pthread_mutex_unlock(&t->lock);
}

/* Restores what the tool wanted, for methods that the runtime has not reverted: a profiler that is
 * alone keeps its IL then. @hr: the result for all methods; @list->status: for each of them. */
static void restore(struct rejit_table *t, const struct sxs_sub *sub,
                    const struct method_list *list, HRESULT hr)
{
    pthread_mutex_lock(&t->lock);
    for (ULONG i = 0; i < list->n; i++) {
        const struct rejit_method *m = rejit_find_locked(t, list->modules[i], list->methods[i]);
        struct rejit_part         *p = m ? rejit_part_locked(m, sub) : NULL;
        if (!p || p->wanted || (SUCCEEDED(hr) && SUCCEEDED(list->status[i])))
            continue; /* another thread has requested it meanwhile, or it is reverted */
        p->wanted = list->before[i].wanted;
        p->pending = list->before[i].pending;
        p->asked = list->before[i].asked;
    }
    pthread_mutex_unlock(&t->lock);
}

HRESULT sxs_rejit_revert(struct sxs_sub *sub, ULONG n, ModuleID *modules, mdMethodDef *methods,
                         HRESULT *status)
{
    static const struct sxs_rejit_how plainly = {0};

    struct rejit_table *t = rejit_table_of(sub->rt);
    struct method_list  real = {0}, again = {0};
    HRESULT             hr = S_OK;
    if (!t || !n || !modules || !methods)
        return ask_revert(sub, n, modules, methods, status);
    if (make_list(&real, n) && make_list(&again, n)) {
        withdraw(t, sub, n, modules, methods, &real, &again);
        if (real.n)
            hr = ask_revert(sub, real.n, real.modules, real.methods, real.status);
        restore(t, sub, &real, hr);
        if (SUCCEEDED(hr) && again.n)
            hr = ask_runtime(sub, &plainly, again.n, again.modules, again.methods);
        restore(t, sub, &again, hr);
        if (status && SUCCEEDED(hr)) {
            memset(status, 0, n * sizeof(*status));
            for (ULONG i = 0; i < real.n; i++)
                status[real.from[i]] = real.status[i];
        }
    } else {
        hr = E_OUTOFMEMORY;
    }
    free_list(&real);
    free_list(&again);
    return hr;
}

int sxs_rejit_take_error(struct sxs_sub *sub, sxs_module module, mdMethodDef method)
{
    struct rejit_table  *t = rejit_table_of(sub->rt);
    struct rejit_method *m;
    struct rejit_part   *p;
    int                  is = requesting == sub;
    if (!t)
        return 1;
    pthread_mutex_lock(&t->lock);
    m = rejit_find_locked(t, module.id, method);
    p = m ? rejit_part_locked(m, sub) : NULL;
    if (!requesting)
        is = p && (p->failed || (p->wanted && p->pending));
    if (p && is)
        p->wanted = p->pending = p->failed = p->asked = 0;
    pthread_mutex_unlock(&t->lock);
    return is;
}
