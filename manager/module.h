/* SPDX-License-Identifier: MIT */
/** module.h - which file an address was loaded from, and the version its path names. */
#ifndef SXS_MODULE_H
#define SXS_MODULE_H

#include "base/base.h"

/** Writes the path of the module at @addr to @out (zero-terminated, cut at @size); "" if none.
 *  Any thread; not signal-safe (loader lock). */
void sxs_module_path(uintptr_t addr, char *out, size_t size);

/** Writes the last path component of @path that looks like a version ("8.0.29") to @out, or "". */
void sxs_module_version(const char *path, char *out, size_t size);

#endif
