/* SPDX-License-Identifier: MIT */
/**
 * module_info.h - what a runtime tells about one of its modules, and the module's metadata about a token.
 *
 * All of this calls the runtime: in a callback, or on a thread that the runtime does not know. Not signal-safe.
 */
#ifndef SXS_MODULE_INFO_H
#define SXS_MODULE_INFO_H

#include "manager/runtime.h"

/** Can the assembly of @module be unloaded on its own (a collectible one)? 1, 0, or -1 when the runtime does not say. */
int sxs_module_is_collectible(sxs_module module);

/** The metadata of @module, to be read; the caller owns one reference. Returns NULL when the runtime refuses, or when the
 *  module has none. */
IMetaDataImport2 *sxs_module_import(sxs_module module);

/** sxs_import_has_attribute - 1: what @token stands for has an attribute of type @name (as in u"System.FlagsAttribute").
 *  0: it has none, or the metadata cannot be read.
 *  sxs_import_is_entry - the same of [UnmanagedCallersOnly]: native code calls the method @token as it is. */
int sxs_import_has_attribute(IMetaDataImport2 *imp, mdToken token, const WCHAR *name);
int sxs_import_is_entry(IMetaDataImport2 *imp, mdToken token);

#endif
