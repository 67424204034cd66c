/* SPDX-License-Identifier: MIT */
/** mapped_file.h - open a file that a process has mapped: that very file, and only a regular one. */
#ifndef SXS_CMD_PROCESSES_MAPPED_FILE_H
#define SXS_CMD_PROCESSES_MAPPED_FILE_H

#include "cmd/processes/maps.h"

#include <sys/stat.h>

/**
 * sxs_mapped_open - open for reading a file that a process has mapped, or its program.
 * The file is found by its addresses where this user may do that, which is exact; else by its path below
 * the process's root folder, without any symbolic link, and its device and inode are compared. Nothing is
 * opened before it is known to be a regular file. May block as long as the file system does not answer.
 * @dir: descriptor of /proc/PID.
 * @f: the mapping; NULL: the program.
 * @st: receives what the file is.
 * Returns a descriptor, or -errno: ESTALE when the path leads to another file now, EINVAL when it is no
 * regular file.
 */
int sxs_mapped_open(int dir, const struct sxs_mapped_file *f, struct stat *st);

#endif
