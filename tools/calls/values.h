/* SPDX-License-Identifier: MIT */
/** values.h - arguments and results of calls: what is prepared for the hooks in tools/calls/count.h. */
#ifndef SXS_CALLS_VALUES_H
#define SXS_CALLS_VALUES_H

#include "tools/calls/functions.h"

/** @called (of @fn, or NULL) has been compiled: how its values are shown is found out, once. In a
 *  callback of its runtime. */
void sxs_values_compiled(struct sxs_called *called, sxs_function fn);

#endif
