/* SPDX-License-Identifier: MIT */
/** inspect.h - what a file that a process has mapped is: found once for each file. */
#ifndef SXS_CMD_PROCESSES_INSPECT_H
#define SXS_CMD_PROCESSES_INSPECT_H

#include <stdbool.h>
#include <stddef.h>

enum sxs_file_kind {
    SXS_FILE_OTHER,
    SXS_FILE_PROFILER,     /* exports DllGetClassObject */
    SXS_FILE_OWN_PROFILER, /* and is libsxsprof.so */
    SXS_FILE_SINGLE_FILE,  /* a program with the runtime linked in */
    SXS_FILE_NATIVE_AOT,   /* compiled ahead of time */
};

/**
 * sxs_inspect_file - find out what the program or library @path is.
 * The answer is remembered by device and inode. Not thread-safe.
 */
enum sxs_file_kind sxs_inspect_file(const char *path);

/** sxs_version_in_path - write the last component of @path that looks like a version to @out; "" if
 *  none does. */
void sxs_version_in_path(const char *path, char *out, size_t size);

/** sxs_version_in_file - find the version that the build writes into a runtime: "10.0.11".
 *  Writes "" when there is none. */
void sxs_version_in_file(const char *path, char *out, size_t size);

/** sxs_version_of_build - convert the beginning of @text, as in "10.0.1126.37416", the version of
 *  the file, to the version of the product: "10.0.11". Writes "" when it is not like that. */
void sxs_version_of_build(const char *text, size_t len, char *out, size_t size);

#endif
