/* SPDX-License-Identifier: MIT */
/** attach.h - what an attach asks for. */
#ifndef SXS_CALLBACK_ATTACH_H
#define SXS_CALLBACK_ATTACH_H

#include <stddef.h>

/**
 * sxs_attach_begin - if the client data of an attach is a message of the command (control/message/),
 * begin the session that it asks for, or join it.
 * @data: @size bytes; may be NULL. Other data are ignored: they are for guests.
 * A session that cannot begin is one line of the log; the runtime stays attached, and a request over
 * the control socket tells the reason. Called in InitializeForAttach, when the runtime has been
 * initialized.
 */
void sxs_attach_begin(const void *data, size_t size);

#endif
