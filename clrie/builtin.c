/* SPDX-License-Identifier: MIT */
/* builtin.c - the engine as a profiler library: its class factory, and its configuration. */
#include <string.h>

#include "base/log.h"
#include "clrie/engine.h"

static void report(void *arg, const char *line)
{
    (void)arg;
    sxs_error("%s", line);
    clrie_log_print(CLRIE_LOG_ERRORS, "%s", line);
}

static struct clrie_plugin_list configured; /* constant after read_once() */

static void read_once(void)
{
    clrie_config_read(&configured, report, NULL);
}

const struct clrie_plugin_list *clrie_configured(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_once);
    return &configured;
}

/* ---- class factory ----------------------------------------------------------------------------- */

static HRESULT factory_query(IClassFactory *self, const GUID *iid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = memcmp(iid, &IID_IUnknown, sizeof(*iid)) == 0 ||
                   memcmp(iid, &IID_IClassFactory, sizeof(*iid)) == 0
               ? self
               : NULL;
    return *out ? S_OK : E_NOINTERFACE;
}

static ULONG factory_count(IClassFactory *self)
{
    (void)self;
    return 1;
}

static HRESULT factory_create(IClassFactory *self, IUnknown *outer, const GUID *iid, void **out)
{
    struct clrie_engine *engine = clrie_engine_new();
    HRESULT              hr;
    (void)self;
    (void)outer;
    if (!engine)
        return E_OUTOFMEMORY;
    hr = clrie_query(&engine->object, iid, out);
    clrie_unref(&engine->object);
    return hr;
}

static HRESULT factory_lock(IClassFactory *self, BOOL lock)
{
    (void)self;
    (void)lock;
    return S_OK;
}

static const IClassFactoryVtbl factory_vtbl = {
    .QueryInterface = factory_query,
    .AddRef = factory_count,
    .Release = factory_count,
    .CreateInstance = factory_create,
    .LockServer = factory_lock,
};
static IClassFactory factory = {&factory_vtbl};

HRESULT clrie_get_class_object(const GUID *clsid, const GUID *iid, void **out)
{
    (void)clsid;
    return factory_query(&factory, iid, out);
}
