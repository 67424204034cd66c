/* SPDX-License-Identifier: MIT */
/**
 * log_write.h - the file "log" of a process in a session: the library's errors and warnings.
 *
 * These lines say why a tool did not start, or records less than was requested, so each report shows them first.
 * They are also written to standard error, except after an attach: a process that is attached to did not ask to be
 * recorded, so its standard error is left alone. The file is mapped, so the lines survive any end of the
 * process; its room is reserved when it begins, so a full disk takes none of them away. Each line is
 * there once. When the file is full, its last line counts those that had no room. A process that ends in
 * the regular way without a line has no such file; otherwise zero bytes follow the lines. A forked child
 * writes none.
 */
#ifndef SXS_SESSION_WRITE_LOG_WRITE_H
#define SXS_SESSION_WRITE_LOG_WRITE_H

#include "session/write/folder_write.h"

/** sxs_log_file_keep - from now on errors and warnings go into sessions, too; those before the first
 *  session and between two into the next one. Any thread; not signal-safe. */
void sxs_log_file_keep(void);

/** sxs_log_file_divert - from now on they go into sessions only. Called for each attach: drops the lines
 *  that wait, if an earlier attach has left them. Has no effect if SXSPROF_LOG is set: then a user reads
 *  the log at standard error. Any thread. */
void sxs_log_file_divert(void);

/** sxs_log_file_mark - return a mark after the lines that wait for a session. Any thread. */
size_t sxs_log_file_mark(void);

/** sxs_log_file_forget - drop the waiting lines after @mark: they are about a session that could not
 *  begin. Keeps them if some had no room. Any thread. */
void sxs_log_file_forget(size_t mark);

/** sxs_log_file_open - begin the file in @folder. @folder: borrowed until
 *  sxs_log_file_close(). A failure leaves the lines in memory for the next session. One thread at a time. */
void sxs_log_file_open(const struct sxs_folder *folder);

/** sxs_log_file_close - complete the file, or remove it if it has no line. Does nothing if none is open. Threads: as
 *  above. */
void sxs_log_file_close(void);

#endif
