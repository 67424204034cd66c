/* SPDX-License-Identifier: MIT */
/**
 * helper.h - static methods of assemblies that a runtime has not loaded: found in their files, loaded by the
 * runtime itself when the first of their callers runs.
 *
 * New IL does it, by what each runtime's core library offers: Assembly.LoadFrom (into the default load context, whatever
 * context the caller is in), then the method's function pointer, which is kept for all callers.
 */
#ifndef SXS_REWRITE_HELPER_H
#define SXS_REWRITE_HELPER_H

#include "instr/config/config.h"
#include "instr/weave/emit.h"

#define SXS_HELPER_PARAMS 32u

/** One method in one runtime; lives as long as the process. */
struct sxs_helper {
    struct sxs_helper *next;
    uint32_t           runtime;
    char              *path, *type, *method;
    uint8_t parameters[SXS_HELPER_PARAMS]; /* enum sxs_element; primitive, string or object */
    uint8_t n_parameters;
    uint8_t result;             /* the same, or void */
    _Atomic uintptr_t function; /* 0: not loaded */
    _Atomic int       failed;   /* loading did: never again */
    _Atomic uint64_t  threw;    /* calls that did */
    struct sxs_instrument_helper *record; /* what it counts; NULL: nowhere */
};

/** sxs_helper_find - what @target names, for the runtime of @m. NULL with m->why: no such file, type or static method,
 *  several of that name, or types that cannot be handed over. */
struct sxs_helper *sxs_helper_find(struct sxs_method *m, const struct sxs_target *target);

/** sxs_emit_helper_load - load it unless it is. Control goes to @skip when that failed or is under way on this thread;
 *  within the try block. Stack empty before and behind. */
int sxs_emit_helper_load(struct sxs_emit *e, struct sxs_helper *helper, struct sxs_il_insn *skip);

/** sxs_emit_helper_call - its arguments are on the stack. */
int sxs_emit_helper_call(struct sxs_emit *e, struct sxs_helper *helper);

/** sxs_emit_helper_failed - in the handler, the stack empty: counted for it and for the method that called it. */
int sxs_emit_helper_failed(struct sxs_emit *e, struct sxs_helper *helper,
                           const struct sxs_marker *marker);

#endif
