/* SPDX-License-Identifier: MIT */
/* The table of formats, and the steps from a session folder to the output file. */
#include "cmd/report/profile.h"

#include "cmd/costs/costs.h"
#include "cmd/output/missing.h"
#include "cmd/output/must.h"
#include "cmd/output/output_file.h"
#include "cmd/output/print.h"
#include "cmd/output/processes.h"
#include "cmd/output/segments.h"
#include "cmd/output/shown.h"
#include "cmd/report/costs.h"
#include "cmd/report/coverage_gaps.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/format.h"
#include "cmd/report/timeline.h"
#include "cmd/symbols/debuginfod.h"
#include "session/format/calls.h"
#include "session/format/traced.h"
#include "session/read/samples_read.h"
#include "session/read/session_read.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct sxs_profile_format *const formats[] = {
    &sxs_format_text,   &sxs_format_html,  &sxs_format_collapsed, &sxs_format_speedscope,
    &sxs_format_pprof,  &sxs_format_chrome, &sxs_format_firefox,
};

static const struct sxs_profile_format *find_format(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

const char *sxs_profile_formats(void)
{
    return "text, html, collapsed, speedscope, pprof, chrome, firefox";
}

bool sxs_profile_has_format(const char *name)
{
    return find_format(name) != NULL;
}

/* Returns true when @is is true of the folder of a process of session @dir. @path: the folder. */
static bool any_process(const char *dir, bool (*is)(const char *path, const void *arg),
                        const void *arg)
{
    static const struct sxs_period always = {.from_ns = 1}; /* the kept segments, too */
    struct sxs_session             s;
    char                           path[4096];
    bool                           found = false;
    if (sxs_session_read_joined(dir, &always, &s, NULL) == 0)
        for (size_t i = 0; !found && i < s.n_processes + s.n_unread; i++) {
            const struct sxs_session_process *p =
                i < s.n_processes ? &s.processes[i] : &s.unread[i - s.n_processes];
            for (size_t k = 0; !found && k < sxs_process_n_parts(p); k++) {
                snprintf(path, sizeof(path), "%s/%s", dir, sxs_process_part_folder(p, k));
                found = is(path, arg);
            }
        }
    sxs_session_free(&s);
    return found;
}

static bool folder_has_file(const char *folder, const void *name)
{
    char        path[4400];
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", folder, (const char *)name);
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool has_file(const char *dir, const char *name)
{
    return any_process(dir, folder_has_file, name);
}

/* Returns true when the file "samples" in a folder has data of this kind. A file that cannot be read
 * counts as samples, so that a report says why. */
static bool folder_has_data(const char *folder, const void *arg)
{
    enum sxs_data       data = *(const enum sxs_data *)arg;
    struct sxs_samples *reader = NULL;
    char                why[256];
    bool                found = false;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (sxs_samples_open(fd, &reader, why, sizeof(why)) == 0) {
        const struct sxs_samples_header *h = sxs_samples_head(reader);
        const struct sxs_data_kind      *k = sxs_data_kind(data);
        bool sampled = h->mode || atomic_load_explicit(&h->n_samples, memory_order_relaxed);
        found = k->cost ? sxs_costs_on(h, k->cost) && (!k->live || h->cost_live[k->cost])
                        : sampled && (data != SXS_DATA_WAIT || h->mode == SXS_MODE_WALL);
    } else {
        found = data == SXS_DATA_SAMPLES && folder_has_file(folder, SXS_SAMPLES_FILE);
    }
    sxs_samples_close(reader);
    close(fd);
    return found;
}

bool sxs_profile_has(const char *dir, enum sxs_data data)
{
    if (data == SXS_DATA_CALLS)
        return has_file(dir, SXS_CALLS_FILE);
    return any_process(dir, folder_has_data, &data);
}

bool sxs_profile_has_samples(const char *dir)
{
    return sxs_profile_has(dir, SXS_DATA_SAMPLES);
}

bool sxs_profile_has_stacks(const char *dir)
{
    bool found = sxs_profile_has_samples(dir);
    for (enum sxs_data data = SXS_DATA_ALLOC; data <= SXS_DATA_LOCKS && !found; data++)
        found = sxs_profile_has(dir, data);
    return found;
}

bool sxs_profile_has_calls(const char *dir)
{
    return has_file(dir, SXS_CALLS_FILE);
}

bool sxs_profile_has_events(const char *dir)
{
    return has_file(dir, SXS_EVENTS_FILE);
}

bool sxs_profile_has_traced(const char *dir)
{
    return has_file(dir, SXS_TRACED_FILE);
}

enum sxs_data sxs_data_option(const struct argp_state *state, const char *text)
{
    enum sxs_data data = sxs_data_named(text);
    if (data == SXS_DATA_ANY)
        sxs_option_error(state, "--data: '%s': expected %s", text, sxs_data_names());
    return data;
}

static int output_open(struct sxs_output *out, const char *path)
{
    int err = sxs_output_open(out, path);
    if (err)
        sxs_print_to(stderr, "sxsprof: %s: %s\n", path, sxs_output_error(err));
    return err ? -1 : 0;
}

static int output_close(struct sxs_output *out, int failed)
{
    const char *path = out->path ? out->path : "standard output";
    int         err = sxs_output_close(out, failed != 0);
    if (err)
        sxs_print_to(stderr, "sxsprof: %s: cannot be written: %s\n", path, strerror(err));
    return err ? -1 : 0;
}

/* Chooses what to report of @a, and of @b unless it is NULL: the first data that both sessions
 * have. @calls: calls can be chosen; the text has them elsewhere. */
static enum sxs_data choose_data(const struct sxs_report_options *o, const char *a, const char *b,
                                 bool calls)
{
    static const enum sxs_data order[] = {SXS_DATA_SAMPLES, SXS_DATA_CALLS, SXS_DATA_ALLOC,
                                          SXS_DATA_NATIVE, SXS_DATA_LOCKS};
    if (o->data != SXS_DATA_ANY)
        return o->data;
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        if ((calls || order[i] != SXS_DATA_CALLS) && sxs_profile_has(a, order[i]) &&
            (!b || sxs_profile_has(b, order[i])))
            return order[i];
    return calls || !sxs_profile_has_calls(a) ? SXS_DATA_SAMPLES : SXS_DATA_CALLS;
}

static bool has_problem(const struct sxs_model *m, const char *line)
{
    for (; m; m = m->next)
        for (size_t i = 0; i < m->n_problems; i++)
            if (strcmp(m->problems[i], line) == 0)
                return true;
    return false;
}

/* Prints the problems of @m, except those that @before (may be NULL), or a model after it, contains
 * as well. Returns the number of problems printed. */
static size_t print_problems(const struct sxs_model *m, const struct sxs_model *before)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_problems; i++) {
        if (has_problem(before, m->problems[i]))
            continue;
        sxs_print_to(stderr, "sxsprof: %s\n", m->problems[i]);
        n++;
    }
    return n;
}

/* Returns " (--data alloc)"; "" for samples and calls, which are called by their own names. */
static const char *of_data(const struct sxs_data_kind *kind, char *buf, size_t size)
{
    snprintf(buf, size, "%s%s%s", kind->title[0] ? " (--data " : "", kind->title[0] ? kind->name : "",
             kind->title[0] ? ")" : "");
    return buf;
}

/* Loads a session into @m and prints its problems. Returns OK, DAMAGED, NOTHING or FAILED. */
static enum sxs_profile_result load_model(const char *dir, const struct sxs_report_options *o,
                                          enum sxs_data data, unsigned detail, struct sxs_model *m)
{
    bool                        calls = data == SXS_DATA_CALLS;
    const struct sxs_data_kind *kind = sxs_data_kind(data);
    char                        with[48];
    int err = calls ? sxs_model_load_calls(dir, o, detail, m)
                    : sxs_model_load(dir, o, data, detail, m);
    if (err) {
        sxs_print_to(stderr, "sxsprof: %s: %s; expected a folder made by sxsprof run -o DIR\n",
                     sxs_shown(dir), strerror(err));
        return SXS_PROFILE_FAILED;
    }
    if ((detail & SXS_DETAIL_CALLS) && sxs_profile_has_traced(dir)) /* the page of a sampled
                                                                     * session gets them in
                                                                     * add_timeline() */
        sxs_model_add_traced(dir, o, calls || !(detail & SXS_DETAIL_BOTH), m);
    print_problems(m, NULL);
    bool events = false;
    for (size_t i = 0; i < m->n_processes; i++)
        events |= m->processes[i].events != NULL;
    size_t n_processes = m->costs ? m->costs->n_processes : m->n_processes;
    if (n_processes == 0 && m->n_damage) { /* printed above; nothing to show */
        return SXS_PROFILE_FAILED;
    } else if (n_processes == 0) {
        sxs_print_to(stderr, "sxsprof: %s: no %s%s; record them with sxsprof run %s\n",
                     sxs_shown(dir), kind->many, of_data(kind, with, sizeof(with)), kind->record);
    } else if (m->costs && m->costs->live && m->costs->parted) {
        sxs_print_to(stderr,
                     "sxsprof: %s: which %s are gone is known within one segment; expected one of "
                     "its segments\n",
                     sxs_shown(dir), kind->many);
        return SXS_PROFILE_NOTHING;
    } else if (m->costs && m->costs->live && !m->costs->live_known) {
        sxs_print_to(stderr,
                     "sxsprof: %s: which %s are gone was not recorded; it is with sxsprof run %s\n",
                     sxs_shown(dir), kind->many, kind->record);
        return SXS_PROFILE_NOTHING;
    } else if (m->total == 0 && m->filtered_out && !events) {
        sxs_print_to(stderr, "sxsprof: %s: none of its %llu %s is of what was asked for\n",
                     sxs_shown(dir), (unsigned long long)m->filtered_out, kind->many);
    }
    if (n_processes == 0 || (m->total == 0 && m->filtered_out && !events))
        return SXS_PROFILE_NOTHING;
    if (calls && (detail & SXS_DETAIL_CALLS) && !(detail & SXS_DETAIL_BOTH) && !m->n_events) {
        sxs_print_to(stderr,
                     "sxsprof: %s: no single calls, which this format shows; record them with "
                     "sxsprof run --tool calls:trace, or the action trace of rules\n",
                     sxs_shown(dir));
        return SXS_PROFILE_NOTHING;
    }
    return m->n_damage ? SXS_PROFILE_DAMAGED : SXS_PROFILE_OK;
}

/* Builds the data of the page's timeline. The traced calls of a session that was also sampled are
 * loaded into @calls. */
static void add_timeline(struct sxs_model *m, const char *dir, const struct sxs_report_options *o,
                         struct sxs_model *calls, struct sxs_timeline *t)
{
    const struct sxs_model *from = m->data == SXS_DATA_CALLS ? m : NULL;
    if (!from && sxs_profile_has_calls(dir) &&
        sxs_model_load_calls(dir, o, SXS_DETAIL_CALLS, calls) == 0) {
        from = calls;
        sxs_model_move_gaps(calls, m);
    }
    if (m->data != SXS_DATA_CALLS && sxs_profile_has_traced(dir)) {
        sxs_model_add_traced(dir, o, true, calls);
        from = calls;
    }
    sxs_timeline_build(m, from, o, t);
    m->timeline = t;
}

/* Prints why a format cannot show this data. Returns true when that is so. */
static bool refuse_format(enum sxs_data data, const struct sxs_profile_format *f)
{
    if (f != &sxs_format_chrome || !sxs_data_is_cost(data))
        return false;
    sxs_print_to(
        stderr,
        "sxsprof: --format chrome shows what threads did over time, and no sums of %s; expected "
        "text, json, html, collapsed, speedscope, pprof or firefox\n",
        sxs_data_kind(data)->many);
    return true;
}

/* ---- several kinds of data in one report ---- */

/* The models after the first, in the order of a page or text. */
struct further {
    struct sxs_model *all; /* owned */
    size_t            n;
};

/* Loads all costs of the session up to @last_data, and waits if there are reasons, but not what
 * @first has, and links them to it. Returns the worst
 * result; data of which nothing was asked for is left out. */
static enum sxs_profile_result load_further(const char *dir, const struct sxs_report_options *o,
                                            unsigned detail, enum sxs_data last_data,
                                            struct sxs_model *first, struct further *f)
{
    enum sxs_profile_result worst = SXS_PROFILE_OK;
    f->all = sxs_must_zeroed(SXS_N_DATA, sizeof(*f->all));
    for (enum sxs_data data = SXS_DATA_ALLOC; data < SXS_N_DATA; data++) {
        if (data == first->data || (data > last_data && data != SXS_DATA_WAIT) ||
            (data == SXS_DATA_WAIT ? !first->has_reasons : !sxs_profile_has(dir, data)))
            continue;
        struct sxs_model *m = &f->all[f->n], *last = f->n ? &f->all[f->n - 1] : first;
        if (sxs_model_load(dir, o, data, detail, m) == 0 && m->total) {
            if (print_problems(m, first) && m->n_damage)
                worst = SXS_PROFILE_DAMAGED;
            last->next = m;
            f->n++;
        } else {
            sxs_model_free(m);
        }
    }
    return worst;
}

static void free_further(struct further *f)
{
    for (size_t i = 0; i < f->n; i++)
        sxs_model_free(&f->all[i]);
    free(f->all);
}

static int write_models(const struct sxs_profile_format *f, const struct sxs_model *m,
                        const struct sxs_report_options *o, FILE *to)
{
    if (f != &sxs_format_text)
        return f->write(m, o, to); /* a page has all models; the others have one */
    for (; m; m = m->next) {
        if (f->write(m, o, to) != 0)
            return -1;
        fputs(m->next ? "\n" : "", to);
    }
    return 0;
}

/* Lists what the session in @dir lacks. Frees nothing of the session but through @session. */
static void read_missing(const char *dir, const struct sxs_report_options *o,
                         struct sxs_session *session, struct sxs_missing *out)
{
    *out = (struct sxs_missing){0};
    if (sxs_session_read_joined(dir, &o->period, session, NULL) == 0)
        sxs_missing_read(dir, session, o->process, out);
}

/* Returns true when a report in this format shows all costs of a session beside the first data. */
static bool shows_all(const struct sxs_profile_format *f, const struct sxs_report_options *o)
{
    return o->data == SXS_DATA_ANY && !o->parts &&
           (f == &sxs_format_text || f == &sxs_format_html);
}

enum sxs_profile_result sxs_profile_report(const char *dir, const char *format,
                                           const struct sxs_report_options *options)
{
    struct sxs_report_options load = *options;
    struct further            further = {0};
    const struct sxs_profile_format *f = find_format(format);
    struct sxs_model                 m, calls = {0};
    struct sxs_timeline              timeline = {0};
    struct sxs_output                    out;
    if (!f) {
        sxs_print_to(stderr, "sxsprof: --format: '%s': expected one of %s\n", format,
                     sxs_profile_formats());
        return SXS_PROFILE_NO_FORMAT;
    }
    struct sxs_session session = {0};
    struct sxs_missing missing = {0};
    enum sxs_data      data = choose_data(options, dir, NULL, f != &sxs_format_text);
    if (refuse_format(data, f)) {
        return SXS_PROFILE_NO_FORMAT;
    }
    load.by_count &= f != &sxs_format_html; /* a page has both, and a switch */
    struct sxs_report_options write = *options;
    if (!write.missing) {
        read_missing(dir, options, &session, &missing);
        write.missing = &missing;
    }
    enum sxs_profile_result result = load_model(dir, &load, data, f->detail, &m);
    if (result <= SXS_PROFILE_DAMAGED) {
        if (shows_all(f, options) &&
            load_further(dir, &load, f->detail & ~SXS_DETAIL_EVENTS,
                         f == &sxs_format_text ? SXS_DATA_LOCKS : SXS_DATA_LOCK_OWNERS, &m,
                         &further) != SXS_PROFILE_OK) /* the text of locks names their owners */
            result = SXS_PROFILE_DAMAGED;
        if (f->detail & SXS_DETAIL_BOTH) {
            add_timeline(&m, dir, options, &calls, &timeline);
            if (print_problems(&calls, &m))
                result = SXS_PROFILE_DAMAGED;
        }
        if (output_open(&out, options->output) != 0) {
            result = SXS_PROFILE_FAILED;
        } else {
            if (options->before)
                options->before(options->before_arg, out.to);
            if (output_close(&out, write_models(f, &m, &write, out.to)) != 0)
                result = SXS_PROFILE_FAILED;
        }
    }
    sxs_missing_free(&missing);
    sxs_session_free(&session);
    sxs_timeline_free(&timeline);
    sxs_model_free(&calls);
    free_further(&further);
    sxs_model_free(&m);
    return result;
}

enum sxs_profile_result sxs_profile_summary(const char *dir, size_t top, FILE *to)
{
    const struct sxs_report_options options = {.top = top, .brief = true};
    struct sxs_model                m = {0};
    sxs_debuginfod_disable(); /* the end of a run must not wait for downloads */
    struct further                  further = {0};
    enum sxs_data                   data = choose_data(&options, dir, NULL, false);
    enum sxs_profile_result         result = load_model(dir, &options, data, 0, &m);
    if (result <= SXS_PROFILE_DAMAGED) {
        load_further(dir, &options, 0, SXS_DATA_LOCKS, &m, &further);
        if (write_models(&sxs_format_text, &m, &options, to) != 0)
            result = SXS_PROFILE_FAILED;
    }
    free_further(&further);
    sxs_model_free(&m);
    return result;
}

/* The name of a session's folder, or its whole path if @other has the same name. */
static const char *side_name(const char *dir, const char *other)
{
    const char *shown = sxs_shown(dir), *name = sxs_base_name(shown);
    return !*name || strcmp(name, sxs_base_name(sxs_shown(other))) == 0 ? shown : name;
}

enum sxs_profile_result sxs_profile_diff(const char *a, const char *b, const char *format,
                                         const struct sxs_report_options *options)
{
    struct sxs_model before = {0}, now = {0};
    const char *const       names[] = {side_name(a, b), side_name(b, a)};
    struct sxs_session      sessions[2] = {0};
    struct sxs_missing      missing[2];
    struct sxs_output       out;
    enum sxs_data           data = choose_data(options, a, b, true);
    enum sxs_profile_result first = load_model(a, options, data, 0, &before), result = first;
    if (first <= SXS_PROFILE_DAMAGED)
        result = load_model(b, options, data, 0, &now);
    read_missing(a, options, &sessions[0], &missing[0]);
    read_missing(b, options, &sessions[1], &missing[1]);
    if (result <= SXS_PROFILE_DAMAGED) {
        if (output_open(&out, options->output) != 0 ||
            output_close(&out, strcmp(format, "html") == 0
                                   ? sxs_format_html_diff(&before, &now, names, missing, out.to)
                                   : sxs_format_text_diff(&before, &now, names, missing, options,
                                                          out.to)) != 0)
            result = SXS_PROFILE_FAILED;
        else if (first == SXS_PROFILE_DAMAGED)
            result = first;
    }
    for (int i = 0; i < 2; i++) {
        sxs_missing_free(&missing[i]);
        sxs_session_free(&sessions[i]);
    }
    sxs_model_free(&before);
    sxs_model_free(&now);
    return result;
}

enum sxs_profile_result sxs_profile_write(const struct sxs_model *m, const char *format,
                                          const struct sxs_report_options *options)
{
    const struct sxs_profile_format *f = find_format(format);
    struct sxs_output                    out;
    if (!f || f == &sxs_format_chrome || f == &sxs_format_firefox)
        return SXS_PROFILE_NO_FORMAT;
    if (output_open(&out, options->output) != 0 ||
        output_close(&out, f->write(m, options, out.to)) != 0)
        return SXS_PROFILE_FAILED;
    return SXS_PROFILE_OK;
}

enum sxs_profile_result sxs_profile_write_diff(const struct sxs_model *a, const struct sxs_model *b,
                                               const char *const                names[2],
                                               const struct sxs_report_options *options)
{
    struct sxs_output out;
    if (output_open(&out, options->output) != 0 ||
        output_close(&out, sxs_format_html_diff(a, b, names, NULL, out.to)) != 0)
        return SXS_PROFILE_FAILED;
    return SXS_PROFILE_OK;
}
