/* SPDX-License-Identifier: MIT */
/*
 * slots.c - a profiler that calls every method of its ICorProfilerInfo and prints the results.
 *
 * The calls are generated from the tables of the ABI (sxs_guest_test.inc). They are made in
 * Initialize, in a callback about a method, in a callback about an object, and on a thread of the
 * profiler, with arguments of several kinds (enum arguments). Results that vary from run to run
 * (addresses, thread numbers) are not printed, only that there was one.
 *
 * `left_out` lists the calls that are not made, each with its reason. SLOTS_PROBE=1 makes these as
 * well, and every call in a child process, and prints how the child ended: so it is found out which
 * calls a runtime does not survive.
 *
 * With several runtimes in the process, every method with an ID is called with one of the runtime
 * before. It must be refused. Directly in a runtime that would crash, so it is done as a guest only
 * (SLOTS_FOREIGN=1).
 */
#include "tests/guests/names.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

const char prof_clsid[] = "{5E5C0001-0000-4000-8000-00000000050C}";
const char prof_name[] = "slots";

#define OWN_MASK                                                                                   \
    (COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_MONITOR_JIT_COMPILATION | COR_PRF_MONITOR_EXCEPTIONS | \
     COR_PRF_MONITOR_GC | COR_PRF_MONITOR_THREADS)

struct info_slot {
    const char *name;
    HRESULT (*call)(ICorProfilerInfo15 *info);
    void (*expect)(uint64_t *words); /* not used here */
    unsigned n_arguments;
    int      by_hand;    /* not used here */
    unsigned ids, exact; /* not used here */
    struct {
        const char *direction, *type, *name;
    } parameters[12];
};

enum arguments {
    NULLS, /* all arguments are 0 or NULL */
    ZEROS, /* IDs, tokens and counts are 0; addresses are valid */
    VALID, /* IDs, tokens, counts and addresses are valid */
};
static const char *const argument_names[] = {"nulls", "zeros", "valid"};

/* ---- IDs -------------------------------------------------------------------------------------- */

/* IDs of the program on one runtime, by type. */
struct program_ids {
    AppDomainID    domain;
    AssemblyID     assembly;
    ModuleID       module;
    ClassID        class_id;
    FunctionID     function;
    ThreadID       thread;
    ObjectID       object;
    ObjectHandleID handle;
    mdToken        method, type;
    UINT_PTR       code;
    uint64_t       provider, event;
};

struct slots {
    struct program_ids ids;
    _Atomic int        ran, threw;         /* 1: the calls in this callback are made */
    _Atomic unsigned   refused, n_foreign; /* calls with an ID of another runtime */
};

static pthread_mutex_t    previous_lock = PTHREAD_MUTEX_INITIALIZER;
static struct program_ids previous; /* of the runtime that came before; under previous_lock */
static int                has_previous;

static const struct {
    const char *type;
    size_t      offset;
} id_types[] = {
    {"AppDomainID", offsetof(struct program_ids, domain)},
    {"AssemblyID", offsetof(struct program_ids, assembly)},
    {"ModuleID", offsetof(struct program_ids, module)},
    {"ClassID", offsetof(struct program_ids, class_id)},
    {"FunctionID", offsetof(struct program_ids, function)},
    {"ThreadID", offsetof(struct program_ids, thread)},
    {"ObjectID", offsetof(struct program_ids, object)},
    {"ObjectHandleID", offsetof(struct program_ids, handle)},
    {"EVENTPIPE_PROVIDER", offsetof(struct program_ids, provider)},
    {"EVENTPIPE_EVENT", offsetof(struct program_ids, event)},
};

/* Returns the ID of this type, or NULL when it is no type of an ID. */
static const void *find_id(const struct program_ids *k, const char *type)
{
    for (size_t i = 0; i < sizeof(id_types) / sizeof(id_types[0]); i++)
        if (strcmp(id_types[i].type, type) == 0)
            return (const char *)k + id_types[i].offset;
    return NULL;
}

/* ---- arguments -------------------------------------------------------------------------------- */

#define AREA 1024 /* bytes that an address refers to */

/* The thread's call in progress. */
static _Thread_local struct {
    const struct info_slot   *slot;
    enum arguments            kind;
    const struct program_ids *ids;
    int     foreign; /* number of the argument that is an ID of another runtime; -1: none */
    uint8_t areas[12][AREA] __attribute__((aligned(16)));
} now;

static int ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Fills the memory that an argument of a valid call refers to. */
static void fill_area(const char *type, uint8_t *area)
{
    static const WCHAR text[] = {'S', 'X', 'S', '_', 'S', 'L', 'O', 'T', 'S', 0};
    const void        *id;
    char               base[64];
    if (strcmp(type, "REFIID") == 0) {
        memcpy(area, &IID_IMetaDataImport2, sizeof(GUID));
        return;
    }
    if (strcmp(type, "const WCHAR*") == 0) {
        memcpy(area, text, sizeof(text));
        return;
    }
    snprintf(base, sizeof(base), "%.*s", (int)strcspn(type, "*"), type);
    id = find_id(now.ids, base);
    if (id)
        memcpy(area, id, sizeof(uint64_t));
    else if (strcmp(base, "mdMethodDef") == 0)
        memcpy(area, &now.ids->method, sizeof(mdToken));
}

static uint64_t scalar(const char *type, const char *name)
{
    if (strcmp(type, "mdMethodDef") == 0 ||
        (strcmp(type, "mdToken") == 0 && strcmp(name, "token") == 0))
        return now.ids->method;
    if (strcmp(type, "mdTypeDef") == 0)
        return now.ids->type;
    if (strcmp(type, "LPCBYTE") == 0 || strcmp(type, "UINT_PTR") == 0)
        return now.ids->code;
    if (strncmp(name, "cch", 3) == 0)
        return AREA / sizeof(WCHAR) / 2;
    if (strcmp(name, "cTypeArgs") == 0 || strcmp(name, "cData") == 0 ||
        strcmp(name, "cParamDescs") == 0)
        return 0;
    if (name[0] == 'c' && name[1] >= 'A' && name[1] <= 'Z')
        return strncmp(name, "cFunctions", 10) == 0 || strncmp(name, "cDim", 4) == 0 ? 1 : 16;
    return 0;
}

/* A callback of any type: runtimes do not call it, or ignore what it returns. */
static uint64_t nothing(void)
{
    return 0;
}

static int is_callback(const char *type)
{
    return strstr(type, "Callback") || (strncmp(type, "Function", 8) == 0 && strchr(type, '*') &&
                                        strcmp(type, "FunctionID*") != 0);
}

static void fill_argument(unsigned i, void *out, size_t size)
{
    const char *type = now.slot->parameters[i].type, *name = now.slot->parameters[i].name;
    const void *id = find_id(now.foreign == (int)i ? &previous : now.ids, type);
    uint8_t    *area = now.areas[i];
    uint64_t    word = 0;
    memset(out, 0, size);
    if (now.kind == NULLS || size > sizeof(word))
        return;
    if (is_callback(type)) {
        word = now.kind == VALID ? (uintptr_t)nothing : 0;
    } else if (id && now.kind == VALID) {
        memcpy(&word, id, sizeof(word));
    } else if (!id &&
               (strchr(type, '*') || strcmp(type, "REFIID") == 0 || strcmp(type, "LPCGUID") == 0)) {
        if (now.kind == VALID || strcmp(type, "REFIID") == 0)
            fill_area(type, area);
        word = (uintptr_t)area;
    } else if (!id && now.kind == VALID) {
        word = scalar(type, name);
    }
    memcpy(out, &word, size);
}

#define ARG(i, type)                             \
    ({                                           \
        __typeof__(type) arg_;                   \
        fill_argument((i), &arg_, sizeof(arg_)); \
        arg_;                                    \
    })
#define FIRST_WORD(value) \
    ({                    \
        (void)(value);    \
        (uint64_t)0;      \
    })

#include "sxs_guest_test.inc"

/* ---- results ---------------------------------------------------------------------------------- */

/* Output arguments whose values vary from run to run. */
static const char *const varying[] = {"pdwWin32ThreadId", "pProcessId"};

static int is_varying(const char *name)
{
    for (size_t i = 0; i < sizeof(varying) / sizeof(varying[0]); i++)
        if (strcmp(varying[i], name) == 0)
            return 1;
    return 0;
}

/* Returns the size of a number of this type; 0: it is an address, an ID or a structure. */
static size_t size_of_number(const char *type)
{
    static const struct {
        const char *type;
        size_t      size;
    } numbers[] = {{"ULONG*", 4},
                   {"ULONG32*", 4},
                   {"UINT32*", 4},
                   {"DWORD*", 4},
                   {"BOOL*", 4},
                   {"USHORT*", 2},
                   {"mdToken*", 4},
                   {"mdTypeDef*", 4},
                   {"SIZE_T*", 8},
                   {"HRESULT*", 4},
                   {"CorElementType*", 4},
                   {"COR_PRF_RUNTIME_TYPE*", 4},
                   {"int*", 4},
                   {"COR_PRF_STATIC_TYPE*", 4}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (strcmp(numbers[i].type, type) == 0)
            return numbers[i].size;
    return 0;
}

/* Writes the value of one output argument to @out. */
static void describe(unsigned i, char *out, size_t size)
{
    const char *type = now.slot->parameters[i].type, *name = now.slot->parameters[i].name;
    uint8_t    *area = now.areas[i];
    size_t      n = size_of_number(type);
    uint64_t    word = 0;
    char        text[AREA];
    const char *slash;
    memcpy(&word, area, sizeof(word));
    if (strcmp(type, "WCHAR*") == 0) {
        prof_narrow((const WCHAR *)(const void *)area, text, sizeof(text));
        slash = strrchr(text, '/');
        snprintf(out, size, " %s='%.60s'", name, slash ? slash + 1 : text);
    } else if (n && !is_varying(name)) {
        word &= UINT64_MAX >> (64 - 8 * n);
        snprintf(out, size, " %s=%llu", name, (unsigned long long)word);
    } else {
        snprintf(out, size, " %s %s", name, word ? "set" : "unset");
    }
    /* Objects are new references. */
    if (type[0] == 'I' && ends_with(type, "**") && word) {
        IUnknown *object = *(IUnknown **)(void *)area;
        object->vtbl->Release(object);
    }
}

/* ---- calls ------------------------------------------------------------------------------------ */

enum contexts { INITIALIZE = 1, METHOD = 2, OBJECT = 4, THREAD = 8, ANYWHERE = 15 };

static const char *context_name(enum contexts context)
{
    return context == INITIALIZE ? "Initialize"
           : context == METHOD   ? "method"
           : context == OBJECT   ? "object"
                                 : "thread";
}

#define KIND(k)   (1u << (k))
#define ALL_KINDS (KIND(NULLS) | KIND(ZEROS) | KIND(VALID))

/* The calls that are not made. */
static const struct {
    const char *slot;
    unsigned    kinds, contexts;
    const char *why;
} left_out[] = {
    {"RequestProfilerDetach", ALL_KINDS, ANYWHERE, "it ends the profiler; detach.sh tests it"},
    {"GetObjectGeneration", KIND(NULLS) | KIND(ZEROS), ANYWHERE,
     "runtimes crash without an object"},
    {"IsFrozenObject", KIND(NULLS) | KIND(ZEROS), ANYWHERE, "runtimes crash without an object"},
    {"EnumerateObjectReferences", KIND(VALID), METHOD | THREAD, "runtimes crash without an object"},
    {"GetNotifiedExceptionClauseInfo", KIND(NULLS), ANYWHERE, "runtimes write to the address NULL"},
    {"GetNonGCHeapBounds", KIND(NULLS), INITIALIZE, "there is no heap yet, and runtimes crash"},
    {"EventPipeStartSession", KIND(VALID), ANYWHERE, "it needs providers; pipes.c tests it"},
    {"SetILFunctionBody", KIND(VALID), ANYWHERE, "it changes the program; rewrite.sh tests it"},
    {"SetILInstrumentedCodeMap", KIND(VALID), ANYWHERE,
     "it changes the program; rewrite.sh tests it"},
};

static const char *why_left_out(const char *name, enum arguments kind, enum contexts context)
{
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
        if (strcmp(left_out[i].slot, name) == 0 && (left_out[i].kinds & KIND(kind)) &&
            (left_out[i].contexts & context))
            return left_out[i].why;
    return NULL;
}

/* Makes the call in a child, and prints only how the child ended. */
static void probe(struct prof *p, const struct info_slot *slot, enum arguments kind,
                  enum contexts context)
{
    int   status = 0;
    pid_t child = fork();
    if (child == 0) {
        for (int s = 1; s < 32; s++)
            signal(s, SIG_DFL);
        alarm(2);
        slot->call(p->info);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status)
        prof_say(p, "probe %s %s %s: status 0x%x", context_name(context), slot->name,
                 argument_names[kind], (unsigned)status);
}

static void make_call(struct prof *p, unsigned number, enum arguments kind, enum contexts context)
{
    struct slots           *own = p->own;
    const struct info_slot *slot = &info_slots[number];
    char                    line[2048] = "";
    HRESULT                 hr;
    now.slot = slot;
    now.kind = kind;
    now.ids = &own->ids;
    now.foreign = -1;
    memset(now.areas, 0, sizeof(now.areas));
    if (getenv("SLOTS_PROBE")) {
        probe(p, slot, kind, context);
        return;
    }
    hr = slot->call(p->info);
    for (unsigned i = 0; SUCCEEDED(hr) && kind != NULLS && i < slot->n_arguments; i++)
        if (strcmp(slot->parameters[i].direction, "in") != 0)
            describe(i, line + strlen(line), sizeof(line) - strlen(line));
    if (strcmp(slot->name, "DestroyHandle") == 0 && kind == VALID && own->ids.object)
        p->info->vtbl->CreateHandle(p->info, own->ids.object, COR_PRF_HANDLE_TYPE_STRONG,
                                    &own->ids.handle);
    prof_say(p, "%s %s(%s) 0x%08x%s", context_name(context), slot->name, argument_names[kind],
             (unsigned)hr, line);
}

/* Calls all methods that the runtime has. The calls clear the mask, so it is set again. */
static void make_calls(struct prof *p, enum contexts context, unsigned kinds)
{
    for (unsigned kind = NULLS; kind <= VALID; kind++) {
        for (unsigned slot = 3; slot < SXS_N_INFO_SLOTS; slot++)
            if ((kinds & KIND(kind)) && slot < p->n_slots &&
                (getenv("SLOTS_PROBE") || !why_left_out(info_slots[slot].name, kind, context)))
                make_call(p, slot, kind, context);
        p->info->vtbl->SetEventMask(p->info, OWN_MASK);
    }
}

static void say_left_out(const struct prof *p)
{
    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
        prof_say(p, "left out: %s: %s", left_out[i].slot, left_out[i].why);
}

/* ---- IDs of another runtime ------------------------------------------------------------------- */

/* Calls each method that has an ID with one of the runtime before, all others being valid. */
static void make_foreign_calls(struct prof *p)
{
    struct slots *own = p->own;
    now.kind = VALID;
    now.ids = &own->ids;
    for (unsigned slot = 3; slot < p->n_slots && slot < SXS_N_INFO_SLOTS; slot++) {
        now.slot = &info_slots[slot];
        for (unsigned i = 0; i < now.slot->n_arguments; i++) {
            const void *id = find_id(&previous, now.slot->parameters[i].type);
            HRESULT     hr;
            if (!id || *(const uint64_t *)id == 0)
                continue;
            now.foreign = (int)i;
            memset(now.areas, 0, sizeof(now.areas));
            hr = now.slot->call(p->info);
            own->n_foreign++;
            own->refused += hr == E_INVALIDARG;
            if (hr != E_INVALIDARG)
                prof_say(p, "foreign %s %s 0x%08x", now.slot->name, now.slot->parameters[i].name,
                         (unsigned)hr);
        }
    }
}

/* ---- the profiler ----------------------------------------------------------------------------- */

/* A provider and an event of the profiler's own. */
static void make_provider(struct prof *p, struct program_ids *k)
{
    static const WCHAR name[] = {'S', 'x', 's', '-', 'S', 'l', 'o', 't', 's', 0};
    if (p->version < 12)
        return;
    p->info->vtbl->EventPipeCreateProvider(p->info, name, &k->provider);
    p->info->vtbl->EventPipeDefineEvent(p->info, k->provider, name, 1, 1, 1, 4, 0, 0, 0, NULL,
                                        &k->event);
}

HRESULT prof_initialize(struct prof *p)
{
    struct slots *own = calloc(1, sizeof(*own));
    p->own = own;
    make_provider(p, &own->ids);
    make_calls(p, INITIALIZE, KIND(NULLS) | KIND(ZEROS));
    return p->info->vtbl->SetEventMask(p->info, OWN_MASK);
}

static void *call_on_thread(void *arg)
{
    make_calls(arg, THREAD, ALL_KINDS);
    return NULL;
}

/* Collects IDs from the first compilation of a method of the program. */
HRESULT prof_JITCompilationFinished(ICorProfilerCallback11 *self, FunctionID fn, HRESULT status,
                                    BOOL safe)
{
    struct prof        *p = prof_of(self);
    struct slots       *own = p->own;
    struct program_ids *k = &own->ids;
    ICorProfilerInfo15 *info = p->info;
    LPCBYTE             code = NULL;
    char                name[200];
    pthread_t           thread;
    (void)status;
    (void)safe;
    prof_method_name(p, fn, name, sizeof(name));
    if (strcmp(name, "Profiled.Program.Allocate") != 0 || atomic_exchange(&own->ran, 1))
        return S_OK;
    k->function = fn;
    info->vtbl->GetFunctionInfo(info, fn, &k->class_id, &k->module, &k->method);
    info->vtbl->GetClassIDInfo(info, k->class_id, NULL, &k->type);
    info->vtbl->GetModuleInfo(info, k->module, NULL, 0, NULL, NULL, &k->assembly);
    info->vtbl->GetAssemblyInfo(info, k->assembly, 0, NULL, NULL, &k->domain, NULL);
    info->vtbl->GetCurrentThreadID(info, &k->thread);
    info->vtbl->GetCodeInfo(info, fn, &code, NULL);
    k->code = (UINT_PTR)code;
    make_calls(p, METHOD, ALL_KINDS);
    if (pthread_create(&thread, NULL, call_on_thread, p) == 0)
        pthread_join(thread, NULL);
    return S_OK;
}

HRESULT prof_ExceptionThrown(ICorProfilerCallback11 *self, ObjectID object)
{
    struct prof  *p = prof_of(self);
    struct slots *own = p->own;
    if (!own->ran || atomic_exchange(&own->threw, 1))
        return S_OK;
    own->ids.object = object;
    if (p->version >= 13)
        p->info->vtbl->CreateHandle(p->info, object, COR_PRF_HANDLE_TYPE_STRONG, &own->ids.handle);
    make_calls(p, OBJECT, KIND(VALID));
    if (getenv("SLOTS_FOREIGN")) {
        pthread_mutex_lock(&previous_lock);
        if (has_previous)
            make_foreign_calls(p);
        previous = own->ids;
        has_previous = 1;
        pthread_mutex_unlock(&previous_lock);
    }
    return S_OK;
}

void prof_shutdown(struct prof *p)
{
    struct slots *own = p->own;
    say_left_out(p);
    prof_say(p, "ran %d %d", own->ran, own->threw);
    if (own->n_foreign)
        prof_say(p, "IDs of another runtime: %u calls, %u refused", own->n_foreign, own->refused);
}
