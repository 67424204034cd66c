/* SPDX-License-Identifier: MIT */
/** task.h - read the files of one thread of this process in /proc/self/task. */
#ifndef SXS_BASE_TASK_H
#define SXS_BASE_TASK_H

#include <stddef.h>
#include <stdint.h>

/**
 * sxs_task_read - read a small file of a thread, like "comm" or "stat".
 * @tid:  kernel ID of the thread.
 * @name: name of the file in the thread's folder.
 * @text: receives the present contents, at most @size - 1 bytes, and a terminating zero.
 * Returns 0, or -1 if the thread has ended, the file is empty or there is no /proc.
 * Any thread; allocates nothing; has one descriptor open during the call. Not signal-safe.
 */
int sxs_task_read(uint32_t tid, const char *name, char *text, size_t size);

/** sxs_task_state - return the state of thread @tid as in /proc/self/task/TID/stat: 'R' running or
 *  waiting for a processor, 'S' sleeping, 'D' waiting for a page of memory or a disk, and others.
 *  Returns 0 if the thread has ended. Threads and signal safety as for sxs_task_read(). */
char sxs_task_state(uint32_t tid);

#endif
