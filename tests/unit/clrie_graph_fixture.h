/* SPDX-License-Identifier: MIT */
/** clrie_graph_fixture.h - instruction graphs of bodies in ilasm's syntax, used through the interfaces as a
 *  plug-in uses them. */
#ifndef SXS_TESTS_CLRIE_GRAPH_FIXTURE_H
#define SXS_TESTS_CLRIE_GRAPH_FIXTURE_H

#include <stdlib.h>

#include "tests/unit/il_fixture.h"

#include <stdio.h>

#include "clrie/graph/internal.h"
#include "clrie/object/strings.h"

/** Calls a slot of an interface. */
#define CALL(object, slot, ...) ((object)->vtbl->slot((object), ##__VA_ARGS__))
#define OK(call)                assert_int_equal((call), S_OK)
#define RELEASE(object)         ((void)CALL(object, Release))

struct fixture {
    struct clrie_graph_method method;
    struct clrie_graph       *view;
    IInstructionGraph        *graph; /* of view */
    IInstructionFactory      *factory;
};

/* A method's IMethodInfo that counts its references. */
static int fixture_info_refs = 1;

static ULONG fixture_info_AddRef(IMethodInfo *self)
{
    (void)self;
    return (ULONG)++fixture_info_refs;
}

static ULONG fixture_info_Release(IMethodInfo *self)
{
    (void)self;
    return (ULONG)--fixture_info_refs;
}

static const IMethodInfoVtbl fixture_info_vtbl = {.AddRef = fixture_info_AddRef,
                                                  .Release = fixture_info_Release};
static IMethodInfo           fixture_info = {&fixture_info_vtbl};

/** Makes the graph of a method with two arguments, four locals and the code @text. */
static inline void fixture_begin(struct fixture *f, const char *text, int returns)
{
    struct sxs_il_body *body = fixture_body(text);
    const uint8_t      *bytes;
    size_t              size;
    *f = (struct fixture){.method = {.info = &fixture_info, .il = fixture_method(returns)}};
    bytes = fixture_write(body, returns, &size);
    OK(clrie_graph_new(&f->method, bytes, size, &f->view));
    sxs_il_free(body);
    f->graph = clrie_face(&f->view->object, 0);
    f->factory = clrie_face((struct clrie_object *)clrie_factory_new(), 0);
}

static inline void fixture_end(struct fixture *f)
{
    clrie_graph_free(f->view);
    RELEASE(f->factory);
    assert_int_equal(fixture_info_refs, 1);
}

/** The instructions with their present offsets, see fixture_text(). */
static inline const char *fixture_code(struct fixture *f)
{
    sxs_il_offsets(f->view->body);
    return fixture_text(f->view->body);
}

/** Instruction @n of the list, without a reference: the graph holds it. */
static inline IInstruction *fixture_at(struct fixture *f, unsigned n)
{
    struct sxs_il_insn *i = f->view->body->first;
    while (n-- > 0 && i)
        i = i->next;
    assert_non_null(i);
    return clrie_instruction_face(clrie_instruction_of(f->view, f->view->body, i));
}

/** A new instruction without an operand. The test releases it, or a graph gets it (fixture_put()). */
static inline IInstruction *fixture_new(struct fixture *f, ILOrdinalOpcode opcode)
{
    IInstruction *i = NULL;
    OK(CALL(f->factory, CreateInstruction, opcode, &i));
    return i;
}

static inline IInstruction *fixture_branch(struct fixture *f, ILOrdinalOpcode opcode, IInstruction *to)
{
    IInstruction *i = NULL;
    OK(CALL(f->factory, CreateBranchInstruction, opcode, to, &i));
    return i;
}

/** What the interface @iid of @i is; released, so that only the graph or the test holds it. */
static inline void *fixture_query(void *i, const GUID *iid)
{
    void *out = NULL;
    OK(CALL((IUnknown *)i, QueryInterface, iid, &out));
    RELEASE((IUnknown *)out);
    return out;
}

/** The target of the branch @i, without a reference. */
static inline IInstruction *fixture_target(IInstruction *i)
{
    IBranchInstruction *branch = fixture_query(i, &IID_IBranchInstruction);
    IInstruction       *to = NULL;
    if (SUCCEEDED(CALL(branch, GetBranchTarget, &to)))
        RELEASE(to);
    return to;
}

static inline DWORD fixture_offset(IInstruction *i)
{
    DWORD offset = 99999;
    OK(CALL(i, GetOffset, &offset));
    return offset;
}

/** Checks and writes. Returns NULL, or what the checker says. */
static inline const char *fixture_refused(struct fixture *f, struct clrie_written *out)
{
    static char          why[200];
    struct clrie_written written;
    if (clrie_graph_check(f->view, why, sizeof(why)) != S_OK) {
        assert_true(why[0] != '\0');
        return why;
    }
    OK(clrie_graph_write(f->view, out ? out : &written));
    return NULL;
}

/** Writes a graph that the checker accepts. */
static inline struct clrie_written fixture_written(struct fixture *f)
{
    struct clrie_written written = {0};
    assert_null(fixture_refused(f, &written));
    if (!written.bytes)
        abort();
    return written;
}

#endif
