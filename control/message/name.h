/* SPDX-License-Identifier: MIT */
/** name.h - makes the names (abstract addresses) of the control socket. */
#ifndef SXS_CONTROL_MESSAGE_NAME_H
#define SXS_CONTROL_MESSAGE_NAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SXS_CONTROL_NAMES 4u /* that a process tries one after the other */

/**
 * sxs_control_name - write address @n (from 0) of a process's control socket: "sxsprof/PID/START",
 * from the second on with "/1", "/2"... after it, in the abstract namespace.
 * @pid: as the process sees itself. @start: its start time in clock ticks (/proc/PID/stat).
 * Returns the length of the address. Pure.
 */
socklen_t sxs_control_name(struct sockaddr_un *out, int pid, unsigned long long start, unsigned n);

/**
 * sxs_control_random_name - the same for the address of a process whose addresses above are all in use by
 * other processes: "sxsprof/PID/START/" and sixteen digits. @random: a number that nobody can guess. The
 * command finds it among the sockets that the process has open.
 */
socklen_t sxs_control_random_name(struct sockaddr_un *out, int pid, unsigned long long start,
                                  uint64_t random);

/** SXS_CONTROL_THREAD - the thread whose descriptor table has the socket, as /proc shows it. */
#define SXS_CONTROL_THREAD "sxsprof control"

/**
 * sxs_control_start_time - find the start time in the text of /proc/PID/stat, zero-terminated.
 * Returns 0, or -1 if it is not there. Pure.
 */
int sxs_control_start_time(const char *stat, unsigned long long *out);

#endif
