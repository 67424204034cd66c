/* SPDX-License-Identifier: MIT */
/**
 * log_write.h - the file "log" of a process in a session: lines of the library's log.
 *
 * A program that is attached to did not ask to be recorded, and its standard error is its own. So after an attach the
 * lines go into the session, where the command and each report show them. The file is mapped, so they
 * survive any end of the process. A session without a line has no such file.
 */
#ifndef SXS_SESSION_WRITE_LOG_WRITE_H
#define SXS_SESSION_WRITE_LOG_WRITE_H

#include "session/write/folder_write.h"

/** sxs_log_file_divert - from now on the library's log goes into sessions; lines between two sessions into the
 *  next one. Called for each attach: drops the lines that wait, which are of an earlier one. Has no effect if SXSPROF_LOG is set: then somebody waits for it at standard error. Any thread. */
void sxs_log_file_divert(void);

/** sxs_log_file_open - begin the file in @folder, if the log is diverted. @folder: borrowed until
 *  sxs_log_file_close(). A failure leaves the lines in memory for the next session. One thread at a time. */
void sxs_log_file_open(const struct sxs_folder *folder);

/** sxs_log_file_close - complete the file, or remove it if it has no line. Does nothing if none is open. Threads: as
 *  above. */
void sxs_log_file_close(void);

#endif
