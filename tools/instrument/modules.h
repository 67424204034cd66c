/* SPDX-License-Identifier: MIT */
/** modules.h - the runtimes in which the tool instruments methods, and their loaded modules. Private
 *  to tools/instrument/. */
#ifndef SXS_TOOLS_INSTRUMENT_MODULES_H
#define SXS_TOOLS_INSTRUMENT_MODULES_H

#include "tools/instrument/on_runtime.h"

/** sxs_modules_add_runtime - add @on, whose rt and sub are set, to the list; owned from now on. */
void sxs_modules_add_runtime(struct on_runtime *on);

/** sxs_modules_runtimes - return the first of the list, the newest one; NULL: it is empty. Runtimes
 *  are only added to the list until sxs_modules_free(). */
struct on_runtime *sxs_modules_runtimes(void);

/** sxs_modules_note - add a loaded module. Any thread. */
void sxs_modules_note(struct on_runtime *on, ModuleID id);

/** sxs_modules_find - add the modules that the runtime had loaded before the tool was started. */
void sxs_modules_find(struct on_runtime *on);

/** sxs_modules_copy - return a copy of the list of modules, which the caller frees. NULL: none, the
 *  runtime has ended, or no memory. @n: receives their number. */
ModuleID *sxs_modules_copy(const struct on_runtime *on, size_t *n);

/** sxs_modules_reading - return the functions between which a module of @on may be read: its unloading
 *  waits. */
struct sxs_reading sxs_modules_reading(struct on_runtime *on);

/** sxs_modules_unloading - remove a module, and wait until no thread reads it. */
void sxs_modules_unloading(struct on_runtime *on, ModuleID id);

/** sxs_modules_end - the tool has ended for this runtime: forget its modules. */
void sxs_modules_end(struct on_runtime *on);

/** sxs_modules_free - free all runtimes, because the session has ended. One reference to
 *  each runtime stays, because code with new IL has the addresses of their versions. */
void sxs_modules_free(void);

/** sxs_modules_forget - in a forked child: nobody reads a module. */
void sxs_modules_forget(void);

#endif
