/* SPDX-License-Identifier: MIT */
/** catalogue.h - lists the methods of a module that match a pattern, from the module's metadata.
 *  The list includes methods that are never compiled. */
#ifndef SXS_TOOLS_CALLS_CATALOGUE_H
#define SXS_TOOLS_CALLS_CATALOGUE_H

#include "tools/calls/select.h"

/** sxs_catalogue - write the methods of @module that match a pattern as notes to the calls file.
 *  @known: the description of @module, borrowed.
 *  Called in the callback that reports the module's load, by one thread at a time. */
void sxs_catalogue(sxs_module module, const struct sxs_selected_module *known);

#endif
