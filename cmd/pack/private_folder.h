/* SPDX-License-Identifier: MIT */
/**
 * private_folder.h - temporary folders that only the user can read, and that are removed when the
 * command ends: by exit(), or by SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGPIPE.
 * One thread at a time.
 */
#ifndef SXS_CMD_PACK_PRIVATE_FOLDER_H
#define SXS_CMD_PACK_PRIVATE_FOLDER_H

#include <stdint.h>

/** sxs_private_folder - make a folder below TMPDIR, and remove those of killed commands, as
 *  sxs_private_clean(). Returns its path, which is never released; or NULL with errno. */
const char *sxs_private_folder(void);

/**
 * sxs_private_subfolder - make the folder @name in @folder unless it was made before. Returns 0, or
 * -1 with errno.
 */
int sxs_private_subfolder(const char *folder, const char *name);

/**
 * sxs_private_file - make the new file @name ("a" or "folder/a") in @folder. Returns a descriptor
 * for writing, which the caller owns, or -1 with errno.
 */
int sxs_private_file(const char *folder, const char *name);

/** sxs_private_room - return how many bytes a file in @folder can have: half of what is free. */
uint64_t sxs_private_room(const char *folder);

/** sxs_private_remove - remove @folder and everything in it now. */
void sxs_private_remove(const char *folder);

/** sxs_private_clean - remove the folders of this user's commands that were killed, so that they
 *  could not remove them. Nobody holds the lock of the file ".lock" in such a folder. */
void sxs_private_clean(void);

#endif
