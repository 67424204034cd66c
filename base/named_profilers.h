/* SPDX-License-Identifier: MIT */
/**
 * named_profilers.h - which profilers the environment names for a runtime to load.
 *
 * The rules are those of .NET 8 to 10 (cmd/doctor_profiler.c explains them in messages):
 * CORECLR_PROFILER and CORECLR_PROFILER_PATH_64 or CORECLR_PROFILER_PATH, when
 * CORECLR_ENABLE_PROFILING is not 0; and the list "PATH={CLASS};PATH={CLASS};" in
 * CORECLR_NOTIFICATION_PROFILERS_64 or CORECLR_NOTIFICATION_PROFILERS, when
 * CORECLR_ENABLE_NOTIFICATION_PROFILERS is set and not 0. These variables have no DOTNET_ form.
 *
 * The functions read the environment: as thread-safe as sxs_env_named(); they allocate nothing.
 */
#ifndef SXS_BASE_NAMED_PROFILERS_H
#define SXS_BASE_NAMED_PROFILERS_H

#include <stddef.h>

#define SXS_CLSID_LENGTH 38u /* of "{...}", without a zero */

/** A profiler. The texts belong to the environment and do not end with a zero. */
struct sxs_named_profiler {
    const char *clsid; /* SXS_CLSID_LENGTH characters */
    const char *path;
    size_t      path_len;
};

/** The variables above with a path or a list; each ends with NULL. The first of them that is set is
 *  the one that a runtime reads. */
extern const char *const sxs_profiler_paths[], *const sxs_notification_lists[];

/** sxs_main_profiler - return 1 and fill @out when the environment names a main profiler other than
 *  the class @ours: with a valid class ID and a path. Otherwise return 0. */
int sxs_main_profiler(const char *ours, struct sxs_named_profiler *out);

/** sxs_main_profiler_is_other - return 1 when profiling is on and CORECLR_PROFILER names another
 *  class than @ours, valid or not. */
int sxs_main_profiler_is_other(const char *ours);

/** sxs_notification_profilers - return the list that runtimes read, for sxs_next_profiler(); NULL
 *  when they read none. */
const char *sxs_notification_profilers(void);

/** sxs_next_profiler - take the next valid element of the list @at. An element at the end without a
 *  ';' counts, as it does for .NET 8. Returns 0 when there is none. */
int sxs_next_profiler(const char **at, struct sxs_named_profiler *out);

#endif
