/* SPDX-License-Identifier: MIT */
/**
 * thread_names.h - the whole names of managed threads, as the runtimes tell them. The kernel keeps 15
 * bytes of a name.
 *
 * One pool for all tools, and the file "threads" of the session (session/format/thread_names.h), in
 * which reports look names up. The tool "census", which is always on, fills the pool before the
 * other tools get the same event. The names go on from one session to the next. A thread that was
 * named before the library was attached has no name here.
 *
 * Any thread, but no signal handler: all functions take a lock and may allocate.
 */
#ifndef SXS_THREAD_NAMES_THREAD_NAMES_H
#define SXS_THREAD_NAMES_THREAD_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "session/format/thread_names.h"

/**
 * sxs_thread_names_started - a managed thread runs on the thread @tid, from now on.
 * @runtime: number of the runtime. @id: its ThreadID. It may have a name already.
 */
void sxs_thread_names_started(unsigned runtime, uint64_t id, uint32_t tid);

/** sxs_thread_names_named - a managed thread, which may not have started, gets a name.
 *  @units, @n: the name in UTF-16; NULL or 0: it has none any more. */
void sxs_thread_names_named(unsigned runtime, uint64_t id, const uint16_t *units, size_t n);

/** sxs_thread_names_ended - a managed thread is gone; its ThreadID may be used again. */
void sxs_thread_names_ended(unsigned runtime, uint64_t id);

/** sxs_thread_names_runtime_ended - all threads of a runtime are gone. */
void sxs_thread_names_runtime_ended(unsigned runtime);

/**
 * sxs_thread_names_get - copy a thread's name to @name, which has @size bytes; "" if it has none.
 * Returns its tid; 0: the thread is not known, or has not started.
 */
uint32_t sxs_thread_names_get(unsigned runtime, uint64_t id, char *name, size_t size);

/** sxs_thread_names_begin - a session has a folder now: names are written there, those of living
 *  threads at once. */
void sxs_thread_names_begin(void);

/** sxs_thread_names_close - the session ends: complete and close the file. */
void sxs_thread_names_close(void);

#endif
