/* SPDX-License-Identifier: MIT */
/* The table of formats, and the steps from a session folder to the output file. */
#include "cmd/report/profile.h"

#include "cmd/calls/calls.h"
#include "cmd/instrument/instrument.h"
#include "cmd/output/missing.h"
#include "cmd/output/must.h"
#include "cmd/output/opened.h"
#include "cmd/output/output_file.h"
#include "cmd/output/print.h"
#include "cmd/output/shown.h"
#include "cmd/report/costs.h"
#include "cmd/report/coverage_gaps.h"
#include "cmd/report/data_kind.h"
#include "cmd/report/format.h"
#include "cmd/report/timeline.h"
#include "cmd/symbols/debuginfod.h"
#include "session/format/calls.h"
#include "session/format/events.h"
#include "session/format/traced.h"

#include <argp.h>
#include <errno.h>
#include <string.h>

enum { MAX_READERS = 12 }; /* of a report, besides its models */

static const struct sxs_profile_format *const formats[] = {
#define ROW(name) &sxs_format_##name,
    SXS_PROFILE_FORMATS(ROW, ROW)
#undef ROW
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
#define FIRST(name) #name
#define NEXT(name)  ", " #name
    return SXS_PROFILE_FORMATS(FIRST, NEXT);
#undef FIRST
#undef NEXT
}

bool sxs_profile_has_format(const char *name)
{
    return find_format(name) != NULL;
}

bool sxs_profile_has(const struct sxs_opened *v, enum sxs_data data)
{
    const struct sxs_recorded  *r = &v->recorded;
    const struct sxs_data_kind *kind = sxs_data_kind(data);
    if (data == SXS_DATA_CALLS)
        return sxs_profile_has_calls(v);
    if (!kind->cost)
        return data == SXS_DATA_WAIT ? r->sampled_waiting : r->sampled;
    return ((kind->live ? r->live : r->costs) >> kind->cost & 1) != 0;
}

bool sxs_profile_has_samples(const struct sxs_opened *v)
{
    return sxs_profile_has(v, SXS_DATA_SAMPLES);
}

bool sxs_profile_has_stacks(const struct sxs_opened *v)
{
    bool found = sxs_profile_has_samples(v);
    for (enum sxs_data data = SXS_DATA_ALLOC; data <= SXS_DATA_LOCKS && !found; data++)
        found = sxs_profile_has(v, data);
    return found;
}

bool sxs_profile_has_calls(const struct sxs_opened *v)
{
    return sxs_opened_has_file(v, SXS_CALLS_FILE);
}

bool sxs_profile_has_events(const struct sxs_opened *v)
{
    return sxs_opened_has_file(v, SXS_EVENTS_FILE);
}

bool sxs_profile_has_traced(const struct sxs_opened *v)
{
    return sxs_opened_has_file(v, SXS_TRACED_FILE);
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
static enum sxs_data choose_data(const struct sxs_report_options *o, const struct sxs_opened *a,
                                 const struct sxs_opened *b, bool calls)
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

enum sxs_data sxs_profile_data(const struct sxs_opened *v, const struct sxs_report_options *options)
{
    return choose_data(options, v, NULL, true);
}

enum sxs_data sxs_profile_stack_data(const struct sxs_opened         *v,
                                     const struct sxs_report_options *options)
{
    return choose_data(options, v, NULL, false);
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

/* ---- loading ---- */

/* What a report loads of a session, in one go through its files. */
struct load {
    const struct sxs_opened         *v;
    const struct sxs_report_options *o;
    struct sxs_opened_reader         readers[SXS_N_DATA + MAX_READERS];
    size_t                           n;
    struct sxs_model_loading        *loadings[SXS_N_DATA];
    size_t                           n_loadings;
    bool                             calls_wanted, instrument_wanted;
    struct sxs_calls_report          calls;
    struct sxs_instrument_report     instrument;
};

static void want_calls(struct load *l)
{
    if (!l->calls_wanted)
        l->readers[l->n++] = sxs_calls_report_reader(&l->calls);
    l->calls_wanted = true;
}

/* Traced calls are among the calls, of which they have the details. */
static void want_traced(struct load *l, unsigned detail)
{
    if (!(detail & (SXS_DETAIL_CALLS | SXS_DETAIL_BOTH)) || l->o->only == SXS_ONLY_NATIVE ||
        !sxs_profile_has_traced(l->v) || l->instrument_wanted)
        return;
    l->readers[l->n++] = sxs_instrument_report_reader(&l->instrument);
    l->instrument_wanted = true;
}

/* @options: outlives the load. @m: receives the samples or costs; the calls are built by take_model(). */
static void want_model(struct load *l, const struct sxs_report_options *options, enum sxs_data data,
                       unsigned detail, struct sxs_model *m)
{
    if (data == SXS_DATA_CALLS) {
        want_calls(l);
        return;
    }
    struct sxs_model_loading *loading = sxs_model_loading_new(l->v, options, data, detail, m);
    l->loadings[l->n_loadings++] = loading;
    l->readers[l->n++] = sxs_model_loading_reader(loading);
}

/* Reads the data that the options ask for. */
static void load_all(struct load *l)
{
    size_t own = l->n,
           others = l->o->n_readers < MAX_READERS - 2 ? l->o->n_readers : MAX_READERS - 2;
    for (size_t i = 0; i < others; i++)
        l->readers[l->n++] = l->o->readers[i];
    (void)sxs_opened_read(l->v, l->o->process, l->readers, l->n);
    for (size_t i = 0; i < others; i++)
        l->o->readers[i].err = l->readers[own + i].err;
    for (size_t i = 0; i < l->n_loadings; i++)
        sxs_model_loading_end(l->loadings[i]);
    l->n = l->n_loadings = 0;
    if (l->o->loaded)
        l->o->loaded(l->o->loaded_arg);
}

static void load_free(struct load *l)
{
    sxs_calls_report_free(&l->calls);
    sxs_instrument_report_free(&l->instrument);
}

/* Takes the first model that was loaded, and prints its problems. Returns OK, DAMAGED or NOTHING, or FAILED when
 * nothing could be read. */
static enum sxs_profile_result take_model(const struct load *l, const struct sxs_report_options *o,
                                          enum sxs_data data, unsigned detail, struct sxs_model *m)
{
    bool                        calls = data == SXS_DATA_CALLS;
    const struct sxs_data_kind *kind = sxs_data_kind(data);
    const char                 *dir = l->v->dir;
    char                        with[48];
    if (calls)
        sxs_model_load_calls(l->v, &l->calls, o, detail, m);
    if ((detail & SXS_DETAIL_CALLS) &&
        l->instrument_wanted) /* the page of a sampled session gets them in
                                                              * add_timeline() */
        sxs_model_add_traced(&l->instrument, o, calls || !(detail & SXS_DETAIL_BOTH), m);
    print_problems(m, NULL);
    bool events = false;
    for (size_t i = 0; i < m->n_processes; i++)
        events |= m->processes[i].events != NULL;
    size_t n_processes = m->costs ? m->costs->n_processes : m->n_processes;
    if (n_processes == 0 && m->n_damage) { /* printed above; nothing to show */
        return SXS_PROFILE_FAILED;
    } else if (n_processes == 0) {
        sxs_print_to(stderr, "sxsprof: %s: no %s%s; record them with %s\n", sxs_shown(dir),
                     kind->many, of_data(kind, with, sizeof(with)), kind->record);
    } else if (m->costs && m->costs->live && m->costs->parted) {
        sxs_print_to(stderr,
                     "sxsprof: %s: which %s are gone is known within one segment; expected one of "
                     "its segments\n",
                     sxs_shown(dir), kind->many);
        return SXS_PROFILE_NOTHING;
    } else if (m->costs && m->costs->live && !m->costs->live_known) {
        sxs_print_to(stderr, "sxsprof: %s: which %s are gone was not recorded; it is with %s\n",
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
                     "sxsprof trace, or the action trace of rules\n",
                     sxs_shown(dir));
        return SXS_PROFILE_NOTHING;
    }
    return m->n_damage ? SXS_PROFILE_DAMAGED : SXS_PROFILE_OK;
}

/* Builds the data of the page's timeline. The traced calls of a session that was also sampled are
 * put into @calls. */
static void add_timeline(struct sxs_model *m, const struct load *l,
                         const struct sxs_report_options *o, struct sxs_model *calls,
                         struct sxs_timeline *t)
{
    const struct sxs_model *from = m->data == SXS_DATA_CALLS ? m : NULL;
    if (!from && l->calls_wanted) {
        sxs_model_load_calls(l->v, &l->calls, o, SXS_DETAIL_CALLS, calls);
        from = calls;
        sxs_model_move_gaps(calls, m);
    }
    if (m->data != SXS_DATA_CALLS && l->instrument_wanted) {
        sxs_model_add_traced(&l->instrument, o, true, calls);
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
        "text, html or another format\n",
        sxs_data_kind(data)->many);
    return true;
}

/* ---- several kinds of data in one report ---- */

/* The models after the first, in the order of a page or text. */
struct further {
    struct sxs_model *all; /* owned */
    size_t            n;
};

/* Wants all costs of the session up to @last_data, but not @first. */
static void want_further(struct load *l, const struct sxs_report_options *o, unsigned detail,
                         enum sxs_data last_data, enum sxs_data first, struct further *f)
{
    f->all = sxs_must_zeroed(SXS_N_DATA, sizeof(*f->all));
    for (enum sxs_data data = SXS_DATA_ALLOC; data <= last_data; data++)
        if (data != first && data != SXS_DATA_WAIT && sxs_profile_has(l->v, data))
            want_model(l, o, data, detail, &f->all[f->n++]);
}

/* Links the further models that have something to @first, and waits if there are reasons. Returns the worst
 * result; data of which nothing was asked for is left out. */
static enum sxs_profile_result link_further(const struct load               *l,
                                            const struct sxs_report_options *o, unsigned detail,
                                            struct sxs_model *first, struct further *f)
{
    enum sxs_profile_result worst = SXS_PROFILE_OK;
    struct sxs_model       *last = first;
    if (first->data != SXS_DATA_WAIT && first->has_reasons)
        sxs_model_load(l->v, o, SXS_DATA_WAIT, detail, &f->all[f->n++]);
    for (size_t i = 0; f->all && i < f->n; i++) {
        struct sxs_model *m = &f->all[i];
        if (!m->total)
            continue;
        if (print_problems(m, first) && m->n_damage)
            worst = SXS_PROFILE_DAMAGED;
        last->next = m;
        last = m;
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

/* Returns true when a report in this format shows all costs of a session beside the first data. */
static bool shows_all(const struct sxs_profile_format *f, const struct sxs_report_options *o)
{
    return o->data == SXS_DATA_ANY && !o->parts &&
           (f == &sxs_format_text || f == &sxs_format_html);
}

enum sxs_profile_result sxs_profile_report(const struct sxs_opened *v, const char *format,
                                           const struct sxs_report_options *options)
{
    struct sxs_report_options        load = *options, write = *options;
    struct further            further = {0};
    const struct sxs_profile_format *f = find_format(format);
    struct sxs_model                 m = {0}, calls = {0};
    struct sxs_timeline              timeline = {0};
    struct sxs_output                out;
    struct sxs_missing               missing = {0};
    struct load                      l = {.v = v, .o = options};
    if (!f) {
        sxs_print_to(stderr, "sxsprof: --format: '%s': expected one of %s\n", format,
                     sxs_profile_formats());
        return SXS_PROFILE_NO_FORMAT;
    }
    enum sxs_data data = choose_data(options, v, NULL, f != &sxs_format_text);
    if (refuse_format(data, f))
        return SXS_PROFILE_NO_FORMAT;
    load.by_count &= f != &sxs_format_html; /* a page has both, and a switch */
    if (!write.missing) {
        sxs_opened_missing(v, options->process, &missing);
        write.missing = &missing;
    }
    unsigned further_detail = f->detail & ~SXS_DETAIL_EVENTS;
    want_model(&l, &load, data, f->detail, &m);
    want_traced(&l, f->detail);
    if (f->detail & SXS_DETAIL_BOTH && sxs_profile_has_calls(v))
        want_calls(&l);
    if (shows_all(f, options)) /* the text of locks names their owners */
        want_further(&l, &load, further_detail,
                     f == &sxs_format_text ? SXS_DATA_LOCKS : SXS_DATA_LOCK_OWNERS, data, &further);
    load_all(&l);
    enum sxs_profile_result result = take_model(&l, &load, data, f->detail, &m);
    if (result <= SXS_PROFILE_DAMAGED) {
        if (shows_all(f, options) &&
            link_further(&l, &load, further_detail, &m, &further) != SXS_PROFILE_OK)
            result = SXS_PROFILE_DAMAGED;
        if (f->detail & SXS_DETAIL_BOTH) {
            add_timeline(&m, &l, options, &calls, &timeline);
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
    sxs_timeline_free(&timeline);
    sxs_model_free(&calls);
    free_further(&further);
    sxs_model_free(&m);
    load_free(&l);
    return result;
}

enum sxs_profile_result sxs_profile_summary(const struct sxs_opened *v, size_t top, FILE *to)
{
    const struct sxs_report_options options = {.top = top, .brief = true};
    struct sxs_model                m = {0};
    sxs_debuginfod_disable(); /* the end of a run must not wait for downloads */
    struct further further = {0};
    struct load    l = {.v = v, .o = &options};
    enum sxs_data  data = choose_data(&options, v, NULL, false);
    want_model(&l, &options, data, 0, &m);
    want_further(&l, &options, 0, SXS_DATA_LOCKS, data, &further);
    load_all(&l);
    enum sxs_profile_result result = take_model(&l, &options, data, 0, &m);
    if (result <= SXS_PROFILE_DAMAGED) {
        link_further(&l, &options, 0, &m, &further);
        if (write_models(&sxs_format_text, &m, &options, to) != 0)
            result = SXS_PROFILE_FAILED;
    }
    free_further(&further);
    sxs_model_free(&m);
    load_free(&l);
    return result;
}

/* Loads one side of a difference. */
static enum sxs_profile_result load_side(const struct sxs_opened         *v,
                                         const struct sxs_report_options *o, enum sxs_data data,
                                         struct sxs_model *m)
{
    struct load l = {.v = v, .o = o};
    want_model(&l, o, data, 0, m);
    load_all(&l);
    enum sxs_profile_result result = take_model(&l, o, data, 0, m);
    load_free(&l);
    return result;
}

/* The name of a session's folder, or its whole path if @other has the same name. */
static const char *side_name(const char *dir, const char *other)
{
    const char *shown = sxs_shown(dir), *name = sxs_base_name(shown);
    return !*name || strcmp(name, sxs_base_name(sxs_shown(other))) == 0 ? shown : name;
}

enum sxs_profile_result sxs_profile_diff(const struct sxs_opened *a, const struct sxs_opened *b,
                                         const char                      *format,
                                         const struct sxs_report_options *options)
{
    struct sxs_model before = {0}, now = {0};
    const char *const       names[] = {side_name(a->dir, b->dir), side_name(b->dir, a->dir)};
    struct sxs_missing      missing[2];
    struct sxs_output       out;
    enum sxs_data           data = choose_data(options, a, b, true);
    enum sxs_profile_result first = load_side(a, options, data, &before), result = first;
    if (first <= SXS_PROFILE_DAMAGED)
        result = load_side(b, options, data, &now);
    sxs_opened_missing(a, options->process, &missing[0]);
    sxs_opened_missing(b, options->process, &missing[1]);
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
    for (int i = 0; i < 2; i++)
        sxs_missing_free(&missing[i]);
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
