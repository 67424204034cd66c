/* SPDX-License-Identifier: MIT */
/**
 * server.h - the connections of the control socket: reads requests, passes them to the code that
 * carries them out, and writes answers.
 *
 * Nothing here waits for a client. A client that does not send a whole request within five seconds
 * of its connection or of its last answer, or does not read its answer in that time, is closed; one
 * that holds a session may be silent. At most SXS_SERVER_CLIENTS are served at once; more wait in
 * the kernel's queue. All functions are called on one thread.
 */
#ifndef SXS_CONTROL_SERVER_H
#define SXS_CONTROL_SERVER_H

#include <stdint.h>

#define SXS_SERVER_CLIENTS 32
#define SXS_SERVER_JOBS    16 /* requests that run or wait at once; further ones are refused */

/**
 * sxs_server_init - begin to serve clients.
 * @listener: a listening socket; -1: none; then clients are added by sxs_server_add() only.
 * @woken: an eventfd that is written when a job of the session thread is done.
 * Both non-blocking and borrowed. There is one server in a process.
 */
void sxs_server_init(int listener, int woken);

/** sxs_server_add - serve the client at @fd, a non-blocking socket that the server owns then.
 *  Returns 0, or -1 if there are too many clients; then @fd is closed. */
int sxs_server_add(int fd);

/** sxs_server_turn - wait for requests and other events, at most @max_ms milliseconds (-1: no limit),
 *  and handle them. Returns the number of clients. */
unsigned sxs_server_turn(int max_ms);

#endif
