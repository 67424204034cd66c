/* SPDX-License-Identifier: MIT */
/**
 * calls_write.h - the library's end of the file "calls": cells handed out from a mapped file.
 *
 * Room is made ahead by sxs_calls_file_make_room() on a thread of the library's own, so that taking a
 * chunk is one atomic add: hooks may do it. One file per process.
 */
#ifndef SXS_CALLS_WRITE_H
#define SXS_CALLS_WRITE_H

#include "base/base.h"
#include "session/format/calls.h"
#include "session/write/folder_write.h"

/** Where one owner's next cells come from. Zeroed: nowhere yet. One thread at a time. */
struct sxs_calls_arena {
    sxs_calls_ref next, end;
    uint32_t      owner; /* tid, or 0 */
};

/**
 * sxs_calls_file_create - the file "calls" in @folder (borrowed for good), mapped.
 * @max_bytes: upper bound of the file, less under RLIMIT_AS. Returns the header, which lives as long as the process, or
 * NULL with errno set; then nothing is left behind. Once per process.
 */
struct sxs_calls_header *sxs_calls_file_create(const struct sxs_folder *folder,
                                               uint64_t                 max_bytes);

/**
 * sxs_calls_cells - @n neighbouring zeroed cells (at most SXS_CALLS_CELLS - 1) from @arena.
 * Returns the first's reference, or 0 when there is no room. Any thread. Chunks are kept ready: no lock, and
 * no system call but for a wake-up of the thread that makes room, when that sleeps while they run short. When
 * it comes too late the file grows here by one, under a lock that nobody holds for longer than that takes.
 */
sxs_calls_ref sxs_calls_cells(struct sxs_calls_arena *arena, uint32_t n);

/** sxs_calls_cells_end - a thread ends: what @arena has left is for those to come. Takes a lock. */
void sxs_calls_cells_end(struct sxs_calls_arena *arena);

/** The cell of a reference that sxs_calls_cells() returned. Any thread; lives as the process. */
void *sxs_calls_cell(sxs_calls_ref ref);

/** Of @bytes more in the file at most, a part is kept ready as well; before the first make_room(). */
void sxs_calls_file_expect(uint64_t bytes);

/** Gives back what nobody has taken; no room is made any more. At the process's end. Takes a lock. */
void sxs_calls_file_trim(void);

/** Keeps chunks ready. Returns 0, or -errno once (disk full, file as long as it may be). One thread. */
int sxs_calls_file_make_room(void);

/** sxs_calls_file_wait - until more room may be needed: 10 ms after chunks were taken, then longer and
 *  longer, up to 80 ms; at once when they run short. The thread that makes room. */
void sxs_calls_file_wait(void);

/** In a forked child: the file stays the parent's; no more cells are handed out. */
void sxs_calls_file_forget(void);

#endif
