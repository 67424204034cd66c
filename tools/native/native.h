/* SPDX-License-Identifier: MIT */
/** tools/native/native.h - the tool "native": memory that is allocated outside of the runtimes' heaps,
 *  and what of it has not been freed. */
#ifndef SXS_TOOLS_NATIVE_NATIVE_H
#define SXS_TOOLS_NATIVE_NATIVE_H

#include "manager/tool.h"

extern const struct sxs_tool sxs_native_tool;

#endif
