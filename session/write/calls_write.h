/* SPDX-License-Identifier: MIT */
/**
 * calls_write.h - the writer of the file "calls": allocates cells of a mapped file to threads.
 *
 * A thread of the library calls sxs_calls_file_make_room(), which keeps chunks ready. So a hook can
 * take a chunk by one atomic operation. There is one file per process.
 */
#ifndef SXS_SESSION_WRITE_CALLS_WRITE_H
#define SXS_SESSION_WRITE_CALLS_WRITE_H

#include "base/base.h"
#include "session/format/calls.h"
#include "session/write/folder_write.h"

/** The free cells of one owner. A zeroed arena has no cells yet. Used by one thread at a time. */
struct sxs_calls_arena {
    sxs_calls_ref next, end; /* the free cells: from next to end - 1 */
    uint32_t      owner;     /* tid; 0: the library */
};

/**
 * sxs_calls_file_create - create and map the file "calls".
 * @folder: the process's folder; borrowed for the life of the process.
 * @max_bytes: limit of the file's size; reduced under RLIMIT_AS.
 * Returns the header, which lives as long as the process, or NULL with errno set; then nothing is
 * left behind. Call it once per process.
 */
struct sxs_calls_header *sxs_calls_file_create(const struct sxs_folder *folder,
                                               uint64_t                 max_bytes);

/**
 * sxs_calls_cells - allocate @n adjacent zeroed cells from @arena.
 * @n: at most SXS_CALLS_CELLS - 1.
 * Returns the reference of the first cell, or 0 when the file has no room.
 * Any thread, in hooks too. If the arena has too few cells, takes cells that an ended thread left,
 * under a short lock, or a chunk that is kept ready. The only system call then wakes the thread
 * that makes room, if that thread sleeps while ready chunks run short. If no chunk is ready, the
 * file grows here by one chunk, under a lock that is held only while the file changes its length.
 */
sxs_calls_ref sxs_calls_cells(struct sxs_calls_arena *arena, uint32_t n);

/** sxs_calls_cells_end - at a thread's end, keep the free cells of @arena for threads that start
 *  later. Takes a lock. */
void sxs_calls_cells_end(struct sxs_calls_arena *arena);

/** Return the address of the cell @ref that sxs_calls_cells() returned. Valid for the life of the
 *  process. Any thread. */
void *sxs_calls_cell(sxs_calls_ref ref);

/** sxs_calls_file_expect - keep more chunks ready, because up to @bytes more will be written. Call
 *  it before the first sxs_calls_file_make_room(). */
void sxs_calls_file_expect(uint64_t bytes);

/** sxs_calls_file_trim - cut the chunks that no thread has taken off the file, and make no more
 *  room. Called at the process's end. Takes a lock. */
void sxs_calls_file_trim(void);

/** sxs_calls_file_make_room - grow the file until enough chunks are ready.
 *  Returns 0, or -errno when the disk is full or the file has reached its limit; later calls return
 *  0 and do nothing. Called by one thread. */
int sxs_calls_file_make_room(void);

/** sxs_calls_file_wait - wait until more room may be needed: 10 ms when chunks were taken since the
 *  last call, else longer each time, up to 80 ms. Returns at once when ready chunks run short.
 *  Called by the thread that makes room. */
void sxs_calls_file_wait(void);

/** In a forked child: allocate no more cells, because the file belongs to the parent. */
void sxs_calls_file_forget(void);

#endif
