/* SPDX-License-Identifier: MIT */
/** task.h - what /proc/self/task tells about one thread of this process. */
#ifndef SXS_TASK_H
#define SXS_TASK_H

#include <stddef.h>
#include <stdint.h>

/**
 * sxs_task_read - reads a small file of a thread, like "comm" or "stat".
 * @tid:  the thread, by its kernel number.
 * @text: receives what is there at this moment, at most @size - 1 bytes, and a zero behind it.
 * Returns 0, or -1 when the thread is gone, the file is empty or there is no /proc. Any thread; allocates nothing and
 * opens no descriptor in the host's table (proc.h). Not signal-safe.
 */
int sxs_task_read(uint32_t tid, const char *name, char *text, size_t size);

/** sxs_task_name - the name of thread @tid without the line's end, at most @size - 1 bytes. As sxs_task_read(). */
int sxs_task_name(uint32_t tid, char *name, size_t size);

/** sxs_task_state - the state of thread @tid as in /proc: 'R' runs or waits for a processor, 'S' sleeps, 'D' waits for a page
 *  of memory or a disk... Returns 0 when it is gone. As sxs_task_read() otherwise. */
char sxs_task_state(uint32_t tid);

/**
 * sxs_tasks_each - call @fn(tid, @arg) for each thread of the process, on the thread of descriptors.h: @fn must not log
 * and must not take a lock that the caller holds. A thread that starts or ends meanwhile may be left out.
 * Returns 0, or -errno when there is no /proc. Any thread; allocates; not signal-safe.
 */
int sxs_tasks_each(void (*fn)(uint32_t tid, void *arg), void *arg);

#endif
