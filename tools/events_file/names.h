/* SPDX-License-Identifier: MIT */
/**
 * names.h - maps the classes and functions of exceptions to the numbers of their names in the
 * events file.
 *
 * A name is written once for each runtime and text, even if many IDs have that name: an assembly
 * that is loaded and unloaded ten thousand times has ten thousand ClassIDs and one name. A cache of
 * fixed size maps IDs to numbers. An unload invalidates the whole cache, because the runtime may
 * reuse the IDs. Lookup and naming take no lock, because a collection may be waiting for the thread
 * that runs an exception callback.
 */
#ifndef SXS_TOOLS_EVENTS_FILE_NAMES_H
#define SXS_TOOLS_EVENTS_FILE_NAMES_H

#include "manager/runtime.h"

/** sxs_names_class, sxs_names_function - return the number of the name of @cls or @fn, or 0 when
 *  there is no room or no memory. Call in a callback of its runtime. */
uint32_t sxs_names_class(sxs_class cls);
uint32_t sxs_names_function(sxs_function fn);

/** sxs_names_watched - return the name of the class with the number @number, if a condition waits for
 *  exceptions of that type (manager/watch.h), or NULL. Valid until sxs_names_forget(). Any thread;
 *  takes no lock. */
const char *sxs_names_watched(uint32_t number);

/** sxs_names_unloading - invalidate the cache, because a module or a function is being unloaded.
 *  Any thread. */
void sxs_names_unloading(void);

/** Writes a name record and returns its number, or 0 on failure; sxs_events_add_name() is one. */
typedef uint32_t sxs_name_writer(const struct sxs_runtime *rt, const char *text);

/** sxs_names_intern - return the number of the name @text of a runtime, or 0 when there is no room.
 *  @runtime: the runtime's number. @write: called with @rt and @text for a name that is new.
 *  Used by sxs_names_class() and by tests. Any thread; takes no lock. */
uint32_t sxs_names_intern(unsigned runtime, const char *text, sxs_name_writer *write,
                          const struct sxs_runtime *rt);

/** sxs_names_forget - forget all names, because their file is closed. No other thread may use them. */
void sxs_names_forget(void);

#endif
