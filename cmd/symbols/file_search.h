/* SPDX-License-Identifier: MIT */
/** file_search.h - search the bytes of a file in little memory; holes are not read. */
#ifndef SXS_CMD_SYMBOLS_FILE_SEARCH_H
#define SXS_CMD_SYMBOLS_FILE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/**
 * sxs_file_search - find the first place in a file where one of @texts is.
 * @fd: a regular file. Its position is changed.
 * @texts: ends with NULL; each has 1 to 64 bytes.
 * @most: bytes of data that are searched; holes do not count.
 * @after: receives up to @size bytes that follow the text that was found; NULL: none.
 * @n_after: receives how many.
 * Returns 0, or an errno value: ENOENT when the text is not there, EFBIG when the file has more than
 * @most bytes of data and the first of them lack it, EIO...
 */
int sxs_file_search(int fd, const char *const *texts, uint64_t most, char *after, size_t size,
                    size_t *n_after);

#endif
