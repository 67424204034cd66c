/* SPDX-License-Identifier: MIT */
#include "cmd/output/missing.h"

#include "base/mask.h"
#include "base/sum.h"
#include "cmd/output/json_values.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/processes.h"
#include "cmd/output/text.h"
#include "session/format/calls.h"
#include "session/format/events.h"
#include "session/format/instrument.h"
#include "session/format/samples.h"
#include "session/format/thread_names.h"
#include "session/format/traced.h"
#include "session/read/file_read.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM "the file had no room"

#define SAMPLES(field)     SXS_SAMPLES_FILE, offsetof(struct sxs_samples_header, field), false
#define CALLS(field)       SXS_CALLS_FILE, offsetof(struct sxs_calls_header, field), false
#define CALL_THREAD(field) SXS_CALLS_FILE, offsetof(struct sxs_calls_thread, field), true
#define EVENTS(field)      SXS_EVENTS_FILE, offsetof(struct sxs_events_header, field), false

static const struct sxs_missing_counter counters[] = {
    {SAMPLES(n_dropped), "samples_dropped", "sample", "dropped: " ROOM},
    {SAMPLES(n_unlisted), "threads_not_sampled", "thread",
     "or more not sampled: too many at once, or too small a stack"},
    {SAMPLES(n_short_threads), "short_threads_without_sample", "thread",
     "lived less than 50 ms without a sample"},
    {SAMPLES(n_unsampled), "threads_with_unsampled_time", "thread",
     "with time that no sample stands for"},
    {SAMPLES(n_without_clock), "threads_without_clock", "thread",
     "sampled in rounds, because the system refused a clock: see each process"},
    {SAMPLES(n_signals_refused), "signals_refused", "signal",
     "to threads refused by the system: no samples came of these"},
    {SXS_SAMPLES_FILE,
     offsetof(struct sxs_samples_header, n_costs_dropped) + 8 * SXS_COST_ALLOCATION, false,
     "allocations_dropped", "allocated object", "not recorded: " ROOM},
    {SXS_SAMPLES_FILE, offsetof(struct sxs_samples_header, n_costs_dropped) + 8 * SXS_COST_NATIVE,
     false, "native_dropped", "native block", "not recorded: " ROOM},
    {SXS_SAMPLES_FILE, offsetof(struct sxs_samples_header, n_costs_dropped) + 8 * SXS_COST_LOCK,
     false, "lock_waits_dropped", "lock wait", "not recorded: " ROOM},
    {SXS_SAMPLES_FILE,
     offsetof(struct sxs_samples_header, n_costs_dropped) + 8 * SXS_COST_LOCK_OWNER, false,
     "lock_owners_dropped", "lock owner", "not recorded: " ROOM},
    {SAMPLES(n_notes_dropped), "notes_dropped", "note",
     "of what is gone or alive dropped: what is listed as alive may be gone; " ROOM},
    {SAMPLES(n_contexts_missed), "contexts_missed", "context",
     "of traces could not be read: these samples count for no trace"},
    {CALLS(functions_lost), "functions_not_hooked", "function", "not hooked: no memory"},
    {CALLS(threads_lost), "calls_without_thread", "call",
     "not counted, on threads for which " ROOM},
    {CALLS(notes_lost), "gap_notes_dropped", "note", "on coverage gaps dropped: " ROOM},
    {CALL_THREAD(nodes_lost), "calls_at_callers", "call",
     "counted at the caller, because there was no room for the path"},
    {CALL_THREAD(too_deep), "calls_too_deep", "call", "too deep to be followed"},
    {CALL_THREAD(events_lost), "trace_entries_dropped", "trace entry",
     "dropped: " ROOM "; the counts of calls have them"},
    {CALL_THREAD(values_lost), "values_dropped", "value", "of calls dropped: " ROOM},
    {EVENTS(lost), "events_dropped", "event", "dropped: " ROOM},
    {EVENTS(exceptions_lost), "exceptions_dropped", "exception",
     "dropped: no room in the file, or nested too deeply"},
    {SXS_INSTRUMENT_FILE, offsetof(struct sxs_instrument_header, lost), false,
     "instrument_records_dropped", "record", "of instrumented methods dropped: " ROOM},
    {SXS_TRACED_FILE, offsetof(struct sxs_traced_header, lost), false, "traced_records_dropped",
     "record", "of traced calls dropped: " ROOM},
    {SXS_TRACED_FILE, offsetof(struct sxs_traced_header, left_out), false, "traced_left_out", "call",
     "not traced, because more came than the limit of calls a second (--trace-rate); counts have them"},
    {SXS_THREAD_NAMES_FILE, offsetof(struct sxs_thread_names_header, lost), false,
     "thread_names_dropped", "name", "of threads dropped: " ROOM},
};
enum { N_COUNTERS = sizeof(counters) / sizeof(counters[0]), MAX_THREADS = 1 << 20 };

const struct sxs_missing_counter *sxs_missing_counters(size_t *n)
{
    *n = N_COUNTERS;
    return counters;
}

/* ---- the list --------------------------------------------------------------------------------- */

__attribute__((format(printf, 5, 6))) static void add_item(struct sxs_missing *m, const char *key,
                                                           const char *folder, uint64_t n,
                                                           const char *fmt, ...)
{
    va_list ap;
    char   *text = NULL;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        sxs_must(NULL);
    va_end(ap);
    SXS_GROW(m->all, m->n, m->cap);
    m->all[m->n++] = (struct sxs_missing_item){key, folder, n, text};
}

/* ---- counters of files ------------------------------------------------------------------------ */

/* Opens a file of a process's folder if its counters mean what the table says. Returns a descriptor, or -1. */
static int open_counted(const struct sxs_files *folder, const char *name, struct stat *st)
{
    static const struct {
        const char *name, *magic;
        uint32_t    version, least;
    } known[] = {
        {SXS_SAMPLES_FILE, SXS_SAMPLES_MAGIC, SXS_SAMPLES_VERSION, SXS_SAMPLES_VERSION},
        {SXS_CALLS_FILE, SXS_CALLS_MAGIC, SXS_CALLS_VERSION, SXS_CALLS_VERSION_2},
        {SXS_EVENTS_FILE, SXS_EVENTS_MAGIC, SXS_EVENTS_VERSION, SXS_EVENTS_VERSION},
        {SXS_INSTRUMENT_FILE, SXS_INSTRUMENT_MAGIC, SXS_INSTRUMENT_VERSION, SXS_INSTRUMENT_VERSION},
        {SXS_TRACED_FILE, SXS_TRACED_MAGIC, SXS_TRACED_VERSION, SXS_TRACED_VERSION},
        {SXS_THREAD_NAMES_FILE, SXS_THREAD_NAMES_MAGIC, SXS_THREAD_NAMES_VERSION,
         SXS_THREAD_NAMES_VERSION},
    };
    struct {
        char     magic[8];
        uint32_t version;
    } begin = {{0}, 0};
    int fd = sxs_file_open_regular(folder, name, st);
    if (fd < 0)
        return -1;
    if (sxs_file_read_at(fd, &begin, sizeof(begin), 0) == sizeof(begin))
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            if (strcmp(known[i].name, name) == 0 &&
                memcmp(begin.magic, known[i].magic, sizeof(begin.magic)) == 0 &&
                begin.version >= known[i].least && begin.version <= known[i].version)
                return fd;
    close(fd);
    return -1;
}

static uint64_t number_at(int fd, uint64_t at)
{
    uint64_t n = 0;
    return sxs_file_read_at(fd, &n, sizeof(n), at) == sizeof(n) ? n : 0;
}

/* Adds the counters of the threads in a file of calls. A list that leads out of the file, or in a circle, ends. */
static void count_threads(int fd, uint64_t size, uint64_t *n)
{
    struct sxs_calls_header h;
    struct sxs_calls_thread t;
    if (sxs_file_read_at(fd, &h, sizeof(h), 0) != sizeof(h))
        return;
    uint64_t      left = size / sizeof(t) < MAX_THREADS ? size / sizeof(t) : MAX_THREADS;
    sxs_calls_ref at = atomic_load_explicit(&h.threads, memory_order_relaxed);
    for (; at && left; left--, at = t.next) {
        if (sxs_file_read_at(fd, &t, sizeof(t), SXS_CALLS_HEADER + (uint64_t)at * SXS_CALLS_CELL) !=
            sizeof(t))
            return;
        for (size_t i = 0; i < N_COUNTERS; i++) {
            uint64_t here;
            if (!counters[i].by_thread)
                continue;
            memcpy(&here, (const char *)&t + counters[i].offset, sizeof(here));
            sxs_sum_add(&n[i], here);
        }
    }
}

void sxs_missing_count(const struct sxs_files *folder, uint64_t *n)
{
    const char *name = "";
    int         fd = -1;
    for (size_t i = 0; i < N_COUNTERS; i++) {
        if (strcmp(name, counters[i].file) != 0) { /* the rows of a file follow each other */
            struct stat st;
            if (fd >= 0)
                close(fd);
            name = counters[i].file;
            fd = open_counted(folder, name, &st);
            if (fd >= 0 && strcmp(name, SXS_CALLS_FILE) == 0)
                count_threads(fd, (uint64_t)st.st_size, n);
        }
        if (fd >= 0 && !counters[i].by_thread)
            sxs_sum_add(&n[i], number_at(fd, counters[i].offset));
    }
    if (fd >= 0)
        close(fd);
}

static void add_counters(const struct sxs_session_process *p, const uint64_t *n,
                         struct sxs_missing *m)
{
    for (size_t i = 0; i < N_COUNTERS; i++)
        if (n[i])
            add_item(m, counters[i].key, p->folder, n[i], "process %s: %s %s", p->folder,
                     SXS_COUNT(n[i], counters[i].one), counters[i].what);
}

/* ---- what else a session lacks ---------------------------------------------------------------- */

static void add_masks(const struct sxs_session *s, struct sxs_missing *m)
{
    size_t n[SXS_MASK_ALL + 1] = {0};
    for (size_t i = 0; i < s->n_processes; i++)
        n[s->processes[i].mask > SXS_MASK_ALL ? SXS_MASK_ALL : s->processes[i].mask]++;
    for (enum sxs_mask mask = SXS_MASK_TEXT; mask <= SXS_MASK_ALL; mask++) {
        char some[64] = "";
        if (!n[mask])
            continue;
        if (n[mask] < s->n_processes)
            snprintf(some, sizeof(some), ", in %zu of %zu processes", n[mask], s->n_processes);
        add_item(m, "masked", NULL, n[mask], "values are masked: %s%s (SXSPROF_MASK)",
                 mask == SXS_MASK_TEXT ? "of texts the length was recorded" : "none was recorded",
                 some);
    }
}

static void add_runtimes(const struct sxs_session_process *p, struct sxs_missing *m)
{
    if (p->n_unlisted)
        add_item(m, "runtimes_unlisted", p->folder, p->n_unlisted,
                 "process %s: %s counted but not listed", p->folder,
                 SXS_COUNT(p->n_unlisted, "more runtime"));
    if (p->has_children)
        add_item(m, "children_counted", p->folder, 1,
                 "process %s: forked children had no memory of their own: what they did is counted here",
                 p->folder);
    for (size_t i = 0; i < p->n_runtimes; i++)
        if (p->runtimes[i].errors)
            add_item(m, "runtime_errors", p->folder, p->runtimes[i].errors,
                     "process %s: %s of this profiler into runtime %u failed: what depends on them "
                     "is missing",
                     p->folder, SXS_COUNT(p->runtimes[i].errors, "call"), p->runtimes[i].number);
}

/* Whether a line of the log, "123/log: ...", is of a process that is wanted. What is left out has no process. */
static bool is_wanted(const struct sxs_session *s, const char *note, const char *process)
{
    for (size_t i = 0; i < s->n_processes; i++) {
        const char *folder = s->processes[i].folder;
        size_t      len = strlen(folder);
        if (strncmp(note, folder, len) == 0 && strncmp(note + len, "/" SXS_LOG_FILE, 4) == 0)
            return sxs_process_wanted(&s->processes[i], process);
    }
    return true;
}

void sxs_missing_read(const struct sxs_session *session, const uint64_t *n, const char *process,
                      struct sxs_missing *out)
{
    char line[200];
    *out = (struct sxs_missing){0};
    if (sxs_session_left_out(session, line, sizeof(line)))
        add_item(out, "processes_left_out", NULL, session->n_left_out, "%s", line);
    for (size_t i = 0; i < session->n_notes; i++)
        if (is_wanted(session, session->notes[i], process))
            add_item(out, "log", NULL, 1, "%s", session->notes[i]);
    add_masks(session, out);
    for (size_t i = 0; i < session->n_processes; i++)
        if (sxs_process_wanted(&session->processes[i], process))
            add_runtimes(&session->processes[i], out);
    for (size_t i = 0; i < session->n_processes && n; i++)
        if (sxs_process_wanted(&session->processes[i], process))
            add_counters(&session->processes[i], n + i * N_COUNTERS, out);
}

void sxs_missing_text(FILE *to, const struct sxs_missing *m)
{
    for (size_t i = 0; i < m->n; i++)
        sxs_print_to(to, "%s\n", m->all[i].text);
}

void sxs_missing_text_of(FILE *to, const char *when, const struct sxs_missing *m)
{
    for (size_t i = 0; i < m->n; i++)
        sxs_print_to(to, "%-7s %s\n", when, m->all[i].text);
}

json_t *sxs_missing_json(const struct sxs_missing *m)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < m->n; i++) {
        const struct sxs_missing_item *item = &m->all[i];
        json_t                        *o = json_object();
        int                            err = sxs_json_set_text(o, "what", item->key);
        if (item->folder)
            err |= sxs_json_set_text(o, "process", item->folder);
        err |= sxs_json_set_number(o, "count", item->n);
        err |= sxs_json_set_text(o, "text", item->text);
        json_array_append_new(rows, sxs_json_whole(o, err));
    }
    return rows;
}

void sxs_missing_free(struct sxs_missing *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->all[i].text);
    free(m->all);
    *m = (struct sxs_missing){0};
}
