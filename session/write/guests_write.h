/* SPDX-License-Identifier: MIT */
/** guests_write.h - the file "guests" of a session: one row per guest and runtime. */
#ifndef SXS_SESSION_WRITE_GUESTS_WRITE_H
#define SXS_SESSION_WRITE_GUESTS_WRITE_H

#include "session/format/guests.h"

/**
 * sxs_guests_row - return a new row. Without a session folder, or with SXS_GUESTS_ROWS rows in use,
 * the row is one in memory that no file has. Never NULL; lives as long as the process. The caller
 * fills it and stores `state` last. Any thread; not signal-safe.
 */
struct sxs_guest_row *sxs_guests_row(void);

/** sxs_guests_close - complete the file: the rows go on in memory, at the same addresses. A later session
 *  has no such file. Any thread. */
void sxs_guests_close(void);

#endif
