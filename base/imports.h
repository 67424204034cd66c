/* SPDX-License-Identifier: MIT */
/** imports.h - replace functions that a loaded module imports, by writing to its import slots (global offset table). */
#ifndef SXS_BASE_IMPORTS_H
#define SXS_BASE_IMPORTS_H

#include <stddef.h>
#include <stdint.h>

/** A function that a module imports, and what it shall call instead. */
struct sxs_import {
    const char *name;
    void       *hook;
};

/** sxs_imports_replace - make the module with @addr in its memory call the hooks of @imports.
 *  Returns how many import slots were changed; 0 when the module imports none of them. Takes the
 *  loader's lock, and one of its own. Any thread; not signal-safe. */
int sxs_imports_replace(uintptr_t addr, const struct sxs_import *imports, size_t n);

/** sxs_module_range - find the addresses that the module with @addr in its memory takes up.
 *  Returns 0, or -1 when no module is there. Takes the loader's lock; not signal-safe. */
int sxs_module_range(uintptr_t addr, uintptr_t *from, uintptr_t *to);

#endif
