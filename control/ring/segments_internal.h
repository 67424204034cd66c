/* SPDX-License-Identifier: MIT */
/** segments_internal.h - reads and deletes folders of segments with their contents. The functions are called only by
 *  functions that sxs_descriptors_call() runs. No symbolic link is followed. */
#ifndef SXS_CONTROL_RING_SEGMENTS_INTERNAL_H
#define SXS_CONTROL_RING_SEGMENTS_INTERNAL_H

#include <dirent.h>
#include <stdint.h>

#include "control/ring/segments.h"

#define SXS_SEGMENT_GONE ".gone" /* end of the name of a segment that is being deleted */

/** sxs_segments_opendir - open the folder @name in @dir for reading. NULL: errno. Close by
 *  closedir(). */
DIR *sxs_segments_opendir(int dir, const char *name);

/** sxs_segments_is_ours - return 1 if @name in @dir is the folder of a segment: a folder of this
 *  user with a file segment.json. */
int sxs_segments_is_ours(int dir, const char *name);

/** sxs_segments_has_trigger - return 1 if the segment @name in @dir has a file trigger.json. */
int sxs_segments_has_trigger(int dir, const char *name);

/** sxs_segments_read_process - fill in `pid` and `process_started` of @out from the file segment.json
 *  of the segment @name in @dir. */
void sxs_segments_read_process(int dir, const char *name, struct sxs_segment_found *out);

/** sxs_segments_delete_tree - delete the folder @name in @dir with its contents, at most four levels
 *  deep. Returns 0 or -errno. */
int sxs_segments_delete_tree(int dir, const char *name);

/** sxs_segments_tree_bytes - return the bytes on disk of the folder @name in @dir with its contents. */
uint64_t sxs_segments_tree_bytes(int dir, const char *name);

#endif
