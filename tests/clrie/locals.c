/* SPDX-License-Identifier: MIT */
/*
 * locals.c - a plug-in that adds locals, exception clauses and the single return to methods.
 *
 * Each method gets locals, a value in one of them at entry, and one exit, where the value is compared.
 * What is around its code depends on its token, or is what PLUG_FORM says:
 *
 *     0  nothing                             3  try { } fault { count }
 *     1  try { } finally { count }           4  try { } filter { count; no } { }
 *     2  try { } catch { count; rethrow }    5  try { try { } catch { } } finally { }
 *
 * The exits of every second method are joined by ISingleRetDefaultInstrumentation2, those of the others by
 * the plug-in. At the end it prints how often each piece of code ran. PLUG_ONLY: methods of modules whose
 * file name contains this text only.
 */
#include "tests/clrie/edit.h"

const char plug_name[] = "locals";

enum form { NOTHING, FINALLY, CATCH, FAULT, FILTER, NESTED, N_FORMS };
enum event { ENTERED, LEFT, IN_FINALLY, IN_CATCH, IN_FAULT, IN_FILTER, WRONG, GUARDED, N_EVENTS };
static const char *const event_names[] = {"entered", "left",   "finally", "catch",
                                          "fault",   "filter", "wrong",   "guarded"};

struct own {
    atomic_ullong events[N_EVENTS];
    atomic_uint   methods, completed, joined, jumps, forms[N_FORMS];
};

#define COUNT(event)                                                                             \
    static void count_##event(void *arg)                                                         \
    {                                                                                            \
        atomic_fetch_add_explicit(&((struct own *)arg)->events[event], 1, memory_order_relaxed); \
    }
COUNT(ENTERED)
COUNT(LEFT)
COUNT(IN_FINALLY)
COUNT(IN_CATCH)
COUNT(IN_FAULT)
COUNT(IN_FILTER)
COUNT(WRONG)
COUNT(GUARDED) /* calls of methods with a finally handler */

HRESULT plug_initialize(struct plug *p)
{
    p->own = calloc(1, sizeof(struct own));
    return p->own ? S_OK : E_OUTOFMEMORY;
}

/* Compiled code may still call the functions above, so the counts are not freed. */
HRESULT plug_shutdown(struct plug *p)
{
    struct own *own = p->own;
    plug_say(p, "methods %u completed %u joined %u jumps %u", own->methods, own->completed,
             own->joined, own->jumps);
    for (int i = 0; i < N_FORMS; i++)
        plug_say(p, "form %d: %u methods", i, own->forms[i]);
    for (int i = 0; i < N_EVENTS; i++)
        plug_say(p, "%s %llu", event_names[i], own->events[i]);
    plug_say(p, "failed %u", plug_failed);
    return S_OK;
}

/* A method in work. */
struct work {
    struct edit   e;
    enum form     form;
    int           engine_joins;      /* exits: by the interface */
    mdToken       signature, object; /* of count functions; the type of all exceptions */
    DWORD         value, result;     /* locals */
    int           marker;            /* what local `value` has */
    int           returns;           /* 1: the method returns a value */
    IInstruction *exit;              /* the first instruction of the exit, referenced; NULL: none */
};

/* ---- locals ---------------------------------------------------------------------------------- */

static ITypeCreator *creator_of(struct edit *e)
{
    IModuleInfo  *module = NULL;
    ITypeCreator *creator = NULL;
    if (DO(e->p, e->method, GetModuleInfo, &module)) {
        DO(e->p, module, CreateTypeFactory, &creator);
        CALL(module, Release);
    }
    return creator;
}

/* The token of System.Object as a type specification. */
static mdToken object_type(struct edit *e)
{
    static const uint8_t signature[] = {ELEMENT_TYPE_OBJECT};
    IModuleInfo         *module = NULL;
    IUnknown            *unknown = NULL;
    mdToken              token = 0;
    if (!DO(e->p, e->method, GetModuleInfo, &module))
        return 0;
    if (DO(e->p, module, GetMetaDataEmit, &unknown)) {
        IMetaDataEmit *emit = (IMetaDataEmit *)(void *)unknown;
        DO(e->p, emit, GetTokenFromTypeSpec, signature, sizeof(signature), &token);
        CALL(emit, Release);
    }
    CALL(module, Release);
    return token;
}

static int add_locals(struct work *w)
{
    static const CorElementType others[] = {ELEMENT_TYPE_I8, ELEMENT_TYPE_R8, ELEMENT_TYPE_OBJECT,
                                            ELEMENT_TYPE_STRING, ELEMENT_TYPE_I};
    static const uint8_t        array[] = {ELEMENT_TYPE_SZARRAY, ELEMENT_TYPE_U1};
    struct plug                *p = w->e.p;
    ITypeCreator               *creator = creator_of(&w->e);
    ILocalVariableCollection   *locals = NULL;
    IType                      *type = NULL;
    CorElementType              element = ELEMENT_TYPE_VOID;
    DWORD                       before = 0, after = 0, size;
    int                         fine;
    if (!creator || !DO(p, w->e.method, GetLocalVariables, &locals))
        return 0;
    fine = DO(p, locals, GetCount, &before) &&
           DO(p, creator, FromCorElement, ELEMENT_TYPE_I4, &type) &&
           DO(p, locals, AddLocal, type, &w->value);
    if (type)
        CALL(type, Release);
    for (unsigned k = 0; fine && k < sizeof(others) / sizeof(others[0]); k++) {
        fine =
            DO(p, creator, FromCorElement, others[k], &type) && DO(p, locals, AddLocal, type, NULL);
        CALL(type, Release);
    }
    if (fine && DO(p, creator, FromSignature, sizeof(array), array, &type, &size)) {
        fine = DO(p, locals, AddLocal, type, NULL);
        CALL(type, Release);
    }
    if (fine && DO(p, w->e.method, GetReturnType, &type)) {
        CALL(type, GetCorElementType, &element);
        w->returns = element != ELEMENT_TYPE_VOID;
        if (element == ELEMENT_TYPE_BYREF && w->form != NOTHING)
            w->engine_joins = 0; /* the interface leaves a reference on the stack */
        if (w->returns && !w->engine_joins)
            fine = DO(p, locals, AddLocal, type, &w->result);
        CALL(type, Release);
    }
    DO(p, locals, GetCount, &after);
    if (fine && (w->value != before || after != before + 7 + (w->returns && !w->engine_joins))) {
        plug_say(p, "wrong numbers of locals: %u at %u, %u in the end", before, w->value, after);
        fine = 0;
    }
    CALL(locals, Release);
    CALL(creator, Release);
    return fine;
}

/* ---- the exit -------------------------------------------------------------------------------- */

/* Explicit tail calls become calls: they cannot leave a try block. */
static void remove_tail_prefixes(struct edit *e)
{
    int any = 0;
    for (unsigned k = 0; k < e->n; k++)
        if (e->op[k] == Cee_Tailcall)
            any |= DO(e->p, e->graph, Remove, e->at[k]);
    if (any)
        edit_list(e);
}

static IInstruction *append(struct edit *e, IInstruction *fresh)
{
    IInstruction *last = NULL;
    if (fresh && DO(e->p, e->graph, GetLastInstruction, &last)) {
        DO(e->p, e->graph, InsertAfter, last, fresh);
        CALL(last, Release);
    }
    return fresh;
}

static void drop(IInstruction *i)
{
    if (i)
        CALL(i, Release);
}

/* Replaces instruction number k by @with, which is released. */
static void replace(struct edit *e, unsigned k, IInstruction *with)
{
    if (!with)
        return;
    DO(e->p, e->graph, Replace, e->at[k], with);
    CALL(with, Release);
}

/* Gives the method one exit at its end, to which every ret branches, from a try block by leave. Code is
 * inserted at w->exit with an empty stack; in form 0 the reference that is returned is on it. */
static void join_by_hand(struct work *w)
{
    struct edit    *e = &w->e;
    ILOrdinalOpcode jump = w->form == NOTHING ? Cee_Br : Cee_Leave;
    unsigned        rets = 0;
    for (unsigned k = 0; k < e->n; k++)
        rets += e->op[k] == Cee_Ret;
    if (!rets)
        return;
    w->exit = append(e, edit_op(e, Cee_Nop));
    if (w->returns)
        drop(append(e, edit_load(e, w->result)));
    drop(append(e, edit_op(e, Cee_Ret)));
    for (unsigned k = 0; k < e->n; k++)
        if (e->op[k] == Cee_Ret) {
            if (w->returns)
                edit_insert(e, EDIT_RETARGET, e->at[k], edit_store(e, w->result));
            replace(e, k, edit_branch(e, jump, w->exit));
        }
}

static int goes_to(IInstruction *i, const IInstruction *there)
{
    IInstruction *target = NULL;
    void         *face = NULL;
    if (FAILED(CALL(i, QueryInterface, &IID_IBranchInstruction, &face)))
        return 0;
    CALL((IBranchInstruction *)face, GetBranchTarget, &target);
    CALL((IBranchInstruction *)face, Release);
    drop(target);
    return target == there;
}

/* Returns 0 if the interface changes nothing, since there is one ret or none. */
static int join_by_interface(struct work *w)
{
    struct edit                       *e = &w->e;
    ISingleRetDefaultInstrumentation  *one = NULL;
    ISingleRetDefaultInstrumentation2 *two;
    void                              *face = NULL;
    if (!DO(e->p, e->method, GetSingleRetDefaultInstrumentation, &one))
        return 0;
    if (DO(e->p, one, QueryInterface, &IID_ISingleRetDefaultInstrumentation2, &face)) {
        two = face;
        if (DO(e->p, two, Initialize, e->graph) &&
            DO(e->p, two, ApplySingleRetDefaultInstrumentation))
            DO(e->p, two, GetBranchTargetInstruction, &w->exit);
        CALL(two, Release);
    }
    CALL(one, Release);
    if (!w->exit)
        return 0;
    edit_list(e);
    for (unsigned k = 0; w->form != NOTHING && k < e->n; k++)
        if (e->op[k] == Cee_Br && goes_to(e->at[k], w->exit))
            replace(e, k, edit_branch(e, Cee_Leave, w->exit));
    return 1;
}

/* The interface adds no local for the result when it changes nothing. */
static int add_result(struct work *w)
{
    ILocalVariableCollection *locals = NULL;
    IType                    *type = NULL;
    int                       fine = 1;
    if (!w->returns)
        return 1;
    if (!DO(w->e.p, w->e.method, GetLocalVariables, &locals))
        return 0;
    fine = DO(w->e.p, w->e.method, GetReturnType, &type) &&
           DO(w->e.p, locals, AddLocal, type, &w->result);
    if (type)
        CALL(type, Release);
    CALL(locals, Release);
    return fine;
}

/* ---- clauses --------------------------------------------------------------------------------- */

/* Adds an instruction to the handler, which ends where the exit begins. Stores the first one and the last
 * one, without references: the graph holds them. */
static void add(struct work *w, IInstruction *ends[2], IInstruction *fresh)
{
    if (!fresh)
        return;
    if (w->exit)
        edit_insert(&w->e, EDIT_BEFORE, w->exit, fresh);
    else
        drop(append(&w->e, fresh));
    if (!ends[0])
        ends[0] = fresh;
    ends[1] = fresh;
}

static void add_call(struct work *w, IInstruction *ends[2], edit_function *function)
{
    add(w, ends, edit_long(&w->e, (int64_t)(intptr_t)w->e.p->own));
    add(w, ends, edit_op(&w->e, Cee_Conv_I));
    add(w, ends, edit_long(&w->e, (int64_t)(intptr_t)function));
    add(w, ends, edit_op(&w->e, Cee_Conv_I));
    add(w, ends, edit_token(&w->e, Cee_Calli, w->signature));
}

/* Adds a clause over the code from @block[0] to @block[1]. @block gets the last instruction of the handler. */
static void guard(struct work *w, IInstruction *block[2], enum form form)
{
    static const DWORD flags[] = {0, COR_ILEXCEPTION_CLAUSE_FINALLY, COR_ILEXCEPTION_CLAUSE_NONE,
                                  COR_ILEXCEPTION_CLAUSE_FAULT, COR_ILEXCEPTION_CLAUSE_FILTER};
    struct edit       *e = &w->e;
    IInstruction      *handler[2] = {0}, *filter[2] = {0};
    IExceptionSection *section = NULL;
    IExceptionClause  *clause = NULL;
    if (form == FILTER) {
        add(w, filter, edit_op(e, Cee_Pop));
        add_call(w, filter, count_IN_FILTER);
        add(w, filter, edit_const(e, 0));
        add(w, filter, edit_op(e, Cee_Endfilter));
    }
    if (form == FINALLY || form == FAULT) {
        add_call(w, handler, form == FAULT ? count_IN_FAULT : count_IN_FINALLY);
        add(w, handler, edit_op(e, Cee_Endfinally));
    } else {
        add(w, handler, edit_op(e, Cee_Pop));
        add_call(w, handler, count_IN_CATCH);
        add(w, handler, edit_op(e, Cee_Rethrow));
    }
    if (!DO(e->p, e->method, GetExceptionSection, &section))
        return;
    if (DO(e->p, section, AddNewExceptionClause, flags[form], block[0], block[1], handler[0],
           handler[1], filter[0], form == CATCH ? w->object : 0, &clause))
        CALL(clause, Release);
    CALL(section, Release);
    block[1] = handler[1];
}

static void add_clauses(struct work *w)
{
    struct edit  *e = &w->e;
    IInstruction *block[2] = {0};
    if (w->form == NOTHING)
        return;
    CALL(e->graph, GetFirstInstruction, &block[0]);
    if (w->exit)
        CALL(w->exit, GetPreviousInstruction, &block[1]);
    else
        CALL(e->graph, GetLastInstruction, &block[1]);
    drop(block[0]); /* the graph holds them */
    drop(block[1]);
    if (!plug_succeeds(e->p, block[0] && block[1] ? S_OK : E_FAIL, "finding the ends of the code"))
        return;
    guard(w, block, w->form == NESTED ? CATCH : w->form);
    if (w->form == NESTED)
        guard(w, block, FINALLY);
}

/* ---- methods --------------------------------------------------------------------------------- */

/* Compares the local's value at the exit. */
static void check_value(struct work *w)
{
    struct edit  *e = &w->e;
    IInstruction *fine = edit_op(e, Cee_Nop);
    if (!fine)
        return;
    edit_insert_call(e, EDIT_RETARGET, w->exit, count_LEFT, w->signature);
    edit_insert(e, EDIT_BEFORE, w->exit, edit_load(e, w->value));
    edit_insert(e, EDIT_BEFORE, w->exit, edit_const(e, w->marker));
    edit_insert(e, EDIT_BEFORE, w->exit, edit_branch(e, Cee_Beq, fine));
    edit_insert_call(e, EDIT_BEFORE, w->exit, count_WRONG, w->signature);
    edit_insert(e, EDIT_BEFORE, w->exit, fine);
}

static void enter(struct work *w)
{
    struct edit  *e = &w->e;
    IInstruction *first = NULL;
    if (!DO(e->p, e->graph, GetFirstInstruction, &first))
        return;
    edit_insert_call(e, EDIT_BEFORE, first, count_ENTERED, w->signature);
    if (w->form == FINALLY || w->form == NESTED)
        edit_insert_call(e, EDIT_BEFORE, first, count_GUARDED, w->signature);
    edit_insert(e, EDIT_BEFORE, first, edit_const(e, w->marker));
    edit_insert(e, EDIT_BEFORE, first, edit_store(e, w->value));
    CALL(first, Release);
}

static int has_jump(const struct edit *e)
{
    for (unsigned k = 0; k < e->n; k++)
        if (e->op[k] == Cee_Jmp)
            return 1;
    return 0;
}

static int change(struct work *w)
{
    struct own *own = w->e.p->own;
    if (!add_locals(w))
        return 0;
    remove_tail_prefixes(&w->e);
    if (w->engine_joins && join_by_interface(w)) {
        atomic_fetch_add(&own->joined, 1);
    } else {
        if (w->engine_joins && !add_result(w))
            return 0;
        join_by_hand(w);
    }
    add_clauses(w);
    enter(w);
    if (w->exit)
        check_value(w);
    return 1;
}

HRESULT plug_should(struct plug *p, IMethodInfo *method, BOOL is_rejit, BOOL *wants)
{
    (void)is_rejit;
    *wants = edit_is_wanted(p, method);
    return S_OK;
}

HRESULT plug_instrument(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    struct own *own = p->own;
    struct work w = {.signature = edit_call_signature(p, method)};
    const char *form = getenv("PLUG_FORM");
    mdToken     token = 0;
    (void)is_rejit;
    CALL(method, GetMethodToken, &token);
    w.form = form ? (enum form)(atoi(form) % N_FORMS) : token / 2 % N_FORMS;
    w.engine_joins = token % 2;
    w.marker = (int)token;
    if (!w.signature || !edit_begin(&w.e, p, method)) {
        plug_say(p, "cannot change %s", plug_method_name(p, method));
        return S_OK;
    }
    w.object = object_type(&w.e);
    if (has_jump(&w.e))
        atomic_fetch_add(&own->jumps, 1);
    else if (change(&w)) {
        atomic_fetch_add(&own->methods, 1);
        atomic_fetch_add(&own->forms[w.form], 1);
    } else
        plug_say(p, "cannot change %s", plug_method_name(p, method));
    drop(w.exit);
    edit_end(&w.e);
    return S_OK;
}

HRESULT plug_complete(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    struct own *own = p->own;
    (void)method;
    (void)is_rejit;
    atomic_fetch_add(&own->completed, 1);
    return S_OK;
}
