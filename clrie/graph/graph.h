/* SPDX-License-Identifier: MIT */
/**
 * graph.h - the instruction graph of a method, as plug-ins see it: a view of an IL body (sxs_il.h).
 *
 * A graph owns its body. The object of an instruction is made when a plug-in first sees the
 * instruction, and is stored in its `user` field. The graph holds one reference of each such object
 * until it ends, so that a pointer without a reference is valid as long as the graph. An object that
 * a plug-in holds longer keeps its opcode and operand, and nothing else: the graph does not wait for
 * plug-ins that forget a reference.
 * One thread at a time may use a graph; the engine compiles one method at a time.
 */
#ifndef SXS_CLRIE_GRAPH_GRAPH_H
#define SXS_CLRIE_GRAPH_GRAPH_H

#include "include/sxs_il.h"
#include "sxs_clrie.h"

/** What a graph must know of its method. Outlives the graph. */
struct clrie_graph_method {
    IMethodInfo         *info; /* of the method, borrowed */
    struct sxs_il_method il;   /* for the checker: arguments, locals, result, effects of calls */
    /* Sets il.n_locals to the present number of locals. Called before the body is checked. */
    void (*refresh)(struct clrie_graph_method *method);
    int can_set_baseline; /* 1 during BeforeInstrumentMethod */
    /* The object whose references are counted instead of those of the graph, so that a plug-in that
     * holds the graph holds it; NULL: the graph counts its own. */
    struct clrie_object *owner;
};

/**
 * clrie_graph_new - make the graph of a method.
 * @method: NULL: a graph without a method, of DecodeInstructionByteStream().
 * @bytes, @size: the method body, header included.
 * @out: receives the graph with one reference. All its short branches are long ones.
 * Returns S_OK, E_OUTOFMEMORY, or E_FAIL when the bytes are not a method body. */
HRESULT clrie_graph_new(struct clrie_graph_method *method, const uint8_t *bytes, size_t size,
                        struct clrie_graph **out);

/** clrie_graph_free - forget the method and release the reference of clrie_graph_new(). The end of
 *  the method calls it. NULL is allowed. */
void clrie_graph_free(struct clrie_graph *graph);

/** clrie_graph_body - the body of the graph, for the engine's own changes; call it again after a
 *  plug-in changed the graph. Objects of clauses that plug-ins hold do not belong to the graph any
 *  more; IExceptionSection makes new ones. Borrowed. NULL without memory. */
struct sxs_il_body *clrie_graph_body(struct clrie_graph *graph);

/** clrie_graph_section - the exception clauses of the graph. Borrowed. NULL without memory. */
struct clrie_section *clrie_graph_section(struct clrie_graph *graph);

/**
 * clrie_graph_check - check whether a JIT would accept the graph.
 * @why: receives one line that says what is wrong and where, at most @room bytes.
 * Returns S_OK, or E_FAIL with @why. */
HRESULT clrie_graph_check(struct clrie_graph *graph, char *why, size_t room);

/** clrie_graph_max_stack - the number of stack slots that the graph needs, for
 *  IMethodInfo::GetMaxStack. Of an unfinished graph: an estimate in the order of the code. S_OK. */
HRESULT clrie_graph_max_stack(struct clrie_graph *graph, uint32_t *out);

/** One graph, written. The memory belongs to the graph until its next change. */
struct clrie_written {
    const uint8_t    *bytes; /* a fat header, code, clauses */
    size_t            size;
    const COR_IL_MAP *map; /* one row for each instruction that is not new, in the order of the
                              code; with a baseline: for each of its sequence points */
    uint32_t          n_map;
};

/** clrie_graph_write - write the checked graph. Returns S_OK or a failure. */
HRESULT clrie_graph_write(struct clrie_graph *graph, struct clrie_written *out);

/** clrie_single_return_new - ISingleRetDefaultInstrumentation2. @add_local: adds a local of the
 *  method's result type and returns its number, or -1; sets @returns to 0 and adds nothing when the
 *  result is void or a reference (BYREF). @context outlives the object's last use. Returns one
 *  reference, or NULL without memory. */
struct clrie_single_return *clrie_single_return_new(int (*add_local)(void *context, int *returns),
                                                    void *context);

/** clrie_factory_new - an IInstructionFactory. Returns one reference or NULL. */
struct clrie_factory *clrie_factory_new(void);

#endif
