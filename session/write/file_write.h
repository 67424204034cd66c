/* SPDX-License-Identifier: MIT */
/**
 * file_write.h - files in the process's folder that the library writes through a shared map.
 *
 * All space of such files is reserved here, on the thread of base/descriptors.h: a full disk or
 * RLIMIT_FSIZE is an error value, never a SIGBUS or SIGXFSZ. The library keeps no descriptor of them in
 * the host's table. Not signal-safe.
 */
#ifndef SXS_RECORD_FILE_WRITE_H
#define SXS_RECORD_FILE_WRITE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/write/folder_write.h"

/** A file that sxs_file_create() made. */
struct sxs_file {
    const struct sxs_folder *folder; /* borrowed */
    const char              *name;   /* in @folder; borrowed */
    int   fd;  /* in the table of the library's thread; -1: opened by its path for each use */
    dev_t dev;
    ino_t ino; /* what the path has to lead to */
};

/**
 * sxs_file_create - make the file @name in @folder (both borrowed as long as @file is used), map it
 * shared. @header_size: bytes whose blocks are reserved at once; further ones must not be touched before
 * sxs_file_reserve(). @map_size: bytes of address space. @map: receives it.
 * Returns 0, or -errno (it exists, no room, larger than RLIMIT_FSIZE, no folder); then nothing is left
 * behind. @file and @map live as long as the process, or until sxs_file_undo(). Any thread.
 */
int sxs_file_create(struct sxs_file *file, const struct sxs_folder *folder, const char *name,
                    size_t header_size, size_t map_size, unsigned char **map);

/**
 * sxs_file_reserve - reserve blocks for the @size bytes at @from; the file becomes as long.
 * Returns 0 or -errno: -ESTALE when the file was replaced, -ECHILD in a forked child. Allocates no
 * memory. Any thread, hooks too; it waits for a system call on another thread.
 */
int sxs_file_reserve(const struct sxs_file *file, uint64_t from, uint64_t size);

/** sxs_file_shorten - cut the file to @size bytes. Returns 0 or -errno, like sxs_file_reserve(). */
int sxs_file_shorten(const struct sxs_file *file, uint64_t size);

/** sxs_file_close - nothing more is to be reserved. The map stays. */
void sxs_file_close(struct sxs_file *file);

/** sxs_file_undo - what sxs_file_create() made is taken away again: map, descriptor and file. */
void sxs_file_undo(struct sxs_file *file, unsigned char *map, size_t map_size);

/**
 * sxs_file_may_map - how many of @wanted bytes of address space the library may take: under RLIMIT_AS a
 * 64th of it at most.
 */
uint64_t sxs_file_may_map(uint64_t wanted);

#endif
