/* SPDX-License-Identifier: MIT */
/**
 * work.h - the method that is being compiled, as the ICorProfilerInfo of plug-ins shows it; and the
 * memory for bodies that plug-ins write themselves.
 */
#ifndef SXS_CLRIE_WORK_H
#define SXS_CLRIE_WORK_H

#include "clrie/engine.h"

/** A method that is being compiled. On the stack of the compiling thread; in engine->work. */
struct clrie_work {
    struct clrie_work   *outer; /* the method whose compilation this one interrupts, or NULL */
    struct clrie_method *method;
    const uint8_t       *rendered; /* what the graph was written to; NULL: not yet. Borrowed */
    uint32_t             rendered_size;
    /* What a plug-in has given to SetILFunctionBody(): used instead of the IL that the graph was written to.
     * NULL: none was given. Owned, except when it lies in a plug-in's own memory. */
    const uint8_t *body;
    uint32_t       body_size;
    int            is_borrowed; /* 1: the body is in the plug-in's memory (UserBuffer) */
    COR_IL_MAP    *map;         /* from the original to the present code; owned */
    uint32_t       n_map;
};

/** clrie_work_begin, clrie_work_end - the compilation of work->method begins and ends. Under
 *  engine->compiling. */
void clrie_work_begin(struct clrie_engine *engine, struct clrie_work *work,
                      struct clrie_method *method);
void clrie_work_end(struct clrie_engine *engine, struct clrie_work *work);

/** clrie_work_reset - forget what plug-ins have set. Call it before they change the method again. */
void clrie_work_reset(struct clrie_work *work);

/** clrie_work_rendered - the graph was written. Composes its map with the one of the work.
 *  Returns S_OK or E_OUTOFMEMORY. */
HRESULT clrie_work_rendered(struct clrie_work *work, const struct clrie_written *written);

/** clrie_work_result - the body that the runtime gets. NULL: the method stays as it is. */
const uint8_t *clrie_work_result(const struct clrie_work *work, uint32_t *size);

/* For plug-ins. A method counts as being compiled only for the thread that compiles it. */

/** clrie_work_is - return 1 if the method is being compiled. */
int clrie_work_is(struct clrie_engine *engine, ModuleID module, mdMethodDef token);

/** clrie_work_body - the present body of a method that is being compiled and was written. Borrowed.
 *  Returns 0 when there is none. */
int clrie_work_body(struct clrie_engine *engine, ModuleID module, mdMethodDef token,
                    const uint8_t **bytes, uint32_t *size);

/** clrie_work_set_body - check the body and use it. @size: 0: the plug-in's memory, of unknown size.
 *  Returns S_OK; E_FAIL when the method has such a body already, or when no JIT would accept it. */
HRESULT clrie_work_set_body(struct clrie_engine *engine, ModuleID module, mdMethodDef token,
                            const uint8_t *bytes, uint32_t size);

/** clrie_work_set_map - compose @map with the map of the method that is being compiled. E_FAIL when
 *  @function is not being compiled. */
HRESULT clrie_work_set_map(struct clrie_engine *engine, FunctionID function, const COR_IL_MAP *map,
                           uint32_t n);

/* ---- memory (memory.c) ------------------------------------------------------------------------- */

struct clrie_memory;

/** clrie_memory_new - the IMethodMalloc of plug-ins. It has one block: each Alloc() frees the block
 *  before. NULL without memory. */
struct clrie_memory *clrie_memory_new(void);
/** clrie_memory_free - drop the engine's reference. NULL is allowed. */
void           clrie_memory_free(struct clrie_memory *memory);
IMethodMalloc *clrie_memory_face(struct clrie_memory *memory);
/** clrie_memory_size - the size of the block @bytes; 0 if it is not the present block. */
uint32_t clrie_memory_size(struct clrie_memory *memory, const void *bytes);
/** clrie_memory_detach - if @bytes is the present block, never free it: the runtime uses it. */
void clrie_memory_detach(struct clrie_memory *memory, const void *bytes);

#endif
