/* SPDX-License-Identifier: MIT */
/**
 * file_write.h - creates, grows and cuts the files that the library writes through a shared map.
 *
 * All disk space of such files is reserved here, on the thread of base/descriptors.h, before it is
 * touched. So a full disk or RLIMIT_FSIZE is an error value, and never a SIGBUS or SIGXFSZ. The
 * library keeps no descriptor of these files in the host's table. Not signal-safe.
 */
#ifndef SXS_SESSION_WRITE_FILE_WRITE_H
#define SXS_SESSION_WRITE_FILE_WRITE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/write/folder_write.h"

/** A file that sxs_file_create() created. */
struct sxs_file {
    const struct sxs_folder *folder; /* borrowed */
    const char              *name;   /* name in the folder; borrowed */
    int   fd;  /* in the table of the library's thread; -1: the file is opened by its path for each
                * use */
    dev_t dev; /* device and inode of the file: what a later open by path must find */
    ino_t ino;
};

/**
 * sxs_file_create - create the file @name in @folder and map it shared.
 * @folder, @name: borrowed as long as @file is used.
 * @header_size: bytes at the start whose blocks are reserved at once. Bytes after them must not be
 *   touched before sxs_file_reserve().
 * @map_size: bytes of address space to map. @map: receives the map.
 * Returns 0, or -errno (the file exists, no room, larger than RLIMIT_FSIZE, no folder); then
 * nothing is left behind. @file and @map live as long as the process, or until sxs_file_undo(). Any
 * thread.
 */
int sxs_file_create(struct sxs_file *file, const struct sxs_folder *folder, const char *name,
                    size_t header_size, size_t map_size, unsigned char **map);

/**
 * sxs_file_reserve - reserve blocks for the @size bytes at offset @from; the file grows to include
 * them.
 * Returns 0 or -errno: -ESTALE when the file was replaced, -ECHILD in a forked child.
 * Allocates no memory. Any thread, in hooks too; waits for a system call on another thread.
 */
int sxs_file_reserve(const struct sxs_file *file, uint64_t from, uint64_t size);

/**
 * sxs_file_write - write @size bytes of @data at offset @from, by write(2); the file grows to
 * include them. For data that need not survive in part.
 * Returns 0 or -errno, like sxs_file_reserve(); -ENOSPC or -EFBIG when there is no room.
 * Allocates no memory. Any thread; waits for a system call on another thread.
 */
int sxs_file_write(const struct sxs_file *file, uint64_t from, const void *data, size_t size);

/**
 * sxs_file_no_room - return how often a file could not be made or grow since the library was loaded, because
 * its disk was full or its user has a quota (ENOSPC, EDQUOT). Any thread; async-signal-safe.
 */
unsigned sxs_file_no_room(void);

/** sxs_file_shorten - cut the file to @size bytes. Returns 0 or -errno, like sxs_file_reserve(). */
int sxs_file_shorten(const struct sxs_file *file, uint64_t size);

/**
 * sxs_file_hold - mark the file as in use (base/held.h) until sxs_file_close() or the end of the process.
 * Returns 0 or -errno: -ENOTSUP when its descriptor cannot be kept open. Any thread.
 */
int sxs_file_hold(const struct sxs_file *file);

/** sxs_file_close - close the file's descriptor. The map stays. */
void sxs_file_close(struct sxs_file *file);

/** sxs_file_undo - undo sxs_file_create(): remove the map, close the descriptor, delete the
 *  file. */
void sxs_file_undo(struct sxs_file *file, unsigned char *map, size_t map_size);

/**
 * sxs_file_may_map - return how many of @wanted bytes of address space one file may map. Under
 * RLIMIT_AS that is at most a 64th of the limit.
 */
uint64_t sxs_file_may_map(uint64_t wanted);

#endif
