/* SPDX-License-Identifier: MIT */
/**
 * ring.h - continuous mode. The process records one session after the other with the same tools; these
 * sessions are called segments. The newest ones are kept, and older ones are deleted
 * (docs/internals/keep.md).
 *
 * A ring is begun by the environment (SXSPROF_KEEP or SXSPROF_ON) or by a request. Its segments end
 * and begin on the thread "sxsprof session". A session that is ended by a request, or by a
 * detach, ends the ring.
 */
#ifndef SXS_CONTROL_RING_H
#define SXS_CONTROL_RING_H

#include "control/keep/keep_settings.h"
#include "control/message/message.h"
#include "manager/sessions.h"

/** sxs_ring_prepare - if the environment asks for continuous mode, make sxs_manager_init() change its
 *  settings, so that the first session records into a segment. To be called once, before sxs_manager_init(). */
void sxs_ring_prepare(void);

/** sxs_ring_start - start the ring of the environment, if there is one: from now on its segments end and
 *  begin. Called once, when the thread "sxsprof session" runs. Returns 1 if there is a ring. */
int sxs_ring_start(void);

/** sxs_ring_is_wanted - return 1 if the environment asks for a ring and it could be prepared. */
int sxs_ring_is_wanted(void);

/**
 * sxs_ring_begin - begin a ring on the runtimes that are live.
 * @request: as for sxs_session_begin(); `out` is the folder of segments. @texts: the settings. Both
 *   are copied.
 * @why: as there. Returns 0 or a negative errno value, as there; -EINVAL: the settings are not
 * understood; -ENOTSUP also: a tool cannot record segments, or the thread does not run.
 * A request whose id is that of the ring joins it. Any thread that is not inside a callback.
 */
int sxs_ring_begin(const struct sxs_session_request *request, const struct sxs_keep_texts *texts,
                   char why[SXS_SESSION_WHY]);

/** sxs_ring_texts - read the settings of a request: its lines keep, segment, on and budget. @out: borrows
 *  from @m. Returns 1 if it asks for a ring. */
int sxs_ring_texts(const struct sxs_message *m, struct sxs_keep_texts *out);

/** sxs_ring_stop - end the ring if no session is on: the request that ended the session ends the ring, too.
 *  The last segment is then complete. @number: end the ring only if its last session was this one, or the
 *  continuation of this one (sxs_session_thread_is_same()); 0: in each case.
 *  Returns 1 if the ring was between two segments, so that there was no session to end; else 0.
 *  Not signal-safe; must not be called while a session begins or ends on this thread. */
int sxs_ring_stop(unsigned number);

/** sxs_ring_folder - write the folder of segments of the ring that is on to @out (@size bytes).
 *  Returns 1, or 0 if none is on. Any thread. */
int sxs_ring_folder(char *out, size_t size);

#endif
