/* SPDX-License-Identifier: MIT */
/**
 * ring.h - continuous mode: one session after the other with the same tools, of which the newest are
 * kept (docs/internals/keep.md).
 *
 * A ring is begun by the environment (SXSPROF_KEEP and the like) or by a request. Its segments end
 * and begin on the thread "sxsprof session". A session that is ended by a request, or by a
 * detach, ends the ring.
 */
#ifndef SXS_CONTROL_RING_H
#define SXS_CONTROL_RING_H

#include "control/keep/keep_settings.h"
#include "control/message/message.h"
#include "manager/sessions.h"

/** sxs_ring_prepare - have the settings of the environment changed for continuous mode, if it asks for
 *  that: the first session records into a segment. To be called once, before sxs_manager_init(). */
void sxs_ring_prepare(void);

/** sxs_ring_start - begin to look after the ring of the environment, if there is one. Called once,
 *  when the thread "sxsprof session" runs. Returns 1 if there is a ring. */
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

/** sxs_ring_stop - end the ring if no session is on, because somebody has ended it; its last segment is
 *  then complete. @number: only if its last session was this one, or has gone on from it; 0: any.
 *  Returns 1 if the ring was between two segments, so that nobody had a session to end; else 0.
 *  Not signal-safe; not while a session begins or ends on this thread. */
int sxs_ring_stop(unsigned number);

/** sxs_ring_folder - write the folder of segments of the ring that is on to @out (@size bytes).
 *  Returns 1, or 0 if none is on. Any thread. */
int sxs_ring_folder(char *out, size_t size);

#endif
