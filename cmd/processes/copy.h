/* SPDX-License-Identifier: MIT */
/** copy.h - copy and remove folders by descriptors, without following links. */
#ifndef SXS_CMD_PROCESSES_COPY_H
#define SXS_CMD_PROCESSES_COPY_H

/**
 * sxs_copy_file - copy the bytes of @from to @to, both open regular files; holes stay holes.
 * Returns 0 or an errno value.
 */
int sxs_copy_file(int from, int to);

/**
 * sxs_copy_folder - copy the regular files and the folders of the folder @from into the folder @to.
 * Links, pipes and devices are left out. A file that exists in @to is an error. Folders get the mode
 * 0700, files 0600.
 * Returns 0, or the errno value of the first failure, after which the other files are copied still.
 */
int sxs_copy_folder(int from, int to);

/** sxs_remove_contents - remove everything in the folder @dir, as far as this user may. Returns 0 or
 *  the errno value of the first failure. */
int sxs_remove_contents(int dir);

#endif
