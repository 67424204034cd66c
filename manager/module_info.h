/* SPDX-License-Identifier: MIT */
/**
 * module_info.h - questions about a module of a runtime, answered by its Info and its metadata.
 *
 * All functions call the runtime, so they may be called in a callback, or on a thread that the
 * runtime does not know (one that never ran its managed code). Not signal-safe.
 */
#ifndef SXS_MANAGER_MODULE_INFO_H
#define SXS_MANAGER_MODULE_INFO_H

#include "manager/runtime.h"

/** Return 1 when the assembly of @module is collectible (can be unloaded on its own), 0 when it is
 *  not, -1 when the runtime does not answer. */
int sxs_module_is_collectible(sxs_module module);

/** Open the metadata of @module for reading; the caller owns one reference. Returns NULL when the
 *  runtime refuses, or when the module has no metadata. */
IMetaDataImport2 *sxs_module_import(sxs_module module);

/** sxs_import_has_attribute - return 1 when the entity @token has an attribute of type @name (as in
 *  u"System.FlagsAttribute"); 0 when it has none, or when the metadata cannot be read.
 *  sxs_import_is_entry - return 1 when the method @token has the attribute [UnmanagedCallersOnly],
 *  that is, when native code calls it directly; 0 otherwise. */
int sxs_import_has_attribute(IMetaDataImport2 *imp, mdToken token, const WCHAR *name);
int sxs_import_is_entry(IMetaDataImport2 *imp, mdToken token);

#endif
