/* SPDX-License-Identifier: MIT */
/**
 * tree.h - lists and deletes folders by their descriptors. No name is looked up by a path and no symbolic link
 * is followed, so a user who can change the contents of the folder cannot cause other files to be deleted.
 */
#ifndef SXS_BASE_TREE_H
#define SXS_BASE_TREE_H

#include <dirent.h>

/** sxs_tree_list - open the folder @name in the folder @dir for reading; "." is @dir itself. Returns
 *  NULL with errno. Close by closedir(). Any thread; not signal-safe, as all functions here. */
DIR *sxs_tree_list(int dir, const char *name);

/** sxs_tree_delete - delete the folder @name in the folder @dir and what is in it, at most @depth
 *  levels below it. Returns 0 or -errno: -ENOTEMPTY when something could not be deleted. */
int sxs_tree_delete(int dir, const char *name, unsigned depth);

/** sxs_tree_clear - delete what is in the folder @fd, at most @depth levels below it, as far as this
 *  user may. Returns 0, or the first -errno. */
int sxs_tree_clear(int fd, unsigned depth);

/** sxs_tree_unlink - delete the empty folder @fd, whose name is @name, from the folder that it is in
 *  now. Does nothing when that name is another folder's by now. Returns 0 or -errno. */
int sxs_tree_unlink(int fd, const char *name);

#endif
