/* SPDX-License-Identifier: MIT */
/* il.c - methods with IL: gives their bodies to the profiler, takes new ones, interprets them. */
#include "tests/fake/fake.h"

#define STACK 32
#define LOCALS 16

/* ldarg.0; ret */
static const uint8_t tiny[] = {2 << 2 | 2, 0x02, 0x2a};

struct fake_function *fake_il_method_new(struct fake_module *module, struct fake_class *type,
                                         const char *name)
{
    static const uint8_t sig[] = {0x00, 0x01, ELEMENT_TYPE_I4, ELEMENT_TYPE_I4};
    struct fake_function *function =
        fake_method_new(module, type, name, sig, sizeof(sig), 0, NULL);
    if (!function)
        return NULL;
    function->body_size = sizeof(tiny);
    function->body = tiny;
    return function;
}

/* ---- Info methods --------------------------------------------------------------------------- */

static struct fake_function *with_il(ModuleID id, mdMethodDef token)
{
    struct fake_module *module = fake_find_module(id);
    struct fake_function *function = module ? fake_function_by_token(module, token) : NULL;
    return function && function->body ? function : NULL;
}

HRESULT fake_GetILFunctionBody(ICorProfilerInfo15 *self, ModuleID module, mdMethodDef token,
                               LPCBYTE *body, ULONG *size)
{
    struct fake_function *function = with_il(module, token);
    (void)self;
    if (!function)
        return CORPROF_E_FUNCTION_NOT_IL;
    *body = function->body;
    if (size)
        *size = function->body_size;
    return S_OK;
}

static void *memory_alloc(IMethodMalloc *self, ULONG size)
{
    HRESULT hr;
    (void)self;
    return fake_fails("Malloc.Alloc", &hr) ? NULL : fake_alloc(size, 0);
}

static HRESULT memory_query(IMethodMalloc *self, REFIID riid, void **out)
{
    (void)riid;
    *out = self;
    return S_OK;
}

static ULONG memory_count(IMethodMalloc *self)
{
    (void)self;
    return 1;
}

HRESULT fake_GetILFunctionBodyAllocator(ICorProfilerInfo15 *self, ModuleID module,
                                        IMethodMalloc **out)
{
    static const IMethodMallocVtbl vtbl = {
        .QueryInterface = memory_query,
        .AddRef = memory_count,
        .Release = memory_count,
        .Alloc = memory_alloc,
    };
    static IMethodMalloc memory = {&vtbl};
    (void)self;
    *out = fake_find_module(module) ? &memory : NULL;
    return *out ? S_OK : E_INVALIDARG;
}

HRESULT fake_SetILFunctionBody(ICorProfilerInfo15 *self, ModuleID module, mdMethodDef token,
                               LPCBYTE body)
{
    struct fake_function *function = with_il(module, token);
    (void)self;
    if (!function || !body)
        return E_INVALIDARG;
    fake.modified_il = true;
    atomic_store(&function->first, body);
    return S_OK;
}

HRESULT fake_ApplyMetaData(ICorProfilerInfo15 *self, ModuleID module)
{
    (void)self;
    return fake_find_module(module) ? S_OK : E_INVALIDARG;
}

/* ---- the interpreter ------------------------------------------------------------------------ */

struct machine {
    struct fake_module *module;
    uint64_t argument, stack[STACK], locals[LOCALS];
    unsigned n;
    const uint8_t *at;
};

static uint64_t read(struct machine *m, unsigned size)
{
    uint64_t value = 0;
    memcpy(&value, m->at, size);
    m->at += size;
    return value;
}

static bool push(struct machine *m, uint64_t value)
{
    if (m->n == STACK)
        return false;
    m->stack[m->n++] = value;
    return true;
}

static bool pop(struct machine *m, uint64_t *value)
{
    if (!m->n)
        return false;
    *value = m->stack[--m->n];
    return true;
}

static uint64_t call_native(uint64_t function, const uint64_t *a)
{
    uint64_t (*call)(uint64_t, uint64_t, uint64_t) = NULL;
    memcpy(&call, &function, sizeof(call));
    return call(a[0], a[1], a[2]);
}

/* calli of an unmanaged function with up to three integer arguments. Custom modifiers of the result
 * are skipped. */
static bool calli(struct machine *m)
{
    ULONG size = 0;
    const uint8_t *sig = fake_token_bytes(m->module, (mdToken)read(m, 4), &size), *end;
    uint64_t function, a[3] = {0};
    if (!sig || size < 3)
        return false;
    end = sig + size;
    if (sig[0] != 0x09 || sig[1] > 3 || !pop(m, &function))
        return false;
    for (unsigned i = sig[1]; i-- > 0;)
        if (!pop(m, &a[i]))
            return false;
    const uint8_t *result = sig + 2;
    while (result + 2 < end && (*result == ELEMENT_TYPE_CMOD_OPT || *result == ELEMENT_TYPE_CMOD_REQD))
        result += 1 + (result[1] < 0x80 ? 1 : result[1] < 0xc0 ? 2 : 4);
    a[0] = call_native(function, a);
    return *result == ELEMENT_TYPE_VOID || push(m, a[0]);
}

/* ldsfld Guid::Empty, newobj Guid(string), call RuntimeEnvironment.GetRuntimeInterfaceAsIntPtr. On
 * the stack a Guid is represented by its address, a string by its token. */
static bool member(struct machine *m, unsigned op, mdToken token)
{
    static const GUID empty;
    uint64_t text, clsid, riid;
    void *out = NULL;
    if (op == 0x7e)
        return fake_is_member(m->module, token, "System.Guid", "Empty") &&
               push(m, (uint64_t)(uintptr_t)&empty);
    if (op == 0x73) {
        const GUID *guid = fake_is_member(m->module, token, "System.Guid", ".ctor") && pop(m, &text)
                               ? fake_guid_of(m->module, (mdToken)text) : NULL;
        return guid && push(m, (uint64_t)(uintptr_t)guid);
    }
    return fake_is_member(m->module, token, "System.Runtime.InteropServices.RuntimeEnvironment",
                          "GetRuntimeInterfaceAsIntPtr") &&
           pop(m, &riid) && pop(m, &clsid) &&
           fake_runtime_interface((const GUID *)(uintptr_t)clsid, (const GUID *)(uintptr_t)riid,
                                  &out) &&
           push(m, (uint64_t)(uintptr_t)out);
}

static bool branch(struct machine *m, unsigned size)
{
    int64_t by = size == 1 ? (int8_t)read(m, 1) : (int32_t)read(m, 4);
    m->at += by;
    return true;
}

static bool local(struct machine *m, unsigned number, bool store)
{
    if (number >= LOCALS)
        return false;
    return store ? pop(m, &m->locals[number]) : push(m, m->locals[number]);
}

static bool step(struct machine *m, unsigned op)
{
    if (op >= 0x06 && op <= 0x0d) /* ldloc.0 ... stloc.3 */
        return local(m, (op - 6) & 3, op >= 0x0a);
    if (op >= 0x15 && op <= 0x1e) /* ldc.i4.m1 ... 8 */
        return push(m, (uint64_t)(int64_t)((int)op - 0x16));
    switch (op) {
    case 0x00: return true;                          /* nop */
    case 0x02: return push(m, m->argument);          /* ldarg.0 */
    case 0x11: return local(m, (unsigned)read(m, 1), false);
    case 0x13: return local(m, (unsigned)read(m, 1), true);
    case 0x1f: return push(m, (uint64_t)(int8_t)read(m, 1));
    case 0x20: return push(m, (uint64_t)(int32_t)read(m, 4));
    case 0x21: return push(m, read(m, 8));
    case 0x28: case 0x73: case 0x7e: return member(m, op, (mdToken)read(m, 4));
    case 0x29: return calli(m);
    case 0x2b: return branch(m, 1);                  /* br.s */
    case 0x38: return branch(m, 4);
    case 0x72: return push(m, read(m, 4));           /* ldstr */
    case 0xd3: return m->n > 0;                      /* conv.i */
    case 0xdd: m->n = 0; return branch(m, 4);        /* leave */
    case 0xde: m->n = 0; return branch(m, 1);
    default: return false;
    }
}

static bool run(struct fake_function *function, const uint8_t *body, uint64_t argument,
                uint64_t *result)
{
    struct machine m = {.module = function->module, .argument = argument};
    m.at = (body[0] & 3) == 2 ? body + 1 : body + 12;
    for (unsigned i = 0; i < 10000; i++) {
        unsigned op = (unsigned)read(&m, 1);
        if (op == 0x2a)
            return pop(&m, result);
        if (!step(&m, op)) {
            fake_log("%s: opcode 0x%02x is not simulated", function->name, op);
            return false;
        }
    }
    return false;
}

/* The first thread that calls the function compiles it; the others wait. */
static void compile(struct fake_function *function)
{
    int not_yet = 0;
    if (atomic_compare_exchange_strong(&function->compiling, &not_yet, 1))
        fake_jit(function);
    while (!atomic_load(&function->jitted))
        fake_nap(100);
}

static void compile_anew(struct fake_function *function)
{
    int wanted = FAKE_WANTED, asking = FAKE_ASKING;
    while (atomic_load(&function->version) == FAKE_ASKING)
        fake_nap(100);
    if (!atomic_compare_exchange_strong(&function->version, &wanted, FAKE_ASKING))
        return;
    fake_rejit(function->module, 0x06000000u | function->row);
    if (!atomic_compare_exchange_strong(&function->version, &asking, FAKE_NEW) &&
        asking == FAKE_ORIGINAL)
        atomic_store(&function->now, NULL); /* the re-JIT was reverted while it was in progress */
}

bool fake_il_call(struct fake_function *function, uint64_t argument, uint64_t *result)
{
    if (!atomic_load(&function->jitted))
        compile(function);
    compile_anew(function);
    const uint8_t *body = atomic_load(&function->now);
    if (!body)
        body = atomic_load(&function->first);
    atomic_fetch_add(&fake.il_calls, 1);
    if (body)
        atomic_fetch_add(&fake.il_calls_new, 1);
    return run(function, body ? body : function->body, argument, result);
}
