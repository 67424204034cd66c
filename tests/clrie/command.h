/* SPDX-License-Identifier: MIT */
/**
 * command.h - what plug-ins share that the app rewritten tells what to do: some of their slots, and the
 * commands. They change the methods of the app's class Rewritten.Work.
 *
 * The app calls rewriter_command() with the version of its runtime, a command and a method's token.
 * The last character of a command is the id of a plug-in (the last digit of its class ID), because
 * one library can be several plug-ins:
 *   rejit     IModuleInfo::RequestRejit, which includes the methods that inline the method
 *   raw       ICorProfilerInfo4::RequestReJIT
 *   inliners  ICorProfilerInfo10::RequestReJITWithInliners
 *   revert    ICorProfilerInfo4::RequestRevert
 *   detach    ICorProfilerInfo3::RequestProfilerDetach
 *   nonsense  requests that must fail, whose results are printed
 *   storm     requests and reverts the method many times on a thread; "calm" waits for it
 * PLUG_EARLY names a method to request when the module is loaded, before the method is compiled, or,
 * attached, in AttachComplete.
 */
#ifndef SXS_TESTS_CLRIE_COMMAND_H
#define SXS_TESTS_CLRIE_COMMAND_H

#include <pthread.h>

#include "tests/clrie/edit.h"

enum { COMMAND_PLUGS = 64, COMMAND_TOKENS = 64, STORM_ROUNDS = 40 };

/** The state of a plug-in. */
struct commanded {
    IModuleInfo *module; /* of the app; one reference */
    ModuleID     module_id;
    atomic_char requested[COMMAND_TOKENS]; /* by the row of the token: 1: requested, not reverted */
    pthread_t   storm;
    mdMethodDef stormy;
};

static struct plug *commanded_plugs[COMMAND_PLUGS];
static atomic_uint  n_commanded;

static inline struct commanded *commanded_of(const struct plug *p)
{
    return p->own;
}

HRESULT plug_initialize(struct plug *p)
{
    unsigned n = atomic_fetch_add(&n_commanded, 1);
    p->own = calloc(1, sizeof(struct commanded));
    if (!p->own)
        return E_OUTOFMEMORY;
    if (n < COMMAND_PLUGS)
        commanded_plugs[n] = p;
    return S_OK;
}

static inline void commanded_end(struct plug *p)
{
    struct commanded *c = commanded_of(p);
    for (unsigned i = 0; i < COMMAND_PLUGS; i++)
        if (commanded_plugs[i] == p)
            commanded_plugs[i] = NULL;
    if (c->module)
        CALL(c->module, Release);
    c->module = NULL;
}

/** 1 if the method was requested by this plug-in, and not reverted. */
static inline int commanded_is_requested(struct plug *p, IMethodInfo *method)
{
    mdToken token = 0;
    CALL(method, GetMethodToken, &token);
    return commanded_of(p)->requested[(token & 0xffffff) % COMMAND_TOKENS];
}

/** The name of a method of Rewritten.Work, without its class and type parameters; NULL: others. */
static inline const char *commanded_name(struct plug *p, IMethodInfo *method)
{
    static const char prefix[] = "Rewritten.Work.";
    char             *name = (char *)(uintptr_t)plug_method_name(p, method);
    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
        return NULL;
    name += sizeof(prefix) - 1;
    name[strcspn(name, "<")] = '\0';
    return name;
}

/* Requests the method of Rewritten.Work that PLUG_EARLY names. */
static inline void request_early(struct plug *p)
{
    struct commanded *c = commanded_of(p);
    const char       *early = getenv("PLUG_EARLY");
    IMethodInfo      *method = NULL;
    for (mdToken token = 0x06000001; early && token < 0x06000001 + COMMAND_TOKENS; token++) {
        const char *name;
        if (FAILED(CALL(c->module, GetMethodInfoByToken, token, &method)))
            continue;
        name = commanded_name(p, method);
        if (name && strcmp(name, early) == 0) {
            c->requested[(token & 0xffffff) % COMMAND_TOKENS] = 1;
            DO(p, c->module, RequestRejit, token);
        }
        CALL(method, Release);
    }
}

/* Finds the module of the app. */
static inline void look_at(struct plug *p, IModuleInfo *module)
{
    struct commanded *c = commanded_of(p);
    BSTR              name = NULL;
    const char       *text;
    if (c->module || !DO(p, module, GetModuleName, &name))
        return;
    text = plug_text(p, name);
    text = strrchr(text, '/') ? strrchr(text, '/') + 1 : text;
    if (strcmp(text, "rewritten.dll") != 0 || !DO(p, module, GetModuleID, &c->module_id))
        return;
    CALL(module, AddRef);
    c->module = module;
    request_early(p);
}

HRESULT plug_module_loaded(struct plug *p, IModuleInfo *module)
{
    look_at(p, module);
    return S_OK;
}

/* The module may have been loaded before. */
HRESULT plug_attach_complete(struct plug *p)
{
    plug_each_module(p, look_at);
    return S_OK;
}

/** The method of a function, with a reference; NULL: it is no method of the app. */
static inline IMethodInfo *commanded_method(struct plug *p, FunctionID function)
{
    struct commanded *c = commanded_of(p);
    IMethodInfo      *method = NULL;
    ClassID           class_id = 0;
    ModuleID          module = 0;
    mdToken           token = 0;
    if (!c->module ||
        FAILED(CALL(p->info, GetFunctionInfo, function, &class_id, &module, &token)) ||
        module != c->module_id)
        return NULL;
    return DO(p, c->module, GetMethodInfoById, function, &method) ? method : NULL;
}

/* ---- requests ------------------------------------------------------------------------------------ */

static inline HRESULT request_raw(struct plug *p, ModuleID module, mdMethodDef token)
{
    return CALL(p->info, RequestReJIT, 1, &module, &token);
}

static inline HRESULT request_revert(struct plug *p, ModuleID module, mdMethodDef token)
{
    HRESULT status = S_OK, hr = CALL(p->info, RequestRevert, 1, &module, &token, &status);
    return FAILED(hr) ? hr : status;
}

static inline HRESULT request_inliners(struct plug *p, ModuleID module, mdMethodDef token)
{
    void   *face = NULL;
    HRESULT hr = CALL(p->info, QueryInterface, &IID_ICorProfilerInfo10, &face);
    if (SUCCEEDED(hr)) {
        ICorProfilerInfo10 *info = face;
        hr = CALL(info, RequestReJITWithInliners, COR_PRF_REJIT_BLOCK_INLINING, 1, &module, &token);
        CALL(info, Release);
    }
    return hr;
}

static inline void say_nonsense(struct plug *p, mdMethodDef token)
{
    struct commanded *c = commanded_of(p);
    ModuleID          id = c->module_id;
    plug_say(p, "module 0 %#x, bad token %#x, type %#x, none %#x",
             (unsigned)request_raw(p, 0, token), (unsigned)request_raw(p, id, 0x0600ffff),
             (unsigned)request_raw(p, id, 0x02000002),
             (unsigned)CALL(p->info, RequestReJIT, 0, &id, &token));
    plug_say(p, "RequestRejit of a bad token %#x, of a type %#x, of 0 %#x",
             (unsigned)CALL(c->module, RequestRejit, 0x0600ffff),
             (unsigned)CALL(c->module, RequestRejit, 0x02000002),
             (unsigned)CALL(c->module, RequestRejit, 0));
    plug_say(p, "revert of module 0 %#x, of a method that nobody requested %#x",
             (unsigned)request_revert(p, 0, token), (unsigned)request_revert(p, id, token));
}

static inline void *request_often(void *arg)
{
    struct plug      *p = arg;
    struct commanded *c = commanded_of(p);
    for (unsigned i = 0; i < STORM_ROUNDS; i++) {
        HRESULT hr = i % 2 ? CALL(c->module, RequestRejit, c->stormy)
                           : request_raw(p, c->module_id, c->stormy);
        if (SUCCEEDED(hr))
            hr = request_revert(p, c->module_id, c->stormy);
        if (FAILED(hr))
            plug_say(p, "storm failed %#x", (unsigned)hr);
    }
    return NULL;
}

struct command {
    struct plug *p;
    const char  *what;
    mdMethodDef  token;
    HRESULT      hr;
};

/* A request must not come from a thread that runs managed code below. */
static inline void *run_command(void *arg)
{
    struct command   *command = arg;
    struct plug      *p = command->p;
    struct commanded *c = commanded_of(p);
    atomic_char      *requested = &c->requested[(command->token & 0xffffff) % COMMAND_TOKENS];
    size_t            n = strlen(command->what) - 1;
#define IS(name) (n == strlen(name) && strncmp(command->what, name, n) == 0)
    *requested = IS("rejit") || IS("raw") || IS("inliners") || IS("storm") || IS("calm");
    if (IS("rejit"))
        command->hr = CALL(c->module, RequestRejit, command->token);
    else if (IS("raw"))
        command->hr = request_raw(p, c->module_id, command->token);
    else if (IS("inliners"))
        command->hr = request_inliners(p, c->module_id, command->token);
    else if (IS("revert"))
        command->hr = request_revert(p, c->module_id, command->token);
    else if (IS("detach"))
        command->hr = CALL(p->info, RequestProfilerDetach, 1000);
    else if (IS("nonsense"))
        say_nonsense(p, command->token), command->hr = S_OK;
    else if (IS("storm")) {
        c->stormy = command->token;
        command->hr = pthread_create(&c->storm, NULL, request_often, p) ? E_FAIL : S_OK;
    } else if (IS("calm"))
        command->hr = pthread_join(c->storm, NULL) ? E_FAIL : S_OK;
#undef IS
    return NULL;
}

__attribute__((visibility("default"))) int rewriter_command(const char *runtime, const char *what,
                                                            int token);
int rewriter_command(const char *runtime, const char *what, int token)
{
    struct command c = {.what = what, .token = (mdMethodDef)token, .hr = E_INVALIDARG};
    pthread_t      thread;
    for (unsigned i = 0; i < COMMAND_PLUGS && !c.p && *what; i++)
        if (commanded_plugs[i] && strcmp(commanded_plugs[i]->runtime, runtime) == 0 &&
            commanded_plugs[i]->id == what[strlen(what) - 1] - '0')
            c.p = commanded_plugs[i];
    if (!c.p)
        return -1;
    if (pthread_create(&thread, NULL, run_command, &c) == 0)
        pthread_join(thread, NULL);
    return (int)c.hr;
}

#endif
