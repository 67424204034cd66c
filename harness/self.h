/* SPDX-License-Identifier: MIT */
/** self.h - the folder of the runsxs program. */
#ifndef SXS_HARNESS_SELF_H
#define SXS_HARNESS_SELF_H

/**
 * sxs_self_dir - return the folder of the runsxs program. Its runtimes, apps and bridge lie below
 * that folder.
 * Returns a borrowed string, valid until the process ends: an absolute path without a trailing
 * slash, or "." when /proc cannot be read. The first call is not thread-safe; make it before other
 * threads start. */
const char *sxs_self_dir(void);

#endif
