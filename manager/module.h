/* SPDX-License-Identifier: MIT */
/** module.h - the file that an address was loaded from. */
#ifndef SXS_MANAGER_MODULE_H
#define SXS_MANAGER_MODULE_H

#include "base/base.h"

/** Write the path of the module that contains @addr to @out (zero-terminated, cut at @size bytes);
 *  "" if there is none. Any thread; not signal-safe (takes the loader's lock). */
void sxs_module_path(uintptr_t addr, char *out, size_t size);

/** Return the address of the module that contains @addr; 0 if there is none. Any thread; not
 *  signal-safe. */
uintptr_t sxs_module_base(uintptr_t addr);

#endif
