/* SPDX-License-Identifier: MIT */
/** runtimes.h - lists the runtimes of this process in answers of the control socket. */
#ifndef SXS_CONTROL_RUNTIMES_H
#define SXS_CONTROL_RUNTIMES_H

#include "control/message/message.h"

/** sxs_control_add_runtimes - add a line `runtime` for each runtime of this process, also those
 *  that have ended. Any thread; takes no lock of the manager for longer than copying a list. */
void sxs_control_add_runtimes(struct sxs_message_writer *answer);

#endif
