/* SPDX-License-Identifier: MIT */
/** descriptors.h - descriptors of child processes: closing all but some, and passing them by messages. */
#ifndef SXS_CMD_CONFINED_DESCRIPTORS_H
#define SXS_CMD_CONFINED_DESCRIPTORS_H

#include <stddef.h>
#include <sys/types.h>

/**
 * sxs_confined_close_others - in a forked child: close all descriptors from 3 on but those in @keep.
 * @keep: @n descriptors, which are sorted; those below 3 have no effect.
 */
void sxs_confined_close_others(int *keep, size_t n);

/**
 * sxs_confined_send - send a message of @size bytes over a socket.
 * @fd: descriptor to send along, borrowed; negative: none.
 * Returns 0 or an errno value: EPIPE when nobody receives any more, EMSGSIZE when it was not sent
 * whole.
 */
int sxs_confined_send(int socket, const void *bytes, size_t size, int fd);

/**
 * sxs_confined_receive - receive a message of at most @size bytes.
 * @fd: receives its descriptor, which the caller closes; -1: it has none. Further ones are closed.
 * Returns its size; 0 when nobody sends any more; -1 with errno.
 */
ssize_t sxs_confined_receive(int socket, void *bytes, size_t size, int *fd);

#endif
