/* SPDX-License-Identifier: MIT */
/*
 * precompiled.c - a plug-in that requests a method of the core library for ReJIT, and reverts it, when the
 * app rewritten says so: System.Environment.get_Version, which the app calls for each line that it prints
 * and whose code is precompiled. The new code counts its calls.
 *   rejit, revert  request, revert the method        count  print how often the new code ran so far
 */
#include <pthread.h>

#include "tests/clrie/edit.h"

const char     plug_name[] = "precompiled";
const unsigned plug_has = PLUG_JIT;

enum { MAX_PLUGS = 8 };
static struct plug *plugs[MAX_PLUGS];
static atomic_uint  n_plugs;

struct own {
    atomic_uint  calls, compiled; /* calls of the new code; compilations without a request */
    IModuleInfo *module;
    ModuleID     module_id;
    mdToken      token;
};

static const char wanted[] = "System.Environment.get_Version";

HRESULT plug_initialize(struct plug *p)
{
    unsigned n = atomic_fetch_add(&n_plugs, 1);
    p->own = calloc(1, sizeof(struct own));
    if (n < MAX_PLUGS)
        plugs[n] = p;
    return p->own ? S_OK : E_OUTOFMEMORY;
}

HRESULT plug_module_loaded(struct plug *p, IModuleInfo *module)
{
    struct own *own = p->own;
    BSTR        name = NULL;
    if (own->module || !DO(p, module, GetModuleName, &name) ||
        !strstr(plug_text(p, name), "System.Private.CoreLib.dll"))
        return S_OK;
    CALL(module, AddRef);
    own->module = module;
    DO(p, module, GetModuleID, &own->module_id);
    return S_OK;
}

static mdToken find(struct plug *p)
{
    static const WCHAR class_name[] = u"System.Environment", name[] = u"get_Version";
    struct own        *own = p->own;
    IUnknown          *unknown = NULL;
    HCORENUM           all = NULL;
    mdToken            type = 0;
    ULONG              n = 0;
    if (own->token || !DO(p, own->module, GetMetaDataImport, &unknown))
        return own->token;
    {
        IMetaDataImport *import = (IMetaDataImport *)(void *)unknown; /* the interface itself */
        if (DO(p, import, FindTypeDefByName, class_name, 0, &type))
            DO(p, import, EnumMethodsWithName, &all, type, name, &own->token, 1, &n);
        CALL(import, CloseEnum, all);
        CALL(import, Release);
    }
    return own->token;
}

HRESULT plug_should(struct plug *p, IMethodInfo *method, BOOL is_rejit, BOOL *wants)
{
    struct own *own = p->own;
    mdToken     token = 0;
    if (strcmp(plug_method_name(p, method), wanted) != 0)
        return S_OK;
    CALL(method, GetMethodToken, &token);
    own->compiled += !is_rejit;
    *wants = is_rejit && token == own->token;
    return S_OK;
}

static void count(void *arg)
{
    atomic_fetch_add(&((struct own *)arg)->calls, 1);
}

HRESULT plug_instrument(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    mdToken     signature = edit_call_signature(p, method);
    struct edit e;
    (void)is_rejit;
    if (!signature || !edit_begin(&e, p, method))
        return E_FAIL;
    edit_insert_call(&e, EDIT_BEFORE, e.at[0], count, signature);
    edit_end(&e);
    return S_OK;
}

HRESULT plug_shutdown(struct plug *p)
{
    struct own *own = p->own;
    plug_say(p, "compiled %u failed %u", own->compiled, plug_failed);
    if (own->module)
        CALL(own->module, Release);
    return S_OK;
}

struct command {
    struct plug *p;
    const char  *what;
    HRESULT      hr;
};

/* A request must not come from a thread that runs managed code below. */
static void *run_command(void *arg)
{
    struct command *c = arg;
    struct own     *own = c->p->own;
    HRESULT         status = S_OK;
    mdToken         token = find(c->p);
    if (strcmp(c->what, "rejit") == 0)
        c->hr = CALL(own->module, RequestRejit, token);
    else if (strcmp(c->what, "revert") == 0) {
        c->hr = CALL(c->p->info, RequestRevert, 1, &own->module_id, &token, &status);
        c->hr = FAILED(c->hr) ? c->hr : status;
    } else {
        plug_say(c->p, "calls %u", own->calls);
        c->hr = S_OK;
    }
    return NULL;
}

__attribute__((visibility("default"))) int rewriter_command(const char *runtime, const char *what,
                                                            int token);
int rewriter_command(const char *runtime, const char *what, int token)
{
    struct command c = {.what = what, .hr = E_INVALIDARG};
    pthread_t      thread;
    (void)token;
    for (unsigned i = 0; i < MAX_PLUGS; i++)
        if (plugs[i] && strcmp(plugs[i]->runtime, runtime) == 0)
            c.p = plugs[i];
    if (c.p && pthread_create(&thread, NULL, run_command, &c) == 0)
        pthread_join(thread, NULL);
    return (int)c.hr;
}
