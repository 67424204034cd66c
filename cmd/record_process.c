/* SPDX-License-Identifier: MIT */
/* Records in processes that run already. */
#include "base/clock.h"
#include "cmd/attach/target.h"
#include "cmd/command.h"
#include "cmd/library.h"
#include "cmd/named_processes.h"
#include "cmd/output/text.h"
#include "cmd/processes/account.h"
#include "cmd/processes/deadline.h"
#include "cmd/progress.h"
#include "cmd/record.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_TARGETS 256

/* What the first signal does. */
enum phase {
    PHASE_IDLE,   /* it only ends the loops */
    PHASE_CHECK,  /* to end the check: at once, and in any case within a second */
    PHASE_ATTACH, /* to end the attach within a second, and what was made is removed */
    PHASE_RECORD, /* to end the recording, which takes the time that the process needs */
};

static volatile sig_atomic_t n_signals, phase;

#define HURRY_MS  700u /* for a question that is waiting for its answer */
#define CHECK_S   2u   /* then the command ends, whatever it waits for */
#define ATTACH_S  3u
#define FREE_MS   1000u /* what each process may take, however long others of its user took */
#define REMOVAL_S 2u    /* the same, added to a deadline: for what was made to be removed */

/* The first signal ends the recording. The second one ends this command at once: the library notices
 * that nobody holds the session any more, and detaches by itself. */
static void count_signal(int signo)
{
    if (++n_signals > 1)
        _exit(128 + signo);
    if (phase != PHASE_CHECK && phase != PHASE_ATTACH)
        return;
    sxs_deadline_hurry(HURRY_MS);
    alarm(phase == PHASE_CHECK ? CHECK_S : ATTACH_S);
}

static void set_signals(void (*handler)(int))
{
    const int        list[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = handler};
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        sigaction(list[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* Begins a phase that has @ms, or as long as it takes (0). A system call that does not end in time is
 * ended by SIGALRM, together with this command. */
static void begin_phase(enum phase next, unsigned ms)
{
    phase = next;
    if (ms && n_signals)
        return; /* the time that the signal has left holds */
    sxs_deadline_begin(ms);
    alarm(ms ? sxs_deadline_left(UINT_MAX) / 1000 + REMOVAL_S : 0);
}

/* Measures what a phase takes of the time that it was given. On a busy machine the time passes more slowly
 * (sxs_deadline_begin()). What is called in the phase may begin deadlines of its own. */
struct spending {
    unsigned ms, whole_ms; /* the time that was given, as sxs_deadline_begin() takes it and as it passes */
    int64_t  began_ms;
};

/* For a phase that has just begun with @ms. */
static struct spending begin_spending(unsigned ms)
{
    return (struct spending){ms, sxs_deadline_left(UINT_MAX), sxs_deadline_now_ms()};
}

static unsigned spent_of(const struct spending *s)
{
    uint64_t took = (uint64_t)(sxs_deadline_now_ms() - s->began_ms);
    return took < s->whole_ms ? (unsigned)(s->ms * took / s->whole_ms) : s->ms;
}

/* The time that each user's processes have taken beyond FREE_MS, in milliseconds. When a process of a user
 * has not answered, each other process of this user has FREE_MS: with --all there can be many of them. */
static struct sxs_accounts overdue;

/* Returns what is counted for the process's user; NULL: nothing is known of the process, or users are too many. */
static uint64_t *overdue_of(const struct sxs_target *t)
{
    return t->p.dir >= 0 ? sxs_accounts_get(&overdue, sxs_account_of(t->p.dir)) : NULL;
}

/* Returns how much of @ms the process may take. */
static unsigned allowed_ms(const struct sxs_target *t, unsigned ms)
{
    const uint64_t *spent = overdue_of(t);
    return spent && *spent >= SXS_TARGET_MS / 4 && ms > FREE_MS ? FREE_MS : ms;
}

static void charge(const struct sxs_target *t, unsigned ms)
{
    uint64_t *spent = overdue_of(t);
    if (spent && ms > FREE_MS)
        *spent += ms - FREE_MS;
}

static uint64_t now_ms(void)
{
    return sxs_now_ns(CLOCK_MONOTONIC) / 1000000;
}

static void sleep_ms(uint64_t ms)
{
    struct timespec pause = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&pause, NULL); /* a signal ends it early */
}

/* ---- several processes ----------------------------------------------------------------------- */

struct targets {
    struct sxs_target *items; /* owned */
    size_t             n;
};

static void print_started(const struct sxs_target *t)
{
    char name[64], list[512] = "";
    sxs_text_clean(t->p.name, name, sizeof(name));
    for (size_t i = 0, len = 0; i < t->n_runtimes && len < sizeof(list); i++)
        if (t->runtimes[i].picked && (t->runtimes[i].live || t->runtimes[i].reached >= 0))
            len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", len ? ", " : "",
                                    t->runtimes[i].version);
    sxs_complain("recording in process %d (%s), runtime %s", (int)t->p.pid, name, list);
}

/* A process can keep a reader of /proc waiting in the kernel so that only a signal without a handler
 * ends it. Nothing is made meanwhile that would be left behind. */
static int read_and_check(struct sxs_target *t, pid_t pid, const struct sxs_target_request *request,
                          char why[SXS_TARGET_WHY])
{
    begin_phase(PHASE_CHECK, SXS_TARGET_READ_MS);
    set_signals(SIG_DFL);
    struct spending spending = begin_spending(SXS_TARGET_READ_MS);
    int             status = sxs_target_read(t, pid, why);
    t->spent_ms = spent_of(&spending);
    set_signals(count_signal);
    unsigned most = allowed_ms(t, SXS_TARGET_MS - SXS_TARGET_LEAST_MS - t->spent_ms);
    begin_phase(PHASE_CHECK, most);
    spending = begin_spending(most);
    if (!status)
        status = sxs_target_check(t, request, why);
    t->spent_ms += spent_of(&spending);
    charge(t, t->spent_ms);
    return status;
}

/* Checks all processes. Returns an exit status; with @lenient, processes that are refused are left
 * out if at least one is not. */
static int check_all(struct targets *all, const pid_t *pids, size_t n,
                     const struct sxs_target_request *request, bool lenient, bool quiet)
{
    char why[SXS_TARGET_WHY];
    int  status = SXS_EXIT_OK;
    all->items = calloc(n, sizeof(*all->items));
    all->n = 0;
    for (size_t i = 0; all->items && i < n && !n_signals; i++) {
        struct sxs_target *t = &all->items[all->n];
        int                result = read_and_check(t, pids[i], request, why);
        if (!result && sxs_target_explain(t, request, quiet ? NULL : stderr) == 0) {
            snprintf(why, sizeof(why), "%d: no tool of %s can start in a process that runs already",
                     (int)pids[i], request->tools);
            result = SXS_EXIT_USAGE;
        }
        if (!result) {
            all->n++;
            continue;
        }
        sxs_complain("%s", why);
        sxs_target_close(t);
        status = result;
        if (!lenient)
            break;
    }
    if (!all->items)
        sxs_complain("out of memory");
    return !all->items ? SXS_EXIT_FAILED : all->n && lenient ? SXS_EXIT_OK : status;
}

/* Attaches to all processes. Returns the exit status of the last failure, and the number of those
 * that are recorded in @n. */
static int attach_all(struct targets *all, const struct sxs_target_request *request, bool quiet,
                      size_t *n)
{
    char why[SXS_TARGET_WHY];
    int  status = SXS_EXIT_OK;
    *n = 0;
    for (size_t i = 0; i < all->n && !n_signals; i++) {
        struct sxs_target *t = &all->items[i];
        unsigned           most = allowed_ms(t, SXS_TARGET_MS - t->spent_ms);
        begin_phase(PHASE_ATTACH, most);
        struct spending spending = begin_spending(most);
        int             result = sxs_target_attach(t, request, why);
        charge(t, spent_of(&spending));
        if (*why)
            sxs_complain("%s", why);
        if (result)
            status = result;
        *n += t->attached;
        if (t->attached && !quiet)
            print_started(t);
    }
    return status;
}

/* Waits for the end of the time, of all processes, or for a signal. */
static void wait_all(struct targets *all, uint64_t duration_ms, struct sxs_progress *shown)
{
    uint64_t began = now_ms();
    for (;;) {
        bool     any = false;
        uint64_t spent = now_ms() - began, left = duration_ms - spent;
        for (size_t i = 0; i < all->n; i++)
            any |= all->items[i].attached && sxs_target_poll(&all->items[i]) == SXS_TARGET_ON;
        if (!any || n_signals || (duration_ms && spent >= duration_ms))
            break;
        sxs_progress_tick(shown);
        sleep_ms(duration_ms && left < 100 ? left : 100);
    }
    sxs_progress_erase(shown);
}

static int detach_all(struct targets *all)
{
    char why[SXS_TARGET_WHY];
    int  status = SXS_EXIT_OK;
    for (size_t i = 0; i < all->n; i++) {
        struct sxs_target *t = &all->items[i];
        if (t->attached && sxs_target_poll(t) == SXS_TARGET_GONE)
            sxs_complain("process %d has ended", (int)t->p.pid);
        else if (t->attached && sxs_target_poll(t) == SXS_TARGET_ENDED)
            sxs_complain("process %d: the session was ended by another command", (int)t->p.pid);
        if (sxs_target_detach(t, why) != SXS_EXIT_OK)
            status = SXS_EXIT_PROBLEM;
        if (*why)
            sxs_complain("%s", why);
    }
    return status;
}

static void close_all(struct targets *all)
{
    for (size_t i = 0; i < all->n; i++)
        sxs_target_close(&all->items[i]);
    free(all->items);
}

/* Attaches, waits, detaches, and prints what was recorded. Returns an exit status. */
static int record(struct targets *all, struct sxs_target_request *request,
                  const struct sxs_record_options *o, struct sxs_out_dir *out)
{
    bool                quiet = o->set[SXS_SET_QUIET];
    struct sxs_progress shown;
    size_t              n = 0;
    request->out = out->path;
    for (size_t i = 0; i < all->n; i++)
        all->items[i].out = out->path;
    int status = attach_all(all, request, quiet, &n);
    if (n) {
        begin_phase(PHASE_RECORD, 0);
        sxs_progress_init(&shown, out, quiet);
        wait_all(all, o->duration_ms, &shown);
    }
    if (detach_all(all) && !status)
        status = SXS_EXIT_PROBLEM;
    close_all(all);
    if (!n) {
        sxs_out_dir_undo(out);
        return status ? status : SXS_EXIT_PROBLEM;
    }
    int written = sxs_record_finish(o, out);
    sxs_out_dir_close(out);
    return status || written ? SXS_EXIT_PROBLEM : SXS_EXIT_OK;
}

int sxs_record_process(const struct sxs_record_options *o)
{
    struct sxs_library     lib;
    struct sxs_out_dir     out;
    struct targets         all = {0};
    struct sxs_target_request request = {.tools = o->set[SXS_SET_TOOLS],
                                         .pick = o->set[SXS_SET_PICK],
                                         .mask = o->set[SXS_SET_MASK],
                                         .duration_ms = o->duration_ms,
                                         .add_settings = sxs_record_add_settings,
                                         .arg = o};
    pid_t                  pids[MAX_TARGETS];
    size_t                 n = 0;
    int                    err = sxs_library_find(&lib);
    if (err || !lib.has_profiler) {
        sxs_complain("%s is missing; expected it there or in %s/../lib/sxsprof", lib.profiler,
                     lib.bin_dir);
        return SXS_EXIT_FAILED;
    }
    request.library = lib.profiler;
    bool all_named = o->set[SXS_SET_ALL], keep = !sxs_record_outputs_only(&o->outputs);
    int  status = sxs_record_outputs_check(&o->outputs);
    if (!status)
        status = sxs_named_processes(o->set[SXS_SET_PROCESS], all_named, pids, MAX_TARGETS, &n);
    if (status)
        return status;
    set_signals(count_signal);
    for (uint64_t began = now_ms(); !n_signals && now_ms() - began < o->delay_ms;)
        sleep_ms(o->delay_ms - (now_ms() - began) < 100 ? 10 : 100);
    if (n_signals)
        return SXS_EXIT_OK; /* nothing was touched */
    status = check_all(&all, pids, n, &request, all_named, o->set[SXS_SET_QUIET]);
    if (!status && n_signals) {
        sxs_complain("ended by a signal before anything was recorded");
        status = SXS_EXIT_PROBLEM;
    }
    begin_phase(PHASE_IDLE, 0);
    if (!status)
        status = sxs_record_open_out(o, keep, &out);
    if (!status && keep && !o->outputs.folder)
        sxs_out_dir_name(&out, pids[0]);
    if (status) {
        close_all(&all);
        return status;
    }
    return record(&all, &request, o, &out);
}
