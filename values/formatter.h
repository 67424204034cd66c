/* SPDX-License-Identifier: MIT */
/**
 * formatter.h - the value formatter of a function: formats its arguments and its result as text.
 *
 * A formatter (struct sxs_formatter) is made once, when the function has been compiled. All calls
 * of the runtime, locks and allocations happen then. A hook that uses the formatter takes no lock,
 * allocates and loads nothing, and does not fault on memory that is not mapped.
 */
#ifndef SXS_VALUES_FORMATTER_H
#define SXS_VALUES_FORMATTER_H

#include "values/line.h"
#include "values/parameters.h"

/**
 * sxs_formatter_make - make the formatter of @fn, which has been compiled. Returns a formatter that
 * lives as long as the process, or NULL when there is no memory. If the runtime does not provide
 * the signature, `refused` is set. Call in a callback of the runtime of @fn; takes a lock.
 */
struct sxs_formatter *sxs_formatter_make(sxs_function fn);

/**
 * sxs_formatter_arguments - write the arguments as "this = A.B, n = 1, s = \"x\"" to @out.
 * @ranges: their @n memory ranges, as the runtime reports them. Returns the length; 0: no
 * arguments. Call in an enter hook.
 */
size_t sxs_formatter_arguments(struct sxs_formatter                  *r,
                               const COR_PRF_FUNCTION_ARGUMENT_RANGE *ranges, uint32_t n, char *out,
                               size_t size);

/** sxs_formatter_result - write the result, which lies at @at, to @out. Returns the length; 0:
 *  void.
 *  Call in a leave hook. */
size_t sxs_formatter_result(struct sxs_formatter *r, COR_PRF_FUNCTION_ARGUMENT_RANGE at, char *out,
                            size_t size);

/* ---- without hooks: the method's instrumented code passes addresses of values ----------------- */

/** Which value to format: an index of params[], or one of these. */
#define SXS_VALUE_RESULT    UINT32_C(0x10000)
#define SXS_VALUE_EXCEPTION UINT32_C(0x10001)

/** sxs_formatter_of_method - make one formatter for all instantiations of the method @token of
 *  @module. Each call of sxs_formatter_put() passes the exact type of a value whose type has type
 *  parameters. Otherwise as sxs_formatter_make(). */
struct sxs_formatter *sxs_formatter_of_method(sxs_module module, mdToken token);

/**
 * sxs_formatter_put - append one value to @line: an argument as "n = 1", with a comma before it
 * unless it is the first; a result; or an exception's type and message.
 * @which: see above. @at: the address of the variable.
 * @cls: the variable's exact type (of a by-ref: the type of its target) if its signature has type
 * parameters, else 0.
 * @ended: 1: the call has ended, so `out` arguments have values.
 * Call in cooperative mode, where no collection can begin. Takes no lock, allocates nothing, and
 * calls only runtime functions that are allowed anywhere.
 */
void sxs_formatter_put(struct sxs_formatter *r, uint32_t which, const void *at, ClassID cls,
                       int ended, struct sxs_line *line);

/** sxs_formatter_is_entry - return 1 if native code calls the method @token of @module directly
 *  ([UnmanagedCallersOnly]), else 0. Call in a callback; takes a lock. */
int sxs_formatter_is_entry(sxs_module module, mdToken token);

#endif
