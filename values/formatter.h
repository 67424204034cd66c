/* SPDX-License-Identifier: MIT */
/**
 * formatter.h - the value formatter of a function: formats its arguments and its result as text.
 *
 * A formatter (struct sxs_recipe) is made once, when the function has been compiled. All calls of
 * the runtime, locks and allocations happen then. A hook that uses the formatter takes no lock,
 * allocates and loads nothing, and does not fault on memory that is not mapped.
 */
#ifndef SXS_VALUES_FORMATTER_H
#define SXS_VALUES_FORMATTER_H

#include "values/line.h"
#include "values/types.h"

#define SXS_RECIPE_PARAMS 64u /* a function with more parameters is not shown */

struct sxs_param {
    const char      *name;
    struct sxs_shape shape;
    int              is_out; /* 1: an `out` parameter, which has no value when the call begins */
    int              is_in;  /* 1: an `in` parameter, a read-only reference */
};

/** A value formatter. */
struct sxs_recipe {
    struct sxs_runtime *rt;       /* borrowed */
    int                 by_frame; /* 1: type arguments are known only from a call's frame */
    struct sxs_recipe_draft *draft; /* by_frame: room for the complete formatter; NULL: no memory */
    const char         *refused;  /* reason why values cannot be shown; NULL: they can */
    int                 has_this; /* 1: params[0] is `this` */
    uint32_t            n_params; /* including `this` */
    uint32_t            length_at, chars_at; /* offsets in a string object */
    uint32_t            message_at; /* offset of an exception's message; 0: not known */
    struct sxs_shape    result;
    struct sxs_param    params[]; /* n_params */
};

/**
 * sxs_recipe_make - make the formatter of @fn, which has been compiled. Returns a formatter that
 * lives as long as the process, or NULL when there is no memory. If the runtime does not provide
 * the signature, `refused` is set. Call in a callback of the runtime of @fn; takes a lock.
 */
struct sxs_recipe *sxs_recipe_make(sxs_function fn);

/**
 * sxs_recipe_complete - return the complete formatter of @fn, made from @r and the frame of a call.
 * @r: the formatter of @fn, with by_frame 1. @frame: the runtime's handle of the call's frame.
 * The result is valid for all instantiations that share this code.
 * Returns NULL when @frame is 0, when @r has no draft, or when a type argument is not known yet.
 * Try again in a later call.
 * Call in an enter hook: takes no lock and allocates nothing. If several threads call at the same
 * time, one completes the formatter. The others wait for at most some 20 microseconds and then get
 * NULL.
 */
struct sxs_recipe *sxs_recipe_complete(struct sxs_recipe *r, sxs_function fn,
                                       COR_PRF_FRAME_INFO frame);

/**
 * sxs_recipe_arguments - write the arguments as "this = A.B, n = 1, s = \"x\"" to @out.
 * @ranges: their @n memory ranges, as the runtime reports them. Returns the length; 0: no
 * arguments. Call in an enter hook.
 */
size_t sxs_recipe_arguments(struct sxs_recipe *r, const COR_PRF_FUNCTION_ARGUMENT_RANGE *ranges,
                            uint32_t n, char *out, size_t size);

/** sxs_recipe_result - write the result, which lies at @at, to @out. Returns the length; 0: void.
 *  Call in a leave hook. */
size_t sxs_recipe_result(struct sxs_recipe *r, COR_PRF_FUNCTION_ARGUMENT_RANGE at, char *out,
                         size_t size);

/* ---- without hooks: the method's instrumented code passes addresses of values ----------------- */

/** Which value to format: an index of params[], or one of these. */
#define SXS_VALUE_RESULT    UINT32_C(0x10000)
#define SXS_VALUE_EXCEPTION UINT32_C(0x10001)

/** sxs_recipe_of_method - make one formatter for all instantiations of the method @token of
 *  @module. Each call of sxs_recipe_put() passes the exact type of a value whose type has type
 *  parameters. Otherwise as sxs_recipe_make(). */
struct sxs_recipe *sxs_recipe_of_method(sxs_module module, mdToken token);

/**
 * sxs_recipe_put - append one value to @line: an argument as "n = 1", with a comma before it unless
 * it is the first; a result; or an exception's type and message.
 * @which: see above. @at: the address of the variable.
 * @cls: the variable's exact type (of a by-ref: the type of its target) if its signature has type
 * parameters, else 0.
 * @ended: 1: the call has ended, so `out` arguments have values.
 * Call in cooperative mode, where no collection can begin. Takes no lock, allocates nothing, and
 * calls only runtime functions that are allowed anywhere.
 */
void sxs_recipe_put(struct sxs_recipe *r, uint32_t which, const void *at, ClassID cls, int ended,
                    struct sxs_line *line);

/** sxs_recipe_is_entry - return 1 if native code calls the method @token of @module directly
 *  ([UnmanagedCallersOnly]), else 0. Call in a callback; takes a lock. */
int sxs_recipe_is_entry(sxs_module module, mdToken token);

#endif
