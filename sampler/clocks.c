/* SPDX-License-Identifier: MIT */
#include "sampler/clocks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "manager/base/clock.h"
#include "manager/base/fork.h"
#include "sampler/runs.h"

#define TICK_HZ 240 /* what a timer on a CPU clock can be relied on to give */
#define MAGIC   ((void *)(uintptr_t)0x53585354u) /* carried by our timers' signals */

static _Atomic enum sxs_sample_clock chosen = SXS_CLOCK_CPU_TIMER;
static uint64_t                      interval_ns;
static uint64_t    tick_ns; /* how often the kernel looks at timers on CPU clocks */
static _Atomic int signal_number;
static int         kernel_too; /* the system lets us sample inside system calls as well */

/* The kernel's own numbering: any thread's CPU clock can be named by its tid. */
static clockid_t cpu_clock(uint32_t tid)
{
    return (clockid_t)((~(unsigned)tid << 3) | 6u);
}

/* A share of the interval, spread evenly over threads, and over every other or tenth of them too. */
static uint64_t next_phase(void)
{
    static _Atomic uint64_t turn;
    uint64_t                n = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) + 1;
    return (uint64_t)((unsigned __int128)(n * UINT64_C(0x9e3779b97f4a7c15)) * interval_ns >> 64);
}

static int open_perf(uint32_t tid, int exclude_kernel, uint64_t first_ns)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof(attr));
    attr.size = sizeof(attr);
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.sample_period = first_ns;
    attr.wakeup_events = 1;
    attr.disabled = 1;
    attr.exclude_kernel = exclude_kernel != 0;
    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int sxs_clocks_signal(void)
{
    return atomic_load_explicit(&signal_number, memory_order_relaxed);
}

void sxs_clocks_use(int sig)
{
    atomic_store(&signal_number, sig);
}

enum sxs_sample_clock sxs_clocks_choose(unsigned hz)
{
    struct timespec tick;
    sxs_clocks_use(sxs_signals()->sample_signal());
    interval_ns = 1000000000u / hz;
    tick_ns = clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 ? (uint64_t)tick.tv_nsec : 0;
    chosen = SXS_CLOCK_CPU_TIMER;
    if (hz > TICK_HZ) {
        int fd = open_perf(0, 0, interval_ns);
        kernel_too = fd >= 0;
        if (fd < 0)
            fd = open_perf(0, 1, interval_ns);
        if (fd >= 0) {
            close(fd);
            chosen = SXS_CLOCK_PERF;
        }
    }
    return chosen;
}

/* Descriptors that have been perf events of ours, a bit each: a signal may arrive after its event was closed. */
#define MAX_NOTED 65536
static _Atomic uint64_t noted[MAX_NOTED / 64];

static void note_descriptor(int fd)
{
    if (fd < MAX_NOTED)
        atomic_fetch_or(&noted[fd / 64], UINT64_C(1) << fd % 64);
}

/* Did the signal come from an event of ours that has been closed since? Not if the number is in use for
 * anything but another perf event: then the signal is the host's. */
SXS_SIGSAFE static int is_late(int fd)
{
    uint64_t id;
    if (fd < 0 || fd >= MAX_NOTED ||
        !(atomic_load_explicit(&noted[fd / 64], memory_order_relaxed) >> fd % 64 & 1))
        return 0;
    return ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0 || errno == EBADF;
}

/* Where the numbers of our descriptors begin, one for each thread: the last quarter of those the host may have, or
 * HIGH_FD. RLIMIT_NOFILE bounds the numbers of new descriptors. Low ones of ours would leave a host that lowers the limit
 * later with none. 0: the limit is too low for any. */
#define MIN_LIMIT 256u
#define HIGH_FD   3072u
static int first_descriptor(void)
{
    struct rlimit limit;
    rlim_t        first;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    if (limit.rlim_cur < MIN_LIMIT)
        return 0;
    first = limit.rlim_cur - limit.rlim_cur / 4;
    return (int)(first < HIGH_FD ? first : HIGH_FD);
}

/* Is @fd the perf event with the kernel's number @id? Other files refuse the request. */
SXS_SIGSAFE static int is_event(int fd, uint64_t id)
{
    uint64_t now;
    return ioctl(fd, PERF_EVENT_IOC_ID, &now) == 0 && now == id;
}

/* A host that closes all descriptors may have given the number to a file of its own. */
static void close_event(int fd, uint64_t id)
{
    if (is_event(fd, id))
        close(fd);
}

/* Gives the event @fd a number of ours; the caller's own is closed. Returns the number or -errno, and the event's *id. */
static int raise_descriptor(int fd, uint64_t *id)
{
    int first = first_descriptor(), high = -1, err = EMFILE;
    if (ioctl(fd, PERF_EVENT_IOC_ID, id) < 0)
        return -errno; /* closed by the host */
    if (first) {
        high = fcntl(fd, F_DUPFD_CLOEXEC, first);
        err = errno;
    }
    close_event(fd, *id);
    if (high >= 0 && !is_event(high, *id)) {
        close(high); /* of a file of the host, which keeps its own descriptor */
        return -EBADF;
    }
    return high < 0 ? -err : high;
}

/* Any thread must have its chance however short it lives: the first sample comes after a part of the
 * interval, all parts being equally likely (next_phase). Then time t of its life is sampled with probability
 * t / interval, for long threads and short ones alike.
 * @first_ns: CPU time of the thread from now to the first sample, at least 1. Called with `opening` held. Returns 0 or
 * -errno. */
static int start_perf(struct sxs_sampled_thread *t, uint64_t first_ns)
{
    uint32_t          tid = atomic_load(&t->tid);
    struct f_owner_ex owner = {F_OWNER_TID, (pid_t)tid};
    int               fd = open_perf(tid, !kernel_too, first_ns);
    uint64_t          id;
    if (fd < 0)
        return -errno;
    fd = raise_descriptor(fd, &id); /* before it is asked for signals: they carry its number */
    if (fd < 0)
        return fd;
    atomic_store(&t->perf_id, id);
    note_descriptor(fd);
    t->perf_fd = fd; /* before the first signal: the handler arms the next through it */
    atomic_store(&t->first_due_ns, 1);
    if (fcntl(fd, F_SETFL, O_ASYNC) < 0 || fcntl(fd, F_SETSIG, sxs_clocks_signal()) < 0 ||
        fcntl(fd, F_SETOWN_EX, &owner) < 0 || ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) < 0) {
        int err = errno;
        t->perf_fd = -1;
        close_event(fd, id);
        return -err;
    }
    return 0;
}

/*
 * The kernel looks at these timers at its tick only: what is due in the last part of a tick that a
 * thread does not live to see is lost, and of threads shorter than a tick nearly everything would be.
 * So all due times lie one tick earlier than with start_perf(): each tick takes what was due in the
 * tick's length before it, were it before the thread's begin (first_tick()).
 * @now: the thread's CPU time. @due: its CPU time at which the first sample is due; in the past perhaps when the timer
 * @took_over from a perf event.
 */
static int start_timer(struct sxs_sampled_thread *t, uint64_t now, uint64_t due, int took_over)
{
    struct itimerspec when;
    struct sigevent   event;
    int               id;
    uint32_t          tid = atomic_load(&t->tid);
    int               at_once = due <= now + tick_ns; /* with the first tick */
    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = sxs_clocks_signal();
    event.sigev_value.sival_ptr = MAGIC;
    event._sigev_un._tid = (pid_t)tid;
    if (syscall(SYS_timer_create, cpu_clock(tid), &event, &id) != 0)
        return -errno;
    t->timer = id;
    when.it_interval = sxs_timespec_of(interval_ns);
    /* A time that has passed would make it come now, not with the tick: 1 ns from now has not. */
    when.it_value = sxs_timespec_of(at_once ? 1 : due - tick_ns);
    t->took_over = took_over;
    atomic_store(&t->first_due_ns, at_once ? due : 0);
    if (syscall(SYS_timer_settime, id, at_once ? 0 : TIMER_ABSTIME, &when, NULL) != 0)
        return -errno;
    return 0;
}

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(opening);

static void hold(void)
{
    pthread_mutex_lock(&opening);
}

int sxs_clocks_hold_for_fork(void)
{
    return sxs_fork_take(&opening);
}

void sxs_clocks_release(void)
{
    pthread_mutex_unlock(&opening);
}

/* As start_perf, which it calls with the lock. Returns 1 when the event was started, else 0. */
static int try_perf(struct sxs_sampled_thread *t, uint64_t first_ns)
{
    int started;
    hold();
    started = start_perf(t, first_ns) == 0;
    sxs_clocks_release();
    return started;
}

static int start_timer_from_now(struct sxs_sampled_thread *t)
{
    uint64_t now = sxs_clocks_cpu_ns(atomic_load(&t->tid));
    return start_timer(t, now, now + next_phase() + 1, 0);
}

/* Where a perf event cannot be had, a timer gives what it can: its samples weigh what they stand for. */
int sxs_clocks_start(struct sxs_sampled_thread *t)
{
    if (t->excluded || (chosen == SXS_CLOCK_PERF && try_perf(t, next_phase() + 1)))
        return 0;
    return start_timer_from_now(t);
}

/* A perf event's descriptor has to be in the host's table, because the sampled thread arms the event through
 * it. When the host closes it (closefrom), the number may become that of a file of the host. The kernel's
 * number of the event tells whether it is ours: other files refuse the request. */
SXS_SIGSAFE static int has_perf(const struct sxs_sampled_thread *t)
{
    return t->perf_fd >= 0 &&
           is_event(t->perf_fd, atomic_load_explicit(&t->perf_id, memory_order_relaxed));
}

static void close_perf(struct sxs_sampled_thread *t)
{
    if (has_perf(t))
        close(t->perf_fd);
    t->perf_fd = -1;
}

void sxs_clocks_disown(struct sxs_sampled_thread *t)
{
    close_perf(t);
    t->timer = -1;
}

void sxs_clocks_stop(struct sxs_sampled_thread *t)
{
    if (t->perf_fd >= 0) {
        hold();
        close_perf(t);
        sxs_clocks_release();
    }
    if (t->timer >= 0)
        syscall(SYS_timer_delete, t->timer);
    t->timer = -1;
}

void sxs_clocks_check(struct sxs_sampled_thread *t)
{
    if (t->perf_fd < 0 || has_perf(t))
        return;
    t->perf_fd = -1;
    chosen = SXS_CLOCK_CPU_TIMER; /* a host that closes one will close others */
    atomic_store(&t->move_ns, 0);
    if (!t->excluded)
        start_timer_from_now(t);
}

uint64_t sxs_clocks_cpu_ns(uint32_t tid)
{
    struct timespec used;
    if (clock_gettime(cpu_clock(tid), &used) != 0)
        return 0;
    return sxs_ns_of(used);
}

int sxs_clocks_poke(uint32_t tid, uint32_t weight_ns)
{
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    info.si_signo = sxs_clocks_signal();
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_value.sival_ptr = (void *)((uintptr_t)MAGIC | ((uintptr_t)weight_ns << 32));
    return syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, info.si_signo, &info) == 0 ? 0 : -errno;
}

/* ---- which kind of clock suits a thread ---- */

/*
 * Each time a thread that has a perf event is switched in or out, the kernel arms or cancels a high-resolution timer:
 * microseconds on a virtual machine. A thread that runs for a short time and then waits, again and again, pays more for
 * that than for its samples. A timer on its CPU clock costs nothing there. So each thread's own handler measures its runs
 * (runs.h), and asks the service thread for the other kind of clock when they are short, or long.
 */
static _Atomic unsigned n_to_move;

/* @next_ns: CPU time at which the thread's next sample is due. */
SXS_SIGSAFE static void ask_to_move(struct sxs_sampled_thread *t, uint64_t next_ns)
{
    if (!atomic_exchange_explicit(&t->move_ns, next_ns, memory_order_release))
        atomic_fetch_add_explicit(&n_to_move, 1, memory_order_relaxed);
}

int sxs_clocks_any_to_move(void)
{
    return atomic_exchange_explicit(&n_to_move, 0, memory_order_relaxed) != 0;
}

static void move_to_timer(struct sxs_sampled_thread *t, uint64_t next_ns)
{
    hold();
    close_perf(t);
    sxs_clocks_release();
    start_timer(t, sxs_clocks_cpu_ns(atomic_load(&t->tid)), next_ns, 1);
}

/* The timer's own times lie a tick early (start_timer). */
static void move_to_perf(struct sxs_sampled_thread *t)
{
    static const struct itimerspec never;
    struct itimerspec              left;
    int                            timer = t->timer;
    hold(); /* before the timer stops: the time of a wait for the lock would be lost */
    if (syscall(SYS_timer_settime, timer, 0, &never, &left) == 0) {
        if (start_perf(t, sxs_ns_of(left.it_value) + tick_ns) == 0) {
            t->timer = -1;
            syscall(SYS_timer_delete, timer);
        } else {
            syscall(SYS_timer_settime, timer, 0, &left, NULL);
        }
    }
    sxs_clocks_release();
}

void sxs_clocks_move(struct sxs_sampled_thread *t)
{
    uint64_t next_ns = atomic_exchange_explicit(&t->move_ns, 0, memory_order_acquire);
    if (!next_ns || t->excluded)
        return;
    if (t->perf_fd >= 0)
        move_to_timer(t, next_ns);
    else if (t->timer >= 0 && chosen == SXS_CLOCK_PERF)
        move_to_perf(t);
}

/* ---- the samples ---- */

/* Due times up to @cpu_ns, from @first on. */
SXS_SIGSAFE static uint64_t n_due(uint64_t first, uint64_t cpu_ns)
{
    return cpu_ns < first ? 0 : (cpu_ns - first) / interval_ns + 1;
}

/* The first tick of a timer that was started to fire at once: how many due times belong to it? Those of the tick's length
 * that begins now. Those before: only when the thread had a perf event until then, which counted up to @first; else an earlier
 * tick would have taken them, before the thread began. From here on the timer keeps its own times. */
SXS_SIGSAFE static uint64_t first_tick(const struct sxs_sampled_thread *t, uint64_t first)
{
    struct itimerspec when;
    uint64_t          now = sxs_now_ns(CLOCK_THREAD_CPUTIME_ID), before, until;
    before = t->took_over ? 0 : n_due(first, now);
    until = n_due(first, now + tick_ns);
    when.it_interval = sxs_timespec_of(interval_ns);
    when.it_value = sxs_timespec_of(first + until * interval_ns - tick_ns);
    syscall(SYS_timer_settime, t->timer, TIMER_ABSTIME, &when, NULL);
    return until - before;
}

SXS_SIGSAFE static uint64_t timer_weight(struct sxs_sampled_thread *t, const siginfo_t *info)
{
    uint64_t due = t ? atomic_exchange_explicit(&t->first_due_ns, 0, memory_order_relaxed) : 0;
    if (due)
        return interval_ns * first_tick(t, due);
    if (t && chosen == SXS_CLOCK_PERF && sxs_runs_look(t) == SXS_RUNS_LONG)
        ask_to_move(t, sxs_now_ns(CLOCK_THREAD_CPUTIME_ID));
    return interval_ns * (1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0));
}

SXS_SIGSAFE static uint64_t perf_weight(struct sxs_sampled_thread *t)
{
    if (atomic_exchange_explicit(&t->first_due_ns, 0, memory_order_relaxed))
        ioctl(t->perf_fd, PERF_EVENT_IOC_PERIOD, &interval_ns);
    if (sxs_runs_look(t) == SXS_RUNS_SHORT)
        ask_to_move(t, sxs_now_ns(CLOCK_THREAD_CPUTIME_ID) +
                           interval_ns); /* the event stays disabled: no switch pays for it */
    else
        ioctl(t->perf_fd, PERF_EVENT_IOC_REFRESH, 1);
    return interval_ns;
}

SXS_SIGSAFE int sxs_clocks_own(struct sxs_sampled_thread *t, const siginfo_t *info,
                               uint64_t *weight_ns)
{
    uintptr_t value = (uintptr_t)info->si_value.sival_ptr;
    if (info->si_code == SI_TIMER && info->si_value.sival_ptr == MAGIC)
        *weight_ns = timer_weight(t, info);
    else if (info->si_code == SI_QUEUE && info->si_pid == getpid() &&
             (value & 0xffffffffu) == (uintptr_t)MAGIC)
        *weight_ns = value >> 32;
    else if (t && t->perf_fd >= 0 && info->si_fd == t->perf_fd &&
             (info->si_code == POLL_IN || info->si_code == POLL_HUP) && has_perf(t))
        *weight_ns = perf_weight(t);
    else if ((info->si_code == POLL_IN || info->si_code == POLL_HUP) && is_late(info->si_fd))
        *weight_ns = 0; /* of an event that has ended */
    else
        return 0;
    return 1;
}
