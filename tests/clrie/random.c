/* SPDX-License-Identifier: MIT */
/*
 * random.c - a plug-in that makes random edits, right and wrong ones, in methods of the modules whose file
 * name contains PLUG_ONLY. RANDOM_SEED: a number. The edits of a method depend on the seed, its module's
 * name and its token only, so that each instance of a generic method gets the same.
 *
 * The checker of the library does not check types. So the edits never give an instruction a value of another
 * type than before: paths meet with an empty stack, or with different heights, and numbers that are not popped
 * lie below the program's values. What may be wrong is what the checker checks: stack heights, branches,
 * clauses, prefixes, numbers of arguments and locals. The methods are to be compiled, not to be run.
 *
 * For each method it prints `edited MODULE TOKEN: EDITS`, and `accepted MODULE TOKEN` when the engine
 * has given the new code to the runtime; after the compilation `compiled MODULE TOKEN STATUS` with the engine's
 * GetILTransformationStatus. RANDOM_WRONG: each method also gets a pop at its beginning, which is always wrong;
 * then the methods may be run, since all must stay as they are.
 */
#include "tests/clrie/edit.h"

const char     plug_name[] = "random";
const unsigned plug_has = PLUG_JIT;

struct own {
    atomic_uint edited, accepted;
    uint64_t    seed;
};

HRESULT plug_initialize(struct plug *p)
{
    const char *seed = getenv("RANDOM_SEED");
    struct own *own = p->own = calloc(1, sizeof(struct own));
    if (!own)
        return E_OUTOFMEMORY;
    own->seed = seed ? strtoull(seed, NULL, 0) : 1;
    plug_say(p, "seed %llu", (unsigned long long)own->seed);
    return S_OK;
}

HRESULT plug_shutdown(struct plug *p)
{
    plug_say(p, "failed %u", plug_failed);
    return S_OK;
}

enum { PROBES = 6 };

/* A method in work. */
struct work {
    struct edit e;
    uint64_t    dice;
    mdToken     method, object;
    unsigned    n_locals, n_args, local; /* `local`: an int32 of this plug-in */
    int         returns, is_generic;
    /* Instructions before which the stack is empty in the original code, and others; borrowed. */
    IInstruction *empty[PROBES], *full[PROBES];
    unsigned      n_empty, n_full;
    char          edits[300]; /* for the output */
    size_t        n_edits;
};

static unsigned roll(struct work *w, unsigned below)
{
    w->dice ^= w->dice << 13;
    w->dice ^= w->dice >> 7;
    w->dice ^= w->dice << 17;
    return (unsigned)((w->dice * 0x2545f4914f6cdd1du >> 33) % below);
}

static uint64_t hash(uint64_t seed, const char *text, mdToken token)
{
    uint64_t h = (seed * 0x9e3779b97f4a7c15u) ^ 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 0x100000001b3u;
    h = (h ^ token) * 0x100000001b3u;
    return (h ^ h >> 31) | 1;
}

static void note(struct work *w, const char *what, unsigned at)
{
    int n = snprintf(w->edits + w->n_edits, sizeof(w->edits) - w->n_edits, " %s@%u", what, at);
    if (n > 0 && (size_t)n < sizeof(w->edits) - w->n_edits)
        w->n_edits += (size_t)n;
}

/* ---- parts of edits -------------------------------------------------------------------------- */

static unsigned any(struct work *w)
{
    return roll(w, w->e.n);
}

/* The height of the stack before instruction number k of a graph without errors: the engine says how much
 * stack it needs, with `most` more values at k than it needed before. -1: unknown. */
static int height(struct work *w, unsigned k, DWORD most)
{
    struct edit   *e = &w->e;
    IInstruction **fresh = calloc(2 * (size_t)most, sizeof(*fresh));
    DWORD          n = 0;
    int            fine = fresh != NULL;
    for (unsigned i = 0; fine && i < 2 * most; i++) {
        fresh[i] = edit_op(e, i < most ? Cee_Ldc_I4_0 : Cee_Pop);
        fine = fresh[i] && DO(e->p, e->graph, InsertBefore, e->at[k], fresh[i]);
    }
    fine = fine && DO(e->p, e->method, GetMaxStack, &n);
    for (unsigned i = 0; fresh && i < 2 * most; i++)
        if (fresh[i]) {
            DO(e->p, e->graph, Remove, fresh[i]);
            CALL(fresh[i], Release);
        }
    free(fresh);
    return fine && n >= most ? (int)(n - most) : -1;
}

/* Finds some instructions before which the stack is empty, or not. */
static void find_places(struct work *w)
{
    DWORD most = 0;
    if (!DO(w->e.p, w->e.method, GetMaxStack, &most))
        return;
    for (int i = 0; i < PROBES; i++) {
        unsigned k = i ? any(w) : 0;
        int      h = edit_has_prefix(&w->e, k) ? -1 : height(w, k, most + 1);
        if (h == 0 && w->n_empty < PROBES)
            w->empty[w->n_empty++] = w->e.at[k];
        if (h > 0 && w->n_full < PROBES)
            w->full[w->n_full++] = w->e.at[k];
    }
}

/* The number of an instruction where the stack was empty (of the first one, if that was removed). */
static unsigned empty_place(struct work *w)
{
    unsigned k = w->n_empty ? edit_index(&w->e, w->empty[roll(w, w->n_empty)]) : w->e.n;
    return k < w->e.n ? k : 0;
}

/* A place for a branch, and its target: at least at one of them the stack was empty. */
static IInstruction *target(struct work *w, unsigned *k)
{
    unsigned to = empty_place(w);
    if (roll(w, 3) == 0)
        *k = empty_place(w);
    if (roll(w, 4) == 0 && w->n_full) {
        *k = empty_place(w);
        to = edit_index(&w->e, w->full[roll(w, w->n_full)]);
    }
    return w->e.at[to < w->e.n ? to : 0];
}

static void put(struct work *w, unsigned k, IInstruction *fresh)
{
    edit_insert(&w->e, EDIT_BEFORE, w->e.at[k], fresh);
}

/* The first of new instructions: branches go to it or not. */
static void put_first(struct work *w, unsigned k, IInstruction *fresh)
{
    edit_insert(&w->e, roll(w, 2) ? EDIT_RETARGET : EDIT_BEFORE, w->e.at[k], fresh);
}

static IInstruction *number(struct work *w, ILOrdinalOpcode op, unsigned operand)
{
    IInstruction *i = NULL;
    DO(w->e.p, w->e.factory, CreateUShortOperandInstruction, op, (USHORT)operand, &i);
    return i;
}

static void add_clause(struct work *w, DWORD flags, IInstruction *const parts[5])
{
    IExceptionSection *section = NULL;
    IExceptionClause  *clause = NULL;
    if (!DO(w->e.p, w->e.method, GetExceptionSection, &section))
        return;
    if (DO(w->e.p, section, AddNewExceptionClause, flags, parts[0], parts[1], parts[2], parts[3],
           flags == COR_ILEXCEPTION_CLAUSE_FILTER ? parts[4] : NULL, flags ? 0 : w->object,
           &clause))
        CALL(clause, Release);
    CALL(section, Release);
}

/* ---- edits that are right unless the place is wrong -------------------------------------------- */

static void load_and_drop(struct work *w, unsigned k)
{
    put_first(w, k, edit_const(&w->e, (int)roll(w, 300) - 100));
    put(w, k, edit_op(&w->e, Cee_Pop));
}

static void no_operation(struct work *w, unsigned k)
{
    put_first(w, k, edit_op(&w->e, Cee_Nop));
}

static void duplicate(struct work *w, unsigned k)
{
    put_first(w, k, edit_op(&w->e, Cee_Dup));
    put(w, k, edit_op(&w->e, Cee_Pop));
}

static void store(struct work *w, unsigned k)
{
    put_first(w, k, edit_const(&w->e, 5));
    put(w, k, edit_store(&w->e, w->local));
}

static void argument(struct work *w, unsigned k)
{
    put_first(w, k, number(w, Cee_Ldarg, roll(w, w->n_args + 1)));
    put(w, k, edit_op(&w->e, Cee_Pop));
}

static void local(struct work *w, unsigned k)
{
    put_first(w, k, number(w, Cee_Ldloc, roll(w, w->n_locals + 1)));
    put(w, k, edit_op(&w->e, Cee_Pop));
}

static void skip(struct work *w, unsigned k)
{
    put_first(w, k, edit_const(&w->e, 0));
    put(w, k, edit_branch(&w->e, Cee_Brtrue, w->e.at[k]));
}

static void branch_if(struct work *w, unsigned k)
{
    IInstruction *to = target(w, &k);
    put_first(w, k, edit_const(&w->e, 0));
    put(w, k, edit_branch(&w->e, roll(w, 2) ? Cee_Brtrue : Cee_Brfalse_S, to));
}

static void many_branches(struct work *w, unsigned k)
{
    IInstruction *targets[3] = {target(w, &k), NULL, NULL}, *i = NULL;
    targets[1] = w->e.at[k];
    targets[2] = targets[roll(w, 2)];
    put_first(w, k, edit_const(&w->e, 7));
    DO(w->e.p, w->e.factory, CreateSwitchInstruction, Cee_Switch, roll(w, 4), targets, &i);
    put(w, k, i);
}

static void allocate(struct work *w, unsigned k)
{
    put_first(w, k, edit_const(&w->e, 8));
    put(w, k, edit_op(&w->e, Cee_Conv_U));
    put(w, k, edit_op(&w->e, Cee_Localloc));
    put(w, k, edit_op(&w->e, Cee_Pop));
}

/* try { nop; leave } handler { nop; end }: right where the stack is empty. */
static void small_block(struct work *w, unsigned k)
{
    static const DWORD flags[] = {COR_ILEXCEPTION_CLAUSE_NONE, COR_ILEXCEPTION_CLAUSE_FINALLY,
                                  COR_ILEXCEPTION_CLAUSE_FAULT};
    struct edit       *e = &w->e;
    unsigned           kind = roll(w, 3);
    IInstruction      *try = edit_op(e, Cee_Nop), *leave = edit_branch(e, Cee_Leave, e->at[k]);
    IInstruction      *handler = edit_op(e, kind ? Cee_Nop : Cee_Pop);
    IInstruction      *end =
        kind && roll(w, 8) ? edit_op(e, Cee_Endfinally) : edit_branch(e, Cee_Leave, e->at[k]);
    IInstruction *const parts[5] = {try, leave, handler, end, NULL};
    put_first(w, k, try); /* the graph holds what it has */
    put(w, k, leave);
    put(w, k, handler);
    put(w, k, end);
    if (plug_succeeds(e->p, try && leave && handler && end ? S_OK : E_FAIL, "a small block"))
        add_clause(w, flags[kind], parts);
}

/* ---- edits that are mostly wrong --------------------------------------------------------------- */

static void load(struct work *w, unsigned k)
{
    k = empty_place(w);
    put_first(w, k, edit_const(&w->e, 1));
}

static void drop(struct work *w, unsigned k)
{
    k = empty_place(w);
    put_first(w, k, edit_op(&w->e, Cee_Pop));
}

static void go(struct work *w, unsigned k)
{
    IInstruction *to = target(w, &k);
    put_first(w, k, edit_branch(&w->e, roll(w, 3) ? Cee_Br : Cee_Leave, to));
}

static void end(struct work *w, unsigned k)
{
    static const ILOrdinalOpcode ops[] = {Cee_Ret, Cee_Endfinally, Cee_Endfilter, Cee_Rethrow};
    ILOrdinalOpcode              op = ops[roll(w, 4)];
    if (op == Cee_Endfilter || (op == Cee_Ret && w->returns))
        k = empty_place(w); /* they take a value */
    put_first(w, k, edit_op(&w->e, op));
}

static void prefix(struct work *w, unsigned k)
{
    static const ILOrdinalOpcode ops[] = {Cee_Tailcall, Cee_Volatile, Cee_Readonly};
    unsigned                     which = roll(w, 4);
    IInstruction                *i = NULL;
    if (which < 3)
        i = edit_op(&w->e, ops[which]);
    else
        DO(w->e.p, w->e.factory, CreateByteOperandInstruction, Cee_Unaligned, 1, &i);
    put_first(w, k, i);
}

/* A jump to the method itself. The token of a generic method means none of its instances. */
static void jump(struct work *w, unsigned k)
{
    if (w->is_generic)
        return;
    put_first(w, k, edit_token(&w->e, Cee_Jmp, w->method));
}

/* Removes an instruction that uses no value of the program. */
static void take(struct work *w, unsigned k)
{
    for (unsigned tries = 0; tries < 40 && w->e.n > 1; tries++, k = any(w))
        switch ((int)w->e.op[k]) {
        case Cee_Nop:
        case Cee_Br:
        case Cee_Leave:
        case Cee_Ret:
        case Cee_Endfinally:
        case Cee_Rethrow:
        case Cee_Tailcall:
        case Cee_Volatile:
        case Cee_Readonly:
            DO(w->e.p, w->e.graph, Remove, w->e.at[k]);
            edit_list(&w->e);
            return;
        default: break;
        }
}

static void clause(struct work *w, unsigned k)
{
    static const DWORD flags[] = {0, 1, 2, 4, 3, 8};
    IInstruction      *parts[5] = {w->e.at[k]};
    for (unsigned i = 1; i < 5; i++) {
        if (roll(w, 2))
            k += roll(w, 4);
        else
            k = any(w);
        parts[i] = w->e.at[k % w->e.n];
    }
    add_clause(w, flags[roll(w, 6)], parts);
}

static void remove_clauses(struct work *w, unsigned k)
{
    IExceptionSection *section = NULL;
    (void)k;
    if (!DO(w->e.p, w->e.method, GetExceptionSection, &section))
        return;
    DO(w->e.p, section, RemoveAllExceptionClauses);
    CALL(section, Release);
}

static const struct {
    const char *name;
    void (*make)(struct work *, unsigned k);
} edits[] = {
    {"load_and_drop", load_and_drop},
    {"no_operation", no_operation},
    {"duplicate", duplicate},
    {"store", store},
    {"argument", argument},
    {"local", local},
    {"skip", skip},
    {"branch_if", branch_if},
    {"many_branches", many_branches},
    {"allocate", allocate},
    {"small_block", small_block},
    {"load", load},
    {"drop", drop},
    {"go", go},
    {"end", end},
    {"prefix", prefix},
    {"jump", jump},
    {"take", take},
    {"clause", clause},
    {"remove_clauses", remove_clauses},
};
enum { N_EDITS = sizeof(edits) / sizeof(edits[0]), N_RIGHT = 11 };

/* ---- methods --------------------------------------------------------------------------------- */

/* Adds an int32 local; counts arguments; finds the type of all exceptions. */
static int prepare(struct work *w)
{
    static const uint8_t      object[] = {ELEMENT_TYPE_OBJECT};
    struct plug              *p = w->e.p;
    IModuleInfo              *module = NULL;
    IUnknown                 *unknown = NULL;
    ITypeCreator             *creator = NULL;
    ILocalVariableCollection *locals = NULL;
    IType                    *type = NULL;
    BYTE                      signature[1000];
    DWORD                     size = 0;
    int                       fine = 0;
    if (!DO(p, w->e.method, GetModuleInfo, &module))
        return 0;
    if (DO(p, module, GetMetaDataEmit, &unknown)) {
        IMetaDataEmit *emit = (IMetaDataEmit *)(void *)unknown;
        DO(p, emit, GetTokenFromTypeSpec, object, sizeof(object), &w->object);
        CALL(emit, Release);
    }
    if (DO(p, module, CreateTypeFactory, &creator) &&
        DO(p, w->e.method, GetLocalVariables, &locals) &&
        DO(p, creator, FromCorElement, ELEMENT_TYPE_I4, &type) &&
        DO(p, locals, AddLocal, type, &w->local) && DO(p, locals, GetCount, &w->n_locals))
        fine = 1;
    if (SUCCEEDED(CALL(w->e.method, GetCorSignature, sizeof(signature), signature, &size)) &&
        size > 2) {
        unsigned at =
            signature[0] & 0x10 ? 2 : 1; /* generic: the number of parameters comes first */
        w->n_args = signature[at] + (signature[0] & 0x20 ? 1 : 0);
        w->returns = signature[at + 1] != ELEMENT_TYPE_VOID;
    }
    w->is_generic = strpbrk(plug_method_name(p, w->e.method), "`<") != NULL;
    if (type)
        CALL(type, Release);
    if (locals)
        CALL(locals, Release);
    if (creator)
        CALL(creator, Release);
    CALL(module, Release);
    return fine;
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
    struct work w = {0};
    const char *only = getenv("RANDOM_EDIT"); /* number of an edit: this one only */
    unsigned    n, among;
    int         several;
    (void)is_rejit;
    CALL(method, GetMethodToken, &w.method);
    w.dice = hash(own->seed, edit_module(p, method), w.method);
    for (int i = 0; i < 8; i++)
        roll(&w, 2);
    if (!edit_begin(&w.e, p, method) || !prepare(&w)) {
        plug_say(p, "cannot change %s", plug_method_name(p, method));
        return S_OK;
    }
    find_places(&w);
    n = 1 + roll(&w, 3);
    if (n > 1) /* another edit could cut off the paths that had other heights */
        w.n_full = 0;
    among = roll(&w, 3) ? N_EDITS : N_RIGHT;
    several = n > 1;
    while (n--) {
        unsigned what = roll(&w, among), k = any(&w);
        if (only && *only)
            what = (unsigned)atoi(only) % N_EDITS;
        if (several && (edits[what].make == load || edits[what].make == drop))
            what = 0; /* with another edit, values of two types could meet at one height */
        note(&w, edits[what].name, k);
        edits[what].make(&w, k);
        edit_list(&w.e);
    }
    if (getenv("RANDOM_WRONG") && w.e.n)
        put(&w, 0, edit_op(&w.e, Cee_Pop));
    plug_say(p, "edited %s %08x:%s", edit_module(p, method), w.method, w.edits);
    edit_end(&w.e);
    return S_OK;
}

HRESULT plug_complete(struct plug *p, IMethodInfo *method, BOOL is_rejit)
{
    mdToken token = 0;
    (void)is_rejit;
    if (!edit_is_wanted(p, method))
        return S_OK;
    CALL(method, GetMethodToken, &token);
    plug_say(p, "accepted %s %08x", edit_module(p, method), token);
    return S_OK;
}

HRESULT plug_jit_complete(struct plug *p, IMethodJitInfo *compiled)
{
    IModuleInfo *module = NULL;
    IMethodInfo *method = NULL;
    FunctionID   function = 0;
    BOOL         status = 0;
    mdToken      token = 0;
    if (FAILED(CALL(compiled, GetModuleInfo, &module))) /* a dynamic method */
        return S_OK;
    CALL(compiled, GetFunctionID, &function);
    if (DO(p, module, GetMethodInfoById, function, &method)) {
        if (edit_is_wanted(p, method) && DO(p, compiled, GetILTransformationStatus, &status)) {
            CALL(method, GetMethodToken, &token);
            plug_say(p, "compiled %s %08x %d", edit_module(p, method), token, status);
        }
        CALL(method, Release);
    }
    CALL(module, Release);
    return S_OK;
}
