/* SPDX-License-Identifier: MIT */
/*
 * bench_callback.c - measures the time that the library takes for one compiled method: the two
 * callbacks JITCompilationStarted and JITCompilationFinished, called through the vtable.
 *
 * usage: CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER={...} \
 *        CORECLR_PROFILER_PATH=@program bench_callback RUNTIME PROFILER
 * To the runtime, this program is the profiler library. It passes the callback object of the real
 * library on to the runtime and keeps a pointer to it.
 */
#include "tests/bench/bench.h"

__attribute__((visibility("default"))) HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid,
                                                                 void **out);

static const char             *profiler;
static IClassFactory          *real_factory;
static ICorProfilerCallback11 *callback; /* borrowed from the runtime */

static HRESULT query(IClassFactory *self, const GUID *iid, void **out)
{
    (void)iid;
    *out = self;
    return S_OK;
}

static ULONG keep(IClassFactory *self)
{
    (void)self;
    return 1;
}

static HRESULT create(IClassFactory *self, IUnknown *outer, const GUID *iid, void **out)
{
    HRESULT hr = real_factory->vtbl->CreateInstance(real_factory, outer, iid, out);
    (void)self;
    callback = SUCCEEDED(hr) ? *out : NULL;
    return hr;
}

HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid, void **out)
{
    static const IClassFactoryVtbl vtbl = {
        .QueryInterface = query, .AddRef = keep, .Release = keep, .CreateInstance = create};
    static IClassFactory factory = {&vtbl};
    HRESULT (*get)(const GUID *, const GUID *, void **) = NULL;
    void *library = dlopen(profiler, RTLD_NOW);
    if (library)
        *(void **)&get = dlsym(library, "DllGetClassObject");
    if (!get || FAILED(get(clsid, iid, (void **)&real_factory)))
        return E_FAIL;
    *out = &factory;
    return S_OK;
}

static void methods(void *arg, unsigned n)
{
    ICorProfilerCallback11 *cb = arg;
    for (unsigned i = 0; i < n; i++) {
        cb->vtbl->JITCompilationStarted(cb, 0x1000 + i, 1);
        cb->vtbl->JITCompilationFinished(cb, 0x1000 + i, S_OK, 1);
    }
}

int main(int argc, char **argv)
{
    const struct fakeclr_control *clr;
    if (argc != 3) {
        fprintf(stderr, "usage: bench_callback RUNTIME PROFILER\n");
        return 2;
    }
    profiler = argv[2];
    clr = bench_start(argv[1]);
    if (clr->load_state() != FAKECLR_ACTIVE || !callback) {
        fprintf(stderr, "bench_callback: the profiler was not loaded\n");
        return 1;
    }
    bench_report("method", methods, callback, 20000);
    return 0;
}
