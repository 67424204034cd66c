/* SPDX-License-Identifier: MIT */
/** values.h - prepares the recording of arguments and results for the hooks in
 *  elt/calls_functions.h. */
#ifndef SXS_TOOLS_CALLS_VALUES_H
#define SXS_TOOLS_CALLS_VALUES_H

#include "tools/calls/functions.h"

/** sxs_values_compiled - make the value formatter of @called, once. Call in the runtime's callback
 *  after the function was compiled. @called: the marker of @fn; NULL: does nothing. */
void sxs_values_compiled(struct sxs_called *called, sxs_function fn);

#endif
