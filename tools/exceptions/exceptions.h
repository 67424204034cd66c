/* SPDX-License-Identifier: MIT */
/** exceptions.h - the tool "exceptions": records which exceptions are thrown, and where they are
 *  thrown and caught. */
#ifndef SXS_TOOLS_EXCEPTIONS_EXCEPTIONS_H
#define SXS_TOOLS_EXCEPTIONS_EXCEPTIONS_H

#include "manager/tool.h"
#include "tools/exceptions/in_flight.h"

extern const struct sxs_tool sxs_exceptions_tool;

/** sxs_exceptions_landed - count an exception whose fate is decided, and keep or reuse its record.
 *  Calls no runtime. Any thread; takes a lock of its own. */
void sxs_exceptions_landed(struct sxs_in_flight *exception);

#endif
