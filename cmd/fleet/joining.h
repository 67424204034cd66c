/* SPDX-License-Identifier: MIT */
/**
 * joining.h - the inserts of pushes: makes requests of the batches that wait.
 *
 * A batch waits as one request, which is never sent in this form. It has the path SXS_FLEET_ROWS, and its
 * body has, for each table, the number of bytes (8 bytes, little endian) and the rows. Batches that wait
 * together become one insert for each table that has new rows. Frames, stacks and sources that the
 * server has accepted before are left out for an hour; a request that fails ends that hour. So a
 * process in its usual state needs one request a minute, and a server that has lost its tables gets
 * the names again.
 *
 * All inserts of one sender into one table have the same ID, and a server refuses a request with the
 * ID of one that it still works on. So a request that the sender has given up, but the server has not,
 * is never overtaken by the next one, whichever batches that has. One thread; not signal-safe.
 */
#ifndef SXS_CMD_FLEET_JOINING_H
#define SXS_CMD_FLEET_JOINING_H

#include "cmd/push/target.h"

#define SXS_FLEET_ROWS "rows/2"

/* The functions of struct sxs_push_joining; see there. */
void *sxs_fleet_joining_open(const struct sxs_push_settings *s, const char *sender);
void  sxs_fleet_joining_close(void *joining);
int   sxs_fleet_joining_join(void *joining, const struct sxs_push_out *const *batches, size_t n,
                             struct sxs_push_out *out);
void  sxs_fleet_joining_accepted(void *joining, size_t i);
void  sxs_fleet_joining_failed(void *joining);

#endif
