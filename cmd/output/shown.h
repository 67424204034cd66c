/* SPDX-License-Identifier: MIT */
/** shown.h - the names by which messages call session folders. One thread at a time. */
#ifndef SXS_CMD_OUTPUT_SHOWN_H
#define SXS_CMD_OUTPUT_SHOWN_H

/**
 * sxs_show_as - make messages use @name for the session folder @dir. For a packed session, which is
 * unpacked to a folder that the user does not know. @dir, @name: borrowed until the command ends.
 */
void sxs_show_as(const char *dir, const char *name);

/** sxs_shown - return the name of the session folder @dir in messages: @dir, unless sxs_show_as()
 *  has given it another name. Borrowed. */
const char *sxs_shown(const char *dir);

#endif
