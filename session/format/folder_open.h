/* SPDX-License-Identifier: MIT */
/**
 * folder_open.h - opens the folder that a session is recorded into. The library and the command share
 * this one rule for the folders that they accept.
 *
 * A folder is accepted when it is new, when it is empty and belongs to this user, or when it has a
 * session or segments in it; other files, such as reports, may be in it, too. Without this rule, a wrong
 * setting would put the files of a session into / or into a home folder. How the path is followed: base/folder_path.h.
 * Owner and mode: folder_safe.h.
 */
#ifndef SXS_SESSION_FORMAT_FOLDER_OPEN_H
#define SXS_SESSION_FORMAT_FOLDER_OPEN_H

#include <limits.h>
#include <stddef.h>

#include "base/folder_path.h"

/** What may be in a session folder. */
enum {
    SXS_NAMES_PROCESSES = 1,    /* folders of processes: 4242, 4242-2 */
    SXS_NAMES_SEGMENTS = 2,     /* segments, "kept", and a segment that is being deleted */
    SXS_NAMES_SEGMENT_FILES = 4 /* what describes a segment, in its folder */
};

/** sxs_name_is_process - tell whether @name has the form of the name of a process's folder: up to
 *  ten digits, or twice so with '-' between. Pure. */
int sxs_name_is_process(const char *name);

/** sxs_name_segment_length - return the length of the segment's name (20261124T101500Z-41) that
 *  @name begins with; 0: none. The form alone is looked at, not whether there is such a date.
 *  Pure. */
size_t sxs_name_segment_length(const char *name);

/**
 * sxs_session_folder_open - open the folder @path, to record a session into it.
 * @how, @real, @made, @why, @size: as for sxs_folder_path_open(). @names: what of sessions may be
 * in it, a sum of SXS_NAMES_.
 * Returns a descriptor, or -errno with a reason in @why: also -EACCES: another user could replace
 * the files in it, and -ENOTEMPTY: something else is in it, and no session; or what @names does not
 * allow. Any thread; not signal-safe.
 */
int sxs_session_folder_open(const char *path, unsigned how, unsigned names, char real[PATH_MAX],
                            int *made, char *why, size_t size);

#endif
