/* SPDX-License-Identifier: MIT */
/**
 * temporary.h - files and folders that are removed when the command ends: by exit(), or by SIGINT,
 * SIGTERM, SIGHUP, SIGQUIT or SIGPIPE when their action is the default. One thread at a time.
 */
#ifndef SXS_CMD_OUTPUT_TEMPORARY_H
#define SXS_CMD_OUTPUT_TEMPORARY_H

#include <sys/types.h>

enum sxs_temporary { SXS_TEMPORARY_FOLDER, SXS_TEMPORARY_SUBFOLDER, SXS_TEMPORARY_FILE };

/** sxs_temporary_folder - return the folder for temporary files: that of TMPDIR, else /tmp. Borrowed. */
const char *sxs_temporary_folder(void);

/**
 * sxs_temporary_make - make something that did not exist, and remove it at the end.
 * @path: owned by the list after success, else freed. The last six characters of a FOLDER's are
 * replaced. @mode: of a file, before the umask; folders get 0700.
 * Returns a descriptor for writing for a FILE, owned by the caller, else 0; or -1 with errno.
 */
int sxs_temporary_make(enum sxs_temporary what, char *path, mode_t mode);

/**
 * sxs_temporary_make_in - make a file in a folder, as sxs_temporary_make() does. @folder: its descriptor, which
 * must stay open while the file is in the list. @name: owned by the list after success, else freed; no other
 * path in the list begins with it.
 */
int sxs_temporary_make_in(int folder, char *name, mode_t mode);

/** sxs_temporary_rename - give the file @path of the list the name @to, which is in the same folder if that
 *  was given by its descriptor, and do not remove it at the end. Returns 0, or -1 with errno. */
int sxs_temporary_rename(const char *path, const char *to);

/** sxs_temporary_remove - remove everything whose path begins with @prefix now. @prefix may be a path of the list,
 *  which is released. */
void sxs_temporary_remove(const char *prefix);

#endif
