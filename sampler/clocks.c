/* SPDX-License-Identifier: MIT */
#include "sampler/clocks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TICK_HZ 240 /* what a timer on a CPU clock can be relied on to give */
#define MAGIC   ((void *)(uintptr_t)0x53585354u) /* carried by our timers' signals */

static enum sxs_sample_clock chosen = SXS_CLOCK_CPU_TIMER;
static uint64_t              interval_ns;
static int                   kernel_too; /* the system lets us sample inside system calls as well */

/* The kernel's own numbering: any thread's CPU clock can be named by its tid. */
static clockid_t cpu_clock(uint32_t tid)
{
    return (clockid_t)((~(unsigned)tid << 3) | 6u);
}

static int open_perf(uint32_t tid, int exclude_kernel)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof(attr));
    attr.size = sizeof(attr);
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.sample_period = interval_ns;
    attr.wakeup_events = 1;
    attr.disabled = 1;
    attr.exclude_kernel = exclude_kernel != 0;
    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

enum sxs_sample_clock sxs_clocks_choose(unsigned hz)
{
    interval_ns = 1000000000u / hz;
    chosen = SXS_CLOCK_CPU_TIMER;
    if (hz > TICK_HZ) {
        int fd = open_perf(0, 0);
        kernel_too = fd >= 0;
        if (fd < 0)
            fd = open_perf(0, 1);
        if (fd >= 0) {
            close(fd);
            chosen = SXS_CLOCK_PERF;
        }
    }
    return chosen;
}

static int start_perf(struct sxs_sampled_thread *t)
{
    struct f_owner_ex owner = {F_OWNER_TID, (pid_t)atomic_load(&t->tid)};
    int               fd = open_perf(atomic_load(&t->tid), !kernel_too);
    if (fd < 0)
        return -errno;
    t->perf_fd = fd; /* before the first signal: the handler arms the next through it */
    if (fcntl(fd, F_SETFL, O_ASYNC) < 0 || fcntl(fd, F_SETSIG, SXS_SAMPLE_SIGNAL) < 0 ||
        fcntl(fd, F_SETOWN_EX, &owner) < 0 || ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) < 0) {
        int err = errno;
        t->perf_fd = -1;
        close(fd);
        return -err;
    }
    return 0;
}

static int start_timer(struct sxs_sampled_thread *t)
{
    struct itimerspec when;
    struct sigevent   event;
    int               id;
    uint32_t          tid = atomic_load(&t->tid);
    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SXS_SAMPLE_SIGNAL;
    event.sigev_value.sival_ptr = MAGIC;
    event._sigev_un._tid = (pid_t)tid;
    if (syscall(SYS_timer_create, cpu_clock(tid), &event, &id) != 0)
        return -errno;
    t->timer = id;
    when.it_interval.tv_sec = (time_t)(interval_ns / 1000000000u);
    when.it_interval.tv_nsec = (long)(interval_ns % 1000000000u);
    when.it_value = when.it_interval;
    /* A thread that lives shorter than an interval must have its chance: the first is at random. */
    when.it_value.tv_nsec = (long)((tid * 2654435761u) % interval_ns) + 1;
    when.it_value.tv_sec = 0;
    if (syscall(SYS_timer_settime, id, 0, &when, NULL) != 0)
        return -errno;
    return 0;
}

int sxs_clocks_start(struct sxs_sampled_thread *t)
{
    if (t->excluded)
        return 0;
    return chosen == SXS_CLOCK_PERF ? start_perf(t) : start_timer(t);
}

void sxs_clocks_stop(struct sxs_sampled_thread *t)
{
    int fd = t->perf_fd;
    t->perf_fd = -1;
    if (fd >= 0)
        close(fd);
    if (t->timer >= 0)
        syscall(SYS_timer_delete, t->timer);
    t->timer = -1;
}

uint64_t sxs_clocks_cpu_ns(uint32_t tid)
{
    struct timespec used;
    if (clock_gettime(cpu_clock(tid), &used) != 0)
        return 0;
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

int sxs_clocks_poke(uint32_t tid, uint32_t weight_ns)
{
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    info.si_signo = SXS_SAMPLE_SIGNAL;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_value.sival_ptr = (void *)((uintptr_t)MAGIC | ((uintptr_t)weight_ns << 32));
    return syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, SXS_SAMPLE_SIGNAL, &info) == 0 ? 0 : -errno;
}

SXS_SIGSAFE uint64_t sxs_clocks_weight(struct sxs_sampled_thread *t, const siginfo_t *info)
{
    if (info->si_code == SI_TIMER && info->si_value.sival_ptr == MAGIC)
        return interval_ns * (1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0));
    if (info->si_code == SI_QUEUE &&
        ((uintptr_t)info->si_value.sival_ptr & 0xffffffffu) == (uintptr_t)MAGIC)
        return (uintptr_t)info->si_value.sival_ptr >> 32;
    if (t && t->perf_fd >= 0 && info->si_fd == t->perf_fd &&
        (info->si_code == POLL_IN || info->si_code == POLL_HUP)) {
        ioctl(t->perf_fd, PERF_EVENT_IOC_REFRESH, 1);
        return interval_ns;
    }
    return 0;
}
