/* SPDX-License-Identifier: MIT */
/**
 * edit.h - what plug-ins of tests that change code share: an instruction graph as an array, and
 * shorter ways to make and insert instructions.
 *
 * A failure of a slot that must succeed is counted in plug_failed, and the first ones are printed.
 */
#ifndef SXS_TESTS_CLRIE_EDIT_H
#define SXS_TESTS_CLRIE_EDIT_H

#include "tests/clrie/plugin.h"

/** Calls a slot of an object. */
#define CALL(object, slot, ...) ((object)->vtbl->slot((object), ##__VA_ARGS__))

static atomic_uint plug_failed __attribute__((unused)); /* slots that failed and must not have */

/** Says that a slot failed which must succeed. Returns 1 if it succeeded. */
static inline int plug_succeeds(const struct plug *p, HRESULT hr, const char *what)
{
    if (SUCCEEDED(hr))
        return 1;
    if (atomic_fetch_add(&plug_failed, 1) < 10)
        plug_say(p, "%s failed: %#x", what, (unsigned)hr);
    return 0;
}

/** Calls a slot that must succeed. The value is 1 if it does. */
#define DO(p, object, slot, ...) plug_succeeds((p), CALL(object, slot, ##__VA_ARGS__), #slot)

/** Calls @look for each module of each AppDomain that the plug-in can find. */
static inline void plug_each_module(struct plug *p,
                                    void (*look)(struct plug *p, IModuleInfo *module))
{
    IAppDomainCollection *domains = NULL;
    IEnumAppDomainInfo   *all = NULL;
    IAppDomainInfo       *domain = NULL;
    IEnumModuleInfo      *modules = NULL;
    IModuleInfo          *module = NULL;
    ULONG                 n = 0;
    if (!DO(p, p->manager, GetAppDomainCollection, &domains))
        return;
    if (DO(p, domains, GetAppDomains, &all)) {
        while (CALL(all, Next, 1, &domain, &n) == S_OK) {
            if (DO(p, domain, GetModules, &modules)) {
                while (CALL(modules, Next, 1, &module, &n) == S_OK) {
                    look(p, module);
                    CALL(module, Release);
                }
                CALL(modules, Release);
            }
            CALL(domain, Release);
        }
        CALL(all, Release);
    }
    CALL(domains, Release);
}

/** A method that is being changed. */
struct edit {
    struct plug         *p;
    IMethodInfo         *method; /* borrowed */
    IInstructionGraph   *graph;
    IInstructionFactory *factory;
    IInstruction       **at; /* the instructions, each with a reference */
    ILOrdinalOpcode     *op;
    char                *is_target; /* 1: a branch or a switch goes to it */
    unsigned             n;
};

static inline ILOrdinalOpcode edit_opcode(IInstruction *i)
{
    ILOrdinalOpcode op = Cee_Nop;
    CALL(i, GetOpCode, &op);
    return op;
}

/* The number of an instruction, or n. */
static inline unsigned edit_index(const struct edit *e, const IInstruction *i)
{
    unsigned k = 0;
    while (k < e->n && e->at[k] != i)
        k++;
    return k;
}

static inline void edit_mark(struct edit *e, IInstruction *target)
{
    unsigned k = edit_index(e, target);
    if (k < e->n)
        e->is_target[k] = 1;
}

static inline void edit_mark_targets(struct edit *e, IInstruction *i)
{
    IInstruction *target = NULL;
    void         *face = NULL;
    DWORD         n = 0;
    if (SUCCEEDED(CALL(i, QueryInterface, &IID_IBranchInstruction, &face))) {
        IBranchInstruction *branch = face;
        if (DO(e->p, branch, GetBranchTarget, &target) && target) {
            edit_mark(e, target);
            CALL(target, Release);
        }
        CALL(branch, Release);
    } else if (SUCCEEDED(CALL(i, QueryInterface, &IID_ISwitchInstruction, &face))) {
        ISwitchInstruction *many = face;
        CALL(many, GetBranchCount, &n);
        for (DWORD k = 0; k < n; k++)
            if (DO(e->p, many, GetBranchTarget, k, &target) && target) {
                edit_mark(e, target);
                CALL(target, Release);
            }
        CALL(many, Release);
    }
}

/** Lists the instructions of a graph again, after changes. */
static inline int edit_list(struct edit *e)
{
    IInstruction *i = NULL, *next;
    unsigned      room = 0;
    for (unsigned k = 0; k < e->n; k++)
        CALL(e->at[k], Release);
    free(e->at), free(e->op), free(e->is_target);
    e->at = NULL, e->op = NULL, e->is_target = NULL, e->n = 0;
    if (FAILED(CALL(e->graph, GetFirstInstruction, &i)) || !i)
        return 0;
    for (; i; i = next) {
        if (e->n == room) {
            room = room ? 2 * room : 64;
            e->at = realloc(e->at, room * sizeof(IInstruction *));
            e->op = realloc(e->op, room * sizeof(e->op[0]));
        }
        e->at[e->n] = i;
        e->op[e->n++] = edit_opcode(i);
        next = NULL;
        if (FAILED(CALL(i, GetNextInstruction, &next)))
            next = NULL;
    }
    e->is_target = calloc(e->n, 1);
    for (unsigned k = 0; k < e->n; k++)
        edit_mark_targets(e, e->at[k]);
    return 1;
}

/** Begins to change a method. Returns 0 if it has no code. */
static inline int edit_begin(struct edit *e, struct plug *p, IMethodInfo *method)
{
    *e = (struct edit){.p = p, .method = method};
    return SUCCEEDED(CALL(method, GetInstructions, &e->graph)) &&
           DO(p, method, GetInstructionFactory, &e->factory) && edit_list(e);
}

static inline void edit_end(struct edit *e)
{
    for (unsigned k = 0; k < e->n; k++)
        CALL(e->at[k], Release);
    free(e->at), free(e->op), free(e->is_target);
    if (e->factory)
        CALL(e->factory, Release);
    if (e->graph)
        CALL(e->graph, Release);
}

/** Where new instructions go: before an instruction. */
enum edit_where {
    EDIT_BEFORE,   /* branches to it still go to it */
    EDIT_RETARGET, /* branches to it go to the new instruction */
};

/** Inserts an instruction and releases it. */
static inline void edit_insert(struct edit *e, enum edit_where where, IInstruction *at,
                               IInstruction *fresh)
{
    if (!fresh)
        return;
    if (where == EDIT_RETARGET)
        DO(e->p, e->graph, InsertBeforeAndRetargetOffsets, at, fresh);
    else
        DO(e->p, e->graph, InsertBefore, at, fresh);
    CALL(fresh, Release);
}

/* Makers of instructions. Each returns one reference, or NULL. */
static inline IInstruction *edit_op(struct edit *e, ILOrdinalOpcode op)
{
    IInstruction *i = NULL;
    DO(e->p, e->factory, CreateInstruction, op, &i);
    return i;
}
static inline IInstruction *edit_token(struct edit *e, ILOrdinalOpcode op, mdToken token)
{
    IInstruction *i = NULL;
    DO(e->p, e->factory, CreateTokenOperandInstruction, op, token, &i);
    return i;
}
static inline IInstruction *edit_long(struct edit *e, int64_t value)
{
    IInstruction *i = NULL;
    DO(e->p, e->factory, CreateLongOperandInstruction, Cee_Ldc_I8, value, &i);
    return i;
}
static inline IInstruction *edit_const(struct edit *e, int value)
{
    IInstruction *i = NULL;
    DO(e->p, e->factory, CreateLoadConstInstruction, value, &i);
    return i;
}
static inline IInstruction *edit_load(struct edit *e, unsigned local)
{
    IInstruction *i = NULL;
    DO(e->p, e->factory, CreateLoadLocalInstruction, (USHORT)local, &i);
    return i;
}
static inline IInstruction *edit_store(struct edit *e, unsigned local)
{
    IInstruction *i = NULL;
    DO(e->p, e->factory, CreateStoreLocalInstruction, (USHORT)local, &i);
    return i;
}
static inline IInstruction *edit_branch(struct edit *e, ILOrdinalOpcode op, IInstruction *target)
{
    IInstruction *i = NULL;
    DO(e->p, e->factory, CreateBranchInstruction, op, target, &i);
    return i;
}

/** A function of the plug-in that inserted code calls. */
typedef void edit_function(void *own);

/** The signature void(native int), as a token of the method's module. 0 after a failure. */
static inline mdToken edit_call_signature(struct plug *p, IMethodInfo *method)
{
    static const uint8_t signature[] = {0, 1, ELEMENT_TYPE_VOID, ELEMENT_TYPE_I};
    IModuleInfo         *module = NULL;
    IUnknown            *unknown = NULL;
    mdToken              token = 0;
    if (!DO(p, method, GetModuleInfo, &module))
        return 0;
    if (DO(p, module, GetMetaDataEmit, &unknown)) {
        IMetaDataEmit *emit = (IMetaDataEmit *)(void *)unknown; /* the interface itself */
        DO(p, emit, GetTokenFromSig, signature, sizeof(signature), &token);
        CALL(emit, Release);
    }
    CALL(module, Release);
    return token;
}

/** Inserts a call of @function(p->own) before an instruction. The signature is that of
 *  edit_call_signature(). */
static inline void edit_insert_call(struct edit *e, enum edit_where where, IInstruction *at,
                                    edit_function *function, mdToken signature)
{
    edit_insert(e, where, at, edit_long(e, (int64_t)(intptr_t)e->p->own));
    edit_insert(e, EDIT_BEFORE, at, edit_op(e, Cee_Conv_I));
    edit_insert(e, EDIT_BEFORE, at, edit_long(e, (int64_t)(intptr_t)function));
    edit_insert(e, EDIT_BEFORE, at, edit_op(e, Cee_Conv_I));
    edit_insert(e, EDIT_BEFORE, at, edit_token(e, Cee_Calli, signature));
}

/** 1 if instruction number k is the ret of an explicit tail call: nothing may come before it. */
static inline int edit_ends_tail_call(const struct edit *e, unsigned k)
{
    for (unsigned back = 1; back <= 4 && back <= k; back++)
        if (e->op[k - back] == Cee_Tailcall)
            return 1;
    return 0;
}

/** 1 if instruction number k is modified by a prefix: nothing may come between. */
static inline int edit_has_prefix(const struct edit *e, unsigned k)
{
    if (!k)
        return 0;
    switch ((int)e->op[k - 1]) {
    case Cee_Tailcall:
    case Cee_Constrained:
    case Cee_Volatile:
    case Cee_Unaligned:
    case Cee_Readonly: return 1;
    default: return 0;
    }
}

/** The file name of a method's module, in a static buffer of the thread. */
static inline const char *edit_module(struct plug *p, IMethodInfo *method)
{
    IModuleInfo *module = NULL;
    BSTR         name = NULL;
    const char  *text = "?";
    if (FAILED(CALL(method, GetModuleInfo, &module)))
        return text;
    if (SUCCEEDED(CALL(module, GetModuleName, &name)))
        text = plug_text(p, name);
    CALL(module, Release);
    return strrchr(text, '/') ? strrchr(text, '/') + 1 : text;
}

/** 1 if PLUG_ONLY is unset, or is part of the file name of the method's module. */
static inline int edit_is_wanted(struct plug *p, IMethodInfo *method)
{
    const char *only = getenv("PLUG_ONLY");
    return !only || strstr(edit_module(p, method), only) != NULL;
}

#endif
