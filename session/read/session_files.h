/* SPDX-License-Identifier: MIT */
/**
 * session_files.h - the list of the files that a session can have, with the largest size of each.
 *
 * Code that copies, packs or unpacks a session takes the files of this list and no others.
 */
#ifndef SXS_SESSION_READ_SESSION_FILES_H
#define SXS_SESSION_READ_SESSION_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One kind of file. */
struct sxs_session_file {
    const char *name;
    uint64_t    max_bytes;   /* no process writes a larger one */
    bool        is_numbered; /* a number from 1 follows the name: "heap-1" */
    bool        is_packed;   /* it is a part of packed sessions */
};

/** All kinds, those of packed sessions in the order in which they are packed. Static. */
extern const struct sxs_session_file sxs_session_files[];
extern const size_t                  sxs_session_n_files;

/** sxs_session_file_named - return the kind of the file @name, or NULL when no session has such a
 *  file. Pure. */
const struct sxs_session_file *sxs_session_file_named(const char *name);

/** sxs_session_file_bit - return the bit that stands for the kind of the file @name in a set of kinds; 0: no
 *  session has such a file. Pure. */
uint32_t sxs_session_file_bit(const char *name);

#endif
