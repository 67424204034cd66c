/* SPDX-License-Identifier: MIT */
/**
 * names.h - numbers of names in the events file, for classes and functions of exceptions.
 *
 * A name is written once for each runtime and text, however many IDs have it: an assembly that is loaded and unloaded
 * ten thousand times brings ten thousand ClassIDs and one name. IDs are found in a cache of fixed size; an unload makes
 * all of it stale, because the runtime may give the same ID to something else. Looking up and naming take no lock:
 * exception callbacks run while a collection may wait for their thread.
 */
#ifndef SXS_EVENTS_NAMES_H
#define SXS_EVENTS_NAMES_H

#include "manager/runtime.h"

/** The number of the name of @cls or @fn, 0 when there is no room or no memory. In a callback of its runtime. */
uint32_t sxs_names_class(sxs_class cls);
uint32_t sxs_names_function(sxs_function fn);

/** A module or a function is being unloaded: what is cached of IDs is stale. Any thread. */
void sxs_names_unloading(void);

/** Writes a name of @rt and returns its number, or 0: sxs_events_add_name(). */
typedef uint32_t sxs_name_writer(const struct sxs_runtime *rt, const char *text);

/** The number of the name @text of runtime number @runtime; @write(@rt) is called for a new one. Returns 0 when there is no
 *  room. For sxs_names_class() and tests. Any thread, no lock. */
uint32_t sxs_names_intern(unsigned runtime, const char *text, sxs_name_writer *write,
                          const struct sxs_runtime *rt);

#endif
