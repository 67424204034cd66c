/* SPDX-License-Identifier: MIT */
/** eventpipe.h - EventPipe sessions of guests. */
#ifndef SXS_GUESTS_EVENTPIPE_H
#define SXS_GUESTS_EVENTPIPE_H

struct guest_instance;

/** guest_eventpipe_end - stop the EventPipe sessions that the guest has left open. Call it while
 *  the runtime still accepts calls of its Info. Not in a callback; not signal-safe. */
void guest_eventpipe_end(struct guest_instance *g);

#endif
