/* SPDX-License-Identifier: MIT */
/** attach.h - what an attach asks for. */
#ifndef SXS_CALLBACK_ATTACH_H
#define SXS_CALLBACK_ATTACH_H

#include <stddef.h>

/** Why nothing is recorded in a program where sxs_env_is_secure(). */
#define SXS_ATTACH_RAISED                                                                        \
    "this program runs with raised rights (set-user-ID, set-group-ID or file capabilities), so " \
    "nothing is recorded; expected a program that runs with the rights of the user who starts it"

/**
 * sxs_attach_begin - if the client data of an attach is a message of the command (control/message/),
 * begin the session that it asks for, or join it.
 * @data: @size bytes; may be NULL. Other data are ignored: they are for guests.
 * A session that cannot begin is one line of the log; the runtime stays attached, and a request over
 * the control socket tells the reason. Called in InitializeForAttach, when the runtime has been
 * initialized.
 */
void sxs_attach_begin(const void *data, size_t size);

/** sxs_attach_take_log - send the library's log into sessions from now on, if the client data @data of an attach are of
 *  the command, and no runtime has loaded the library at its start. */
void sxs_attach_take_log(const void *data, size_t size);

/** sxs_attach_begun_at_start - note that a runtime has loaded the library when the runtime started. Any thread. */
void sxs_attach_begun_at_start(void);

/** sxs_attach_is_abandoned - tell whether the client data @data of an attach are of a command that has ended
 *  meanwhile (sxs_control_is_abandoned()). Called before the runtime is initialized. */
int sxs_attach_is_abandoned(const void *data, size_t size);

#endif
