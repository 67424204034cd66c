/* SPDX-License-Identifier: MIT */
/**
 * graph.h - the instruction graph of a method, as plug-ins see it: a view of an IL body (sxs_il.h).
 *
 * A graph owns its body. The object of an instruction is made when a plug-in first sees the
 * instruction, and is stored in its `user` field; it lives as long as the graph (object.owner).
 * One thread at a time may use a graph; the engine compiles one method at a time.
 */
#ifndef SXS_CLRIE_GRAPH_GRAPH_H
#define SXS_CLRIE_GRAPH_GRAPH_H

#include "sxs_clrie.h"
#include "include/sxs_il.h"

/** What a graph must know of its method. Outlives the graph. */
struct clrie_graph_method {
    IMethodInfo         *info;   /* of the method, borrowed */
    struct sxs_il_method il;     /* for the checker: arguments, locals, result, effects of calls */
    /* Sets il.n_locals to the present number of locals. Called before the body is checked. */
    void (*refresh)(struct clrie_graph_method *method);
    int can_set_baseline; /* 1 during BeforeInstrumentMethod */
};

/**
 * clrie_graph_new - make the graph of a method.
 * @method: NULL: a graph without a method, of DecodeInstructionByteStream().
 * @bytes, @size: the method body, header included.
 * @out: receives the graph with one reference. All its short branches are long ones.
 * Returns S_OK, E_OUTOFMEMORY, or E_FAIL when the bytes are not a method body. */
HRESULT clrie_graph_new(struct clrie_graph_method *method, const uint8_t *bytes, size_t size,
                        struct clrie_graph **out);

/** clrie_graph_body - the body of the graph, for the engine's own changes. Borrowed. */
struct sxs_il_body *clrie_graph_body(struct clrie_graph *graph);

/** clrie_graph_section - the exception clauses of the graph. Borrowed. */
struct clrie_section *clrie_graph_section(struct clrie_graph *graph);

/**
 * clrie_graph_check - check whether a JIT would accept the graph.
 * @why: receives one line that says what is wrong and where, at most @room bytes.
 * Returns S_OK, or E_FAIL with @why. */
HRESULT clrie_graph_check(struct clrie_graph *graph, char *why, size_t room);

/** One graph, written. The memory belongs to the graph until its next change. */
struct clrie_written {
    const uint8_t    *bytes; /* a fat header, code, clauses */
    size_t            size;
    const COR_IL_MAP *map; /* one row for each instruction that is not new */
    uint32_t          n_map;
};

/** clrie_graph_write - write the checked graph. Returns S_OK or a failure. */
HRESULT clrie_graph_write(struct clrie_graph *graph, struct clrie_written *out);

/** clrie_single_return_new - ISingleRetDefaultInstrumentation2. @add_local: adds a local of the
 *  method's result type and returns its number, or -1; 0 is returned in @returns for void. Returns one
 *  reference, or NULL without memory. */
struct clrie_single_return *clrie_single_return_new(int (*add_local)(void *context, int *returns),
                                                    void *context);

/** clrie_factory_new - an IInstructionFactory for the module @context. Returns one reference or NULL. */
struct clrie_factory *clrie_factory_new(void);

#endif
