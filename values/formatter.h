/* SPDX-License-Identifier: MIT */
/**
 * recipe.h - how arguments and results of one function are shown.
 *
 * Made once, when the function has been compiled: all that takes asking, locks or memory. What a hook then does
 * with it takes no lock, allocates nothing, loads nothing and reads no memory that may be missing.
 */
#ifndef SXS_VALUES_RECIPE_H
#define SXS_VALUES_RECIPE_H

#include "values/line.h"
#include "values/types.h"

#define SXS_RECIPE_PARAMS 64u /* of more, none are shown */

struct sxs_param {
    const char      *name;
    struct sxs_shape shape;
    int              is_out; /* nothing is in it yet */
    int              is_in;  /* by reference, to be read alone */
};

struct sxs_recipe {
    struct sxs_runtime *rt;
    int                 by_frame; /* 1: what stands for type parameters is known in a call alone */
    struct sxs_recipe_draft *draft; /* by_frame: memory for what a call tells; NULL: there was none */
    const char         *refused;  /* why nothing can be shown; NULL */
    int                 has_this; /* params[0] */
    uint32_t            n_params; /* with it */
    uint32_t            length_at, chars_at; /* in a string */
    uint32_t            message_at; /* in an exception; 0: not known, or not asked */
    struct sxs_shape    result;
    struct sxs_param    params[]; /* n_params */
};

/**
 * sxs_recipe_make - of @fn, which has been compiled. In a callback of its runtime; takes a lock. Lives
 * as long as the process. NULL: no memory, or the runtime would not say.
 */
struct sxs_recipe *sxs_recipe_make(sxs_function fn);

/**
 * sxs_recipe_complete - the complete recipe of @fn, whose recipe @r is `by_frame`: from a call, which @frame
 * names. What it finds holds for all instantiations that share this code.
 * Returns NULL when the runtime does not say, or an argument's type is not known yet: ask again in a later call.
 * In an enter hook: no lock, no allocation. Of several threads at once one completes the recipe; the others wait
 * for it for some 20 microseconds at most, then they get NULL.
 */
struct sxs_recipe *sxs_recipe_complete(struct sxs_recipe *r, sxs_function fn,
                                       COR_PRF_FRAME_INFO frame);

/**
 * sxs_recipe_arguments - "this = A.B, n = 1, s = \"x\"" into @out.
 * @ranges: where the runtime says they are, @n of them. Returns the length; 0: there are none.
 * Within an enter hook.
 */
size_t sxs_recipe_arguments(struct sxs_recipe *r, const COR_PRF_FUNCTION_ARGUMENT_RANGE *ranges,
                            uint32_t n, char *out, size_t size);

/** sxs_recipe_result - the result at @at into @out. Returns the length; 0: void. In a leave hook. */
size_t sxs_recipe_result(struct sxs_recipe *r, COR_PRF_FUNCTION_ARGUMENT_RANGE at, char *out,
                         size_t size);

/* ---- without hooks: code of the method itself tells where its values are -------------------------- */

/** Which value: a number of params[], or one of these. */
#define SXS_VALUE_RESULT    UINT32_C(0x10000)
#define SXS_VALUE_EXCEPTION UINT32_C(0x10001)

/** sxs_recipe_of_method - of the method @token of @module for all its instantiations at once: what holds type
 *  parameters is told by each call. Otherwise as sxs_recipe_make(). */
struct sxs_recipe *sxs_recipe_of_method(sxs_module module, mdToken token);

/**
 * sxs_recipe_put - one value behind what is in @line: "n = 1" of an argument, after a comma when there are
 * others; a result's; an exception's type and message.
 * @at: the variable. @cls: its exact type (a by-ref's target's) where its signature holds type parameters, else
 * 0. @ended: out arguments have a value.
 * In cooperative mode, where no collection can begin: no lock, no memory from anywhere, no runtime but
 * what may be asked anywhere.
 */
void sxs_recipe_put(struct sxs_recipe *r, uint32_t which, const void *at, ClassID cls, int ended,
                    struct sxs_line *line);

/** 1: native code calls the method @token of @module as it is ([UnmanagedCallersOnly]). In a
 *  callback; takes a lock. */
int sxs_recipe_is_entry(sxs_module module, mdToken token);

#endif
