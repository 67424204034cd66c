/* SPDX-License-Identifier: MIT */
/**
 * file_read.h - opens and reads files that another user may have created or replaced.
 *
 * The functions that all readers of session files share. Any thread; not signal-safe.
 */
#ifndef SXS_SESSION_READ_FILE_READ_H
#define SXS_SESSION_READ_FILE_READ_H

#include <stddef.h>
#include <stdint.h>

/**
 * sxs_file_open - open the regular file @name in a folder for reading.
 * @folder_fd: the folder; borrowed.
 * @size: receives the present size of the file, in bytes.
 * @why: receives one line about a failure, else "".
 * Returns a descriptor, owned by the caller, or -errno; -EINVAL when it is not a regular file.
 * Follows no symbolic link and does not wait for a pipe.
 */
int sxs_file_open(int folder_fd, const char *name, uint64_t *size, char *why, size_t why_size);

/** sxs_file_read_at - read up to @size bytes from the offset @at into @to.
 *  Returns the number of bytes read before the end of the file or an error. */
size_t sxs_file_read_at(int fd, void *to, size_t size, uint64_t at);

/** sxs_lines_add - append a line to the list @lines of @n owned lines. When out of memory, the line
 *  is dropped. */
__attribute__((format(printf, 3, 4))) void sxs_lines_add(char ***lines, size_t *n, const char *fmt,
                                                         ...);

/** Free the lines and the list that sxs_lines_add() created. */
void sxs_lines_free(char **lines, size_t n);

#endif
