/* SPDX-License-Identifier: MIT */
/** clrie/log/file.h - the log file. For the files of this folder; the caller's lock guards it. */
#ifndef SXS_CLRIE_LOG_FILE_H
#define SXS_CLRIE_LOG_FILE_H

#include <stddef.h>

/**
 * clrie_log_file_open - open the file for appending, or create it with mode 0600.
 * @path: a file, or a folder: then the file is ProfilerLog_PID.txt in it. A path is a folder when it
 *   ends with '/' or "/.", or when there is a folder of this name.
 * The file must be new, or a regular file of this user with one name, or a pipe of this user or root,
 * or a device. It is not opened through a symbolic link in place of the file, or through one that
 * another user can change (base/folder_path.h).
 * @why: receives the reason when the file is not opened, @size bytes.
 * Returns 1 when the file is open, else 0. Must not be called while the file is open.
 */
int clrie_log_file_open(const char *path, char *why, size_t size);

/** clrie_log_file_write - append @size bytes, a line with its end. Never waits: what cannot be
 *  written at once is dropped. Does nothing when the file is not open. Allocates nothing. */
void clrie_log_file_write(const char *line, size_t size);

/** clrie_log_file_close - close the file, if it is open. */
void clrie_log_file_close(void);

#endif
