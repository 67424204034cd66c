/* SPDX-License-Identifier: MIT */
/**
 * folder_write.h - the folder that a process records into.
 *
 * The library keeps no descriptor of it in the host's table (base/descriptors.h): it stays open
 * in the table of the library's own thread or, where there is none, is found again by its path.
 */
#ifndef SXS_RECORD_FOLDER_WRITE_H
#define SXS_RECORD_FOLDER_WRITE_H

#include <limits.h>
#include <stddef.h>
#include <sys/stat.h>

/** An open folder. Lives as long as the process, or until sxs_folder_close(). */
struct sxs_folder {
    char  path[PATH_MAX]; /* absolute */
    int   fd;             /* in the table of the library's thread; -1: opened by its path for each use */
    dev_t dev;
    ino_t ino; /* what the path has to lead to */
};

/**
 * sxs_folder_open - open the existing folder @path. Returns 0 or -errno; then @folder is not to be used.
 * Any thread; not signal-safe.
 */
int sxs_folder_open(struct sxs_folder *folder, const char *path);

/**
 * sxs_folder_make - make this process's folder in the session folder @session, which is made first
 * (mode 0700) when it is missing. @folder: receives the process's folder: its pid, or pid-2, pid-3...
 * Returns 0, or -1 with a reason in @why (@size bytes): @session cannot be made or written to, is a
 * link, belongs to another user, or can be written to by others. Any thread; not signal-safe.
 */
int sxs_folder_make(struct sxs_folder *folder, const char *session, char *why, size_t size);

/** sxs_folder_remove - close @folder and remove it when it is empty. */
void sxs_folder_remove(struct sxs_folder *folder);

/** sxs_folder_close - close @folder. */
void sxs_folder_close(struct sxs_folder *folder);

/* ---- for files in the folder: only inside work of sxs_descriptors_call() --------------------------- */

/** sxs_folder_use - a descriptor of @folder, or -errno: -ESTALE when its path leads to another one. */
int sxs_folder_use(const struct sxs_folder *folder);

/** sxs_folder_used - give back what sxs_folder_use() returned. */
void sxs_folder_used(const struct sxs_folder *folder, int fd);

#endif
