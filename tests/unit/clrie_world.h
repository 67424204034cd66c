/* SPDX-License-Identifier: MIT */
/**
 * clrie_world.h - the engine on a small simulated runtime (clrie_fixture.h), with one plug-in that does
 * nothing, and an object of each class. Include cmocka.h first.
 *
 * The file includes build/gen/sxs_clrie_test.inc, so it is for one test program only.
 */
#ifndef SXS_TEST_CLRIE_WORLD_H
#define SXS_TEST_CLRIE_WORLD_H

#include "clrie/engine.h"
#include "clrie/object/enumerator.h"
#include "tests/unit/clrie_calls.h"
#include "tests/unit/clrie_fixture.h"

/* ---- what the generated calls use -------------------------------------------------------------- */

enum argument_kind {
    A_STRING,      /* a BSTR */
    A_STRINGS,     /* an array of them */
    A_OUT_STRINGS, /* room for them */
    A_OBJECT,      /* an interface */
    A_OBJECTS,     /* an array of them */
    A_OUT_OBJECTS, /* room for them */
    A_GUID,        /* the address of a GUID */
    A_TEXT,        /* UTF-16 */
    A_BYTES,       /* memory that is read */
    A_MEMORY,      /* memory that is written */
    A_ID,          /* an ID of the runtime, a token */
    A_NUMBER,      /* a count or a flag */
    A_VALUE,       /* another value */
};

struct call;
static void argument(struct call *call, unsigned i, enum argument_kind kind, const char *type,
                     const char *name, size_t size, void *out);

#define ARGUMENT(c_type, call, i, kind, type, name)                         \
    ({                                                                      \
        c_type out_;                                                        \
        argument((call), (i), (kind), (type), (name), sizeof(out_), &out_); \
        out_;                                                               \
    })

struct slot {
    const struct clrie_class *class;
    const char *interface, *name;
    unsigned    face;
    HRESULT (*call)(void *self, struct call *call);
    unsigned n_arguments;
};

struct face_size {
    const char *class, *interface;
    size_t n; /* slots of the vtable, with those of IUnknown */
};

static const ICorProfilerInfo10Vtbl *const fake_base = &info_vtbl;
static int                                 is_strict; /* 1: the runtime refuses NULL for results */
#include "sxs_clrie_test.inc"

/* ---- the runtime, and an object that answers everything with S_OK ------------------------------- */

static int                runtime_refs, dummy_refs;
static ICorProfilerInfo15 runtime = {&stub_vtbl};

static HRESULT runtime_query(ICorProfilerInfo15 *self, const GUID *iid, void **out)
{
    (void)iid;
    runtime_refs++;
    *out = self;
    return S_OK;
}

static ULONG runtime_add_ref(ICorProfilerInfo15 *self)
{
    (void)self;
    return (ULONG)++runtime_refs;
}

static ULONG runtime_release(ICorProfilerInfo15 *self)
{
    (void)self;
    return (ULONG)--runtime_refs;
}

static HRESULT dummy_query(void *self, const GUID *iid, void **out)
{
    (void)iid;
    dummy_refs++;
    *out = self;
    return S_OK;
}

static ULONG dummy_add_ref(void *self)
{
    (void)self;
    return (ULONG)++dummy_refs;
}

static ULONG dummy_release(void *self)
{
    (void)self;
    return (ULONG)--dummy_refs;
}

static HRESULT dummy_slot(void *self)
{
    (void)self;
    return S_OK;
}

#define DUMMY_4 (void *)dummy_slot, (void *)dummy_slot, (void *)dummy_slot, (void *)dummy_slot
static void *const  dummy_vtbl[] = {(void *)dummy_query,
                                    (void *)dummy_add_ref,
                                    (void *)dummy_release,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4,
                                    DUMMY_4};
static void *const *dummy = dummy_vtbl;

/* ---- the engine --------------------------------------------------------------------------------- */

struct world {
    struct clrie_engine  *engine;
    struct clrie_plugin  *plugin;
    struct clrie_method  *method;
    struct clrie_module  *module;
    struct clrie_manager *manager;
};

/* nop, ldc.i4, switch, br, and a try block with a handler. One local of type int. */
static const uint8_t world_body[] = {
    0x1b, 0x30, 8,    0, 33, 0, 0,    0,    1,    0,  0, 0x11, /* the header */
    0x00, 0x20, 5,    0, 0,  0, 0x45, 1,    0,    0,  0, 0,    0, 0,    0, 0x38, 0, 0, 0,
    0,    0x00, 0xdd, 6, 0,  0, 0,    0x26, 0xdd, 0,  0, 0,    0, 0x2a, 0, 0,    0, /* 33 bytes of code */
    1,    16,   0,    0, 0,  0, 20,   0,    6,    26, 0, 6,    1, 0,    0, 1,       /* the clause */
};

static void *world_interface(void)
{
    dummy_refs++;
    return (void *)&dummy;
}

static void load_dummy(struct clrie_engine *engine, void *arg)
{
    struct world        *w = arg;
    struct clrie_plugin *p = calloc(1, sizeof(*p));
    p->engine = engine;
    p->name = strdup("dummy");
    p->im = world_interface();
    p->jit = world_interface();
    p->jit2 = world_interface();
    p->exceptions = world_interface();
    p->attach = world_interface();
    clrie_log_plugin_start(&p->log, &p->clsid);
    p->manager = clrie_manager_new(p);
    engine->plugins.at[engine->plugins.n++] = p;
    w->plugin = p;
    w->manager = p->manager;
}

static void world_begin(struct world *w)
{
    static const uint8_t   locals[] = {7, 1, 8};
    ICorProfilerCallback7 *callback;
    run.body = world_body;
    run.body_size = sizeof(world_body);
    memcpy(run.sigs[0], locals, sizeof(locals));
    run.sig_sizes[0] = sizeof(locals);
    run.n_sigs = run.n_old_sigs = 1;
    stub_vtbl.QueryInterface = runtime_query;
    stub_vtbl.AddRef = runtime_add_ref;
    stub_vtbl.Release = runtime_release;
    memset(w, 0, sizeof(*w));
    w->engine = clrie_engine_new();
    HR(S_OK, clrie_engine_start(w->engine, (IUnknown *)(void *)&runtime, load_dummy, w));
    callback = clrie_face(&w->engine->object, 0);
    HR(S_OK, CALL(callback, AppDomainCreationStarted, DOMAIN));
    HR(S_OK, CALL(callback, AppDomainCreationFinished, DOMAIN, S_OK));
    HR(S_OK, CALL(callback, ModuleAttachedToAssembly, MODULE, ASSEMBLY));
    HR(S_OK, clrie_method_new(w->engine->model, CLRIE_METHOD_COMPILED, 0, 0, FUNCTION + MAIN,
                              &w->method));
    clrie_method_open(w->method);
    w->module = clrie_model_module(w->engine->model, MODULE);
}

/* The runtime has ended: the engine's objects are gone, except those that somebody holds. */
static void world_end(struct world *w)
{
    ICorProfilerCallback7 *callback = w->engine ? clrie_face(&w->engine->object, 0) : NULL;
    if (!callback)
        return;
    clrie_method_close(w->method);
    CALL(callback, Shutdown);
    RELEASE(callback);
    w->engine = NULL;
}

/* ---- an object of each class, with a reference --------------------------------------------------- */

static void *first_of(void *list_face)
{
    IEnumTypes *list = list_face; /* all enumerators have the same slots */
    IType      *one = NULL;
    ULONG       n = 0;
    HR(S_OK, CALL(list, Next, 1, &one, &n));
    RELEASE(list);
    return one;
}

static void *instruction_number(struct world *w, unsigned n)
{
    IMethodInfo       *m = clrie_method_face(w->method);
    IInstructionGraph *g;
    IInstruction      *i, *next;
    HR(S_OK, CALL(m, GetInstructions, &g));
    HR(S_OK, CALL(g, GetFirstInstruction, &i));
    for (; n > 0; n--) {
        HR(S_OK, CALL(i, GetNextInstruction, &next));
        RELEASE(i);
        i = next;
    }
    RELEASE(g);
    return i;
}

static void *type_of(struct world *w, const uint8_t *bytes)
{
    ITypeCreator *creator;
    IType        *type = NULL;
    DWORD         size;
    HR(S_OK, CALL(clrie_module_face(w->module), CreateTypeFactory, &creator));
    HR(S_OK, CALL(creator, FromSignature, 8, bytes, &type, &size));
    RELEASE(creator);
    return type;
}

/* As in clrie/attach.c. */
struct any_setting {
    CLRIE_OBJECT(CLRIE_FACES_setting);
    BSTR name, value;
};

static void *make_setting(void)
{
    struct any_setting *setting = clrie_new(&clrie_setting);
    setting->name = clrie_string_of("name");
    setting->value = clrie_string_of("value");
    return clrie_face(&setting->object, 0);
}

static struct clrie_object *make_settings(void)
{
    void                *items[] = {make_setting()};
    struct clrie_object *list = clrie_enumerator_new(&clrie_setting_list, items, 1);
    RELEASE((IUnknown *)items[0]);
    return list;
}

#define GET(from, slot)                            \
    ({                                             \
        void *out_ = NULL;                         \
        HR(S_OK, CALL(from, slot, (void *)&out_)); \
        out_;                                      \
    })

static void *make_clauses(struct world *w)
{
    IExceptionSection *section = GET(clrie_method_face(w->method), GetExceptionSection);
    void              *list = GET(section, GetExceptionClauses);
    RELEASE(section);
    return list;
}

static void *make_locals(struct world *w)
{
    ILocalVariableCollection2 *locals = GET(clrie_method_face(w->method), GetLocalVariables);
    void                      *list = GET(locals, GetEnum);
    RELEASE(locals);
    return list;
}

static void *make_types(struct world *w)
{
    ITypeCreator     *creator = GET(clrie_module_face(w->module), CreateTypeFactory);
    ISignatureParser *parser;
    IEnumTypes       *list = NULL;
    ULONG             n = 0;
    HR(S_OK, CALL(creator, QueryInterface, &IID_ISignatureParser, (void **)&parser));
    RELEASE(creator);
    HR(S_OK, CALL(parser, ParseTypeSequence, (const BYTE *)"\x08", 1, 1, &list, &n));
    RELEASE(parser);
    return list;
}

static void *held(struct clrie_object *object)
{
    clrie_ref(object);
    return clrie_face(object, 0);
}

/* The first face of an object of the class, with a reference. */
static void *world_object(struct world *w, const char *class)
{
    IMethodInfo       *m = clrie_method_face(w->method);
    IModuleInfo       *module = clrie_module_face(w->module);
    IProfilerManager4 *manager =
        clrie_face((struct clrie_object *)w->manager, CLRIE_FACE_manager_IProfilerManager4);
    IAppDomainCollection *domains =
        clrie_face((struct clrie_object *)clrie_model_domains(w->engine->model), 0);
    struct clrie_object *list;
    void                *out;
#define IS(name) if (strcmp(class, #name) == 0)
    IS(instruction) return instruction_number(w, 0);
    IS(operand_instruction) return instruction_number(w, 1);
    IS(switch_instruction) return instruction_number(w, 2);
    IS(branch_instruction) return instruction_number(w, 3);
    IS(graph) return GET(m, GetInstructions);
    IS(factory) return GET(m, GetInstructionFactory);
    IS(section) return GET(m, GetExceptionSection);
    IS(clause_list) return make_clauses(w);
    IS(clause) return first_of(make_clauses(w));
    IS(locals) return GET(m, GetLocalVariables);
    IS(local_list) return make_locals(w);
    IS(local) return first_of(make_locals(w));
    IS(parameter_list) return GET(m, GetParameters);
    IS(parameter) return first_of(GET(m, GetParameters));
    IS(single_return) return GET(m, GetSingleRetDefaultInstrumentation);
    IS(type) return type_of(w, (const uint8_t *)"\x08       ");
    IS(token_type) return type_of(w, (const uint8_t *)"\x12\x05      ");
    IS(composite_type) return type_of(w, (const uint8_t *)"\x1d\x08      ");
    IS(generic_parameter_type) return type_of(w, (const uint8_t *)"\x13\x01      ");
    IS(type_list) return make_types(w);
    IS(type_creator) return GET(module, CreateTypeFactory);
    IS(signature_builder)
    return GET((IProfilerManager *)(void *)clrie_face((struct clrie_object *)w->manager, 0),
               CreateSignatureBuilder);
    IS(domains) return held((struct clrie_object *)clrie_model_domains(w->engine->model));
    IS(domain_list) return GET(domains, GetAppDomains);
    IS(domain) return first_of(GET(domains, GetAppDomains));
    IS(assembly) return GET(module, GetAssemblyInfo);
    IS(assembly_list)
    {
        IAppDomainInfo *domain = first_of(GET(domains, GetAppDomains));
        out = GET(domain, GetAssemblies);
        RELEASE(domain);
        return out;
    }
    IS(module_list)
    {
        IAppDomainInfo *domain = first_of(GET(domains, GetAppDomains));
        out = GET(domain, GetModules);
        RELEASE(domain);
        return out;
    }
    IS(module) return CALL(module, AddRef), (void *)module;
    IS(method) return CALL(m, AddRef), (void *)m;
    IS(compiled_method)
    return clrie_compiled_method_face(
        clrie_compiled_method_new(w->engine->model, FUNCTION + MAIN, 0, 0, S_OK));
    IS(manager) return held((struct clrie_object *)w->manager);
    IS(global_log) return GET(manager, GetGlobalLoggingInstance);
    IS(setting) return make_setting();
    IS(setting_list) return clrie_face(make_settings(), 0);
    IS(attach_context)
    {
        list = make_settings();
        out = clrie_face((struct clrie_object *)clrie_attach_context_new(list), 0);
        clrie_unref(list);
        return out;
    }
    IS(engine) return held(&w->engine->object);
    IS(info) return held((struct clrie_object *)w->engine->wrapped);
    fail_msg("clrie_world.h makes no object of class %s", class);
    return NULL;
}

#endif
