/* SPDX-License-Identifier: MIT */
/** rewrite.h - gives a runtime the new IL of a method; and the tool "instrument". */
#ifndef SXS_TOOLS_INSTRUMENT_REWRITE_H
#define SXS_TOOLS_INSTRUMENT_REWRITE_H

#include "manager/tool.h"

/**
 * sxs_rewrite - make the new IL of a method, if rules apply to it, and give it to the runtime.
 * @control: receives the IL within GetReJITParameters. NULL within JITCompilationStarted, before
 *           the method's first compilation: the IL is set with SetILFunctionBody().
 * When an action cannot be applied the method keeps its IL, and its state has the reason.
 */
void sxs_rewrite(sxs_module module, mdToken token, ICorProfilerFunctionControl *control);

/** The tool "instrument". Always in the list of tools; does nothing unless SXSPROF_INSTRUMENT names
 *  a file or folder. */
extern const struct sxs_tool sxs_instrument_tool;

#endif
