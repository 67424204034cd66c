/* SPDX-License-Identifier: MIT */
/**
 * folder_path.h - opens a folder by its path without being redirected by another user.
 *
 * A path is safe to write to only if no other user can make it lead elsewhere. The path is walked
 * one name at a time, each from the descriptor of the folder before, and no name is looked up
 * twice. A symbolic link is followed only if it belongs to root or to this process's effective user,
 * and lies in a folder of root or of that user. So links like /var/run -> /run, or those that
 * systemd makes for StateDirectory=, work, and a link that another user has put into /tmp or
 * into a folder of his own does not.
 *
 * Owners and modes of the folders on the way do not matter. Another user who may rename them can
 * hide the folder that is opened here, but cannot make it another one: callers go on with its
 * descriptor, or compare device and inode.
 */
#ifndef SXS_BASE_FOLDER_PATH_H
#define SXS_BASE_FOLDER_PATH_H

#include <limits.h>
#include <stddef.h>

/** How a folder is opened. */
enum {
    SXS_FOLDER_PATH_MAKE = 1,      /* make it, with mode 0700, if only its last name is missing */
    SXS_FOLDER_PATH_LAST_LINK = 2, /* its last name may be a symbolic link; else that is refused */
    SXS_FOLDER_PATH_ENTER = 4      /* only for access to names in it: it need not be readable */
};

/**
 * sxs_folder_path_open - open the folder @path for reading.
 * @how: values above. @real: receives the absolute path without links, `PATH_MAX` bytes.
 * @made: receives 1 if the folder was made, else 0; may be NULL. @why: receives the reason of a
 * failure, @size bytes.
 * Returns a descriptor (close-on-exec), or -errno with a reason in @why. Allocates nothing, takes
 * about 3 * PATH_MAX bytes of stack. Any thread; not signal-safe.
 */
int sxs_folder_path_open(const char *path, unsigned how, char real[PATH_MAX], int *made, char *why,
                         size_t size);

#endif
