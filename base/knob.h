/* SPDX-License-Identifier: MIT */
/** knob.h - settings of the runtimes ("knobs") in the environment: a runtime reads DOTNET_NAME, and the older COMPlus_NAME
 *  when that is unset or empty. */
#ifndef SXS_KNOB_H
#define SXS_KNOB_H

#include <stdio.h>
#include <stdlib.h>

#define SXS_KNOB_KINDS 2u  /* in the order in which runtimes look */
#define SXS_KNOB_SIZE  64u /* of a variable's name */

/** sxs_knob_variable - the environment variable of kind @kind (below SXS_KNOB_KINDS) for the knob @name.
 *  @variable: receives its name. Returns its value, which belongs to the environment, or NULL when it is unset. Any thread,
 *  as getenv() is; not signal-safe. */
static inline const char *sxs_knob_variable(unsigned kind, const char *name,
                                            char variable[SXS_KNOB_SIZE])
{
    snprintf(variable, SXS_KNOB_SIZE, "%s_%s", kind ? "COMPlus" : "DOTNET", name);
    return getenv(variable);
}

#endif
