/* SPDX-License-Identifier: MIT */
/** exceptions.h - the tool "exceptions": records which exceptions are thrown, and where they are
 *  thrown and caught. */
#ifndef SXS_TOOLS_EXCEPTIONS_EXCEPTIONS_H
#define SXS_TOOLS_EXCEPTIONS_EXCEPTIONS_H

#include "manager/tool.h"

extern const struct sxs_tool sxs_exceptions_tool;

#endif
