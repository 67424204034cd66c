/* SPDX-License-Identifier: MIT */
/**
 * rewriter.h - a profiler that appends a digit to what methods of the app rewritten return: the
 * result r of a rewritten method becomes 10 * r + DIGIT. So the results show which profilers have
 * rewritten a method, and in which order.
 *
 * The app calls rewriter_command() with a method's token and one of these commands:
 *   set       give the method new IL when it is compiled for the first time
 *   rejit     request ReJIT of the method, with new IL
 *   inliners  likewise, with the methods that inline it
 *   revert    request the original
 *   put       give the method new IL now
 *   fail      fail in the next GetReJITParameters
 *   nothing   set nothing in the next GetReJITParameters
 *   flags     set only COR_PRF_CODEGEN_DISABLE_INLINING in the next GetReJITParameters
 *   mapped    set a map of IL offsets, too, in GetReJITParameters from now on (see PROF_MAP)
 *   offsets   print the IL offsets that the runtime has for the code of each version
 *   keep      keep the ICorProfilerFunctionControl of the next GetReJITParameters
 *   late      set a body and flags through the kept ICorProfilerFunctionControl
 *   storm     start threads that request and revert the method many times; "calm" waits for them
 *   disable   clear COR_PRF_ENABLE_REJIT in the event mask
 *   detach    request to be detached
 *   wrong     call the requests with wrong arguments, and print the results
 * The variable PROF_REJIT names a method that the profiler requests in ModuleLoadFinished, before it
 * is compiled. PROF_MAP has the rows of a map: "OLD:NEW,OLD:NEW...". At the end it prints how often each
 * method was compiled, as its callbacks say. Included by one file of each rewriter, which defines
 * prof_clsid and REWRITER_DIGIT.
 */
#ifndef SXS_TESTS_GUESTS_REWRITER_H
#define SXS_TESTS_GUESTS_REWRITER_H

#include <pthread.h>

#include "tests/guests/names.h"

#ifndef REWRITER_MASK
#define REWRITER_MASK \
    (COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_MONITOR_JIT_COMPILATION | COR_PRF_ENABLE_REJIT)
#endif

#define STORM_THREADS 2
#define STORM_ROUNDS  40
#define MAX_METHODS   16
#define MAX_PROFILERS 16

static const char *const work_methods[] = {"Value", "Other", "Generic", "Inner", "Outer"};
#define N_WORK 5

struct rewriter {
    ModuleID    module;                            /* of the app */
    mdMethodDef work[N_WORK];                      /* tokens of the methods above */
    atomic_uint started[N_WORK], finished[N_WORK]; /* calls of JITCompilationStarted, -Finished */
    mdMethodDef set[MAX_METHODS];                  /* to rewrite when they are compiled */
    unsigned    n_set;
    int         is_wrong;     /* 1: the next GetReJITParameters tries wrong arguments, too */
    int         fails;        /* 1: the next GetReJITParameters fails */
    int         sets_nothing; /* 1: the next GetReJITParameters sets nothing; 2: flags only */
    int         keeps;        /* 1: the next GetReJITParameters keeps its control */
    int         maps;         /* 1: GetReJITParameters sets a map */

    ICorProfilerFunctionControl *kept;
    mdMethodDef                  stormy;
    pthread_t                    storm[STORM_THREADS];
};

static struct prof *profilers[MAX_PROFILERS];
static atomic_uint  n_profilers_here;

static struct rewriter *rewriter_of(const struct prof *p)
{
    return p->own;
}

static void count(struct prof *p, unsigned slot)
{
    atomic_fetch_add_explicit(&p->counts[slot], 1, memory_order_relaxed);
}

HRESULT prof_initialize(struct prof *p)
{
    unsigned n = atomic_fetch_add(&n_profilers_here, 1);
    p->own = calloc(1, sizeof(struct rewriter));
    if (!p->own || n >= MAX_PROFILERS)
        return E_OUTOFMEMORY;
    profilers[n] = p;
    return p->info->vtbl->SetEventMask(p->info, REWRITER_MASK);
}

void prof_shutdown(struct prof *p)
{
    static const unsigned slots[] = {SXS_SLOT_GetReJITParameters, SXS_SLOT_ReJITCompilationStarted,
                                     SXS_SLOT_ReJITCompilationFinished, SXS_SLOT_ReJITError};
    for (unsigned i = 0; i < 4; i++)
        prof_say(p, "%s %llu", prof_names[slots[i]], (unsigned long long)p->counts[slots[i]]);
    for (unsigned i = 0; i < N_WORK; i++)
        prof_say(p, "compiled %s %u %u", work_methods[i], rewriter_of(p)->started[i],
                 rewriter_of(p)->finished[i]);
    for (unsigned i = 0; i < MAX_PROFILERS; i++)
        if (profilers[i] == p)
            profilers[i] = NULL;
    /* p->own stays: other threads may be in callbacks meanwhile, or come into one. */
}

/* ---- new IL ----------------------------------------------------------------------------------- */

/* Reads the header of a body without exception clauses. Returns its size; *code: the instructions;
 * *locals: the token of its local variables. */
static unsigned read_header(const uint8_t *body, uint32_t *code_size, uint32_t *locals)
{
    *locals = 0;
    if ((body[0] & 3) == 2) {
        *code_size = body[0] >> 2;
        return 1;
    }
    memcpy(code_size, body + 4, 4);
    memcpy(locals, body + 8, 4);
    return 12;
}

/* Writes the new body to @out, which has room for the old one and 32 bytes. Returns its size; 0:
 * the old body does not end with `ret`. */
static unsigned append_digit(const uint8_t *old, uint8_t *out)
{
    static const uint8_t tail[] = {0x1f, 10, 0x5a, 0x1f, REWRITER_DIGIT, 0x58, 0x2a};
    uint32_t             code_size, locals, new_size;
    unsigned             header = read_header(old, &code_size, &locals);
    uint16_t             flags = 0x3013, stack = 8; /* fat, InitLocals; header of 3 words */
    if (!code_size || old[header + code_size - 1] != 0x2a)
        return 0;
    new_size = code_size - 1 + (uint32_t)sizeof(tail);
    memcpy(out, &flags, 2);
    memcpy(out + 2, &stack, 2);
    memcpy(out + 4, &new_size, 4);
    memcpy(out + 8, &locals, 4);
    memcpy(out + 12, old + header, code_size - 1);
    memcpy(out + 12 + code_size - 1, tail, sizeof(tail));
    return 12 + new_size;
}

/* Returns the new body of a method, which the caller frees; NULL: it has none. */
static uint8_t *make_body(struct prof *p, ModuleID module, mdMethodDef token, unsigned *size)
{
    LPCBYTE  old = NULL;
    ULONG    old_size = 0;
    uint8_t *body;
    HRESULT  hr = p->info->vtbl->GetILFunctionBody(p->info, module, token, &old, &old_size);
    if (FAILED(hr)) {
        prof_say(p, "GetILFunctionBody %08x", (unsigned)hr);
        return NULL;
    }
    body = malloc(old_size + 32);
    *size = body ? append_digit(old, body) : 0;
    return body;
}

static HRESULT set_body(struct prof *p, ModuleID module, mdMethodDef token)
{
    IMethodMalloc *memory = NULL;
    unsigned       size = 0;
    uint8_t       *body = make_body(p, module, token, &size), *copy;
    HRESULT        hr = p->info->vtbl->GetILFunctionBodyAllocator(p->info, module, &memory);
    if (!body || FAILED(hr))
        return E_FAIL;
    copy = memory->vtbl->Alloc(memory, size);
    memory->vtbl->Release(memory);
    memcpy(copy, body, size);
    free(body);
    return p->info->vtbl->SetILFunctionBody(p->info, module, token, copy);
}

/* ---- callbacks -------------------------------------------------------------------------------- */

HRESULT prof_ModuleLoadFinished(ICorProfilerCallback11 *self, ModuleID module, HRESULT status);
HRESULT prof_JITCompilationStarted(ICorProfilerCallback11 *self, FunctionID fn, BOOL safe);
HRESULT prof_JITCompilationFinished(ICorProfilerCallback11 *self, FunctionID fn, HRESULT status,
                                    BOOL safe);
HRESULT prof_GetReJITParameters(ICorProfilerCallback11 *self, ModuleID module, mdMethodDef token,
                                ICorProfilerFunctionControl *control);
HRESULT prof_ReJITError(ICorProfilerCallback11 *self, ModuleID module, mdMethodDef token,
                        FunctionID fn, HRESULT status);

static void find_methods(struct prof *p)
{
    static const WCHAR type_name[] = u"Rewritten.Work";
    struct rewriter   *r = rewriter_of(p);
    IMetaDataImport2  *meta = prof_metadata(p, r->module);
    mdTypeDef          type = 0;
    if (!meta)
        return;
    meta->vtbl->FindTypeDefByName(meta, type_name, 0, &type);
    for (unsigned i = 0; i < N_WORK; i++) {
        WCHAR name[16] = {0};
        for (unsigned c = 0; work_methods[i][c]; c++)
            name[c] = (WCHAR)work_methods[i][c];
        meta->vtbl->FindMethod(meta, type, name, NULL, 0, &r->work[i]);
    }
    meta->vtbl->Release(meta);
}

static void request_early(struct prof *p)
{
    struct rewriter *r = rewriter_of(p);
    const char      *name = getenv("PROF_REJIT");
    for (unsigned i = 0; name && i < N_WORK; i++)
        if (strcmp(work_methods[i], name) == 0)
            prof_say(p, "early %s %08x", name,
                     (unsigned)p->info->vtbl->RequestReJIT(p->info, 1, &r->module, &r->work[i]));
}

HRESULT prof_ModuleLoadFinished(ICorProfilerCallback11 *self, ModuleID module, HRESULT status)
{
    struct prof *p = prof_of(self);
    char         name[64];
    count(p, SXS_SLOT_ModuleLoadFinished);
    if (FAILED(status))
        return S_OK;
    prof_module_name(p, module, name, sizeof(name));
    if (strcmp(name, "rewritten.dll") != 0)
        return S_OK;
    rewriter_of(p)->module = module;
    find_methods(p);
    request_early(p);
    return S_OK;
}

/* Returns the token of a method of the app; 0: of another module. *index: its number in
 * work_methods, or N_WORK. */
static mdMethodDef method_of(struct prof *p, FunctionID fn, unsigned *index)
{
    const struct rewriter *r = rewriter_of(p);
    ClassID                cls;
    ModuleID               module = 0;
    mdToken                token = 0;
    *index = N_WORK;
    if (FAILED(p->info->vtbl->GetFunctionInfo(p->info, fn, &cls, &module, &token)) ||
        module != r->module)
        return 0;
    for (unsigned i = 0; i < N_WORK; i++)
        if (r->work[i] == token)
            *index = i;
    return token;
}

HRESULT prof_JITCompilationStarted(ICorProfilerCallback11 *self, FunctionID fn, BOOL safe)
{
    struct prof     *p = prof_of(self);
    struct rewriter *r = rewriter_of(p);
    unsigned         index;
    mdMethodDef      token = method_of(p, fn, &index);
    (void)safe;
    count(p, SXS_SLOT_JITCompilationStarted);
    if (index < N_WORK)
        atomic_fetch_add(&r->started[index], 1);
    for (unsigned i = 0; token && i < r->n_set; i++)
        if (r->set[i] == token)
            prof_say(p, "set %08x %08x", token, (unsigned)set_body(p, r->module, token));
    return S_OK;
}

HRESULT prof_JITCompilationFinished(ICorProfilerCallback11 *self, FunctionID fn, HRESULT status,
                                    BOOL safe)
{
    struct prof *p = prof_of(self);
    unsigned     index;
    (void)status;
    (void)safe;
    count(p, SXS_SLOT_JITCompilationFinished);
    method_of(p, fn, &index);
    if (index < N_WORK)
        atomic_fetch_add(&rewriter_of(p)->finished[index], 1);
    return S_OK;
}

static void say_wrong_control(struct prof *p, ICorProfilerFunctionControl *control)
{
    COR_IL_MAP    map = {0, 0, 1};
    const uint8_t body[] = {0x0a, 0x16, 0x2a};
    prof_say(p, "control: flags %08x %08x %08x body %08x %08x map %08x %08x",
             (unsigned)control->vtbl->SetCodegenFlags(control, 0x80),
             (unsigned)control->vtbl->SetCodegenFlags(control, 1),
             (unsigned)control->vtbl->SetCodegenFlags(control, 2),
             (unsigned)control->vtbl->SetILFunctionBody(control, 0, body),
             (unsigned)control->vtbl->SetILFunctionBody(control, sizeof(body), NULL),
             (unsigned)control->vtbl->SetILInstrumentedCodeMap(control, 1, &map),
             (unsigned)control->vtbl->SetILInstrumentedCodeMap(control, 0, NULL));
}

static void set_map(struct prof *p, ICorProfilerFunctionControl *control)
{
    COR_IL_MAP  rows[8];
    ULONG       n = 0;
    const char *at = getenv("PROF_MAP");
    for (char *end; at && *at && n < 8; at = *end ? end + 1 : end) {
        rows[n].oldOffset = (ULONG32)strtoul(at, &end, 10);
        rows[n].newOffset = (ULONG32)strtoul(end + 1, &end, 10);
        rows[n++].fAccurate = 1;
    }
    prof_say(p, "map %u %08x", n,
             (unsigned)control->vtbl->SetILInstrumentedCodeMap(control, n, rows));
}

HRESULT prof_GetReJITParameters(ICorProfilerCallback11 *self, ModuleID module, mdMethodDef token,
                                ICorProfilerFunctionControl *control)
{
    struct prof     *p = prof_of(self);
    struct rewriter *r = rewriter_of(p);
    unsigned         size = 0;
    uint8_t         *body;
    HRESULT          hr;
    count(p, SXS_SLOT_GetReJITParameters);
    if (r->fails) {
        r->fails = 0;
        return E_FAIL;
    }
    if (r->keeps) {
        r->keeps = 0;
        control->vtbl->AddRef(control);
        r->kept = control;
    }
    if (r->sets_nothing) {
        if (r->sets_nothing == 2)
            prof_say(p, "flags %08x", (unsigned)control->vtbl->SetCodegenFlags(control, 1));
        r->sets_nothing = 0;
        return S_OK;
    }
    if (r->maps)
        set_map(p, control);
    if (r->is_wrong)
        say_wrong_control(p, control);
    body = make_body(p, module, token, &size);
    if (!body || !size)
        return S_OK;
    hr = control->vtbl->SetILFunctionBody(control, size, body);
    prof_say(p, "parameters %08x %08x", token, (unsigned)hr);
    if (r->is_wrong)
        prof_say(p, "control: second body %08x",
                 (unsigned)control->vtbl->SetILFunctionBody(control, size, body));
    r->is_wrong = 0;
    free(body);
    return S_OK;
}

HRESULT prof_ReJITError(ICorProfilerCallback11 *self, ModuleID module, mdMethodDef token,
                        FunctionID fn, HRESULT status)
{
    struct prof *p = prof_of(self);
    count(p, SXS_SLOT_ReJITError);
    prof_say(p, "error %d %08x %d %08x", module == rewriter_of(p)->module, token, fn != 0,
             (unsigned)status);
    return S_OK;
}

/* ---- commands --------------------------------------------------------------------------------- */

struct command {
    struct prof *p;
    const char  *what;
    mdMethodDef  token;
    HRESULT      hr;
};

static void say_wrong_requests(struct prof *p, mdMethodDef token)
{
    ICorProfilerInfo15 *info = p->info;
    ModuleID            module = rewriter_of(p)->module, none = 0;
    mdMethodDef         bad = 0x0600ffff, type = 0x02000002;
    HRESULT             status[4] = {1, 1, 1, 1};
    prof_say(p, "rejit: none %08x null %08x %08x",
             (unsigned)info->vtbl->RequestReJIT(info, 0, &module, &token),
             (unsigned)info->vtbl->RequestReJIT(info, 1, NULL, &token),
             (unsigned)info->vtbl->RequestReJIT(info, 1, &module, NULL));
    prof_say(p, "rejit: module 0 %08x bad %08x type %08x",
             (unsigned)info->vtbl->RequestReJIT(info, 1, &none, &token),
             (unsigned)info->vtbl->RequestReJIT(info, 1, &module, &bad),
             (unsigned)info->vtbl->RequestReJIT(info, 1, &module, &type));
    prof_say(p, "revert: none %08x null %08x %08x %08x",
             (unsigned)info->vtbl->RequestRevert(info, 0, &module, &token, status),
             (unsigned)info->vtbl->RequestRevert(info, 1, NULL, &token, status),
             (unsigned)info->vtbl->RequestRevert(info, 1, &module, NULL, status),
             (unsigned)info->vtbl->RequestRevert(info, 1, &module, &token, NULL));
    prof_say(p, "revert: module 0 %08x bad %08x type %08x never %08x",
             (unsigned)info->vtbl->RequestRevert(info, 1, &none, &token, status),
             (unsigned)info->vtbl->RequestRevert(info, 1, &module, &bad, status + 1),
             (unsigned)info->vtbl->RequestRevert(info, 1, &module, &type, status + 2),
             (unsigned)info->vtbl->RequestRevert(info, 1, &module, &token, status + 3));
    prof_say(p, "status %08x %08x %08x %08x", (unsigned)status[0], (unsigned)status[1],
             (unsigned)status[2], (unsigned)status[3]);
}

/* Prints for each version of a method the IL offsets that the runtime has for its code. */
static void say_offsets(struct prof *p, mdMethodDef token)
{
    ICorProfilerInfo15        *info = p->info;
    COR_DEBUG_IL_TO_NATIVE_MAP rows[16];
    ReJITID                    ids[16];
    FunctionID                 fn = 0;
    ULONG                      n_ids = 0;
    info->vtbl->GetFunctionFromToken(info, rewriter_of(p)->module, token, &fn);
    info->vtbl->GetReJITIDs(info, fn, 16, &n_ids, ids);
    for (ULONG i = 0; i < n_ids && i < 16; i++) {
        char     text[256] = "";
        ULONG32  n = 0;
        UINT_PTR start = 0;
        HRESULT  hr = info->vtbl->GetNativeCodeStartAddresses(info, fn, ids[i], 1, &n, &start);
        if (SUCCEEDED(hr))
            hr = info->vtbl->GetILToNativeMapping3(info, start, 16, &n, rows);
        for (ULONG32 k = 0; SUCCEEDED(hr) && k < n && k < 16; k++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), " %d",
                     (int)rows[k].ilOffset);
        prof_say(p, "offsets of %u: %08x%s", (unsigned)ids[i], (unsigned)hr, text);
    }
}

static void set_late(struct prof *p)
{
    static const uint8_t         nine[] = {3 << 2 | 2, 0x1f, 9, 0x2a}; /* ldc.i4.s 9; ret */
    ICorProfilerFunctionControl *c = rewriter_of(p)->kept;
    rewriter_of(p)->kept = NULL;
    if (!c)
        return;
    prof_say(p, "late: body %08x flags %08x", (unsigned)c->vtbl->SetILFunctionBody(c, 4, nine),
             (unsigned)c->vtbl->SetCodegenFlags(c, 2));
    prof_say(p, "late: released, %u left", (unsigned)c->vtbl->Release(c));
}

static void *request_often(void *arg)
{
    struct prof        *p = arg;
    ICorProfilerInfo15 *info = p->info;
    ModuleID            module = rewriter_of(p)->module;
    mdMethodDef         token = rewriter_of(p)->stormy;
    for (unsigned i = 0; i < STORM_ROUNDS; i++) {
        HRESULT status = S_OK, hr = info->vtbl->RequestReJIT(info, 1, &module, &token);
        if (SUCCEEDED(hr))
            hr = info->vtbl->RequestRevert(info, 1, &module, &token, &status);
        if (FAILED(hr) || FAILED(status))
            prof_say(p, "storm failed %08x %08x", (unsigned)hr, (unsigned)status);
    }
    return NULL;
}

static HRESULT start_storm(struct prof *p, mdMethodDef token)
{
    struct rewriter *r = rewriter_of(p);
    r->stormy = token;
    for (unsigned i = 0; i < STORM_THREADS; i++)
        if (pthread_create(&r->storm[i], NULL, request_often, p) != 0)
            abort();
    return S_OK;
}

static HRESULT end_storm(struct prof *p)
{
    for (unsigned i = 0; i < STORM_THREADS; i++)
        pthread_join(rewriter_of(p)->storm[i], NULL);
    return S_OK;
}

/* A request must not come from a thread that runs managed code below. */
static void *run_command(void *arg)
{
    struct command     *c = arg;
    struct rewriter    *r = rewriter_of(c->p);
    ICorProfilerInfo15 *info = c->p->info;
    ModuleID            module = r->module;
    HRESULT             status = S_OK;
    c->hr = S_OK;
    if (strcmp(c->what, "set") == 0)
        r->set[r->n_set++ % MAX_METHODS] = c->token;
    else if (strcmp(c->what, "put") == 0)
        c->hr = set_body(c->p, module, c->token);
    else if (strcmp(c->what, "fail") == 0)
        r->fails = 1;
    else if (strcmp(c->what, "nothing") == 0)
        r->sets_nothing = 1;
    else if (strcmp(c->what, "flags") == 0)
        r->sets_nothing = 2;
    else if (strcmp(c->what, "mapped") == 0)
        r->maps = 1;
    else if (strcmp(c->what, "offsets") == 0)
        say_offsets(c->p, c->token);
    else if (strcmp(c->what, "keep") == 0)
        r->keeps = 1;
    else if (strcmp(c->what, "late") == 0)
        set_late(c->p);
    else if (strcmp(c->what, "storm") == 0)
        c->hr = start_storm(c->p, c->token);
    else if (strcmp(c->what, "calm") == 0)
        c->hr = end_storm(c->p);
    else if (strcmp(c->what, "disable") == 0)
        c->hr = info->vtbl->SetEventMask(info, REWRITER_MASK & ~(DWORD)COR_PRF_ENABLE_REJIT);
    else if (strcmp(c->what, "enable") == 0)
        c->hr = info->vtbl->SetEventMask(info, REWRITER_MASK | (DWORD)COR_PRF_ENABLE_REJIT);
    else if (strcmp(c->what, "detach") == 0)
        c->hr = info->vtbl->RequestProfilerDetach(info, 1000);
    else if (strcmp(c->what, "rejit") == 0)
        c->hr = info->vtbl->RequestReJIT(info, 1, &module, &c->token);
    else if (strcmp(c->what, "inliners") == 0)
        c->hr = info->vtbl->RequestReJITWithInliners(info, COR_PRF_REJIT_BLOCK_INLINING, 1, &module,
                                                     &c->token);
    else if (strcmp(c->what, "revert") == 0) {
        c->hr = info->vtbl->RequestRevert(info, 1, &module, &c->token, &status);
        prof_say(c->p, "revert %08x %08x %08x", c->token, (unsigned)c->hr, (unsigned)status);
    } else if (strcmp(c->what, "wrong") == 0) {
        r->is_wrong = 1;
        say_wrong_requests(c->p, c->token);
    } else
        c->hr = E_INVALIDARG;
    return NULL;
}

__attribute__((visibility("default"))) int rewriter_command(const char *runtime, const char *what,
                                                            int token);
int rewriter_command(const char *runtime, const char *what, int token)
{
    struct command c = {.what = what, .token = (mdMethodDef)token, .hr = E_FAIL};
    pthread_t      thread;
    for (unsigned i = 0; i < MAX_PROFILERS && !c.p; i++)
        if (profilers[i] && strcmp(profilers[i]->runtime, runtime) == 0)
            c.p = profilers[i];
    if (!c.p)
        return -1;
    if (pthread_create(&thread, NULL, run_command, &c) == 0)
        pthread_join(thread, NULL);
    return (int)c.hr;
}

#endif
