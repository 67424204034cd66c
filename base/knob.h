/* SPDX-License-Identifier: MIT */
/** knob.h - read a runtime's settings ("knobs") from the environment. For a knob NAME a runtime
 *  reads the variable DOTNET_NAME, and the older COMPlus_NAME if DOTNET_NAME is unset or empty. */
#ifndef SXS_BASE_KNOB_H
#define SXS_BASE_KNOB_H

#include <stdio.h>

#include "base/env.h"

#define SXS_KNOB_KINDS 2u  /* kinds of variables: 0 is DOTNET_, 1 is COMPlus_ */
#define SXS_KNOB_SIZE  64u /* bytes for the name of a variable, with the terminating zero */

/** sxs_knob_variable - read one of the environment variables for @knob.
 *  @kind: below SXS_KNOB_KINDS; runtimes read the kinds in ascending order.
 *  @variable: receives the name of the variable.
 *  Returns the value, which belongs to the environment, or NULL if the variable is unset. As
 *  thread-safe as sxs_env_named(); not signal-safe. */
static inline const char *sxs_knob_variable(unsigned kind, enum sxs_knob knob,
                                            char variable[SXS_KNOB_SIZE])
{
    snprintf(variable, SXS_KNOB_SIZE, "%s_%s", kind ? "COMPlus" : "DOTNET",
             sxs_env_knobs[knob].name);
    return sxs_env_named(variable);
}

#endif
