/* SPDX-License-Identifier: MIT */
/** newest.h - find the session that a report without a folder is about. */
#ifndef SXS_CMD_NEWEST_H
#define SXS_CMD_NEWEST_H

#include <stddef.h>

/**
 * sxs_newest_session - find the newest session in the current folder.
 * The newest session is the one whose last process loaded its first runtime last. Folders named
 * sxsprof-* come first; if there is none with a session, other folders; if there is none either,
 * the current folder itself.
 * @name: receives the name of the folder; holds @size bytes.
 * Returns 0, or -1 when there is no session.
 */
int sxs_newest_session(char *name, size_t size);

#endif
