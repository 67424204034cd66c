/* SPDX-License-Identifier: MIT */
/* exceptions.c - the events of exceptions, for the plug-ins that have
 * IInstrumentationMethodExceptionEvents. A runtime raises them when a plug-in has asked for
 * COR_PRF_MONITOR_EXCEPTIONS. */
#include "clrie/engine.h"

/* Calls a slot of each plug-in with arguments. The result is that of the last one. */
#define EACH(engine, slot, ...)                                                   \
    ({                                                                            \
        struct clrie_plugins list_ = clrie_plugins(engine);                       \
        HRESULT              last_ = S_OK;                                        \
        for (unsigned i_ = 0; i_ < list_.n; i_++) {                               \
            IInstrumentationMethodExceptionEvents *on = list_.at[i_]->exceptions; \
            if (on)                                                               \
                last_ = on->vtbl->slot(on, ##__VA_ARGS__);                        \
        }                                                                         \
        last_;                                                                    \
    })

/* The same with the method in which it happens. A method of an unknown module is not reported. */
#define EACH_IN(engine, function, slot, ...)                                        \
    ({                                                                              \
        struct clrie_method *method_ = method_of(engine, function);                 \
        HRESULT              result_ = S_OK;                                        \
        if (method_)                                                                \
            result_ = EACH(engine, slot, clrie_method_face(method_), ##__VA_ARGS__); \
        clrie_method_close(method_);                                                \
        result_;                                                                    \
    })

static int is_wanted(struct clrie_engine *engine)
{
    struct clrie_plugins list = clrie_plugins(engine);
    for (unsigned i = 0; i < list.n; i++)
        if (list.at[i]->exceptions)
            return 1;
    return 0;
}

/* Returns the method with a reference; NULL when nobody wants it or its module is not known. */
static struct clrie_method *method_of(struct clrie_engine *engine, FunctionID function)
{
    struct clrie_method *method = NULL;
    if (is_wanted(engine) &&
        SUCCEEDED(clrie_method_new(engine->model, CLRIE_METHOD_ALONE, 0, 0, function, &method)))
        clrie_method_open(method);
    return method;
}

HRESULT clrie_engine_ExceptionThrown(struct clrie_engine *self, ObjectID object)
{
    return EACH(self, ExceptionThrown, (UINT_PTR)object);
}

HRESULT clrie_engine_ExceptionCatcherEnter(struct clrie_engine *self, FunctionID function,
                                           ObjectID object)
{
    return EACH_IN(self, function, ExceptionCatcherEnter, (UINT_PTR)object);
}

HRESULT clrie_engine_ExceptionSearchFunctionEnter(struct clrie_engine *self, FunctionID function)
{
    return EACH_IN(self, function, ExceptionSearchFunctionEnter);
}

HRESULT clrie_engine_ExceptionSearchFilterEnter(struct clrie_engine *self, FunctionID function)
{
    return EACH_IN(self, function, ExceptionSearchFilterEnter);
}

HRESULT clrie_engine_ExceptionSearchCatcherFound(struct clrie_engine *self, FunctionID function)
{
    return EACH_IN(self, function, ExceptionSearchCatcherFound);
}

HRESULT clrie_engine_ExceptionUnwindFunctionEnter(struct clrie_engine *self, FunctionID function)
{
    return EACH_IN(self, function, ExceptionUnwindFunctionEnter);
}

HRESULT clrie_engine_ExceptionUnwindFinallyEnter(struct clrie_engine *self, FunctionID function)
{
    return EACH_IN(self, function, ExceptionUnwindFinallyEnter);
}

HRESULT clrie_engine_ExceptionSearchFunctionLeave(struct clrie_engine *self)
{
    return EACH(self, ExceptionSearchFunctionLeave);
}

HRESULT clrie_engine_ExceptionSearchFilterLeave(struct clrie_engine *self)
{
    return EACH(self, ExceptionSearchFilterLeave);
}

HRESULT clrie_engine_ExceptionUnwindFunctionLeave(struct clrie_engine *self)
{
    return EACH(self, ExceptionUnwindFunctionLeave);
}

HRESULT clrie_engine_ExceptionUnwindFinallyLeave(struct clrie_engine *self)
{
    return EACH(self, ExceptionUnwindFinallyLeave);
}

HRESULT clrie_engine_ExceptionCatcherLeave(struct clrie_engine *self)
{
    return EACH(self, ExceptionCatcherLeave);
}
