/* SPDX-License-Identifier: MIT */
/**
 * helper.h - helpers: static methods that rules call, in assemblies that the program need not have
 * loaded.
 *
 * A helper's method is looked up in the assembly's file. The runtime loads the assembly when the
 * first instrumented method that calls the helper runs. The IL of this method does so with
 * functions that every runtime's core library has: Assembly.LoadFrom, which loads into the default
 * load context whatever the context of the caller, then a function pointer to the method. The
 * pointer is kept for all callers.
 */
#ifndef SXS_INSTR_WEAVE_HELPER_H
#define SXS_INSTR_WEAVE_HELPER_H

#include "instr/config/config.h"
#include "instr/weave/emit.h"

#define SXS_HELPER_PARAMS 32u

/** One helper method in one runtime. Lives as long as the process. */
struct sxs_helper {
    struct sxs_helper *next;
    uint32_t           runtime;              /* number of the runtime */
    char              *path, *type, *method; /* owned */
    uint8_t parameters[SXS_HELPER_PARAMS]; /* enum sxs_element; primitive, string or object */
    uint8_t n_parameters;
    uint8_t result;             /* the same, or void */
    _Atomic uintptr_t             function; /* function pointer; 0: not loaded */
    _Atomic int                   failed;   /* 1: loading failed, and is not tried again */
    _Atomic uint64_t              threw;    /* number of exceptions, while loading or by calls */
    struct sxs_instrument_helper *record;   /* counters in the session file; NULL: none */
    unsigned                      session;  /* number of the session that `record` belongs to */
};

/** sxs_helper_find - find the helper that @target names, for the runtime of @m. Returns NULL with
 *  m->why when there is no such file, type or static method, when there are several methods of this
 *  name, or when a parameter's type is not supported. */
struct sxs_helper *sxs_helper_find(struct sxs_method *m, const struct sxs_call_target *target);

/**
 * sxs_emit_helper_load - emit IL that loads @helper unless it is loaded.
 * The IL branches to @skip when loading has failed before, or is in progress on this thread. @skip
 * must lie in the same try block. The evaluation stack must be empty; it is empty afterwards.
 */
int sxs_emit_helper_load(struct sxs_emit *e, struct sxs_helper *helper, struct sxs_il_insn *skip);

/** sxs_emit_helper_call - emit the call of @helper, whose arguments are on the evaluation stack. */
int sxs_emit_helper_call(struct sxs_emit *e, struct sxs_helper *helper);

/** sxs_emit_helper_failed - emit, in the exception handler, IL that counts the exception for the
 *  helper and for the method that called the helper. The evaluation stack must be empty. */
int sxs_emit_helper_failed(struct sxs_emit *e, struct sxs_helper *helper,
                           const struct sxs_marker *marker);

#endif
