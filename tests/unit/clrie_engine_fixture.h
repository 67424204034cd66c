/* SPDX-License-Identifier: MIT */
/**
 * clrie_engine_fixture.h - the engine on a small simulated runtime (clrie_fixture.h), with up to three
 * plug-ins "a", "b" and "c" that write down what is called. Include cmocka.h first.
 */
#ifndef SXS_TEST_CLRIE_ENGINE_FIXTURE_H
#define SXS_TEST_CLRIE_ENGINE_FIXTURE_H

#include "clrie/engine.h"
#include "tests/unit/clrie_calls.h"
#include "tests/unit/clrie_fixture.h"

/* ---- the runtime --------------------------------------------------------------------------------- */

static struct {
    int            refs;
    uint32_t       low, high;
    int            bodies_set, rejit_rows;
    const uint8_t *body; /* that the engine has set */
    uint32_t       body_size;
    const uint8_t *rejit_body;
    uint8_t        memory[8192], other[64]; /* what the allocator gives; never used twice */
    uint32_t       used;
    ULONG          n_rejits;
    mdMethodDef    rejit_methods[8];
} clr;

static HRESULT clr_query(ICorProfilerInfo15 *self, const GUID *iid, void **out)
{
    (void)iid;
    clr.refs++;
    *out = self;
    return S_OK;
}

static ULONG clr_add_ref(ICorProfilerInfo15 *self)
{
    (void)self;
    return (ULONG)++clr.refs;
}

static ULONG clr_release(ICorProfilerInfo15 *self)
{
    (void)self;
    return (ULONG)--clr.refs;
}

static HRESULT clr_mask(ICorProfilerInfo15 *self, DWORD low, DWORD high)
{
    (void)self;
    clr.low = low;
    clr.high = high;
    return S_OK;
}

static HRESULT clr_set_body(ICorProfilerInfo15 *self, ModuleID module, mdMethodDef token,
                            LPCBYTE bytes)
{
    (void)self, (void)module, (void)token;
    clr.bodies_set++;
    clr.body = run.body = bytes; /* GetILFunctionBody() returns it from now on */
    clr.body_size = run.body_size = (ULONG)(clr.memory + clr.used - bytes);
    return S_OK;
}

static HRESULT memory_query(IMethodMalloc *self, const GUID *iid, void **out)
{
    (void)iid;
    *out = self;
    return S_OK;
}

static ULONG memory_count(IMethodMalloc *self)
{
    (void)self;
    return 1;
}

static void *memory_alloc(IMethodMalloc *self, ULONG size)
{
    (void)self;
    clr.used = (clr.used + 3) / 4 * 4 + size;
    assert_true(clr.used <= sizeof(clr.memory));
    return clr.memory + clr.used - size;
}

static HRESULT clr_allocator(ICorProfilerInfo15 *self, ModuleID module, IMethodMalloc **out)
{
    static const IMethodMallocVtbl vtbl = {memory_query, memory_count, memory_count, memory_alloc};
    static IMethodMalloc           memory = {&vtbl};
    (void)self, (void)module;
    *out = &memory;
    return S_OK;
}

static HRESULT clr_set_map(ICorProfilerInfo15 *self, FunctionID function, BOOL start, ULONG n,
                           COR_IL_MAP *map)
{
    (void)self, (void)function, (void)start, (void)n;
    free(map); /* the runtime owns it now */
    return S_OK;
}

static HRESULT clr_rejit(ICorProfilerInfo15 *self, ULONG n, ModuleID *modules,
                         mdMethodDef *methods_wanted)
{
    (void)self, (void)modules;
    assert_true(n <= ARRAY_LEN(clr.rejit_methods));
    clr.n_rejits = n;
    memcpy(clr.rejit_methods, methods_wanted, n * sizeof(*methods_wanted));
    return S_OK;
}

static ICorProfilerInfo15Vtbl clr_vtbl;
static ICorProfilerInfo15     clr_info = {&clr_vtbl};

/* What GetReJITParameters gets. */
static HRESULT control_flags(ICorProfilerFunctionControl *self, DWORD flags)
{
    (void)self, (void)flags;
    return S_OK;
}

static HRESULT control_body(ICorProfilerFunctionControl *self, ULONG size, LPCBYTE bytes)
{
    static uint8_t copy[1024];
    (void)self;
    assert_true(size <= sizeof(copy));
    clr.rejit_body = memcpy(copy, bytes, size);
    return S_OK;
}

static HRESULT control_map(ICorProfilerFunctionControl *self, ULONG n, COR_IL_MAP *map)
{
    (void)self, (void)map;
    clr.rejit_rows = (int)n;
    return S_OK;
}

static const ICorProfilerFunctionControlVtbl control_vtbl = {.SetCodegenFlags = control_flags,
                                                             .SetILFunctionBody = control_body,
                                                             .SetILInstrumentedCodeMap =
                                                                 control_map};
static ICorProfilerFunctionControl           control = {&control_vtbl};

/* ---- plug-ins ------------------------------------------------------------------------------------- */

static struct clrie_engine   *engine;
static ICorProfilerCallback7 *callback;
static char                   said[4096];
static HRESULT                initialize_fails[3];
static uint32_t               initial_mask[3];

static struct plug {
    IInstrumentationMethod                im;
    IInstrumentationMethodJitEvents       jit;
    IInstrumentationMethodExceptionEvents exceptions;
    GUID                                  clsid;
    char                                  name;
    int                                   refs;
    IProfilerManager                     *manager; /* with a reference */
    int                                   wants, inserts, refuses_inlining;
    HRESULT should_fails, before_fails, instrument_fails, event_fails, found_itself, late;
} plug[3];

static void say(const struct plug *p, const char *what, int n)
{
    size_t used = strlen(said);
    snprintf(said + used, sizeof(said) - used, n < 0 ? "%c.%s " : "%c.%s%d ", p->name, what, n);
}

/* Compares with what the plug-ins have said since the last time. NULL: only forgets it. */
#define said_is(expected)                     \
    do {                                      \
        const char *text_ = (expected);       \
        if (text_)                            \
            assert_string_equal(said, text_); \
        said[0] = '\0';                       \
    } while (0)

static HRESULT plug_query(struct plug *p, const GUID *iid, void **out)
{
#define HAS(interface) (memcmp(iid, &IID_##interface, sizeof(*iid)) == 0)
    *out = HAS(IUnknown) || HAS(IInstrumentationMethod) ? (void *)&p->im
           : HAS(IInstrumentationMethodJitEvents)       ? (void *)&p->jit
           : HAS(IInstrumentationMethodExceptionEvents) ? (void *)&p->exceptions
                                                        : NULL;
    p->refs += *out != NULL;
    return *out ? S_OK : E_NOINTERFACE;
}

/* The slots of one interface, whose object is the member @m of a plug-in. */
#define PLUG(m, self) container_of(self, struct plug, m)
#define UNKNOWN(m, I)                                              \
    static HRESULT m##_query(I *self, const GUID *iid, void **out) \
    {                                                              \
        return plug_query(PLUG(m, self), iid, out);                \
    }                                                              \
    static ULONG m##_add_ref(I *self)                              \
    {                                                              \
        return (ULONG)++PLUG(m, self)->refs;                       \
    }                                                              \
    static ULONG m##_release(I *self)                              \
    {                                                              \
        return (ULONG)--PLUG(m, self)->refs;                       \
    }
UNKNOWN(im, IInstrumentationMethod)
UNKNOWN(jit, IInstrumentationMethodJitEvents)
UNKNOWN(exceptions, IInstrumentationMethodExceptionEvents)

static HRESULT im_Initialize(IInstrumentationMethod *self, IProfilerManager *manager)
{
    struct plug       *p = PLUG(im, self);
    unsigned           i = (unsigned)(p - plug);
    ICorProfilerInfo5 *info5;
    IUnknown          *found = NULL;
    say(p, "Initialize", -1);
    p->manager = manager;
    CALL(manager, AddRef);
    p->found_itself = CALL(manager, GetInstrumentationMethod, &p->clsid, &found);
    if (initial_mask[i]) {
        HR(S_OK, CALL(manager, GetCorProfilerInfo, (IUnknown **)(void *)&info5));
        HR(S_OK, CALL(info5, SetEventMask, initial_mask[i]));
        RELEASE(info5);
    }
    return initialize_fails[i];
}

#define EVENT(slot, type)                                                  \
    static HRESULT im_On##slot(IInstrumentationMethod *self, type *object) \
    {                                                                      \
        assert_non_null(object);                                           \
        say(PLUG(im, self), #slot, -1);                                    \
        return PLUG(im, self)->event_fails;                                \
    }
EVENT(AppDomainCreated, IAppDomainInfo)
EVENT(AppDomainShutdown, IAppDomainInfo)
EVENT(AssemblyLoaded, IAssemblyInfo)
EVENT(AssemblyUnloaded, IAssemblyInfo)
EVENT(ModuleLoaded, IModuleInfo)
EVENT(ModuleUnloaded, IModuleInfo)

static HRESULT im_OnShutdown(IInstrumentationMethod *self)
{
    say(PLUG(im, self), "Shutdown", -1);
    return S_OK;
}

static HRESULT im_Should(IInstrumentationMethod *self, IMethodInfo *method, BOOL is_rejit,
                         BOOL *wants)
{
    (void)method;
    assert_int_equal(*wants, 0);
    say(PLUG(im, self), "Should", is_rejit);
    *wants = PLUG(im, self)->wants;
    return PLUG(im, self)->should_fails;
}

static HRESULT im_Before(IInstrumentationMethod *self, IMethodInfo *method, BOOL is_rejit)
{
    (void)method;
    say(PLUG(im, self), "Before", is_rejit);
    return PLUG(im, self)->before_fails;
}

static HRESULT im_Instrument(IInstrumentationMethod *self, IMethodInfo *method, BOOL is_rejit)
{
    struct plug *p = PLUG(im, self);
    say(p, "Instrument", is_rejit);
    if (p->inserts) {
        IInstructionFactory *factory;
        IInstructionGraph   *graph;
        IInstruction        *first, *nop;
        HR(S_OK, CALL(method, GetInstructionFactory, &factory));
        HR(S_OK, CALL(method, GetInstructions, &graph));
        HR(S_OK, CALL(graph, GetFirstInstruction, &first));
        HR(S_OK, CALL(factory, CreateInstruction, Cee_Nop, &nop));
        HR(S_OK, CALL(graph, InsertBefore, first, nop));
        RELEASE(nop);
        RELEASE(first);
        RELEASE(graph);
        RELEASE(factory);
    }
    return p->instrument_fails;
}

static HRESULT im_Complete(IInstrumentationMethod *self, IMethodInfo *method, BOOL is_rejit)
{
    (void)method;
    say(PLUG(im, self), "Complete", is_rejit);
    return E_FAIL; /* counts for nothing */
}

static HRESULT im_Inline(IInstrumentationMethod *self, IMethodInfo *callee, IMethodInfo *caller,
                         BOOL *allowed)
{
    assert_ptr_not_equal(callee, caller);
    say(PLUG(im, self), "Inline", *allowed);
    if (PLUG(im, self)->refuses_inlining)
        *allowed = 0;
    return S_OK;
}

static const IInstrumentationMethodVtbl im_vtbl = {
    .QueryInterface = im_query,
    .AddRef = im_add_ref,
    .Release = im_release,
    .Initialize = im_Initialize,
    .OnAppDomainCreated = im_OnAppDomainCreated,
    .OnAppDomainShutdown = im_OnAppDomainShutdown,
    .OnAssemblyLoaded = im_OnAssemblyLoaded,
    .OnAssemblyUnloaded = im_OnAssemblyUnloaded,
    .OnModuleLoaded = im_OnModuleLoaded,
    .OnModuleUnloaded = im_OnModuleUnloaded,
    .OnShutdown = im_OnShutdown,
    .ShouldInstrumentMethod = im_Should,
    .BeforeInstrumentMethod = im_Before,
    .InstrumentMethod = im_Instrument,
    .OnInstrumentationComplete = im_Complete,
    .AllowInlineSite = im_Inline,
};

static HRESULT jit_JitStarted(IInstrumentationMethodJitEvents *self, FunctionID function,
                              BOOL is_rejit)
{
    (void)function;
    say(PLUG(jit, self), "JitStarted", is_rejit);
    return PLUG(jit, self)->event_fails;
}

static HRESULT jit_JitComplete(IInstrumentationMethodJitEvents *self, FunctionID function,
                               BOOL is_rejit, HRESULT hr)
{
    (void)function, (void)hr;
    say(PLUG(jit, self), "JitComplete", is_rejit);
    return S_OK;
}

static const IInstrumentationMethodJitEventsVtbl jit_vtbl = {.QueryInterface = jit_query,
                                                             .AddRef = jit_add_ref,
                                                             .Release = jit_release,
                                                             .JitStarted = jit_JitStarted,
                                                             .JitComplete = jit_JitComplete};

static HRESULT on_thrown(IInstrumentationMethodExceptionEvents *self, UINT_PTR object)
{
    assert_int_equal(object, 0x1234);
    say(PLUG(exceptions, self), "Thrown", -1);
    return S_OK;
}

static HRESULT on_search(IInstrumentationMethodExceptionEvents *self, IMethodInfo *method)
{
    assert_non_null(method);
    say(PLUG(exceptions, self), "Search", -1);
    return S_OK;
}

static HRESULT on_catcher(IInstrumentationMethodExceptionEvents *self, IMethodInfo *method)
{
    assert_non_null(method);
    say(PLUG(exceptions, self), "Catcher", -1);
    return S_OK;
}

static HRESULT on_enter(IInstrumentationMethodExceptionEvents *self, IMethodInfo *method,
                        UINT_PTR object)
{
    assert_non_null(method);
    assert_int_equal(object, 0x1234);
    say(PLUG(exceptions, self), "Enter", -1);
    return S_OK;
}

static HRESULT on_leave(IInstrumentationMethodExceptionEvents *self)
{
    say(PLUG(exceptions, self), "Leave", -1);
    return S_OK;
}

static const IInstrumentationMethodExceptionEventsVtbl exceptions_vtbl = {
    .QueryInterface = exceptions_query,
    .AddRef = exceptions_add_ref,
    .Release = exceptions_release,
    .ExceptionThrown = on_thrown,
    .ExceptionSearchFunctionEnter = on_search,
    .ExceptionSearchCatcherFound = on_catcher,
    .ExceptionCatcherEnter = on_enter,
    .ExceptionCatcherLeave = on_leave,
};

/* ---- the class factory, which librelay.so calls ----------------------------------------------------- */

static struct plug *wanted;

static HRESULT factory_query(IClassFactory *self, const GUID *iid, void **out)
{
    (void)iid;
    *out = self;
    return S_OK;
}

static ULONG factory_count(IClassFactory *self)
{
    (void)self;
    return 1;
}

static HRESULT factory_create(IClassFactory *self, IUnknown *outer, const GUID *iid, void **out)
{
    (void)self, (void)outer;
    return plug_query(wanted, iid, out);
}

__attribute__((visibility("default"))) HRESULT relay_class_object(const GUID *clsid,
                                                                  const GUID *iid, void **out);
HRESULT relay_class_object(const GUID *clsid, const GUID *iid, void **out)
{
    static const IClassFactoryVtbl vtbl = {.QueryInterface = factory_query,
                                           .AddRef = factory_count,
                                           .Release = factory_count,
                                           .CreateInstance = factory_create};
    static IClassFactory           factory = {&vtbl};
    wanted = &plug[clsid->Data1 - 1];
    return factory_query(&factory, iid, out);
}

/* ---- the engine -------------------------------------------------------------------------------------- */

struct start_arg {
    unsigned        n;
    const unsigned *priorities;
};

static void load_plugs(struct clrie_engine *on, void *arg)
{
    const struct start_arg *a = arg;
    char                    path[1024] = "", name[] = "a";
    struct clrie_plugin    *out;
    assert_true(readlink("/proc/self/exe", path, 900) > 0);
    strcpy(strrchr(path, '/'), "/librelay.so");
    for (unsigned i = 0; i < a->n; i++) {
        struct clrie_plugin_declaration declared = {.name = name,
                                                    .path = path,
                                                    .config = path,
                                                    .clsid = {.Data1 = i + 1},
                                                    .priority = a->priorities[i]};
        name[0] = (char)('a' + i);
        plug[i] = (struct plug){.im = {&im_vtbl},
                                .jit = {&jit_vtbl},
                                .exceptions = {&exceptions_vtbl},
                                .clsid = declared.clsid,
                                .name = name[0]};
        HR(FAILED(initialize_fails[i]) ? initialize_fails[i] : S_OK,
           clrie_plugin_load(on, &declared, NULL, &out));
    }
}

static void start(unsigned n, const unsigned *priorities)
{
    struct start_arg arg = {n, priorities};
    memcpy(&clr_vtbl, &info_vtbl, sizeof(info_vtbl));
    clr_vtbl.QueryInterface = clr_query;
    clr_vtbl.AddRef = clr_add_ref;
    clr_vtbl.Release = clr_release;
    clr_vtbl.SetEventMask2 = clr_mask;
    clr_vtbl.SetILFunctionBody = clr_set_body;
    clr_vtbl.GetILFunctionBodyAllocator = clr_allocator;
    clr_vtbl.SetILInstrumentedCodeMap = clr_set_map;
    clr_vtbl.RequestReJIT = clr_rejit;
    engine = clrie_engine_new();
    callback = clrie_face(&engine->object, 0);
    HR(S_OK, clrie_engine_start(engine, (IUnknown *)(void *)&clr_info, load_plugs, &arg));
}

static void load_with(HRESULT hr)
{
    HR(S_OK, CALL(callback, AppDomainCreationStarted, DOMAIN));
    HR(S_OK, CALL(callback, AppDomainCreationFinished, DOMAIN, S_OK));
    HR(hr, CALL(callback, ModuleAttachedToAssembly, MODULE, ASSEMBLY));
    HR(hr, CALL(callback, AssemblyLoadFinished, ASSEMBLY, S_OK));
}

static void load(void)
{
    load_with(S_OK);
}

static void unload(void)
{
    HR(S_OK, CALL(callback, ModuleUnloadFinished, MODULE, S_OK));
    HR(S_OK, CALL(callback, AssemblyUnloadFinished, ASSEMBLY, S_OK));
    HR(S_OK, CALL(callback, AppDomainShutdownFinished, DOMAIN, S_OK));
}

static HRESULT compile_started(void)
{
    return CALL(callback, JITCompilationStarted, FUNCTION + CCTOR, 1);
}

static HRESULT compile_finished(void)
{
    return CALL(callback, JITCompilationFinished, FUNCTION + CCTOR, S_OK, 1);
}

static HRESULT compile(void)
{
    HRESULT hr = compile_started();
    return FAILED(hr) ? hr : compile_finished();
}

static HRESULT recompile(void)
{
    return CALL(callback, GetReJITParameters, MODULE, METHOD(CCTOR), &control);
}

static HRESULT request(mdMethodDef token)
{
    IModuleInfo *module = clrie_module_face(clrie_model_module(engine->model, MODULE));
    return CALL(module, RequestRejit, token);
}

/* How many instructions a body has before its `ret`: all are nop. */
static int nops(const uint8_t *body)
{
    int n = 0;
    body += (body[0] & 3) == 2 ? 1 : 12;
    while (body[n] == 0)
        n++;
    assert_int_equal(body[n], 0x2a);
    return n;
}

/* The runtime ends. The managers of the plug-ins live until they are released. */
static void stop(void)
{
    HR(S_OK, CALL(callback, Shutdown));
    RELEASE(callback);
    for (unsigned i = 0; i < ARRAY_LEN(plug); i++)
        if (plug[i].manager) {
            IUnknown *info_face;
            plug[i].late = CALL(plug[i].manager, GetCorProfilerInfo, &info_face);
            RELEASE(plug[i].manager);
        }
    assert_int_equal(clr.refs, 0);
}

static int begin(void **state)
{
    memset(&clr, 0, sizeof(clr));
    memset(plug, 0, sizeof(plug));
    memset(initialize_fails, 0, sizeof(initialize_fails));
    memset(initial_mask, 0, sizeof(initial_mask));
    said[0] = '\0';
    return runtime_begin(state);
}

static int end(void **state)
{
    return runtime_end(state) || clrie_objects();
}

#endif
