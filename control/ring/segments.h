/* SPDX-License-Identifier: MIT */
/**
 * segments.h - makes, describes, moves and deletes the folders of segments on disk
 * (docs/internals/keep.md).
 *
 * All work with files is done by the thread of base/descriptors.h, in one folder of segments, which
 * is found by its device and inode. No function follows a symbolic link, and none touches a folder
 * that has no segment's name or no file segment.json. One thread at a time; not signal-safe.
 */
#ifndef SXS_CONTROL_RING_SEGMENTS_H
#define SXS_CONTROL_RING_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "session/write/folder_write.h"

#define SXS_SEGMENT_NAME 40 /* bytes that are enough for a name */
#define SXS_SEGMENT_KEPT "kept"

/** The parts of a segment's name. */
struct sxs_segment_name {
    uint64_t began_s; /* seconds since 1970 */
    uint64_t number;
};

/** sxs_segment_name_write - write the name of a segment to @out. Pure. */
void sxs_segment_name_write(struct sxs_segment_name name, char out[SXS_SEGMENT_NAME]);

/** sxs_segment_name_read - read @text into @out. Returns 0, or -1 if it is no segment's name. Pure. */
int sxs_segment_name_read(const char *text, struct sxs_segment_name *out);

/** A segment in the folder of segments. */
struct sxs_segment_found {
    char     name[SXS_SEGMENT_NAME];
    uint64_t bytes; /* on disk */
    int      is_kept;
    int      has_trigger; /* 1: it has a file trigger.json */
    /* The process that has recorded it, by segment.json; 0: not known. */
    int                pid;
    unsigned long long process_started; /* clock ticks */
};

/**
 * sxs_segments_open - open the folder of segments @path, which is made if it is missing, and delete
 * segments whose deletion was interrupted.
 * @why: receives the reason of a failure, @size bytes. Returns 0 or -1.
 */
int sxs_segments_open(struct sxs_folder *dir, const char *path, char *why, size_t size);

/** sxs_segments_check - check whether the path of @dir still leads to this folder. Returns 0, -ESTALE if
 *  another one is there, or -errno. */
int sxs_segments_check(const struct sxs_folder *dir);

/**
 * sxs_segments_list - list the segments that are in @dir, by number.
 * @out: receives an owned array, to be freed by free(). @highest: receives the highest number; 0:
 * there is none. Returns 0 or -errno.
 */
int sxs_segments_list(const struct sxs_folder *dir, struct sxs_segment_found **out, size_t *n,
                      uint64_t *highest);

/**
 * sxs_segment_make - make the folder of a segment.
 * @name: the number is increased until there is no segment of that name. @out: receives the name.
 * Returns 0 or -errno.
 */
int sxs_segment_make(const struct sxs_folder *dir, struct sxs_segment_name *name,
                     char out[SXS_SEGMENT_NAME]);

/** sxs_segment_undo - remove the folder of segment @name, which has no file segment.json. */
void sxs_segment_undo(const struct sxs_folder *dir, const char *name);

/** sxs_segment_write - write @text as the file @file of segment @name, in one step. @is_kept: 1: it is in
 *  kept/. Returns 0 or -errno. */
int sxs_segment_write(const struct sxs_folder *dir, const char *name, int is_kept, const char *file,
                      const char *text);

/** sxs_segment_keep - move segment @name to kept/. Returns 0 or -errno. */
int sxs_segment_keep(const struct sxs_folder *dir, const char *name);

/** sxs_segment_delete - delete segment @name. Returns 0 or -errno; 0 if there is no such segment. */
int sxs_segment_delete(const struct sxs_folder *dir, const char *name, int is_kept);

/** sxs_segment_bytes - return how much segment @name takes on disk. */
uint64_t sxs_segment_bytes(const struct sxs_folder *dir, const char *name, int is_kept);

/** sxs_segments_room - receive in @left the free bytes and in @all the size of the file system of @dir. Returns 0 or
 *  -errno. */
int sxs_segments_room(const struct sxs_folder *dir, uint64_t *left, uint64_t *all);

#endif
