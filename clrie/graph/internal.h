/* SPDX-License-Identifier: MIT */
/**
 * internal.h - what the files of clrie/graph/ share.
 *
 * An instruction object is a view of a struct sxs_il_insn. An instruction of the factory has that
 * struct in itself (`own`); when it is inserted into a graph, it gets one in the graph's body.
 *
 * The targets of a branch or switch are stored in the instruction when both belong to the same body.
 * Every other target is an *edge*: an object that points to the target's object. An edge becomes a
 * plain target as soon as both ends are in one body. So instructions can be made, connected, moved
 * from graph to graph and inserted in any order.
 */
#ifndef SXS_CLRIE_GRAPH_INTERNAL_H
#define SXS_CLRIE_GRAPH_INTERNAL_H

#include "clrie/graph/graph.h"

struct clrie_edge {
    struct clrie_instruction *from, *to;
    struct clrie_edge        *next, **prev; /* among the edges to `to` */
    /* Counts a reference of `to`. Edges to branches and switches do not, so that branches that
     * point to each other do not keep each other alive; such an edge ends with its target. */
    uint8_t strong;
};

struct clrie_instruction {
    CLRIE_OBJECT(3);
    struct sxs_il_insn *insn; /* never NULL: in `body`, or `own` */
    struct sxs_il_body *body; /* NULL: in no body */
    struct sxs_il_insn *heir; /* in `body`: what Replace() put in its place; NULL: nothing */
    struct sxs_il_insn
        *next; /* with `heir`: the neighbour that it had; insn->next is `heir`, so that
                               * branches to the instruction go there */
    struct clrie_graph *home; /* the graph that has `body` */
    /* The graph that plug-ins know it to be in: not NULL: it cannot be inserted. */
    struct clrie_graph *graph;
    /* As which it was read, for the original neighbours; NULL: it was not read. */
    struct sxs_il_insn *origin;
    struct sxs_il_body *origin_body;
    struct clrie_graph *origin_graph;
    struct clrie_edge  *in;  /* edges to this instruction */
    struct clrie_edge **out; /* n_out edges by number of the target, NULL: a plain target. NULL: no
                                edges */
    struct clrie_edge  *branch_edge; /* `out` of a branch points here */
    uint32_t            n_out;       /* of a switch in no body: number of its targets */
    uint32_t            original_offset;
    uint8_t             generation; /* enum InstructionGeneration */
    uint8_t             removed;    /* was removed once; never cleared */
    struct sxs_il_insn  own;
};

struct clrie_graph {
    CLRIE_OBJECT(2);
    struct clrie_graph_method *method; /* NULL: decoded from a byte stream */
    struct sxs_il_body        *body;
    struct sxs_il_body        *before;  /* the code before CreateBaseline(); NULL: no baseline */
    struct clrie_section      *section; /* NULL: not asked for yet */
    struct clrie_instruction **held;    /* objects of instructions, with a reference */
    uint32_t                   n_held, held_room;
    uint8_t                    generation;   /* of the instructions that `body` was read with */
    uint8_t                    has_unlisted; /* instructions of `body` are not in its list */
    COR_IL_MAP                *baseline_map; /* from the original code to the baseline */
    uint32_t                   n_baseline_map;
    uint32_t                  *points; /* sequence points of the baseline, sorted */
    uint32_t                   n_points;
    COR_IL_MAP                *map; /* as last written */
};

/** The parts of a clause, in the order of the interface. */
enum {
    CLRIE_TRY_FIRST,
    CLRIE_TRY_LAST,
    CLRIE_HANDLER_FIRST,
    CLRIE_HANDLER_LAST,
    CLRIE_FILTER_FIRST,
    CLRIE_N_PARTS
};

/* ---- list.c ---- */

/** clrie_graph_decode - make a graph without a method from @size bytes of code without a header. Its
 *  instructions are new, and its branches have the forms that were read. S_OK, E_OUTOFMEMORY, or
 *  E_FAIL when the bytes are not code. */
HRESULT clrie_graph_decode(const uint8_t *code, size_t size, struct clrie_graph **out);

/* ---- opcode.c ---- */

/** What the interface says of an opcode. */
struct clrie_opcode {
    const char                *name;
    uint8_t                    opcode_length;
    int8_t                     operand_length; /* -1: switch */
    ILOperandType              operand_type;
    ILOrdinalOpcode            alternate; /* Cee_Invalid: none */
    ILOpcodeFlags              flags;
    InstructionTerminationType ends;
    uint8_t                    is_call;
};

/** clrie_opcode - describe @opcode. @name: room for a name that is composed; NULL: no name wanted.
 *  Returns 0, or -1 when the opcode is above those that have a meaning. */
int clrie_opcode(unsigned opcode, struct clrie_opcode *out, char name[16]);

/* ---- instruction.c ---- */

/** clrie_instruction_of - the object of @insn of @graph's @body, made if there was none. Borrowed.
 *  NULL for NULL, and without memory. */
struct clrie_instruction *clrie_instruction_of(struct clrie_graph *graph, struct sxs_il_body *body,
                                               struct sxs_il_insn *insn);

/** clrie_instruction_hand_out - store the object of @insn and a reference in @out.
 *  Returns S_OK; @none when @insn is NULL; E_OUTOFMEMORY. */
HRESULT clrie_instruction_hand_out(struct clrie_graph *graph, struct sxs_il_body *body,
                                   struct sxs_il_insn *insn, HRESULT none, IInstruction **out);

/** clrie_instruction_take - the object of a pointer from a plug-in. S_OK, E_POINTER, or E_INVALIDARG
 *  when it is not an instruction of this engine or was released. Borrowed. */
HRESULT clrie_instruction_take(IInstruction *face, struct clrie_instruction **out);

/** clrie_instruction_new - make a new instruction that is in no graph. One reference, or NULL. */
struct clrie_instruction *clrie_instruction_new(const struct clrie_class *class, unsigned opcode);

/** clrie_set_operand - set the operand to the @size bytes at @bytes. Returns 0, or -1 when the opcode
 *  has an operand of another size, or none. */
int clrie_set_operand(struct sxs_il_insn *insn, const void *bytes, uint32_t size);

/** clrie_graph_hold - hold @i until the end of @graph. Returns 0, or -1. */
int clrie_graph_hold(struct clrie_graph *graph, struct clrie_instruction *i);

/* ---- targets.c ---- */

/** Number of targets: 1 for a branch, 0 for what is neither branch nor switch. */
uint32_t clrie_target_count(const struct clrie_instruction *i);

/** clrie_target - target @n; NULL: none. Borrowed. */
struct clrie_instruction *clrie_target(struct clrie_instruction *i, uint32_t n);

/** clrie_set_target - set target @n; NULL: none. S_OK or E_OUTOFMEMORY. */
HRESULT clrie_set_target(struct clrie_instruction *i, uint32_t n, struct clrie_instruction *to);

/** clrie_set_target_count - give a switch that is in no body @n targets. S_OK or E_OUTOFMEMORY. */
HRESULT clrie_set_target_count(struct clrie_instruction *i, uint32_t n);

/** clrie_enter_body - give @i an instruction in the body of @graph; it is not put into the list.
 *  S_OK or E_OUTOFMEMORY, when @i is in no body. */
HRESULT clrie_enter_body(struct clrie_graph *graph, struct clrie_instruction *i);

/** clrie_drop_body - the body of @i ends: keep opcode and operand, drop the targets. */
void clrie_drop_body(struct clrie_instruction *i);

/** clrie_retarget - make everything that targets @from target @to, except @to itself. */
HRESULT clrie_retarget(struct clrie_graph *graph, struct clrie_instruction *from,
                       struct clrie_instruction *to);

/* ---- clauses.c ---- */

/** clrie_clauses_update - in the graph's clauses, replace @from by @to: as the beginning of a part,
 *  and, when @from was removed, as its end. S_OK or E_OUTOFMEMORY. */
HRESULT clrie_clauses_update(struct clrie_graph *graph, struct clrie_instruction *from,
                             struct clrie_instruction *to);

/** clrie_clauses_remove_all - remove all clauses of the graph. */
void clrie_clauses_remove_all(struct clrie_graph *graph);

/** clrie_clauses_commit - write the clauses that plug-ins saw into the body. S_OK or E_OUTOFMEMORY. */
HRESULT clrie_clauses_commit(struct clrie_graph *graph);

/** clrie_section_forget - commit, and take the clauses from the body when they are next asked for. */
HRESULT clrie_section_forget(struct clrie_graph *graph);

/** clrie_section_free - the graph ends. NULL is allowed. */
void clrie_section_free(struct clrie_section *section);

/** clrie_graph_info - IXxx::GetMethodInfo of graph and section. S_OK, or E_FAIL without a method. */
HRESULT clrie_graph_info(struct clrie_graph *graph, IMethodInfo **out);

static inline struct clrie_instruction *clrie_user(const struct sxs_il_insn *insn)
{
    return insn->user;
}

/** clrie_current - return what stands for @i in its body: itself, or, when it was replaced and not
 *  inserted again, its replacement, which may be replaced or removed in turn. */
static inline struct sxs_il_insn *clrie_current(const struct clrie_instruction *i)
{
    struct sxs_il_insn *insn = i->insn;
    while (!insn->listed && i && i->heir && i->insn == insn) {
        insn = i->heir;
        i = clrie_user(insn);
    }
    return insn;
}

static inline IInstruction *clrie_instruction_face(struct clrie_instruction *i)
{
    return clrie_face(&i->object, 0);
}

#endif
