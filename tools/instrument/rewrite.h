/* SPDX-License-Identifier: MIT */
/** rewrite.h - the answer to a runtime that asks for a method's new IL, and the tool. */
#ifndef SXS_REWRITE_REWRITE_H
#define SXS_REWRITE_REWRITE_H

#include "manager/tool.h"

/**
 * sxs_rewrite - hand @control the new IL of a method, if it is a site and anything is wanted of it. What cannot
 * be done leaves the method as it is, and its state says why. In GetReJITParameters; with @control NULL in
 * JITCompilationStarted, before its first compilation.
 */
void sxs_rewrite(sxs_module module, mdToken token, ICorProfilerFunctionControl *control);

/** The tool "instrument": always there, at work when SXSPROF_INSTRUMENT names a file or folder. */
extern const struct sxs_tool sxs_instrument_tool;

#endif
