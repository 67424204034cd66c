/* SPDX-License-Identifier: MIT */
/** sums.h - sums for the reports of collections, and texts of sizes. */
#ifndef SXS_CMD_GC_SUMS_H
#define SXS_CMD_GC_SUMS_H

#include "session/read/collections_read.h"

#define SXS_GC_LINES 5u

/** sxs_gc_line - return the line of a table by generation that @c belongs to: 0 to 2, 3: one in the
 *  background, 4: its generation is not known. */
unsigned sxs_gc_line(const struct sxs_events_collection *c);

/** sxs_gc_line_text - return the label of a line: "generation 0"... Static string. */
const char *sxs_gc_line_text(unsigned line);

#endif
