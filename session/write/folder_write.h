/* SPDX-License-Identifier: MIT */
/**
 * folder_write.h - creates and opens the folder that a process records into.
 *
 * The library keeps no descriptor of the folder in the host's table. The folder stays open in the
 * table of the library's own thread (base/descriptors.h). If that thread has no table of its own,
 * the folder is opened by its path for each use.
 */
#ifndef SXS_SESSION_WRITE_FOLDER_WRITE_H
#define SXS_SESSION_WRITE_FOLDER_WRITE_H

#include <limits.h>
#include <stddef.h>
#include <sys/stat.h>

/** An open folder. Lives as long as the process, or until sxs_folder_close(). */
struct sxs_folder {
    char  path[PATH_MAX]; /* absolute */
    int   fd;  /* in the table of the library's thread; -1: opened by its path for each use */
    dev_t dev; /* device and inode of the folder: what a later open by path must find */
    ino_t ino;
};

/**
 * sxs_folder_open - open the existing folder @path.
 * Returns 0, or -errno; then @folder must not be used. Any thread; not signal-safe.
 */
int sxs_folder_open(struct sxs_folder *folder, const char *path);

/**
 * sxs_folder_open_segments - open the folder of segments @path, which is created with mode 0700 if it
 * is missing.
 * @why: receives the reason of a failure, at most @size bytes.
 * Returns 0, or -errno, as sxs_folder_make() does for a session folder. Any thread; not signal-safe.
 */
int sxs_folder_open_segments(struct sxs_folder *folder, const char *path, char *why, size_t size);

/**
 * sxs_folder_make - create this process's folder in a session folder.
 * @folder: receives the process's folder, which is named after the pid, or pid-2, pid-3...
 * @session: path of the session folder, which is created with mode 0700 if it is missing.
 * @why: receives the reason of a failure, at most @size bytes.
 * Returns 0, or -1 when @session cannot be created or written to, is a symbolic link, belongs to
 * another user, can be written to by others, has something in it that is not of a session, or when its
 * path has a link that another user can change (session/format/folder_open.h). Any thread; not signal-safe.
 */
int sxs_folder_make(struct sxs_folder *folder, const char *session, char *why, size_t size);

/** sxs_folder_remove - close @folder and remove it when it is empty. */
void sxs_folder_remove(struct sxs_folder *folder);

/** sxs_folder_discard - close @folder and delete it with all regular files in it. */
void sxs_folder_discard(struct sxs_folder *folder);

/** sxs_folder_close - close @folder. */
void sxs_folder_close(struct sxs_folder *folder);

/* ---- for files in the folder: only in functions that sxs_descriptors_call() runs ----------- */

/** sxs_folder_use - return a descriptor of @folder, or -errno: -ESTALE when its path now leads to
 *  another folder. Give the descriptor back by sxs_folder_used(). */
int sxs_folder_use(const struct sxs_folder *folder);

/** sxs_folder_used - give back @fd, the result of sxs_folder_use(); a negative @fd is ignored. */
void sxs_folder_used(const struct sxs_folder *folder, int fd);

#endif
