/* SPDX-License-Identifier: MIT */
/** crash.h - says which guest a process was in when it crashed. */
#ifndef SXS_GUESTS_CRASH_H
#define SXS_GUESTS_CRASH_H

struct guest;

/** guest_crash_watch - from now on, write one line when the process crashes inside a callback of a
 *  guest or in the code of @guest's library. Call once for each guest, after it was loaded. */
void guest_crash_watch(const struct guest *guest);

#endif
