/* SPDX-License-Identifier: MIT */
/* The table of formats, and the way from a session folder to a file. */
#include "report/profile/profile.h"

#include "record/calls.h"
#include "record/samples_read.h"
#include "record/session_read.h"
#include "record/traced.h"
#include "report/profile/format.h"
#include "report/profile/must.h"
#include "report/profile/timeline.h"
#include "report/profile/unseen.h"

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

bool sxs_profile_format_known(const char *name)
{
    return find_format(name) != NULL;
}

static bool has_file(const char *dir, const char *name)
{
    struct sxs_session s;
    char               path[4096];
    bool               found = false;
    struct stat        st;
    if (sxs_session_read(dir, &s) == 0)
        for (size_t i = 0; !found && i < s.n_processes + s.n_unread; i++) {
            const struct sxs_session_process *p =
                i < s.n_processes ? &s.processes[i] : &s.unread[i - s.n_processes];
            snprintf(path, sizeof(path), "%s/%s/%s", dir, p->folder, name);
            found = lstat(path, &st) == 0 && S_ISREG(st.st_mode);
        }
    sxs_session_free(&s);
    return found;
}

bool sxs_profile_has_samples(const char *dir)
{
    return has_file(dir, SXS_SAMPLES_FILE);
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
    if (strcmp(text, "samples") == 0)
        return SXS_DATA_SAMPLES;
    if (strcmp(text, "calls") != 0)
        argp_error(state, "--data: '%s': expected samples or calls", text);
    return SXS_DATA_CALLS;
}

/** Where a report goes: standard output, or a file beside its final name until it is whole. */
struct output {
    const char *path;
    char       *partial; /* owned */
    FILE       *to;
};

static int output_open(struct output *out, const char *path)
{
    struct stat st;
    *out = (struct output){.path = path, .to = stdout};
    if (!path || strcmp(path, "-") == 0)
        return 0;
    /* /dev/stdout, a pipe and the like are written to, not replaced */
    bool in_place = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    if (asprintf(&out->partial, in_place ? "%s" : "%s.part", path) < 0)
        sxs_must(NULL);
    out->to = fopen(out->partial, "we");
    if (in_place) {
        free(out->partial);
        out->partial = NULL;
    }
    if (out->to)
        return 0;
    fprintf(stderr, "sxsprof: %s: %s\n", path, strerror(errno));
    free(out->partial);
    return -1;
}

static int output_close(struct output *out, int failed)
{
    bool bad = fflush(out->to) != 0 || ferror(out->to) || failed;
    if (out->to != stdout)
        bad |= fclose(out->to) != 0;
    if (out->partial && !bad)
        bad = rename(out->partial, out->path) != 0;
    if (bad)
        fprintf(stderr, "sxsprof: %s: cannot be written: %s\n",
                out->path ? out->path : "standard output", strerror(errno));
    if (out->partial && bad)
        unlink(out->partial);
    free(out->partial);
    return bad ? -1 : 0;
}

/* What is reported of @a, and of @b when there are two: what both have, samples first. */
static enum sxs_data choose(const struct sxs_report_options *o, const char *a, const char *b)
{
    if (o->data != SXS_DATA_ANY)
        return o->data;
    if (sxs_profile_has_samples(a) && (!b || sxs_profile_has_samples(b)))
        return SXS_DATA_SAMPLES;
    return sxs_profile_has_calls(a) && (!b || sxs_profile_has_calls(b)) ? SXS_DATA_CALLS
                                                                        : SXS_DATA_SAMPLES;
}

/* Prints the problems of @m, but for those that @before has as well. Returns how many it printed. */
static size_t print_problems(const struct sxs_model *m, const struct sxs_model *before)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_problems; i++) {
        size_t same = 0;
        while (before && same < before->n_problems &&
               strcmp(before->problems[same], m->problems[i]) != 0)
            same++;
        if (before && same < before->n_problems)
            continue;
        fprintf(stderr, "sxsprof: %s\n", m->problems[i]);
        n++;
    }
    return n;
}

/* Loads and complains. Returns OK, DAMAGED, NOTHING or FAILED. */
static enum sxs_profile_result load(const char *dir, const struct sxs_report_options *o,
                                    enum sxs_data data, unsigned detail, struct sxs_model *m)
{
    bool        calls = data == SXS_DATA_CALLS;
    const char *what = calls ? "calls" : "samples";
    int         err =
        calls ? sxs_model_load_calls(dir, o, detail, m) : sxs_model_load(dir, o, detail, m);
    if (err) {
        fprintf(stderr, "sxsprof: %s: %s; expected a folder made by sxsprof run -o DIR\n", dir,
                strerror(err));
        return SXS_PROFILE_FAILED;
    }
    if ((detail & SXS_DETAIL_CALLS) && sxs_profile_has_traced(dir)) /* those of a page: add_timeline() */
        sxs_model_add_traced(dir, o, calls || !(detail & SXS_DETAIL_BOTH), m);
    print_problems(m, NULL);
    bool events = false;
    for (size_t i = 0; i < m->n_processes; i++)
        events |= m->processes[i].events != NULL;
    if (m->n_processes == 0 && m->n_problems > m->n_notes) { /* told above; nothing is left to show */
        return SXS_PROFILE_FAILED;
    } else if (m->n_processes == 0) {
        fprintf(stderr, "sxsprof: %s: no %s; record them with sxsprof run --tool %s\n", dir, what,
                calls ? "calls" : "sample");
    } else if (m->total == 0 && m->filtered_out && !events) {
        fprintf(stderr, "sxsprof: %s: none of its %llu %s is of what was asked for\n", dir,
                (unsigned long long)m->filtered_out, what);
    }
    if (m->n_processes == 0 || (m->total == 0 && m->filtered_out && !events))
        return SXS_PROFILE_NOTHING;
    if (calls && (detail & SXS_DETAIL_CALLS) && !(detail & SXS_DETAIL_BOTH) && !m->n_events) {
        fprintf(stderr, "sxsprof: %s: no single calls, which this format shows; record them with "
                        "sxsprof run --tool calls:trace, or the action trace of rules\n", dir);
        return SXS_PROFILE_NOTHING;
    }
    return m->n_problems > m->n_notes ? SXS_PROFILE_DAMAGED : SXS_PROFILE_OK;
}

/* What the page shows beside the tree. Single calls of a session that was sampled as well: @calls. */
static void add_timeline(struct sxs_model *m, const char *dir, const struct sxs_report_options *o,
                         struct sxs_model *calls, struct sxs_timeline *t)
{
    const struct sxs_model *from = m->data == SXS_DATA_CALLS ? m : NULL;
    if (!from && sxs_profile_has_calls(dir) &&
        sxs_model_load_calls(dir, o, SXS_DETAIL_CALLS, calls) == 0) {
        from = calls;
        sxs_model_move_unseen(calls, m);
    }
    if (m->data != SXS_DATA_CALLS && sxs_profile_has_traced(dir)) {
        sxs_model_add_traced(dir, o, true, calls);
        from = calls;
    }
    sxs_timeline_build(m, from, o, t);
    m->timeline = t;
}

enum sxs_profile_result sxs_profile_report(const char *dir, const char *format,
                                           const struct sxs_report_options *options)
{
    const struct sxs_profile_format *f = find_format(format);
    struct sxs_model                 m, calls = {0};
    struct sxs_timeline              timeline = {0};
    struct output                    out;
    if (!f) {
        fprintf(stderr, "sxsprof: --format: '%s': expected one of %s\n", format,
                sxs_profile_formats());
        return SXS_PROFILE_NO_FORMAT;
    }
    enum sxs_profile_result result = load(dir, options, choose(options, dir, NULL), f->detail, &m);
    if (result <= SXS_PROFILE_DAMAGED) {
        if (f->detail & SXS_DETAIL_BOTH) {
            add_timeline(&m, dir, options, &calls, &timeline);
            if (print_problems(&calls, &m))
                result = SXS_PROFILE_DAMAGED;
        }
        if (output_open(&out, options->output) != 0 ||
            output_close(&out, f->write(&m, options, out.to)) != 0)
            result = SXS_PROFILE_FAILED;
    }
    sxs_timeline_free(&timeline);
    sxs_model_free(&calls);
    sxs_model_free(&m);
    return result;
}

enum sxs_profile_result sxs_profile_summary(const char *dir, FILE *to)
{
    const struct sxs_report_options options = {.top = 10, .brief = true};
    struct sxs_model                m = {0};
    enum sxs_profile_result         result = load(dir, &options, SXS_DATA_SAMPLES, 0, &m);
    if (result <= SXS_PROFILE_DAMAGED && sxs_format_text.write(&m, &options, to) != 0)
        result = SXS_PROFILE_FAILED;
    sxs_model_free(&m);
    return result;
}

enum sxs_profile_result sxs_profile_diff(const char *a, const char *b,
                                         const struct sxs_report_options *options)
{
    struct sxs_model before = {0}, now = {0};
    struct output    out;
    enum sxs_data    data = choose(options, a, b);
    enum sxs_profile_result first = load(a, options, data, 0, &before), result = first;
    if (first <= SXS_PROFILE_DAMAGED)
        result = load(b, options, data, 0, &now);
    if (result <= SXS_PROFILE_DAMAGED) {
        if (output_open(&out, options->output) != 0 ||
            output_close(&out, sxs_format_html_diff(&before, &now, out.to)) != 0)
            result = SXS_PROFILE_FAILED;
        else if (first == SXS_PROFILE_DAMAGED)
            result = first;
    }
    sxs_model_free(&before);
    sxs_model_free(&now);
    return result;
}
