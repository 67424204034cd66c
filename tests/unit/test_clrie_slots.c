/* SPDX-License-Identifier: MIT */
/*
 * Every slot of every face of the engine's objects, called on a simulated runtime with good, NULL and
 * stale arguments, on objects that were released, and after the engine has ended. The calls are
 * generated (clrie/object/gen_slots.py), also the tables by which the test sees that no slot is missing.
 *
 * Each call has a new engine. After it no object, no reference and no memory is left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/clrie_world.h"

enum { ROOM = 64, ALL = 100, NONE = -1 }; /* ROOM: objects or strings in an array */

struct call {
    const struct slot *slot;
    struct world      *world;  /* whose objects are the arguments */
    const char        *what;   /* for messages */
    unsigned           number; /* of arguments that are counts */
    int                null;   /* which argument is NULL or 0; or NONE, ALL */
    int                bad_id; /* 1: IDs that no runtime has */
    void              *stale;  /* NULL, or an array of released objects, see stale_object() */
    /* What is to be freed after the call. */
    void              *objects[ROOM * 4];
    BSTR               strings[ROOM * 2];
    enum argument_kind kinds[16];
    unsigned           n_objects, n_strings;
    int                is_alive; /* 1: after the call the object is not a released one */
};

static uint8_t memory[16][8192] __attribute__((aligned(64)));

static int is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* ---- arguments ----------------------------------------------------------------------------------- */

/* A class that has the interface. NULL: not of the engine. */
static const char *class_with(const char *interface)
{
    static const char *const classes[][2] = {
        {"IInstruction", "instruction"},
        {"IExceptionClause", "clause"},
        {"IInstructionGraph", "graph"},
        {"IModuleInfo", "module"},
        {"ISignatureBuilder", "signature_builder"},
        {"IType", "type"},
    };
    for (unsigned i = 0; i < ARRAY_LEN(classes); i++)
        if (is(interface, classes[i][0]))
            return classes[i][1];
    return NULL;
}

static void *fresh_instruction(struct world *w)
{
    IInstructionFactory *factory = world_object(w, "factory");
    IInstruction        *out = NULL;
    HR(S_OK, CALL(factory, CreateInstruction, Cee_Nop, &out));
    RELEASE(factory);
    return out;
}

static void *object_argument(struct call *call, const char *type, const char *name)
{
    const char *class = class_with(type);
    void *out;
    if (!class)
        return is(type, "IUnknown") && is(call->slot->class->name, "engine") ? (void *)&runtime
                                                                             : (void *)&dummy;
    if (call->stale) {
        struct world gone;
        world_begin(&gone);
        out = is(name, "pInstructionNew") ? fresh_instruction(&gone) : world_object(&gone, class);
        RELEASE((IUnknown *)out);
        world_end(&gone);
        return out;
    }
    out = is(name, "pInstructionNew") || is(name, "pNew") ? fresh_instruction(call->world)
                                                          : world_object(call->world, class);
    return call->objects[call->n_objects++] = out;
}

static uint64_t id_of(const char *type)
{
    static const struct {
        const char *type;
        uint64_t    id;
    } ids[] = {{"AppDomainID", DOMAIN},         {"AssemblyID", ASSEMBLY}, {"ModuleID", MODULE},
               {"FunctionID", FUNCTION + MAIN}, {"ClassID", CLASS},       {"mdToken", METHOD(MAIN)},
               {"mdMethodDef", METHOD(MAIN)},   {"mdTypeDef", 0x02000002}};
    for (unsigned i = 0; i < ARRAY_LEN(ids); i++)
        if (is(type, ids[i].type))
            return ids[i].id;
    return 1;
}

/* Bytes that are read: a signature or data of an attach. */
static void bytes_of(const struct call *call, uint8_t *out)
{
    static const char attach[] = "<InstrumentationEngineConfiguration/>";
    const char       *slot = call->slot->name;
    out[0] = is(slot, "FromSignature") || is(slot, "ParseTypeSequence") ? 0x08 : 0;
    if (is(slot, "ParseLocalVarSignature") || is(slot, "ReplaceSignature"))
        memcpy(out, (const uint8_t[]){7, 1, 8}, 3);
    if (is(slot, "ParseMethodSignature"))
        memcpy(out, (const uint8_t[]){0, 1, 1, 8}, 4);
    if (is(slot, "InitializeForAttach"))
        memcpy(out, attach, sizeof(attach));
}

static BSTR string_argument(struct call *call)
{
    BSTR out = clrie_string_of("plain.dll");
    call->strings[call->n_strings++] = out;
    return out;
}

static void argument(struct call *call, unsigned i, enum argument_kind kind, const char *type,
                     const char *name, size_t size, void *out)
{
    static const WCHAR text[] = u"plain.dll";
    uint64_t           value[4] = {0};
    void              *at = memory[i];
    memset(out, 0, size);
    memset(at, 0, sizeof(memory[i]));
    call->kinds[i] = kind;
    if (call->null == ALL || call->null == (int)i)
        return;
    switch (kind) {
    case A_STRING: at = string_argument(call); break;
    case A_STRINGS:
        for (unsigned k = 0; k < ROOM; k++)
            ((BSTR *)at)[k] = string_argument(call);
        break;
    case A_OBJECT: at = object_argument(call, type, name); break;
    case A_OBJECTS:
        for (unsigned k = 0; k < ROOM; k++)
            ((void **)at)[k] = object_argument(call, type, name);
        break;
    case A_GUID: memcpy(at, &(GUID){.Data1 = 0xabcd}, sizeof(GUID)); break;
    case A_TEXT: memcpy(at, text, sizeof(text)); break;
    case A_BYTES: bytes_of(call, at); break;
    case A_OUT_STRINGS:
    case A_OUT_OBJECTS:
    case A_MEMORY: break;
    case A_ID: value[0] = call->bad_id ? 0x7fffff : id_of(type); break;
    case A_NUMBER: value[0] = is(name, "cbClientData") ? 37 : call->number; break;
    case A_VALUE: value[0] = is(type, "CorElementType") ? 8 : is(type, "GUID") ? 0xabcd : 0; break;
    }
    if (kind == A_ID || kind == A_NUMBER || kind == A_VALUE)
        memcpy(out, value, size < sizeof(value) ? size : sizeof(value));
    else
        memcpy(out, &at, sizeof(at));
}

/* ---- one call ------------------------------------------------------------------------------------ */

static void complain(const struct call *call, const char *what, long a, long b)
{
    fail_msg("%s: %s.%s, %s, number %u, NULL %d: %s (%ld, %ld)", call->slot->class->name,
             call->slot->interface, call->slot->name, call->what, call->number, call->null, what, a,
             b);
}

/* Slots that answer E_NOTIMPL, and why. */
static const char *const not_implemented[][2] = {
    {"IProfilerManager.GetProfilerHost", "CLRIE has no host any more, and answers so"},
    {"IModuleInfo.ImportModule", "CLRIE answers so"},
    {"IModuleInfo.ResolveRva", "CLRIE answers so for a dynamic module"},
    {"ITypeCreator.FromCorElement",
     "CLRIE answers so for an element that stands for no type alone"},
    {"ITypeCreator.FromSignature", "CLRIE answers so for an unknown element"},
    {"ISignatureParser.ParseTypeSequence", "the same"},
    {"ISignatureParser.ParseMethodSignature", "the same"},
    {"ISignatureParser.ParseLocalVarSignature", "the same"},
};

static int may_be_missing(const struct slot *slot)
{
    char name[120];
    snprintf(name, sizeof(name), "%s.%s", slot->interface, slot->name);
    for (unsigned i = 0; i < ARRAY_LEN(not_implemented); i++)
        if (strstr(name, strchr(not_implemented[i][0], '.')) &&
            strncmp(name, not_implemented[i][0], strcspn(not_implemented[i][0], ".")) == 0)
            return 1;
    return 0;
}

/* Releases what the slot has returned. */
static void release_results(struct call *call, HRESULT hr)
{
    for (unsigned i = 0; i < call->slot->n_arguments; i++) {
        if (call->kinds[i] != A_OUT_OBJECTS && call->kinds[i] != A_OUT_STRINGS)
            continue;
        for (unsigned k = 0; k < ROOM; k++) {
            void *one = ((void **)(void *)memory[i])[k];
            if (one && FAILED(hr))
                complain(call, "it fails and leaves a result", hr, (long)i);
            if (one && call->kinds[i] == A_OUT_OBJECTS)
                RELEASE((IUnknown *)one);
            else
                clrie_string_free(one);
        }
    }
    for (; call->n_objects; call->n_objects--)
        RELEASE((IUnknown *)call->objects[call->n_objects - 1]);
    if (is(call->slot->name, "FreeString") && SUCCEEDED(hr))
        call->n_strings = 0; /* it has freed the string */
    for (; call->n_strings; call->n_strings--)
        clrie_string_free(call->strings[call->n_strings - 1]);
}

static HRESULT call_slot(struct call *call, void *face)
{
    HRESULT hr;
    is_strict = is(call->slot->class->name, "info");
    hr = call->slot->call((void **)face + call->slot->face, call);
    is_strict = 0;
    call->is_alive = ((struct clrie_object *)face - 1)->class != NULL;
    if (hr == E_NOTIMPL && !may_be_missing(call->slot))
        complain(call, "it is not implemented", 0, 0);
    release_results(call, hr);
    return hr;
}

/* The engine starts in the slots that start it. */
static void *object_for(struct world *w, const struct slot *slot)
{
    struct clrie_engine *fresh;
    if (!is(slot->class->name, "engine") || strncmp(slot->name, "Initialize", 10) != 0)
        return world_object(w, slot->class->name);
    fresh = clrie_engine_new();
    return clrie_face(&fresh->object, 0);
}

static unsigned objects_before;

static void nothing_is_left(const struct call *call)
{
    if (clrie_objects() != objects_before)
        complain(call, "objects are left", (long)clrie_objects(), (long)objects_before);
    if (run.import_refs || run.emit_refs)
        complain(call, "references of metadata are left", run.import_refs, run.emit_refs);
    if (runtime_refs || dummy_refs)
        complain(call, "references of the runtime or of a plug-in are left", runtime_refs,
                 dummy_refs);
}

enum { GOOD, STALE, FOREIGN };

static void one_call(const struct slot *slot, const char *what, unsigned number, int null, int kind,
                     int bad_id)
{
    struct world w, other;
    struct call  call = {
         .slot = slot, .what = what, .number = number, .null = null, .bad_id = bad_id};
    void *object;
    world_begin(&w);
    object = object_for(&w, slot);
    if (kind == FOREIGN)
        world_begin(&other);
    call.world = kind == FOREIGN ? &other : &w;
    call.stale = kind == STALE ? &w : NULL;
    call_slot(&call, object);
    RELEASE((IUnknown *)object);
    if (kind == FOREIGN)
        world_end(&other);
    world_end(&w);
    nothing_is_left(&call);
}

#define EACH_SLOT(slot) \
    for (const struct slot *slot = slots; slot < slots + ARRAY_LEN(slots); slot++)

/* ---- tests ---------------------------------------------------------------------------------------- */

static int setup(void **state)
{
    int failed = runtime_begin(state);
    alarm(500);
    objects_before = clrie_objects();
    return failed;
}

/* A face has one row for each slot of its vtable; the three slots of IUnknown have none. */
static void no_slot_is_missing(void **state)
{
    size_t covered = 0;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(face_sizes); i++) {
        const struct face_size *f = &face_sizes[i];
        size_t                  n = 3;
        EACH_SLOT(slot)
        n += is(slot->class->name, f->class) && is(slot->interface, f->interface);
        if (n != f->n)
            fail_msg("%s: %s has %zu slots, %zu are called", f->class, f->interface, f->n, n);
        covered += n;
    }
    assert_int_equal(covered, ARRAY_LEN(slots) + 3 * ARRAY_LEN(face_sizes));
    print_message("%zu slots of %zu faces\n", covered, ARRAY_LEN(face_sizes));
}

/* Each face leads to the same IUnknown, and refuses what it does not know. */
static void every_face_answers_as_com_demands(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(face_sizes); i++) {
        static const GUID unknown = {.Data1 = 0x12345678};
        struct call       call = {.slot = NULL};
        struct world      w;
        IUnknown         *first, *face;
        void             *out = NULL;
        ULONG             before;
        unsigned          n = 0;
        for (size_t k = i; k > 0 && is(face_sizes[k - 1].class, face_sizes[i].class); k--)
            n++;
        EACH_SLOT(slot)
        if (is(slot->class->name, face_sizes[i].class))
            call.slot = slot;
        world_begin(&w);
        first = world_object(&w, face_sizes[i].class);
        face = (IUnknown *)((void **)(void *)first + n);
        before = count(face);
        HR(S_OK, CALL(face, QueryInterface, &IID_IUnknown, &out));
        assert_ptr_equal(out, first);
        assert_int_equal(count(face), before + 1);
        RELEASE(face);
        HR(E_NOINTERFACE, CALL(face, QueryInterface, &unknown, &out));
        assert_null(out);
        HR(E_INVALIDARG, CALL(face, QueryInterface, &IID_IUnknown, NULL));
        HR(E_INVALIDARG, CALL(face, QueryInterface, NULL, &out));
        assert_int_equal(count(face), before);
        RELEASE(face);
        world_end(&w);
        nothing_is_left(&call);
    }
}

static void every_slot_with_good_arguments(void **state)
{
    (void)state;
    EACH_SLOT(slot)
    {
        one_call(slot, "good arguments", 0, NONE, GOOD, 0);
        one_call(slot, "good arguments", 1, NONE, GOOD, 0);
        one_call(slot, "good arguments", ROOM, NONE, GOOD, 0);
        one_call(slot, "unknown IDs", 1, NONE, GOOD, 1);
    }
}

static void every_slot_with_null(void **state)
{
    (void)state;
    EACH_SLOT(slot)
    {
        one_call(slot, "zeros", 0, ALL, GOOD, 0);
        for (unsigned i = 0; i < slot->n_arguments; i++) {
            one_call(slot, "one argument is 0", 1, (int)i, GOOD, 0);
            one_call(slot, "one argument is 0", ROOM, (int)i, GOOD, 0);
        }
    }
}

static void every_slot_with_released_objects(void **state)
{
    (void)state;
    EACH_SLOT(slot)
    one_call(slot, "released objects", 1, NONE, STALE, 0);
}

static void every_slot_with_objects_of_another_engine(void **state)
{
    (void)state;
    EACH_SLOT(slot)
    one_call(slot, "objects of another engine", 1, NONE, FOREIGN, 0);
}

/* The engine, its manager and the objects of the loaded things live as long as somebody holds them. */
static void every_slot_of_a_released_object_fails(void **state)
{
    (void)state;
    EACH_SLOT(slot)
    {
        struct world w, gone;
        struct call  call = {
             .slot = slot, .what = "a released object", .number = 1, .null = NONE, .world = &w};
        void *object;
        world_begin(&w);
        world_begin(&gone);
        object = world_object(&gone, slot->class->name);
        RELEASE((IUnknown *)object);
        world_end(&gone);
        for (unsigned i = 0; i < 2; i++) {
            HRESULT hr;
            call.null = i ? ALL : NONE;
            hr = call_slot(&call, object);
            if (hr != E_UNEXPECTED && !call.is_alive) /* an argument may have taken its memory */
                complain(&call, "it does not fail with E_UNEXPECTED", hr, 0);
        }
        world_end(&w);
        nothing_is_left(&call);
    }
}

/* A plug-in keeps an object longer than the engine lives. */
static void every_slot_after_the_end_of_the_engine(void **state)
{
    (void)state;
    EACH_SLOT(slot)
    {
        struct world w, gone;
        struct call  call = {
             .slot = slot, .what = "after the end", .number = 1, .null = NONE, .world = &w};
        void *object;
        world_begin(&w);
        world_begin(&gone);
        object = object_for(&gone, slot);
        world_end(&gone);
        call_slot(&call, object);
        RELEASE((IUnknown *)object);
        world_end(&w);
        nothing_is_left(&call);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_slot_is_missing),
        cmocka_unit_test(every_face_answers_as_com_demands),
        cmocka_unit_test(every_slot_with_good_arguments),
        cmocka_unit_test(every_slot_with_null),
        cmocka_unit_test(every_slot_with_released_objects),
        cmocka_unit_test(every_slot_with_objects_of_another_engine),
        cmocka_unit_test(every_slot_of_a_released_object_fails),
        cmocka_unit_test(every_slot_after_the_end_of_the_engine),
    };
    return cmocka_run_group_tests(tests, setup, runtime_end);
}
