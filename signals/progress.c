/* SPDX-License-Identifier: MIT */
#include "signals/progress.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/task.h"

#define ENOUGH_NS 10000000u /* registering a handler takes microseconds */

/* Tells whether the thread is running, or waiting for a processor or for a page of memory. */
static int is_at_work(pid_t tid)
{
    char state = sxs_task_state((uint32_t)tid);
    return state == 'R' || state == 'D';
}

static uint64_t cpu_ns(pid_t tid)
{
    char text[128];
    if (sxs_task_read((uint32_t)tid, "schedstat", text, sizeof(text)) != 0)
        return 0;
    return strtoull(text, NULL, 10);
}

struct progress_look {
    struct sxs_unserved_threads *progress;
    uint32_t                     caller;
};

/* Adds a thread to the list. Leaves out the caller and the thread that runs this function, because
 * both are at work, too. */
static void look_at(uint32_t tid, void *arg)
{
    const struct progress_look  *look = arg;
    struct sxs_unserved_threads *p = look->progress;
    if (p->n == SXS_PROGRESS_THREADS || tid == look->caller ||
        tid == (uint32_t)syscall(SYS_gettid) || !is_at_work((pid_t)tid))
        return;
    p->all[p->n].tid = (pid_t)tid;
    p->all[p->n++].cpu_ns = cpu_ns((pid_t)tid);
}

void sxs_progress_begin(struct sxs_unserved_threads *p)
{
    struct progress_look look = {p, (uint32_t)syscall(SYS_gettid)};
    p->n = 0;
    sxs_tasks_each(look_at, &look);
}

/* Removes the threads that have made progress from the list. */
int sxs_progress_over(struct sxs_unserved_threads *p)
{
    unsigned left = 0;
    for (unsigned i = 0; i < p->n; i++)
        if (is_at_work(p->all[i].tid) && cpu_ns(p->all[i].tid) - p->all[i].cpu_ns < ENOUGH_NS)
            p->all[left++] = p->all[i];
    p->n = left;
    return left == 0;
}
