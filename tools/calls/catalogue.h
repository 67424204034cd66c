/* SPDX-License-Identifier: MIT */
/** catalogue.h - the methods that patterns name, from a module's metadata: also those that are never
 *  compiled. */
#ifndef SXS_CALLS_CATALOGUE_H
#define SXS_CALLS_CATALOGUE_H

#include "tools/calls/select.h"

/** Notes down the methods of @module (@known: what is known of it) that are named by a pattern. In
 *  the callback of its load; one thread at a time. */
void sxs_catalogue(sxs_module module, const struct sxs_selected_module *known);

#endif
