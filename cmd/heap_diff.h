/* SPDX-License-Identifier: MIT */
/** heap_diff.h - comparisons of heap snapshots, for the verb diff. */
#ifndef SXS_CMD_HEAP_DIFF_H
#define SXS_CMD_HEAP_DIFF_H

#include <stdbool.h>

#include "cmd/output/opened.h"

/** sxs_heap_only - return true when the session has a heap snapshot and no profile. */
bool sxs_heap_only(const struct sxs_opened *v);

/**
 * sxs_heap_diff - write what each type has more in the newest heap snapshot of @now than in that of
 * @before.
 * @before, @now: sessions: folders, or packed ones. @format: "text" or "html", a page. @output: a file;
 * NULL: standard output.
 * Returns an exit status, after a message when it is not SXS_EXIT_OK.
 */
int sxs_heap_diff(const char *before, const char *now, const char *format, const char *output);

#endif
