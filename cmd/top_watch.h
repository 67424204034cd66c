/* SPDX-License-Identifier: MIT */
/** top_watch.h - tells when to stop waiting for the child that shows the session of another user's process: if a
 *  file system of that user never answers, the child hangs and no signal can end it. */
#ifndef SXS_CMD_TOP_WATCH_H
#define SXS_CMD_TOP_WATCH_H

#include "cmd/child.h"

#include <stdbool.h>

/**
 * sxs_top_watch - begin to count the looks at the session, which a child makes that is started next.
 * @screen: the child uses the terminal.
 * Returns a limit: the child is given up when one look takes longer than fifteen seconds. Static; NULL when there is no
 * memory for it.
 */
const struct sxs_child_limit *sxs_top_watch(bool screen);

/** sxs_top_watch_lost - make the terminal as it was before sxs_top_watch(), if @screen said that it is used. */
void sxs_top_watch_lost(void);

#endif
