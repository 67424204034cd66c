/* SPDX-License-Identifier: MIT */
#include "sampling/clocks.h"

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

#include "base/clock.h"
#include "base/fork.h"
#include "base/session_state.h"
#include "sampling/rounds.h"
#include "sampling/runs.h"
#include "sampling/sample_signal.h"

/* Rate that a timer on a CPU clock can provide. */
#define TICK_HZ 240
#define MAGIC   ((void *)SXS_SAMPLE_SIGNAL_VALUE) /* value carried by the signals of our timers */

static _Atomic enum sxs_sample_clock chosen = SXS_CLOCK_CPU_TIMER;
static uint64_t                      interval_ns;
static uint64_t    tick_ns; /* how often the kernel checks timers on CPU clocks */
static int         kernel_too; /* 1: perf events may also sample inside system calls */
SXS_SESSION_RESETS(chosen);
SXS_SESSION_RESETS(interval_ns);
SXS_SESSION_RESETS(tick_ns);
SXS_SESSION_RESETS(kernel_too);

/* Returns a part of the interval, for the first sample of a clock. The parts are spread evenly
 * over all threads, and also over every second or every tenth thread: they are multiples of the golden
 * ratio, not random numbers. */
static uint64_t next_phase(void)
{
    static _Atomic uint64_t turn;
    SXS_SESSION_KEEPS(turn);
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

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(opening);
SXS_SESSION_KEEPS(opening);

/* The fork of this thread has taken the lock. */
static SXS_TLS int fork_holds;

static void prepare_fork(void)
{
    fork_holds = sxs_fork_take(&opening);
}

static void parent_goes_on(void)
{
    if (fork_holds)
        pthread_mutex_unlock(&opening);
    fork_holds = 0;
}

/* From the first session on, each fork takes the lock, also one that begins while no session is on:
 * a session may begin before the child is made, and the child would inherit a descriptor that is in
 * no slot. */
static void register_fork(void)
{
    static struct sxs_fork_part part = {.prepare = prepare_fork, .parent = parent_goes_on};
    SXS_SESSION_KEEPS(part);
    sxs_fork_register(&part);
}

/* Asks the kernel for a timer of thread @tid. Returns 0 and its number in @out, or -errno. */
static int create_timer(uint32_t tid, int *out)
{
    struct sigevent event;
    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = sxs_sample_signal_number();
    event.sigev_value.sival_ptr = MAGIC;
    event._sigev_un._tid = (pid_t)tid;
    return syscall(SYS_timer_create, sxs_cpu_clock_of(tid), &event, out) == 0 ? 0 : -errno;
}

static int timers_are_refused(void)
{
    int id;
    if (create_timer((uint32_t)syscall(SYS_gettid), &id) != 0)
        return 1;
    syscall(SYS_timer_delete, id);
    return 0;
}

enum sxs_sample_clock sxs_clocks_choose(unsigned hz)
{
    struct timespec tick;
    int             refused;
    register_fork();
    sxs_sample_signal_choose();
    refused = timers_are_refused();
    interval_ns = 1000000000u / hz;
    tick_ns = clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 ? (uint64_t)tick.tv_nsec : 0;
    chosen = SXS_CLOCK_CPU_TIMER;
    if (hz > TICK_HZ || refused) {
        int fd;
        pthread_mutex_lock(&opening);
        fd = open_perf(0, 0, interval_ns);
        kernel_too = fd >= 0;
        if (fd < 0)
            fd = open_perf(0, 1, interval_ns);
        if (fd >= 0) {
            close(fd);
            chosen = SXS_CLOCK_PERF;
        }
        pthread_mutex_unlock(&opening);
    }
    if (chosen == SXS_CLOCK_PERF || refused)
        sxs_sample_signal_choose_harmless();
    return refused && chosen != SXS_CLOCK_PERF ? SXS_CLOCK_ROUNDS : chosen;
}

enum sxs_sample_clock sxs_clocks_choose_none(void)
{
    sxs_sample_signal_choose();
    if (timers_are_refused())
        sxs_sample_signal_choose_harmless();
    return SXS_CLOCK_ROUNDS;
}

/* One bit for each descriptor that has been one of our perf events, because a signal may arrive
 * after its event was closed. */
#define MAX_NOTED 65536
static _Atomic uint64_t noted[MAX_NOTED / 64];
SXS_SESSION_KEEPS(noted); /* a signal may arrive in a later session */

static void note_descriptor(int fd)
{
    if (fd < MAX_NOTED)
        atomic_fetch_or(&noted[fd / 64], UINT64_C(1) << fd % 64);
}

/* Whether a signal with descriptor @fd came from one of our events that has been closed since.
 * If the number is now in use for anything but a perf event, the signal is the host's. */
SXS_SIGSAFE static int is_late(int fd)
{
    uint64_t id;
    if (fd < 0 || fd >= MAX_NOTED ||
        !(atomic_load_explicit(&noted[fd / 64], memory_order_relaxed) >> fd % 64 & 1))
        return 0;
    return ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0 || errno == EBADF;
}

/* Returns the lowest number for our descriptors, of which there is one for each thread: the
 * beginning of the last quarter of the numbers that the host may have, or HIGH_FD if that is
 * lower. RLIMIT_NOFILE limits the numbers of new descriptors. If our descriptors had low
 * numbers, a host that lowers the limit later would have none left. Returns 0 when the limit is
 * too low for any of our descriptors. */
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

/* Whether @fd is the perf event with the kernel's number @id. Other files refuse the request. */
SXS_SIGSAFE static int is_event(int fd, uint64_t id)
{
    uint64_t now;
    return ioctl(fd, PERF_EVENT_IOC_ID, &now) == 0 && now == id;
}

/* Closes @fd only if it is still the event, because a host that closes all descriptors may have a
 * file of its own with the same number. */
static void close_event(int fd, uint64_t id)
{
    if (is_event(fd, id))
        close(fd);
}

/* Duplicates the event @fd to a number in our range and closes @fd. Returns the number or -errno,
 * and sets *id to the kernel's number of the event. */
static int raise_descriptor(int fd, uint64_t *id)
{
    int first = first_descriptor(), high = -1, err = EMFILE;
    if (ioctl(fd, PERF_EVENT_IOC_ID, id) < 0)
        return -errno; /* the host has closed it */
    if (first) {
        high = fcntl(fd, F_DUPFD_CLOEXEC, first);
        err = errno;
    }
    close_event(fd, *id);
    if (high >= 0 && !is_event(high, *id)) {
        close(high); /* a duplicate of a file of the host, which keeps its own descriptor */
        return -EBADF;
    }
    return high < 0 ? -err : high;
}

/* Starts a perf event for a thread. The first sample comes after a part of the interval, all
 * parts being equally likely (next_phase()). So any part t of a thread's life is sampled with
 * probability t / interval, in long threads and short ones.
 * @first_ns: CPU time of the thread from now to the first sample, at least 1.
 * Called with `opening` held. Returns 0 or -errno. */
static int start_perf(struct sxs_thread_slot *t, uint64_t first_ns)
{
    uint32_t          tid = atomic_load(&t->tid);
    struct f_owner_ex owner = {F_OWNER_TID, (pid_t)tid};
    int               fd = open_perf(tid, !kernel_too, first_ns);
    uint64_t          id;
    if (fd < 0)
        return -errno;
    /* before signals are enabled, because they carry the number */
    fd = raise_descriptor(fd, &id);
    if (fd < 0)
        return fd;
    atomic_store(&t->perf_id, id);
    note_descriptor(fd);
    t->perf_fd = fd; /* before the first signal, whose handler arms the next sample by it */
    atomic_store(&t->first_due_ns, 1);
    if (fcntl(fd, F_SETFL, O_ASYNC) < 0 || fcntl(fd, F_SETSIG, sxs_sample_signal_number()) < 0 ||
        fcntl(fd, F_SETOWN_EX, &owner) < 0 || ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) < 0) {
        int err = errno;
        t->perf_fd = -1;
        close_event(fd, id);
        return -err;
    }
    return 0;
}

/* Starts a timer on the CPU clock of a thread. The kernel checks such timers at its tick only.
 * So a due time in the last, incomplete tick of a thread's life would be lost, and threads
 * shorter than a tick would lose nearly all samples. Therefore all due times are one tick
 * earlier than with start_perf(): each tick counts the due times of the tick length before it,
 * even if that began before the thread (first_tick()).
 * @now: the thread's CPU time.
 * @due: the thread's CPU time when the first sample is due. It may be in the past if the timer
 *   @took_over from a perf event.
 * Returns 0 or -errno. */
static int start_timer(struct sxs_thread_slot *t, uint64_t now, uint64_t due, int took_over)
{
    struct itimerspec when;
    /* the first sample is due within the first tick */
    int               at_once = due <= now + tick_ns, id, err;
    err = create_timer(atomic_load(&t->tid), &id);
    if (err)
        return err;
    t->timer = id;
    when.it_interval = sxs_timespec_of(interval_ns);
    /* A time in the past would make the timer fire now instead of at the tick; 1 ns from now is
     * not in the past. */
    when.it_value = sxs_timespec_of(at_once ? 1 : due - tick_ns);
    t->took_over = took_over;
    atomic_store(&t->first_due_ns, at_once ? due : 0);
    if (syscall(SYS_timer_settime, id, at_once ? 0 : TIMER_ABSTIME, &when, NULL) == 0)
        return 0;
    err = -errno;
    syscall(SYS_timer_delete, id);
    t->timer = -1;
    return err;
}

/* Calls start_timer(). If the system refuses that, the thread is sampled in rounds. Returns 0, or
 * -ESRCH when the thread has ended. */
static int start_timer_or_rounds(struct sxs_thread_slot *t, uint64_t now, uint64_t due,
                                 int took_over)
{
    int err;
    if (!now)
        return -ESRCH;
    err = start_timer(t, now, due, took_over);
    if (err)
        sxs_rounds_take(t, due, -err);
    return 0;
}

/* Calls start_perf() with the lock held. Returns 1 when the event was started, else 0. */
static int try_perf(struct sxs_thread_slot *t, uint64_t first_ns)
{
    int started;
    pthread_mutex_lock(&opening);
    started = start_perf(t, first_ns) == 0;
    pthread_mutex_unlock(&opening);
    return started;
}

static int start_timer_from_now(struct sxs_thread_slot *t)
{
    uint64_t now = sxs_cpu_ns_of(atomic_load(&t->tid));
    return start_timer_or_rounds(t, now, now + next_phase() + 1, 0);
}

/* If a perf event is not available, a timer is used. Its samples carry the time they stand for, as
 * do those of the rounds. */
int sxs_clocks_start(struct sxs_thread_slot *t)
{
    if (t->excluded || (chosen == SXS_CLOCK_PERF && try_perf(t, next_phase() + 1)))
        return 0;
    return start_timer_from_now(t);
}

/* Whether the thread's descriptor is still our perf event. It must be in the host's descriptor
 * table, because the sampled thread arms the event through it. When the host closes it
 * (closefrom()), its number may be reused for a file of the host. The kernel's number of the
 * event identifies our event; other files refuse the request. */
SXS_SIGSAFE static int has_perf(const struct sxs_thread_slot *t)
{
    return t->perf_fd >= 0 &&
           is_event(t->perf_fd, atomic_load_explicit(&t->perf_id, memory_order_relaxed));
}

static void close_perf(struct sxs_thread_slot *t)
{
    if (has_perf(t))
        close(t->perf_fd);
    t->perf_fd = -1;
}

void sxs_clocks_disown(struct sxs_thread_slot *t)
{
    close_perf(t);
    t->timer = -1;
    sxs_rounds_leave(t);
}

void sxs_clocks_stop(struct sxs_thread_slot *t)
{
    if (t->perf_fd >= 0) {
        pthread_mutex_lock(&opening);
        close_perf(t);
        pthread_mutex_unlock(&opening);
    }
    if (t->timer >= 0)
        syscall(SYS_timer_delete, t->timer);
    t->timer = -1;
    sxs_rounds_leave(t);
}

void sxs_clocks_check(struct sxs_thread_slot *t)
{
    if (t->perf_fd < 0 || has_perf(t))
        return;
    t->perf_fd = -1;
    chosen = SXS_CLOCK_CPU_TIMER; /* a host that closes one descriptor will close others */
    atomic_store(&t->move_ns, 0);
    if (!t->excluded)
        start_timer_from_now(t);
}

/* ---- the kind of clock of a thread ----------------------------------------------------------- */

/* Each time a thread with a perf event is switched in or out, the kernel arms or cancels a
 * high-resolution timer, which takes microseconds on a virtual machine. For a thread that
 * repeatedly runs for a short time and then waits, this costs more than its samples. A timer on
 * its CPU clock costs nothing there. So each thread's handler measures its runs
 * (sampling/runs.h), and requests the other kind of clock from the service thread when they
 * are short or long. */
static _Atomic unsigned n_to_move;
SXS_SESSION_RESETS(n_to_move);

/* Requests the other kind of clock. @next_ns: CPU time at which the thread's next sample is due. */
SXS_SIGSAFE static void ask_to_move(struct sxs_thread_slot *t, uint64_t next_ns)
{
    if (!atomic_exchange_explicit(&t->move_ns, next_ns, memory_order_release))
        atomic_fetch_add_explicit(&n_to_move, 1, memory_order_relaxed);
}

int sxs_clocks_any_to_move(void)
{
    return atomic_exchange_explicit(&n_to_move, 0, memory_order_relaxed) != 0;
}

static void move_to_timer(struct sxs_thread_slot *t, uint64_t next_ns)
{
    pthread_mutex_lock(&opening);
    close_perf(t);
    pthread_mutex_unlock(&opening);
    start_timer_or_rounds(t, sxs_cpu_ns_of(atomic_load(&t->tid)), next_ns, 1);
}

/* Replaces the timer by a perf event. The timer's times are one tick early (see start_timer()). */
static void move_to_perf(struct sxs_thread_slot *t)
{
    static const struct itimerspec never;
    struct itimerspec              left;
    int                            timer = t->timer;
    /* Before the timer is stopped, because the time of waiting for the lock would be lost
     * otherwise. */
    pthread_mutex_lock(&opening);
    if (syscall(SYS_timer_settime, timer, 0, &never, &left) == 0) {
        if (start_perf(t, sxs_ns_of(left.it_value) + tick_ns) == 0) {
            t->timer = -1;
            syscall(SYS_timer_delete, timer);
        } else {
            syscall(SYS_timer_settime, timer, 0, &left, NULL);
        }
    }
    pthread_mutex_unlock(&opening);
}

void sxs_clocks_move(struct sxs_thread_slot *t)
{
    uint64_t next_ns = atomic_exchange_explicit(&t->move_ns, 0, memory_order_acquire);
    if (!next_ns || t->excluded)
        return;
    if (t->perf_fd >= 0)
        move_to_timer(t, next_ns);
    else if (t->timer >= 0 && chosen == SXS_CLOCK_PERF)
        move_to_perf(t);
}

/* ---- the samples ----------------------------------------------------------------------------- */

/* Returns the number of due times up to @cpu_ns; the first is @first. */
SXS_SIGSAFE static uint64_t n_due(uint64_t first, uint64_t cpu_ns)
{
    return cpu_ns < first ? 0 : (cpu_ns - first) / interval_ns + 1;
}

/* Returns the number of due times that the first tick of a timer counts, if the timer was
 * started to fire at the first tick. These are the due times in the tick length that begins now.
 * Earlier ones are counted only if the thread had a perf event before, which counted up to
 * @first; otherwise an earlier tick, before the thread began, would have counted them. From here
 * on the timer fires at its regular times. */
SXS_SIGSAFE static uint64_t first_tick(const struct sxs_thread_slot *t, uint64_t first)
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

SXS_SIGSAFE static uint64_t timer_weight(struct sxs_thread_slot *t, const siginfo_t *info)
{
    uint64_t due = t ? atomic_exchange_explicit(&t->first_due_ns, 0, memory_order_acquire) : 0;
    if (due)
        return interval_ns * first_tick(t, due);
    if (t && chosen == SXS_CLOCK_PERF && sxs_runs_look(t) == SXS_RUNS_LONG)
        ask_to_move(t, sxs_now_ns(CLOCK_THREAD_CPUTIME_ID));
    return interval_ns * (1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0));
}

SXS_SIGSAFE static uint64_t perf_weight(struct sxs_thread_slot *t)
{
    if (atomic_exchange_explicit(&t->first_due_ns, 0, memory_order_acquire))
        ioctl(t->perf_fd, PERF_EVENT_IOC_PERIOD, &interval_ns);
    /* If the runs are short, the event stays disabled: it costs nothing at context switches. */
    if (sxs_runs_look(t) == SXS_RUNS_SHORT)
        ask_to_move(t, sxs_now_ns(CLOCK_THREAD_CPUTIME_ID) +
                           interval_ns);
    else
        ioctl(t->perf_fd, PERF_EVENT_IOC_REFRESH, 1);
    return interval_ns;
}

SXS_SIGSAFE int sxs_clocks_own(struct sxs_thread_slot *t, const siginfo_t *info,
                               uint64_t *weight_ns)
{
    if (sxs_sample_signal_is_timers(info))
        *weight_ns = timer_weight(t, info);
    else if (t && t->perf_fd >= 0 && info->si_fd == t->perf_fd &&
             (info->si_code == POLL_IN || info->si_code == POLL_HUP) && has_perf(t))
        *weight_ns = perf_weight(t);
    else if ((info->si_code == POLL_IN || info->si_code == POLL_HUP) && is_late(info->si_fd))
        *weight_ns = 0; /* the event has been closed */
    else
        return 0;
    return 1;
}
