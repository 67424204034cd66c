/* SPDX-License-Identifier: MIT */
/**
 * sampling/perf_map.h - code of other JIT compilers in this process, such as V8 and HotSpot, from
 * the files that they write for perf: /tmp/perf-PID.map, a line for each piece of code, with its address
 * and its size in hexadecimal digits, and its name; and jit-PID.dump (jit_dump.h).
 *
 * A file is read only if it is a regular file of this process's user that nobody else may write, and
 * up to limits; jit-PID.dump only if this process has mapped it executable, as compilers do. Its contents
 * can still be wrong. Only the names of code, and whether a walk goes on, depend on them. If an address
 * was used several times, the last line or record names it. A file that was rewritten in place is read
 * again from its start when a line is found to be no longer where it was. When a limit is reached, a
 * warning says so. */
#ifndef SXS_SAMPLING_PERF_MAP_H
#define SXS_SAMPLING_PERF_MAP_H

#include <stdint.h>

#include "base/base.h"

#define SXS_PERF_NAME 1024u /* bytes of a name; a longer one is cut, and ends with "..." */

struct sxs_perf_code {
    uintptr_t lo, hi;
    unsigned  name_size;
    char      name[SXS_PERF_NAME]; /* without control characters; no zero */
    char      file[32];            /* "perf-PID.map" or "jit-PID.dump" */
};

/** sxs_perf_map_update - read what was added to the files since the last call: at most once a second, and
 *  at most some MiB. Returns 1 when pieces were found for the first time, and when a file that took
 *  several calls has been read to its end: code that had no name before may have one now. Else 0. The
 *  service thread calls it. */
int sxs_perf_map_update(void);

/** sxs_perf_map_find - find the piece of code at @ip. Returns 1, or 0 when no file has one. The
 *  service thread calls it. */
int sxs_perf_map_find(uintptr_t ip, struct sxs_perf_code *out);

/** sxs_perf_map_has - return 1 if @ip lies where such code is: in a piece, or between two that are less
 *  than 1 MiB apart. Any thread; signal-safe; no lock. */
SXS_SIGSAFE int sxs_perf_map_has(uintptr_t ip);

#endif
