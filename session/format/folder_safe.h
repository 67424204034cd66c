/* SPDX-License-Identifier: MIT */
/** folder_safe.h - who may own a session folder and write into it. For the library and the command. */
#ifndef SXS_RECORD_FOLDER_SAFE_H
#define SXS_RECORD_FOLDER_SAFE_H

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/**
 * sxs_folder_refused - whether the existing folder @st must not become a session folder: its owner, or
 * anybody who may write into it, could put files of their own in the place of the session's.
 * Returns 0, or 1 with the reason in @why (@size bytes).
 */
static inline int sxs_folder_refused(const struct stat *st, char *why, size_t size)
{
    if (st->st_uid != geteuid()) {
        snprintf(why, size, "the folder belongs to another user (uid %u)", (unsigned)st->st_uid);
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
