/* SPDX-License-Identifier: MIT */
#include "tools/heap/walk.h"

#include <stdlib.h>

#include "base/clock.h"

#define REFERENCES 4096u /* of an object that are collected before they are written */

struct object_walk {
    struct sxs_heap_sink *sink;
    uint64_t              size; /* of the object whose references come */
    sxs_class             cls;
    int                   begun; /* a part of it was written */
    size_t                n;
    uint64_t              refs[REFERENCES];
};

static void write_object(struct object_walk *w, ObjectID id)
{
    if (w->begun)
        sxs_heap_sink_more(w->sink, id, w->cls.id, w->size, w->refs, w->n);
    else
        sxs_heap_sink_object(w->sink, id, w->cls.id, w->size, w->refs, w->n);
    w->begun = 1;
    w->n = 0;
}

static BOOL receive_reference(ObjectID id, ObjectID *reference, void *arg)
{
    struct object_walk *w = arg;
    if (w->n == REFERENCES)
        write_object(w, id);
    if (*reference)
        w->refs[w->n++] = *reference;
    return 1;
}

static BOOL receive_object(ObjectID id, void *arg)
{
    struct object_walk *w = arg;
    struct sxs_runtime *rt = w->sink->rt;
    sxs_object          object = {rt, id};
    SIZE_T              size = 0;
    w->n = 0;
    w->begun = 0;
    if (FAILED(sxs_info_GetClassFromObject(rt, object, &w->cls)) ||
        FAILED(sxs_info_GetObjectSize2(rt, object, &size))) {
        w->sink->totals.lacking |= SXS_HEAP_SOME_OBJECTS;
        return 1;
    }
    w->size = size;
    sxs_info_EnumerateObjectReferences(rt, object, receive_reference, w); /* fails: it has none */
    write_object(w, id);
    if (sxs_heap_answers_wait(w->sink->answers)) /* objects can be inspected in here only */
        sxs_heap_answers_read(w->sink->answers, 1);
    return 1;
}

HRESULT sxs_heap_walk(struct sxs_heap_sink *sink, struct sxs_heap_slots *slots)
{
    struct object_walk *w = calloc(1, sizeof(*w));
    uint64_t            started = sxs_now_ns(CLOCK_MONOTONIC);
    HRESULT             hr;
    if (!w)
        return E_OUTOFMEMORY;
    w->sink = sink;
    hr = sxs_runtime_suspend(sink->rt);
    if (SUCCEEDED(hr)) {
        sink->totals.suspend_ns = sxs_now_ns(CLOCK_MONOTONIC) - started;
        hr = sxs_info_EnumerateGCHeapObjects(sink->rt, receive_object, w);
        if (SUCCEEDED(hr))
            sxs_heap_slots_report(slots, sink, 0);
        sxs_runtime_resume(sink->rt);
        sink->totals.pause_ns = sxs_now_ns(CLOCK_MONOTONIC) - started;
    }
    sink->totals.lacking |= SXS_HEAP_NO_ROOTS;
    free(w);
    return hr;
}
