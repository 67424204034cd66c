/* SPDX-License-Identifier: MIT */
#ifndef SXS_HARNESS_SELF_H
#define SXS_HARNESS_SELF_H

/**
 * sxs_self_dir - the folder runsxs itself lies in; its runtimes, apps and bridge lie below it.
 * Returns an absolute path without a trailing slash, borrowed, valid for ever; "." when /proc
 * cannot be read. Not thread-safe on its first call; call it once before threads start. */
const char *sxs_self_dir(void);

#endif
