/* SPDX-License-Identifier: MIT */
/**
 * tools/locks/waits.h - records waits for locks. A wait is in the file from its beginning, marked
 * as open; its length grows there until it ends. So waits that never end are in the file, too,
 * however the process ends.
 */
#ifndef SXS_TOOLS_LOCKS_WAITS_H
#define SXS_TOOLS_LOCKS_WAITS_H

#include "manager/runtime.h"
#include "tools/locks/decode.h"

/** sxs_waits_init - @owners: 1 if the stacks of owners are recorded, too. Before the first wait. */
void sxs_waits_init(int owners);

/**
 * sxs_wait_begin - the calling thread begins to wait, as an event says. @data: the event's data; if
 * the runtime delivers the event a second time, for another session, it has the same address.
 * Called in EventPipeEventDelivered, in which the runtime may not be asked and a collection may
 * be waiting for this thread: takes no lock, and allocates nothing. */
SXS_SIGSAFE void sxs_wait_begin(const struct sxs_runtime *rt, const struct sxs_contention *what,
                                const void *data);

/** sxs_wait_end - the calling thread has waited for @ns. Otherwise as sxs_wait_begin(). */
SXS_SIGSAFE void sxs_wait_end(const struct sxs_runtime *rt, uint64_t ns);

/** sxs_waits_update - write down how long the open waits have taken until now. Any thread. */
void sxs_waits_update(void);

#endif
