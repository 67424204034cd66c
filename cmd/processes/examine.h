/* SPDX-License-Identifier: MIT */
/** examine.h - find out from the bytes of a program or library what it is. Reads by its descriptor only. */
#ifndef SXS_CMD_PROCESSES_EXAMINE_H
#define SXS_CMD_PROCESSES_EXAMINE_H

#include <stddef.h>
#include <stdint.h>

enum sxs_file_kind {
    SXS_FILE_OTHER,
    SXS_FILE_PROFILER,     /* exports DllGetClassObject */
    SXS_FILE_OWN_PROFILER, /* and is libsxsprof.so */
    SXS_FILE_SINGLE_FILE,  /* a program with the runtime linked in */
    SXS_FILE_NATIVE_AOT,   /* compiled ahead of time */
};

/** What is found out of a file. */
struct sxs_inspected {
    enum sxs_file_kind kind;
    char               version[32]; /* "10.0.11"; "": not known, or not asked for */
};

/** sxs_examine_kind - find out what the regular file @fd is. A garbled file is SXS_FILE_OTHER. */
enum sxs_file_kind sxs_examine_kind(int fd);

/** sxs_examine_memory - the same for a library that is loaded at address @base of the process whose
 *  /proc/PID/mem is @fd. */
enum sxs_file_kind sxs_examine_memory(int fd, uint64_t base);

/** sxs_examine_version - find the version that the build writes into a runtime: "10.0.11".
 *  Writes "" when there is none in the first 128 MB of data. */
void sxs_examine_version(int fd, char *out, size_t size);

#endif
