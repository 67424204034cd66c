/* SPDX-License-Identifier: MIT */
/**
 * file_read.h - open and read a file that somebody else may have put there, and tell what is wrong.
 *
 * What the readers of a session folder have in common. Any thread; not signal-safe.
 */
#ifndef SXS_RECORD_FILE_READ_H
#define SXS_RECORD_FILE_READ_H

#include <stddef.h>
#include <stdint.h>

/**
 * sxs_file_open - open the regular file @name in the folder @folder_fd (borrowed) for reading.
 * @size: receives its size in bytes as it is now. @why: one line about a failure, else "".
 * Returns a descriptor, owned by the caller, or -errno; -EINVAL: it is no regular file. Follows no
 * link and waits for no pipe.
 */
int sxs_file_open(int folder_fd, const char *name, uint64_t *size, char *why, size_t why_size);

/** sxs_file_read_at - up to @size bytes from the offset @at; returns how many there were, and those
 *  before it when there was an error. */
size_t sxs_file_read_at(int fd, void *to, size_t size, uint64_t at);

/** sxs_lines_add - one more owned line in the list @lines of @n; not added when memory ran out. */
__attribute__((format(printf, 3, 4))) void sxs_lines_add(char ***lines, size_t *n, const char *fmt,
                                                         ...);

/** Frees a list that sxs_lines_add() made. */
void sxs_lines_free(char **lines, size_t n);

#endif
