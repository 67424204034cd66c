/* SPDX-License-Identifier: MIT */
/**
 * file_read.h - opens and reads files that another user may have created or replaced.
 *
 * All readers of session files use these functions. Any thread; not signal-safe.
 */
#ifndef SXS_SESSION_READ_FILE_READ_H
#define SXS_SESSION_READ_FILE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stat;

#define SXS_FILES_KEPT \
    12 /* files of a folder that are kept open at once: all that several readers read */

/** Files that stay open after their first reader, so that the next reader of the same folder does not open
 *  them again. Zeroed it has none. */
struct sxs_kept_files {
    bool (*lacks)(const struct sxs_kept_files *kept, const char *name); /* returns true when the folder is known
                                                                        * not to have the file; NULL: not known */
    uint32_t present; /* for `lacks` */
    size_t   n;
    struct {
        char name[24];
        int  fd;  /* owned; -1: it could not be opened */
        int  err; /* why not; errno value */
    } all[SXS_FILES_KEPT];
};

/** A folder whose files are read. */
struct sxs_files {
    int                    fd;   /* the folder; borrowed */
    struct sxs_kept_files *kept; /* borrowed; NULL: each reader opens a file for itself */
};

/** SXS_FILES_OF - the folder @folder_fd, whose files are opened by each reader. Valid in the block around it. */
#define SXS_FILES_OF(folder_fd) (&(const struct sxs_files){.fd = (folder_fd)})

/** sxs_kept_files_close - close all files. */
void sxs_kept_files_close(struct sxs_kept_files *kept);

/**
 * sxs_file_open_regular - open the regular file @name in a folder for reading.
 * @folder: the folder; borrowed. @st: receives the facts about the opened file.
 * Returns a descriptor, owned by the caller, or -errno: -ELOOP when it is a symbolic link, -EINVAL
 * when it is something else than a regular file. Such a thing is not opened: a device notices
 * nothing, and a pipe is not waited for.
 */
int sxs_file_open_regular(const struct sxs_files *folder, const char *name, struct stat *st);

/** sxs_file_why - write why sxs_file_open_regular() failed into @buf, one line. @err: the errno value.
 *  Returns @buf. */
const char *sxs_file_why(int err, char *buf, size_t size);

/**
 * sxs_file_open - open the regular file @name in a folder for reading.
 * @folder: the folder; borrowed.
 * @size: receives the present size of the file, in bytes.
 * @why: receives one line about a failure, else "".
 * As sxs_file_open_regular() otherwise.
 */
int sxs_file_open(const struct sxs_files *folder, const char *name, uint64_t *size, char *why,
                  size_t why_size);

/** sxs_file_read_at - read up to @size bytes from the offset @at into @to.
 *  Returns the number of bytes read before the end of the file or an error. */
size_t sxs_file_read_at(int fd, void *to, size_t size, uint64_t at);

/**
 * sxs_file_next_data, sxs_file_next_hole - find the first byte at or after @at that is not, or is,
 * part of a hole: a range for which no disk space was ever used, and which reads as zeros.
 * Return its offset, or @end when there is none before @end. A file system that does not know holes
 * has none. They take the time of one system call, however large the hole.
 */
uint64_t sxs_file_next_data(int fd, uint64_t at, uint64_t end);
uint64_t sxs_file_next_hole(int fd, uint64_t at, uint64_t end);

/**
 * sxs_file_read_data - as sxs_file_read_at(), but leave @to as it is where the file has a hole.
 * @to: zeroed by the caller. Takes time for the data in the range, not for its size.
 */
size_t sxs_file_read_data(int fd, void *to, size_t size, uint64_t at);

/** sxs_list_room - make room for one more item in a @list of @n items of @item bytes each. Updates
 *  the capacity @cap. Returns the list, which may have moved, or NULL when out of memory: then it is as before. */
void *sxs_list_room(void *list, size_t n, size_t *cap, size_t item);

#define SXS_LINES_MAX 1000u /* lines of a list, one more says that there are more */

/** sxs_lines_add - append a line to the list @lines of @n owned lines. When out of memory, the line
 *  is dropped. Of a list that is full, the last line says that there are more. */
__attribute__((format(printf, 3, 4))) void sxs_lines_add(char ***lines, size_t *n, const char *fmt,
                                                         ...);

/** Free the lines and the list that sxs_lines_add() created. */
void sxs_lines_free(char **lines, size_t n);

#endif
