/* SPDX-License-Identifier: MIT */
/* control.c - the table returned by fakeclr_control(), failures on demand, and the counts. */
#include "tests/fake/fake.h"

#define ID(object) ((uint64_t)(uintptr_t)(object))

static HRESULT c_raise(const char *name, int forced, unsigned n, const uint64_t *args)
{
    static const uint64_t none[1];
    int slot = fake_slot_by_name(name);
    return slot < 0 ? E_INVALIDARG : fake_raise((unsigned)slot, forced, n, n ? args : none);
}

static int c_would_raise(const char *name)
{
    int slot = fake_slot_by_name(name);
    return slot >= 0 && fake_wants((unsigned)slot);
}

static ModuleID c_module_load(const char *path)
{
    return ID(fake_module_load(path));
}

static void c_module_unload(ModuleID id)
{
    struct fake_module *module = fake_find(id, FAKE_MODULE);
    if (module)
        fake_module_unload(module);
}

static ClassID c_class_new(ModuleID id, const char *name, ClassID enclosing, unsigned n_args,
                           const ClassID *args)
{
    struct fake_module *module = fake_find(id, FAKE_MODULE);
    struct fake_class *outer = enclosing ? fake_find(enclosing, FAKE_CLASS) : NULL;
    return module ? ID(fake_class_new(module, name, outer, n_args, args)) : 0;
}

static ClassID c_class_array(ClassID element, unsigned rank)
{
    struct fake_class *type = fake_find(element, FAKE_CLASS);
    return type ? ID(fake_class_array(type, rank)) : 0;
}

static FunctionID c_method_new(ClassID id, const char *name, const uint8_t *sig, size_t size,
                               unsigned n_args, const ClassID *args)
{
    struct fake_class *type = fake_find(id, FAKE_CLASS);
    return type ? ID(fake_method_new(type->module, type, name, sig, size, n_args, args)) : 0;
}

static FunctionID c_method_dynamic(ModuleID id, const char *name, const uint8_t *sig, size_t size)
{
    struct fake_module *module = fake_find(id, FAKE_MODULE);
    return module ? ID(fake_method_new(module, NULL, name, sig, size, 0, NULL)) : 0;
}

static HRESULT c_jit(FunctionID id)
{
    struct fake_function *function = fake_find(id, FAKE_FUNCTION);
    return function ? fake_jit(function) : E_INVALIDARG;
}

static uintptr_t c_code(FunctionID id)
{
    struct fake_function *function = fake_find(id, FAKE_FUNCTION);
    return function && atomic_load(&function->jitted) ? (uintptr_t)fake_code_of(function) : 0;
}

static uint64_t c_call(FunctionID id, uint64_t (*fn)(void *), void *arg)
{
    uint64_t (*code)(uint64_t (*)(void *), void *) = NULL;
    uintptr_t at = c_code(id);
    memcpy(&code, &at, sizeof(code));
    return code ? code(fn, arg) : 0;
}

static void c_object_drop(ObjectID id)
{
    struct fake_object *object = fake_find(id, FAKE_OBJECT);
    if (object)
        atomic_store(&object->dropped, atomic_load(&fake.gcs) + 1);
}

static ObjectID c_object_new(ClassID id)
{
    struct fake_class *type = fake_find(id, FAKE_CLASS);
    return type ? ID(fake_object_new(type)) : 0;
}

static ThreadID c_thread_start(void *(*body)(void *), void *arg)
{
    return ID(fake_thread_start(body, arg));
}

static void c_thread_stop(ThreadID id)
{
    struct fake_thread *thread = fake_find(id, FAKE_THREAD);
    if (thread)
        fake_thread_stop(thread);
}

static ThreadID c_thread_attach(void)
{
    return ID(fake_thread_attach());
}

static void c_thread_name(ThreadID id, const char *name)
{
    WCHAR wide[64];
    ULONG len = 0;
    fake_wide(name, wide, 64, &len);
    if (fake_find(id, FAKE_THREAD))
        FAKE_RAISE(ThreadNameChanged, id, len - 1, ID(wide));
}

static void c_push_frame(FunctionID id, uint64_t ip, uint64_t sp, uint64_t fp)
{
    fake_push_frame(id ? fake_find(id, FAKE_FUNCTION) : NULL, ip, sp, fp);
}

static void c_set_cooperative(int on)
{
    struct fake_thread *thread = fake_thread_attach();
    if (thread)
        thread->cooperative = on;
}

static void c_throw(FunctionID thrower, FunctionID catcher)
{
    struct fake_function *from = fake_find(thrower, FAKE_FUNCTION);
    struct fake_function *to = fake_find(catcher, FAKE_FUNCTION);
    if (from && to)
        fake_throw(from, to);
}

static unsigned c_elt(FunctionID id, int tailcall)
{
    struct fake_function *function = fake_find(id, FAKE_FUNCTION);
    return function ? fake_elt(function, tailcall) : 0;
}

static bool fails_now(struct fake_failure *failure, HRESULT *hr)
{
    HRESULT with = atomic_load(&failure->hr);
    unsigned nth = atomic_load(&failure->nth);
    if (with == S_OK || (nth && atomic_fetch_sub(&failure->nth, 1) > 1))
        return false;
    if (nth)
        atomic_store(&failure->hr, S_OK);
    *hr = with;
    return true;
}

bool fake_fails(const char *name, HRESULT *hr)
{
    unsigned n = atomic_load(&fake.n_other_failures);
    for (unsigned i = 0; i < n; i++)
        if (strcmp(fake.other_failures[i].name, name) == 0)
            return fails_now(&fake.other_failures[i].failure, hr);
    return false;
}

/* Failures of methods of other interfaces, "INTERFACE.METHOD"; also "ReJIT" and "ReJIT.refused". */
static HRESULT fail_other(const char *name, HRESULT hr, unsigned nth)
{
    unsigned n = atomic_load(&fake.n_other_failures);
    if ((!strchr(name, '.') && strcmp(name, "ReJIT") != 0) ||
        n == sizeof(fake.other_failures) / sizeof(fake.other_failures[0]))
        return E_INVALIDARG;
    unsigned at = 0;
    while (at < n && strcmp(fake.other_failures[at].name, name) != 0)
        at++;
    if (at == n)
        snprintf(fake.other_failures[n].name, sizeof(fake.other_failures[n].name), "%s", name);
    atomic_store(&fake.other_failures[at].failure.nth, nth);
    atomic_store(&fake.other_failures[at].failure.hr, hr);
    if (at == n)
        atomic_store(&fake.n_other_failures, n + 1);
    return S_OK;
}

static HRESULT c_fail(const char *method, HRESULT hr, unsigned nth)
{
    int slot = fake_info_slot(method);
    if (slot < 0)
        return fail_other(method, hr, nth);
    atomic_store(&fake.failures[slot].nth, nth);
    atomic_store(&fake.failures[slot].hr, hr);
    return S_OK;
}

static enum fakeclr_load c_load_state(void)
{
    return (enum fakeclr_load)atomic_load(&fake.load_state);
}

static HRESULT c_load_result(void)
{
    return atomic_load(&fake.load_result);
}

static uint64_t c_raised(const char *name)
{
    int slot = fake_slot_by_name(name);
    return slot < 0 ? 0 : atomic_load(&fake.raised[slot]);
}

static uint64_t c_called(const char *name)
{
    int slot = fake_info_slot(name);
    return slot < 0 ? 0 : atomic_load(&fake.called[slot]);
}

static uint64_t c_argument(const char *name, unsigned n)
{
    int slot = fake_info_slot(name);
    return slot < 0 || n >= 16 ? 0 : atomic_load(&fake.arguments[slot][n]);
}

static void c_mask(uint32_t *low, uint32_t *high)
{
    *low = atomic_load(&fake.mask_low);
    *high = atomic_load(&fake.mask_high);
}

static const char *c_log_line(unsigned i)
{
    pthread_mutex_lock(&fake.log_lock);
    const char *line = i < fake.n_log ? fake.log[i] : NULL;
    pthread_mutex_unlock(&fake.log_lock);
    return line;
}

static IUnknown *c_info(void)
{
    return (IUnknown *)&fake.info;
}

void fake_counts(struct fakeclr_counts *out)
{
    *out = (struct fakeclr_counts){
        .info_refs = (uint64_t)atomic_load(&fake.info_refs),
        .live_objects = (uint64_t)atomic_load(&fake.live_objects),
        .handles = atomic_load(&fake.handles),
        .foreign_ids = atomic_load(&fake.foreign_ids),
        .beyond_version = atomic_load(&fake.beyond_version),
        .faults = atomic_load(&fake.faults),
        .faults_left = atomic_load(&fake.faults_left),
        .faults_chained = atomic_load(&fake.faults_chained),
        .after_previous = atomic_load(&fake.after_previous),
        .activations = atomic_load(&fake.activations),
        .foreign_activations = atomic_load(&fake.foreign_activations),
        .gcs = atomic_load(&fake.gcs),
        .gc_hangs = atomic_load(&fake.gc_hangs),
        .modules = atomic_load(&fake.n_modules),
        .methods = atomic_load(&fake.n_jitted),
        .threads = atomic_load(&fake.n_threads_made),
        .exceptions = atomic_load(&fake.exceptions),
        .elt_calls = atomic_load(&fake.elt_calls),
    };
    for (int i = 0; i < SXS_N_CALLBACK_SLOTS; i++)
        out->callbacks += atomic_load(&fake.raised[i]);
    for (int i = 0; i < SXS_N_INFO_SLOTS; i++)
        out->info_calls += atomic_load(&fake.called[i]);
}

const struct fakeclr_control *fakeclr_control(void)
{
    static const struct fakeclr_control table = {
        .version = FAKECLR_VERSION,
        .raise = c_raise,
        .would_raise = c_would_raise,
        .module_load = c_module_load,
        .module_unload = c_module_unload,
        .class_new = c_class_new,
        .class_array = c_class_array,
        .method_new = c_method_new,
        .method_dynamic = c_method_dynamic,
        .jit = c_jit,
        .code = c_code,
        .call = c_call,
        .object_new = c_object_new,
        .object_drop = c_object_drop,
        .thread_start = c_thread_start,
        .thread_stop = c_thread_stop,
        .thread_attach = c_thread_attach,
        .thread_detach = fake_thread_detach,
        .thread_name = c_thread_name,
        .push_frame = c_push_frame,
        .pop_frame = fake_pop_frame,
        .set_cooperative = c_set_cooperative,
        .throw_exception = c_throw,
        .gc = fake_gc,
        .elt = c_elt,
        .faults = fake_faults,
        .fail_call = c_fail,
        .load_state = c_load_state,
        .load_result = c_load_result,
        .attach = fake_profiler_attach,
        .create_instance = fake_create_instance,
        .compat_table = fake_compat_table,
        .counts = fake_counts,
        .raised = c_raised,
        .called = c_called,
        .argument = c_argument,
        .mask = c_mask,
        .log_line = c_log_line,
        .info = c_info,
    };
    return &table;
}
