/* SPDX-License-Identifier: MIT */
/** folder_safe.h - decides by owner and mode whether a folder is safe to record into. Used by the
 *  library and the command. */
#ifndef SXS_SESSION_FORMAT_FOLDER_SAFE_H
#define SXS_SESSION_FORMAT_FOLDER_SAFE_H

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/user.h"

/**
 * sxs_folder_refused - test whether an existing folder must not become a session folder because
 * another user could replace the files of the session.
 * @st: the folder's status. @why: receives the reason, at most @size bytes.
 * Returns 0 when the folder is safe, or 1 with the reason in @why: the folder belongs to another
 * user, or to a user that this user namespace does not have, or group or others may write into it.
 */
static inline int sxs_folder_refused(const struct stat *st, char *why, size_t size)
{
    if (st->st_uid != geteuid()) {
        snprintf(why, size, "the folder belongs to another user (uid %u)", (unsigned)st->st_uid);
        return 1;
    }
    if (!sxs_user_is_known(st->st_uid)) {
        snprintf(why, size,
                 "the folder belongs to uid %u, which may be any user outside of this user namespace",
                 (unsigned)st->st_uid);
        return 1;
    }
    if (st->st_mode & (S_IWGRP | S_IWOTH)) {
        snprintf(why, size, "others may write into the folder (mode %04o; chmod go-w would do)",
                 (unsigned)st->st_mode & 07777u);
        return 1;
    }
    return 0;
}

#endif
