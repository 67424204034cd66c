/* SPDX-License-Identifier: MIT */
/** engine_entry.h - the identity of the CLR Instrumentation Engine (CLRIE): its class ID, its library
 *  name, and its exports. */
#ifndef SXS_CALLBACK_ENGINE_ENTRY_H
#define SXS_CALLBACK_ENGINE_ENTRY_H

#include "sxs_abi.h"

/** sxs_engine_is_class - return 1 if @clsid is CLRIE's class. */
int sxs_engine_is_class(const GUID *clsid);

/**
 * sxs_engine_take_name - let plug-ins find this library by CLRIE's name.
 *
 * Plug-ins look for the engine with dlopen("libInstrumentationEngine.so", RTLD_NOLOAD). The loader
 * finds a loaded library by a bare name when that name led to the same file before. So this function
 * opens the name itself; the library's run path ($ORIGIN) leads to the file of this name beside it,
 * which is this library or a symbolic link to it. Does nothing when there is no such file, or when the
 * name is another library's. Takes the loader's lock.
 */
void sxs_engine_take_name(void);

#endif
