/* SPDX-License-Identifier: MIT */
/*
 * wrong.c - a plug-in that breaks one rule, which the variable WRONG names:
 *   initialize, loaded, should, before, instrument, complete, jit, shutdown   the slot fails
 *   inline       AllowInlineSite fails
 *   empty        removes all instructions
 *   nowhere      leaves a branch to an instruction that is in no graph
 *   push, pop    leaves a value on the stack, takes one too many
 *   noret        the code does not end with ret
 *   clause       a clause whose handler begins before its try block ends
 *   local, arg   uses a local, an argument that does not exist
 *   prefix       a prefix before an instruction that does not take it
 *   token        calls a method that does not exist
 *   sig          gives the method a signature of locals that does not exist
 *   switch       leaves a switch to an instruction of another method
 *   baseline     gives code that cannot be decoded, and does so when it is too late
 *   stale        uses objects of a method after its compilation, with and without references
 *   releases     releases each object too often
 *   foreign      passes pointers that are not objects of the engine, and objects of other methods
 *   null         passes NULL
 *   thread       calls the engine on a thread of its own while methods are compiled
 *   keeps        never releases what it got
 *   ids          passes IDs of another runtime
 *   masks        sets event masks late
 *   rejits       requests ReJIT of what is no module and no method, on the thread that compiles
 * At the end it prints how many methods it has changed, and how many calls succeeded that must not.
 * PLUG_ONLY: methods of modules whose file name contains this text only.
 */
#include <pthread.h>

#include "tests/clrie/edit.h"

const char     plug_name[] = "wrong";
const unsigned plug_has = PLUG_JIT;

struct wrong {
    const char  *rule;
    unsigned     methods;
    unsigned     accepted;
    struct edit  old;      /* of a method that was compiled; its arrays have references */
    IMethodInfo *method;   /* of that method, without a reference */
    IMethodInfo *held;     /* with one */
    /* for wrong_calls.h */
    int         is_published, has_thread;
    unsigned    others; /* how often IDs of other runtimes were passed */
    pthread_t   thread;
    atomic_int  is_ending;
    atomic_uint rounds; /* of the thread */
};

static int rule_is(const struct plug *p, const char *rule)
{
    const struct wrong *own = p->own;
    return strcmp(own->rule, rule) == 0;
}

static HRESULT result_of(const struct plug *p, const char *rule)
{
    return rule_is(p, rule) ? E_FAIL : S_OK;
}

HRESULT plug_initialize(struct plug *p)
{
    struct wrong *own = p->own = calloc(1, sizeof(*own));
    own->rule = plug_setting("WRONG");
    return result_of(p, "initialize");
}

HRESULT plug_module_loaded(struct plug *p, IModuleInfo *module)
{
    (void)module;
    return result_of(p, "loaded");
}

HRESULT plug_should(struct plug *p, IMethodInfo *method, BOOL is_rejit, BOOL *wants)
{
    (void)is_rejit;
    *wants = edit_is_wanted(p, method);
    return result_of(p, "should");
}

HRESULT plug_complete(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    (void)method;
    (void)is_rejit;
    return result_of(p, "complete");
}

HRESULT plug_inline(struct plug *p, IMethodInfo *callee, IMethodInfo *caller, BOOL *allowed)
{
    (void)callee;
    (void)caller;
    (void)allowed;
    return result_of(p, "inline");
}

HRESULT plug_jit_complete(struct plug *p, IMethodJitInfo *compiled)
{
    (void)compiled;
    return result_of(p, "jit");
}

/* A call that must fail. */
static void must_fail(struct plug *p, HRESULT hr, const char *what)
{
    struct wrong *own = p->own;
    if (SUCCEEDED(hr) && own->accepted++ < 5)
        plug_say(p, "%s succeeded", what);
}
#define REFUSED(object, slot, ...) must_fail(p, CALL(object, slot, ##__VA_ARGS__), #slot)

#include "tests/clrie/wrong_calls.h"

/* ---- graphs that no JIT accepts ------------------------------------------------------------------ */

static void insert_first(struct edit *e, IInstruction *fresh)
{
    IInstruction *first = NULL;
    if (DO(e->p, e->graph, GetFirstInstruction, &first)) {
        edit_insert(e, EDIT_BEFORE, first, fresh);
        CALL(first, Release);
    }
}

static void add_clause(struct edit *e)
{
    IExceptionSection *section = NULL;
    IExceptionClause  *clause = NULL;
    if (!DO(e->p, e->method, GetExceptionSection, &section))
        return;
    CALL(section, AddNewExceptionClause, COR_ILEXCEPTION_CLAUSE_FINALLY, e->at[0], e->at[e->n - 1],
         e->at[0], e->at[e->n - 1], NULL, 0, &clause);
    if (clause)
        CALL(clause, Release);
    CALL(section, Release);
}

static void spoil(struct edit *e)
{
    struct plug        *p = e->p;
    struct wrong       *own = p->own;
    IInstruction       *i = NULL, *last = e->at[e->n - 1];
    if (rule_is(p, "empty"))
        DO(p, e->graph, RemoveAll);
    else if (rule_is(p, "nowhere")) {
        i = edit_op(e, Cee_Nop);
        insert_first(e, edit_branch(e, Cee_Br, i));
        CALL(i, Release);
    } else if (rule_is(p, "push"))
        insert_first(e, edit_const(e, 7));
    else if (rule_is(p, "pop"))
        insert_first(e, edit_op(e, Cee_Pop));
    else if (rule_is(p, "noret")) {
        i = edit_op(e, Cee_Nop);
        DO(p, e->graph, InsertAfter, last, i);
        CALL(i, Release);
        for (unsigned k = 0; k < e->n; k++)
            if (e->op[k] == Cee_Ret)
                CALL(e->graph, Remove, e->at[k]);
    } else if (rule_is(p, "clause"))
        add_clause(e);
    else if (rule_is(p, "local")) {
        insert_first(e, edit_op(e, Cee_Pop));
        insert_first(e, edit_load(e, 60000));
    } else if (rule_is(p, "arg")) {
        insert_first(e, edit_op(e, Cee_Pop));
        DO(p, e->factory, CreateLoadArgInstruction, 60000, &i);
        insert_first(e, i);
    } else if (rule_is(p, "prefix"))
        insert_first(e, edit_op(e, Cee_Volatile));
    else if (rule_is(p, "token"))
        insert_first(e, edit_token(e, Cee_Call, 0x06ffffff));
    else if (rule_is(p, "sig"))
        CALL(e->method, SetLocalVarSigToken, 0x11ffffff);
    else if (rule_is(p, "switch") && own->old.n) {
        DO(p, e->factory, CreateSwitchInstruction, Cee_Switch, 1, &own->old.at[0], &i);
        insert_first(e, i);
        insert_first(e, edit_const(e, 0));
    }
}

/* ---- wrong arguments ------------------------------------------------------------------------------ */

/* An object that is not the engine's. */
static HRESULT foreign_query(IInstruction *self, const GUID *iid, void **out)
{
    (void)iid;
    *out = self;
    return S_OK;
}
static ULONG foreign_ref(IInstruction *self)
{
    (void)self;
    return 1;
}
static const IInstructionVtbl foreign_vtbl = {
    .QueryInterface = foreign_query, .AddRef = foreign_ref, .Release = foreign_ref};
static IInstruction foreign = {&foreign_vtbl};

static ULONG count_clauses(struct plug *p, IExceptionSection *section)
{
    IEnumExceptionClauses *clauses = NULL;
    DWORD                  n = 0;
    if (DO(p, section, GetExceptionClauses, &clauses)) {
        DO(p, clauses, GetCount, &n);
        CALL(clauses, Release);
    }
    return n;
}

/* A clause that is not in the section: RemoveExceptionClause compares pointers only, and returns S_OK. */
static void remove_nothing(struct plug *p, IExceptionSection *section, void *pointer)
{
    ULONG before = count_clauses(p, section);
    DO(p, section, RemoveExceptionClause, (IExceptionClause *)pointer);
    must_fail(p, count_clauses(p, section) == before ? E_FAIL : S_OK, "the removal of another clause");
}

/* Calls slots of @e with an instruction or clause that is none of its own. */
static void pass(struct edit *e, void *pointer)
{
    struct plug       *p = e->p;
    IInstruction      *bad = pointer, *good = e->at[0], *made = NULL, *fresh = edit_op(e, Cee_Nop);
    IExceptionSection *section = NULL;
    IExceptionClause  *clause = NULL;
    DWORD              index = 0;
    REFUSED(e->graph, InsertBefore, bad, fresh);
    REFUSED(e->graph, InsertBefore, good, bad);
    if (bad)
        REFUSED(e->graph, InsertAfter, bad, fresh);
    REFUSED(e->graph, InsertAfter, good, bad);
    REFUSED(e->graph, InsertBeforeAndRetargetOffsets, bad, fresh);
    REFUSED(e->graph, InsertBeforeAndRetargetOffsets, good, bad);
    REFUSED(e->graph, Replace, bad, fresh);
    REFUSED(e->graph, Replace, good, bad);
    REFUSED(e->graph, Remove, bad);
    if (pointer != e->at[0] && (!((struct wrong *)p->own)->old.n ||
                                pointer != ((struct wrong *)p->own)->old.at[0])) {
        if (bad) /* a target can be set later */
            REFUSED(e->factory, CreateBranchInstruction, Cee_Br, bad, &made);
        REFUSED(e->factory, CreateSwitchInstruction, Cee_Switch, 1, &bad, &made);
    }
    CALL(fresh, Release);
    if (DO(p, e->method, GetExceptionSection, &section)) {
        REFUSED(section, AddExceptionClause, (IExceptionClause *)pointer);
        remove_nothing(p, section, pointer);
        if (FAILED(CALL(section, AddNewExceptionClause, COR_ILEXCEPTION_CLAUSE_FINALLY, bad, bad, bad,
                        bad, NULL, 0, &clause)))
            clause = NULL;
        if (clause) { /* the checker refuses it; it is no harm after all */
            CALL(section, RemoveExceptionClause, clause);
            CALL(clause, Release);
        }
        CALL(section, Release);
    }
    {
        ILocalVariableCollection *locals = NULL;
        if (DO(p, e->method, GetLocalVariables, &locals)) {
            CALL(locals, Initialize);
            REFUSED(locals, AddLocal, (IType *)pointer, &index);
            CALL(locals, Release);
        }
    }
    {
        ISingleRetDefaultInstrumentation *single = NULL;
        if (DO(p, e->method, GetSingleRetDefaultInstrumentation, &single)) {
            if (pointer == e->graph)
                DO(p, single, Initialize, pointer); /* the method's own: no mistake */
            else
                REFUSED(single, Initialize, (IInstructionGraph *)pointer);
            CALL(single, ApplySingleRetDefaultInstrumentation);
            CALL(single, Release);
        }
    }
}

/* Calls slots without a place for the result. */
static void pass_null(struct edit *e)
{
    struct plug *p = e->p;
    REFUSED(e->graph, GetFirstInstruction, NULL);
    REFUSED(e->graph, GetInstructionAtOffset, 0, NULL);
    REFUSED(e->factory, CreateInstruction, Cee_Nop, NULL);
    REFUSED(e->factory, CreateLoadConstInstruction, 1, NULL);
    REFUSED(e->factory, DecodeInstructionByteStream, 4, NULL, NULL);
    REFUSED(e->at[0], GetOpCode, NULL);
    REFUSED(e->at[0], GetNextInstruction, NULL);
    REFUSED(e->at[0], QueryInterface, &IID_IUnknown, NULL);
    REFUSED(e->method, GetName, NULL);
    REFUSED(e->method, GetInstructions, NULL);
    REFUSED(e->method, GetExceptionSection, NULL);
    REFUSED(e->method, GetLocalVariables, NULL);
    REFUSED(e->method, GetModuleInfo, NULL);
    REFUSED(p->manager, GetCorProfilerInfo, NULL);
    REFUSED(p->manager, GetAppDomainCollection, NULL);
    REFUSED(p->manager, RemoveInstrumentationMethod, NULL);
    REFUSED(p->manager, AddRawProfilerHook, NULL);
    pass(e, NULL);
}

/* ---- after the compilation ------------------------------------------------------------------------ */

/* @e: of another method, whose compilation has ended. */
static void use_stale(struct edit *e)
{
    struct plug  *p = e->p;
    struct wrong *own = p->own;
    IInstruction *i = NULL;
    BSTR          name = NULL;
    mdToken       token = 0;
    own->method->vtbl->GetMethodToken(own->method, &token);
    CALL(own->method, GetInstructions, &(IInstructionGraph *){NULL});
    CALL(own->method, SetLocalVarSigToken, 0x11000001);
    DO(p, e->graph, RemoveAll); /* it lives as long as its references; changes go nowhere */
    CALL(e->graph, InsertAfter, NULL, e->at[0]);
    REFUSED(e->graph, InsertBefore, e->at[0], e->at[0]);
    CALL(e->graph, GetFirstInstruction, &i);
    CALL(e->graph, GetMethodInfo, &(IMethodInfo *){NULL});
    for (unsigned k = 0; k < e->n; k++) {
        DWORD offset = 0;
        CALL(e->at[k], GetOffset, &offset);
        CALL(e->at[k], GetNextInstruction, &(IInstruction *){NULL});
    }
    CALL(own->held, GetFullName, &name);
    plug_text(p, name);
    CALL(own->held, GetInstructions, &(IInstructionGraph *){NULL});
    CALL(own->held, GetSingleRetDefaultInstrumentation,
         &(ISingleRetDefaultInstrumentation *){NULL});
}

static void keep(struct edit *e)
{
    struct wrong *own = e->p->own;
    own->old = *e;
    own->method = e->method;
    CALL(e->method, AddRef);
    own->held = e->method;
}

static void forget(struct plug *p)
{
    struct wrong *own = p->own;
    if (own->old.n)
        edit_end(&own->old);
    if (own->held)
        CALL(own->held, Release);
    own->old.n = 0;
    own->held = NULL;
}

static void release_too_often(struct edit *e)
{
    for (unsigned n = 0; n < 5; n++) {
        for (unsigned k = 0; k < e->n; k++)
            CALL(e->at[k], Release);
        CALL(e->factory, Release);
        CALL(e->graph, Release);
        CALL(e->method, Release);
    }
}

/* ---- slots ----------------------------------------------------------------------------------------- */

static void set_baseline(struct edit *e, int is_early)
{
    static const uint8_t bad[] = {0x2b, 0x7f}, good[] = {0x2a};
    struct plug         *p = e->p;
    REFUSED(e->graph, CreateBaseline, bad, bad + sizeof(bad), 0, NULL, 0, NULL);
    REFUSED(e->graph, CreateBaseline, NULL, NULL, 0, NULL, 0, NULL);
    REFUSED(e->graph, CreateBaseline, good + 1, good, 0, NULL, 0, NULL);
    if (!is_early)
        REFUSED(e->graph, CreateBaseline, good, good + 1, 0, NULL, 0, NULL);
}

HRESULT plug_before(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    struct edit e;
    (void)is_rejit;
    if (rule_is(p, "baseline") && edit_begin(&e, p, method)) {
        set_baseline(&e, 1);
        edit_end(&e);
    }
    return result_of(p, "before");
}

HRESULT plug_instrument(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    struct wrong *own = p->own;
    struct edit   e;
    int           is_kept = rule_is(p, "stale") || rule_is(p, "foreign") || rule_is(p, "switch");
    (void)is_rejit;
    if (!edit_begin(&e, p, method))
        return S_OK;
    own->methods++;
    if (rule_is(p, "stale") && own->old.n)
        use_stale(&own->old);
    if (rule_is(p, "foreign")) {
        pass(&e, &foreign);
        pass(&e, e.graph);
        pass(&e, own->old.n ? own->old.at[0] : &foreign);
        pass(&e, p);
    }
    if (rule_is(p, "null"))
        pass_null(&e);
    if (rule_is(p, "baseline"))
        set_baseline(&e, 0);
    if (rule_is(p, "thread"))
        start_thread(p);
    if (rule_is(p, "ids")) {
        publish_ids(p, method);
        pass_all_ids(&e);
    }
    if (rule_is(p, "masks"))
        set_late_masks(p);
    if (rule_is(p, "rejits"))
        request_nonsense(&e);
    spoil(&e);
    if (rule_is(p, "releases"))
        release_too_often(&e);
    if (is_kept) {
        forget(p);
        keep(&e);
    } else if (rule_is(p, "keeps"))
        keep_everything(&e);
    else
        edit_end(&e);
    return result_of(p, "instrument");
}

HRESULT plug_shutdown(struct plug *p)
{
    struct wrong *own = p->own;
    end_thread(p);
    if (rule_is(p, "stale") && own->old.n)
        use_stale(&own->old);
    forget(p);
    plug_say(p, "methods %u accepted %u failed %u", own->methods, own->accepted, plug_failed);
    plug_say(p, "others %u rounds %u", own->others, own->rounds);
    return result_of(p, "shutdown");
}
