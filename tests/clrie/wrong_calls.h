/* SPDX-License-Identifier: MIT */
/**
 * wrong_calls.h - rules of wrong.c that are about calls outside of a graph: on a thread of the plug-in,
 * without releases, with IDs of another runtime, with late event masks, with ReJIT requests of
 * nothing. Included by wrong.c alone.
 */
#include <pthread.h>
#include <unistd.h>

/* ---- the plug-in never releases what it got ------------------------------------------------------ */

static void keep_everything(struct edit *e)
{
    struct plug              *p = e->p;
    IModuleInfo              *module = NULL;
    IExceptionSection        *section = NULL;
    IEnumExceptionClauses    *clauses = NULL;
    ILocalVariableCollection *locals = NULL;
    IAppDomainCollection     *domains = NULL;
    IEnumAppDomainInfo       *all = NULL;
    IUnknown                 *unknown = NULL;
    BSTR                      name = NULL;
    IMethodInfo              *other = NULL;
    DO(p, e->method, GetModuleInfo, &module);
    DO(p, e->method, GetExceptionSection, &section);
    DO(p, section, GetExceptionClauses, &clauses);
    DO(p, e->method, GetLocalVariables, &locals);
    DO(p, e->method, GetFullName, &name);
    DO(p, module, GetMetaDataImport, &unknown);
    DO(p, module, GetMethodInfoByToken, 0x06000001, &other);
    DO(p, p->manager, GetAppDomainCollection, &domains);
    DO(p, domains, GetAppDomains, &all);
    DO(p, p->manager, GetCorProfilerInfo, &unknown);
    CALL(e->method, AddRef);
    CALL(e->graph, AddRef);
    edit_const(e, 5);
}

/* ---- IDs of another runtime ---------------------------------------------------------------------- */

enum { N_SEEN = 16 };
static struct seen {
    AppDomainID domain;
    AssemblyID  assembly;
    ModuleID    module;
    FunctionID  function;
    const void *owner; /* the plug-in */
} seen[N_SEEN];
static atomic_uint n_seen;

/* Publishes the IDs of a method. */
static void publish_ids(struct plug *p, IMethodInfo *method)
{
    struct wrong   *own = p->own;
    IModuleInfo    *module = NULL;
    IAssemblyInfo  *assembly = NULL;
    IAppDomainInfo *domain = NULL;
    struct seen     fresh = {.owner = p};
    unsigned        n;
    if (own->is_published || FAILED(CALL(method, GetFunctionId, &fresh.function)) ||
        !DO(p, method, GetModuleInfo, &module))
        return;
    own->is_published = 1;
    DO(p, module, GetModuleID, &fresh.module);
    if (DO(p, module, GetAssemblyInfo, &assembly)) {
        DO(p, assembly, GetID, &fresh.assembly);
        CALL(assembly, Release);
    }
    if (DO(p, module, GetAppDomainInfo, &domain)) {
        DO(p, domain, GetAppDomainId, &fresh.domain);
        CALL(domain, Release);
    }
    CALL(module, Release);
    n = atomic_load(&n_seen);
    if (n < N_SEEN) {
        seen[n] = fresh;
        atomic_store(&n_seen, n + 1);
    }
}

static void pass_ids(struct edit *e, const struct seen *s)
{
    struct plug          *p = e->p;
    IAppDomainCollection *domains = NULL;
    IModuleInfo          *module = NULL;
    IAppDomainInfo       *domain = NULL;
    ModuleID              module_id = s->module, of_function;
    ClassID               class_id;
    mdToken               token = 0x06000001;
    HRESULT               status = S_OK;
    LPCBYTE               body = NULL;
    ULONG                 size = 0;
    if (!DO(p, p->manager, GetAppDomainCollection, &domains) ||
        !DO(p, e->method, GetModuleInfo, &module) || !DO(p, module, GetAppDomainInfo, &domain))
        return;
    REFUSED(domains, GetAppDomainById, s->domain, &(IAppDomainInfo *){NULL});
    REFUSED(domains, GetAssemblyInfoById, s->assembly, &(IAssemblyInfo *){NULL});
    REFUSED(domains, GetModuleInfoById, s->module, &(IModuleInfo *){NULL});
    REFUSED(domains, GetMethodInfoById, s->function, &(IMethodInfo *){NULL});
    REFUSED(domain, GetAssemblyInfoById, s->assembly, &(IAssemblyInfo *){NULL});
    REFUSED(domain, GetModuleInfoById, s->module, &(IModuleInfo *){NULL});
    REFUSED(module, GetMethodInfoById, s->function, &(IMethodInfo *){NULL});
    REFUSED(p->info, GetFunctionInfo, s->function, &class_id, &of_function, &token);
    REFUSED(p->info, GetILFunctionBody, s->module, 0x06000001, &body, &size);
    REFUSED(p->info, RequestReJIT, 1, &module_id, &token);
    REFUSED(p->info, RequestRevert, 1, &module_id, &token, &status);
    CALL(domain, Release);
    CALL(module, Release);
    CALL(domains, Release);
}

static void pass_all_ids(struct edit *e)
{
    struct wrong *own = e->p->own;
    for (unsigned i = 0, n = atomic_load(&n_seen); i < n; i++)
        if (seen[i].owner != e->p) {
            pass_ids(e, &seen[i]);
            own->others++;
        }
}

/* ---- late event masks ---------------------------------------------------------------------------- */

/* Late calls only add flags; a flag that the runtime takes in Initialize only is refused. */
static void set_late_masks(struct plug *p)
{
    DWORD before = 0, after = 0;
    void *face = NULL;
    DO(p, p->info, GetEventMask, &before);
    REFUSED(p->info, SetEventMask, 0xffffffff);
    REFUSED(p->info, SetEventMask, COR_PRF_MONITOR_CODE_TRANSITIONS | COR_PRF_ENABLE_REJIT);
    if (DO(p, p->info, QueryInterface, &IID_ICorProfilerInfo10, &face)) {
        ICorProfilerInfo10 *info = face;
        REFUSED(info, SetEventMask2, before, 0xffffffff);
        REFUSED(info, SetEventMask2, 0xffffffff, 0);
        DO(p, info, SetEventMask2, 0, 0);
        CALL(info, Release);
    }
    DO(p, p->info, SetEventMask, 0);
    DO(p, p->info, GetEventMask, &after);
    must_fail(p, before == after ? E_FAIL : S_OK,
              "a change of the mask by 0 and by what was refused");
    DO(p, p->info, SetEventMask, COR_PRF_MONITOR_EXCEPTIONS);
    DO(p, p->info, GetEventMask, &after);
    must_fail(p, after == (before | COR_PRF_MONITOR_EXCEPTIONS) ? E_FAIL : S_OK, "another mask");
}

/* ---- requests of nothing ------------------------------------------------------------------------- */

/* The runtime answers requests of module 0 and of tokens that are no methods with S_OK, and does nothing
 * then. Any other ModuleID that is none would crash it. */
static void request_nonsense(struct edit *e)
{
    struct plug        *p = e->p;
    IModuleInfo        *module = NULL;
    ICorProfilerInfo10 *info = NULL;
    ModuleID good = 0, bad[] = {1, 0x1234, (ModuleID)(uintptr_t)e->graph, ~(ModuleID)0}, zero = 0;
    mdToken  token = 0x06000001, none[] = {0, 0x02000002, 0x0600ffff, 0x70000001, 0xffffffff};
    HRESULT  status[2] = {S_OK, S_OK};
    void    *face = NULL;
    if (!DO(p, e->method, GetModuleInfo, &module) || !DO(p, module, GetModuleID, &good) ||
        !DO(p, p->info, QueryInterface, &IID_ICorProfilerInfo10, &face))
        return;
    info = face;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ModuleID two[] = {good, bad[i]};
        mdToken  tokens[] = {token, token};
        REFUSED(info, RequestReJIT, 1, &bad[i], &token);
        REFUSED(info, RequestReJIT, 2, two, tokens);
        REFUSED(info, RequestRevert, 1, &bad[i], &token, status);
        REFUSED(info, RequestReJITWithInliners, 0, 1, &bad[i], &token);
    }
    for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        CALL(info, RequestRevert, 1, &good, &none[i], status);
        CALL(info, RequestReJIT, 1, &good, &none[i]);
        CALL(info, RequestReJITWithInliners, 0, 1, &good, &none[i]);
        CALL(module, RequestRejit, none[i]);
    }
    CALL(info, RequestReJIT, 1, &zero, &token);
    CALL(info, RequestRevert, 1, &zero, &token, status);
    REFUSED(info, RequestReJIT, 0, &good, &token);
    REFUSED(info, RequestReJIT, 1, NULL, &token);
    REFUSED(info, RequestReJIT, 1, &good, NULL);
    REFUSED(info, RequestReJIT, 0x7fffffff, NULL, NULL);
    REFUSED(info, RequestRevert, 1, NULL, &token, status);
    REFUSED(info, RequestRevert, 1, &good, NULL, status);
    CALL(info, Release);
    CALL(module, Release);
}

/* ---- a thread ------------------------------------------------------------------------------------ */

enum { THREAD_ROUNDS = 60 };

static void look_at_method(struct plug *p, IModuleInfo *module, mdToken token)
{
    IMethodInfo *method = NULL;
    struct edit  e;
    if (FAILED(CALL(module, GetMethodInfoByToken, token, &method)))
        return;
    plug_method_name(p, method);
    if (edit_begin(&e, p, method)) {
        DO(p, e.graph, RemoveAll); /* of an object of its own: it goes nowhere */
        edit_end(&e);
    }
    CALL(method, Release);
}

static void look_at_module(struct plug *p, IModuleInfo *module)
{
    BSTR name = NULL;
    DO(p, module, GetModuleName, &name);
    if (!strstr(plug_text(p, name), "rewritten.dll"))
        return;
    for (mdToken token = 0x06000001; token < 0x0600000c; token++)
        look_at_method(p, module, token);
    CALL(module, RequestRejit, 0x06000001);
    CALL(module, RequestRejit, 0x06000001);
}

static void *call_often(void *arg)
{
    struct plug  *p = arg;
    struct wrong *own = p->own;
    for (unsigned i = 0; i < THREAD_ROUNDS && !atomic_load(&own->is_ending); i++) {
        plug_each_module(p, look_at_module);
        CALL(p->info, SetEventMask, COR_PRF_ENABLE_REJIT);
        atomic_fetch_add(&own->rounds, 1);
        usleep(500);
    }
    return NULL;
}

static void start_thread(struct plug *p)
{
    struct wrong *own = p->own;
    if (!own->has_thread)
        own->has_thread = pthread_create(&own->thread, NULL, call_often, p) == 0;
}

static void end_thread(struct plug *p)
{
    struct wrong *own = p->own;
    atomic_store(&own->is_ending, 1);
    if (own->has_thread)
        pthread_join(own->thread, NULL);
}
