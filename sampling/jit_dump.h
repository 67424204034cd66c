/* SPDX-License-Identifier: MIT */
/**
 * sampling/jit_dump.h - reads the format jitdump, by which JIT compilers describe their code for perf: a
 * header, then records, each with its size. The record of a piece of code (JIT_CODE_LOAD) has its
 * address, its size, its name and the code itself. The compiler maps the file jit-PID.dump executable
 * for a short time or permanently, so that perf learns its path.
 *
 * The bytes are untrusted. The functions allocate nothing. */
#ifndef SXS_SAMPLING_JIT_DUMP_H
#define SXS_SAMPLING_JIT_DUMP_H

#include <stddef.h>
#include <stdint.h>

#define SXS_JIT_DUMP_HEADER 40u /* bytes of a header that are read */
#define SXS_JIT_DUMP_PREFIX 16u /* bytes of every record that are read */
#define SXS_JIT_DUMP_LOAD   56u /* bytes of a JIT_CODE_LOAD before the name */

struct sxs_jit_record {
    uint64_t size;      /* bytes of the record in the file */
    int      is_load;   /* 1: a JIT_CODE_LOAD; the rest is valid */
    uint64_t lo;        /* address of the code */
    uint64_t code_size; /* bytes */
    uint64_t
        name_room; /* bytes of the record from the name's first on, without the code; at least 1 */
};

/** sxs_jit_dump_path - find the file jit-PID.dump that this process has mapped executable.
 *  @path: receives its path.
 *  @inode: receives its inode number.
 *  Returns 1, or 0 if there is none. Not signal-safe. */
int sxs_jit_dump_path(char *path, size_t size, unsigned long *inode);

/** sxs_jit_dump_header - read the header of a file.
 *  @bytes: the first SXS_JIT_DUMP_HEADER bytes of the file.
 *  Returns the bytes of the header, or 0 if it is not one of version 1 in this machine's byte order. */
uint32_t sxs_jit_dump_header(const uint8_t *bytes);

/** sxs_jit_dump_record - read the beginning of a record.
 *  @bytes, @n: what has been read of it; at least SXS_JIT_DUMP_PREFIX bytes.
 *  Returns 1; 0 if more bytes are needed (never with SXS_JIT_DUMP_LOAD bytes); -1 if it is damaged and
 *  has no size. A JIT_CODE_LOAD whose sizes contradict each other has is_load 0. */
int sxs_jit_dump_record(const uint8_t *bytes, size_t n, struct sxs_jit_record *out);

#endif
