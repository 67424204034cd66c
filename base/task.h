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
 * Any thread; allocates nothing; opens no descriptor in the host's table (base/proc.h). Not
 * signal-safe.
 */
int sxs_task_read(uint32_t tid, const char *name, char *text, size_t size);

/** sxs_task_name - read the name of thread @tid, without the end of line, at most @size - 1 bytes.
 *  Result, threads and signal safety as for sxs_task_read(). */
int sxs_task_name(uint32_t tid, char *name, size_t size);

/** sxs_task_state - return the state of thread @tid as in /proc/self/task/TID/stat: 'R' running or
 *  waiting for a processor, 'S' sleeping, 'D' waiting for a page of memory or a disk, and others.
 *  Returns 0 if the thread has ended. Threads and signal safety as for sxs_task_read(). */
char sxs_task_state(uint32_t tid);

/**
 * sxs_tasks_each - call @fn(tid, @arg) for each thread of the process.
 * @fn runs on the thread of base/descriptors.h, so it must not log and must not take a lock that
 * the caller holds.
 * A thread that starts or ends during the call may be left out.
 * Returns 0, or -errno when there is no /proc. Any thread; allocates; not signal-safe.
 */
int sxs_tasks_each(void (*fn)(uint32_t tid, void *arg), void *arg);

#endif
