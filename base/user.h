/* SPDX-License-Identifier: MIT */
/**
 * base/user.h - tells whether a user ID names one user.
 *
 * A user that does not exist in the reader's user namespace is shown by the kernel as the overflow
 * user ID (65534 by default). So in a user namespace this number stands for any user outside: two
 * processes, or a process and a file, that both have it can belong to different users.
 */
#ifndef SXS_BASE_USER_H
#define SXS_BASE_USER_H

#include <sys/types.h>

/**
 * sxs_user_is_known_in - return 1 if @uid names one user, 0 if it may stand for any user outside.
 * @map: text of /proc/self/uid_map, zero-terminated; NULL: the kernel has no user namespaces.
 * @overflow: the overflow user ID. Pure; signal-safe.
 */
int sxs_user_is_known_in(uid_t uid, const char *map, uid_t overflow);

/**
 * sxs_user_is_known - the same for the user namespace of this process.
 * Reads /proc/self/uid_map and /proc/sys/kernel/overflowuid, unless this is the initial user
 * namespace, which has every user. Returns 0 for 65534 when /proc cannot be read. Any thread; not
 * signal-safe.
 */
int sxs_user_is_known(uid_t uid);

#endif
