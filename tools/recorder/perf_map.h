/* SPDX-License-Identifier: MIT */
/**
 * tools/recorder/perf_map.h - code of other JIT compilers in this process, such as V8 and HotSpot, from
 * the file /tmp/perf-PID.map that they write for perf: a line for each piece of code, with its address
 * and its size in hexadecimal digits, and its name.
 *
 * The file is read only if it is a regular file of this process's user that nobody else may write, and
 * up to limits. What is in it may be wrong all the same: it names code, and nothing depends on it but
 * names and whether a walk goes on. Addresses that were used again have the name of the last line. */
#ifndef SXS_TOOLS_RECORDER_PERF_MAP_H
#define SXS_TOOLS_RECORDER_PERF_MAP_H

#include <stdint.h>

#include "base/base.h"

#define SXS_PERF_NAME 1024u /* bytes of a name; the rest is cut off */

struct sxs_perf_code {
    uintptr_t lo, hi;
    unsigned  name_size;
    char      name[SXS_PERF_NAME]; /* without control characters; no zero */
    char      file[32];            /* "perf-PID.map" */
};

/** sxs_perf_map_update - read what the file has got since, at most once a second and some MiB. Returns
 *  1 when pieces were found for the first time, else 0. The service thread calls it. */
int sxs_perf_map_update(void);

/** sxs_perf_map_find - find the piece of code at @ip. Returns 1, or 0 when the file has none. The
 *  service thread calls it. */
int sxs_perf_map_find(uintptr_t ip, struct sxs_perf_code *out);

/** sxs_perf_map_has - return 1 if @ip lies where such code is: in a piece, or between two that are less
 *  than 1 MiB apart. Any thread; signal-safe; no lock. */
SXS_SIGSAFE int sxs_perf_map_has(uintptr_t ip);

#endif
