/* SPDX-License-Identifier: MIT */
/**
 * file_write.h - create a file in the process's folder and map it, to be written through the map.
 *
 * What the writers of such files have in common. Not signal-safe.
 */
#ifndef SXS_RECORD_FILE_WRITE_H
#define SXS_RECORD_FILE_WRITE_H

#include <stddef.h>

/**
 * sxs_file_create - the new file @name in the open folder @folder_fd (borrowed), mapped shared.
 * @header_size: bytes whose blocks are reserved at once; those behind them have none yet and are not
 * to be touched before posix_fallocate(). @map_size: bytes of address space. @map: receives it.
 * Returns a descriptor, or -errno (it is there already, no room, no folder); then nothing is left
 * behind. Both live as long as the process, or until sxs_file_undo().
 */
int sxs_file_create(int folder_fd, const char *name, size_t header_size, size_t map_size,
                    unsigned char **map);

/** sxs_file_undo - what sxs_file_create() made is taken away again: map, descriptor and file. */
void sxs_file_undo(int folder_fd, const char *name, int fd, unsigned char *map, size_t map_size);

#endif
