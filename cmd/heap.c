/* SPDX-License-Identifier: MIT */
/* sxsprof heap: print the objects of a heap snapshot and what keeps them alive, or write it in another
 * format. */
#include "cmd/heap/heap.h"
#include "cmd/output/output_file.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/argument.h"
#include "cmd/command.h"
#include "cmd/confined_verb.h"
#include "cmd/heap/counts.h"
#include "cmd/heap_diff.h"
#include "cmd/heap_process.h"
#include "cmd/heap_wanted.h"
#include "cmd/named_processes.h"
#include "cmd/opener.h"
#include "cmd/output/missing.h"
#include "cmd/output/print.h"
#include "cmd/output/processes.h"
#include "cmd/output/segments.h"
#include "cmd/output/shown.h"
#include "cmd/pack/pack.h"
#include "cmd/record_verbs.h"
#include "cmd/selection.h"
#include "session/format/calls.h"
#include "session/format/samples.h"

#include <limits.h>
#include <stdlib.h>

enum {
    KEY_RUNTIME = 256,
    KEY_SNAPSHOT,
    KEY_TYPE,
    KEY_DIFF,
    KEY_TOP,
    KEY_TIMEOUT,
    KEY_OPEN,
    KEY_OBJECT,
    KEY_STATIC
};

enum { DEFAULT_TOP = 30, DEFAULT_TIMEOUT = 60 };

struct heap_options {
    const char *format, *output, *process, *type, *diff, *source;
    uint32_t    number, runtime, timeout;
    size_t      top; /* 0: not given */
    bool        open;
    char        pid[16]; /* of the process of -p */

    struct sxs_heap_wanted_list wanted; /* objects and static fields */
};

/* A snapshot that was chosen: a session, and the folder of the process in it. */
struct chosen {
    const char           *dir;
    struct sxs_opened     session;
    struct sxs_heap_place place;
    int                   folder_fd; /* owned; -1: none */
};

static const char *const formats[] = {"text", "json", "html", "heapsnapshot"};

static void set_format(struct argp_state *state, struct heap_options *o, const char *format)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (strcmp(format, formats[i]) == 0)
            o->format = formats[i];
    if (!o->format || strcmp(o->format, format) != 0)
        sxs_option_error(state, "--format: '%s': expected text, json, html or heapsnapshot",
                         format);
}

static void add_wanted(struct argp_state *state, struct heap_options *o, int key, const char *text)
{
    char why[256];
    if (sxs_heap_wanted_add(&o->wanted, key == KEY_OBJECT, text, why, sizeof(why)) != 0)
        sxs_option_error(state, "%s", why);
}

/* Chooses what no argument said. */
static void complete(struct argp_state *state, struct heap_options *o)
{
    set_format(state, o, sxs_page_format(state, o->format, o->open, o->output));
    if (o->diff && strcmp(o->format, "heapsnapshot") == 0)
        sxs_option_error(state, "--diff: expected --format text, json or html, not %s", o->format);
    if (o->diff && o->type)
        sxs_option_error(state, "--diff and --type exclude each other");
    if (o->wanted.n && (o->diff || o->type))
        sxs_option_error(state, "--object and --static exclude --diff and --type");
    if (o->wanted.n && strcmp(o->format, "text") != 0 && strcmp(o->format, "json") != 0)
        sxs_option_error(state, "--object, --static: expected --format text or json, not %s",
                         o->format);
    if (!o->source && o->process) { /* one that runs, also by its name */
        pid_t  pid;
        size_t n;
        int    status = sxs_named_processes(o->process, false, &pid, 1, &n);
        if (status)
            exit(status);
        snprintf(o->pid, sizeof(o->pid), "%d", (int)pid);
        o->source = o->pid;
        o->process = NULL;
    }
    if (!o->source)
        o->source = sxs_newest_argument(state, "SESSION",
                                        "a folder made by sxsprof record heap, or the number "
                                        "of a process");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct heap_options *o = state->input;
    switch (key) {
    case 'f': set_format(state, o, arg); return 0;
    case 'o': o->output = arg; return 0;
    case KEY_SNAPSHOT:
        o->number = (uint32_t)sxs_number_argument(state, "--snapshot", arg);
        return 0;
    case KEY_RUNTIME: o->runtime = (uint32_t)sxs_number_argument(state, "--runtime", arg); return 0;
    case 'p': o->process = arg; return 0;
    case KEY_TYPE: o->type = arg; return 0;
    case KEY_DIFF: o->diff = arg; return 0;
    case KEY_TOP: o->top = (uint32_t)sxs_number_argument(state, "--top", arg); return 0;
    case KEY_OBJECT:
    case KEY_STATIC: add_wanted(state, o, key, arg); return 0;
    case KEY_OPEN: o->open = true; return 0;
    case KEY_TIMEOUT:
        o->timeout = (uint32_t)((sxs_duration_argument(state, "--timeout", arg) + 999) / 1000);
        return 0;
    case ARGP_KEY_ARG:
        if (o->source)
            sxs_option_error(state, "one session or process is expected, '%s' is one more", arg);
        o->source = arg;
        return 0;
    case ARGP_KEY_END: complete(state, o); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_list[] = {
    {"format", 'f', "text|json|html|heapsnapshot", 0,
     "text (the default), json, html (types, and what keeps them, as a page), or heapsnapshot, "
     "which Chrome's DevTools load",
     0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {"open", KEY_OPEN, NULL, 0,
     "Write the page (html) beside the session, or to the file of -o, and open it in a browser", 0},
    {"snapshot", KEY_SNAPSHOT, "N", 0, "The snapshot heap-N instead of the newest", 1},
    {"process", 'p', "PID|NAME", 0,
     "A snapshot of this process, taken now; with SESSION, one that was recorded of it", 1},
    {"runtime", KEY_RUNTIME, "N", 0, "Objects of runtime number N only", 1},
    {"type", KEY_TYPE, "TYPE", 0,
     "What keeps objects of this type: their paths to roots. A name, or a pattern with * and ?", 2},
    {"object", KEY_OBJECT, "ADDRESS", 0,
     "The fields or items of the object at ADDRESS. Of a PID: read now; of a SESSION: what was "
     "read for its snapshot",
     2},
    {"static", KEY_STATIC, "TYPE.FIELD", 0, "The value of a static field, as --object", 2},
    {"diff", KEY_DIFF, "OTHER", 0,
     "What each type has more than in an older snapshot: a number (of the same process), SESSION "
     "or "
     "SESSION:NUMBER",
     2},
    {"top", KEY_TOP, "N", 0, "Lines of each table of the text (30)", 2},
    {"timeout", KEY_TIMEOUT, "TIME", 0, "How long to wait for the snapshot of a process (60s)", 2},
    {0},
};
const struct argp sxs_argp_heap = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "[SESSION]\n-p PID|NAME\n-- COMMAND [ARGUMENT...]",
    .doc =
        "Print what is in a heap snapshot: types, roots, and what keeps objects alive.\v"
        "With COMMAND, records all objects when the command ends; the options are those of sxsprof "
        "record. "
        "SESSION is a folder made by sxsprof record heap, or a file made by sxsprof pack; "
        "the default is the newest session in the current folder. -p names a running process with "
        "the tool heap: it takes a snapshot now.",
};

/* ---- choosing a snapshot ---- */

/* Finds the snapshot with the number @number, or the newest one. Returns an exit status. */
static int find_place(struct chosen *c, const char *process, uint32_t number)
{
    size_t                 n, found = 0;
    struct sxs_heap_place *all = sxs_heap_places(&c->session, process, &n);
    uint32_t               newest = n ? all[0].number : 0;
    while (found < n && number && all[found].number != number)
        found++;
    if (found < n)
        c->place = all[found];
    free(all);
    if (found < n)
        return SXS_EXIT_OK;
    if (n)
        return sxs_wrong_input("--snapshot: %u: %s has no such heap snapshot; the newest is %u",
                               number, sxs_shown(c->dir), newest);
    return sxs_wrong_input("%s: no heap snapshots; expected a folder made by sxsprof record heap, "
                           "or with --heap-at-exit, and -o DIR",
                           sxs_shown(c->dir));
}

static int open_folder(struct chosen *c)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", c->dir, c->place.process->folder);
    c->folder_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (c->folder_fd >= 0)
        return SXS_EXIT_OK;
    sxs_complain("%s: %s", path, strerror(errno));
    return SXS_EXIT_PROBLEM;
}

/* Opens a session and finds the snapshot in it. @c is freed by close_chosen(), also after a
 * failure. Returns an exit status. */
static int choose(struct chosen *c, const char *source, const char *process, uint32_t runtime,
                  uint32_t number)
{
    char why[512];
    memset(c, 0, sizeof(*c));
    c->folder_fd = -1;
    c->dir = source;
    if (sxs_pack_open(source, &c->dir, why, sizeof(why)) != 0)
        return sxs_wrong_input("%s: %s; expected a file made by sxsprof pack", source, why);
    int err = sxs_opened_open_one(c->dir, &c->session);
    if (err)
        return sxs_wrong_input("%s: %s; expected a folder made by sxsprof record -o DIR",
                               sxs_shown(c->dir), strerror(err));
    for (size_t i = 0; i < c->session.session.n_problems; i++)
        sxs_complain("%s/%s", sxs_shown(c->dir), c->session.session.problems[i]);
    char *segments = c->session.session.n_processes ? NULL : sxs_segments_refuse(c->dir);
    if (segments) {
        int status = sxs_wrong_input("%s: %s", sxs_shown(c->dir), segments);
        free(segments);
        return status;
    }
    int status = sxs_selection_check(c->dir, &c->session.session, process, runtime);
    if (status == SXS_EXIT_OK)
        status = find_place(c, process, number);
    return status == SXS_EXIT_OK ? open_folder(c) : status;
}

static void close_chosen(struct chosen *c)
{
    if (c->folder_fd >= 0)
        close(c->folder_fd);
    sxs_opened_close(&c->session);
}

static void complain_of(const struct chosen *c, char *const *problems, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sxs_complain("%s/%s/" SXS_HEAP_FILE "%u: %s", sxs_shown(c->dir), c->place.process->folder,
                     c->place.number, problems[i]);
}

/* ---- writing ---- */

static int finish(struct sxs_output *out, int status)
{
    const char *path = out->path;
    if (out->to == stdout)
        return sxs_finish_output() == SXS_EXIT_OK ? status : SXS_EXIT_PROBLEM;
    int err = sxs_output_close(out, false);
    if (err) {
        sxs_complain("%s: %s", path, strerror(err));
        return SXS_EXIT_PROBLEM;
    }
    return status;
}

/* Prints on standard error what is missing, for outputs that have no place for it. */
static void complain_of_missing(const struct sxs_missing *m)
{
    for (size_t i = 0; i < m->n; i++)
        sxs_complain("%s", m->all[i].text);
}

static void read_missing(const struct chosen *c, struct sxs_missing *out)
{
    sxs_opened_missing(&c->session, c->place.process->folder, out);
}

static size_t lines(const struct heap_options *o)
{
    return o->top ? o->top : DEFAULT_TOP;
}

static void write_report(const struct heap_options *o, const struct sxs_heap_snapshot *s,
                         const struct sxs_missing *missing, FILE *to)
{
    struct sxs_heap_report r = {.type = o->type, .top = lines(o), .missing = missing};
    if (strcmp(o->format, "heapsnapshot") == 0) {
        complain_of_missing(missing);
        sxs_heap_write_heapsnapshot(to, s);
        return;
    }
    sxs_heap_analyze(s, &r);
    if (strcmp(o->format, "json") == 0)
        sxs_heap_write_json(to, &r);
    else if (strcmp(o->format, "html") == 0)
        sxs_heap_write_html(to, &r);
    else
        sxs_heap_write_text(to, &r);
    sxs_heap_report_free(&r);
}

/* Returns the name of the page of snapshot @number beside the session @dir:
 * "/path/session-heap-2.html". Owned; NULL after a message. */
static char *page_beside(const char *dir, uint32_t number)
{
    char  path[PATH_MAX];
    char *page = NULL;
    if (realpath(dir, path) && asprintf(&page, "%s-" SXS_HEAP_FILE "%u.html", path, number) >= 0)
        return page;
    sxs_complain("%s: %s", dir, strerror(errno));
    return NULL;
}

static int report(const struct heap_options *o, const struct chosen *c)
{
    struct sxs_heap_snapshot s;
    char                     why[256];
    int err = sxs_heap_load(c->folder_fd, c->place.number, o->runtime, &s, why, sizeof(why));
    if (err) {
        sxs_complain("%s/%s/" SXS_HEAP_FILE "%u: %s", sxs_shown(c->dir), c->place.process->folder,
                     c->place.number, why);
        return SXS_EXIT_PROBLEM;
    }
    int status = s.n_problems || c->session.session.n_problems ? SXS_EXIT_PROBLEM : SXS_EXIT_OK;
    struct sxs_output out;
    err = sxs_output_open(&out, o->output);
    if (!err) {
        struct sxs_missing missing;
        complain_of(c, s.problems, s.n_problems);
        read_missing(c, &missing);
        write_report(o, &s, &missing, out.to);
        sxs_missing_free(&missing);
        status = finish(&out, status);
    } else {
        status = sxs_wrong_input("--output: %s: %s", o->output, sxs_output_error(err));
    }
    sxs_heap_free(&s);
    return status;
}

/* ---- differences ---- */

/* Splits "SESSION:NUMBER", or a number alone, which is a snapshot of the same process. Changes
 * @text. */
static void parse_other(char *text, const char *same, const char **dir, uint32_t *number)
{
    char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : text;
    *dir = text;
    *number = 0;
    if (!*digits || digits[strspn(digits, "0123456789")] || strlen(digits) > 9)
        return;
    if (!colon && access(text, F_OK) == 0)
        return;
    *number = (uint32_t)strtoul(digits, NULL, 10);
    if (colon)
        *colon = '\0';
    else
        *dir = same;
}

static int count(const struct chosen *c, struct sxs_heap_counts *out)
{
    char why[256];
    if (sxs_heap_counts_load(c->folder_fd, c->place.number, 0, out, why, sizeof(why)) != 0) {
        sxs_complain("%s/%s/" SXS_HEAP_FILE "%u: %s", sxs_shown(c->dir), c->place.process->folder,
                     c->place.number, why);
        return SXS_EXIT_PROBLEM;
    }
    complain_of(c, out->problems, out->n_problems);
    return out->n_problems ? SXS_EXIT_PROBLEM : SXS_EXIT_OK;
}

/* The name of a snapshot, without the place of the session's folder. */
static void name_side(const struct chosen *c, char *out, size_t size)
{
    const char *shown = sxs_shown(c->dir), *slash = strrchr(shown, '/');
    snprintf(out, size, "%.1000s/%s/" SXS_HEAP_FILE "%u", slash && slash[1] ? slash + 1 : shown,
             c->place.process->folder, c->place.number);
}

static int write_changes(const struct heap_options *o, const struct sxs_heap_sides *sides,
                         const struct sxs_heap_counts *before, const struct sxs_heap_counts *now,
                         int status)
{
    struct sxs_heap_changes c = sxs_heap_changes(before, now, o->runtime);
    struct sxs_output       out;
    int                     err = sxs_output_open(&out, o->output);
    if (err) {
        sxs_heap_changes_free(&c);
        return sxs_wrong_input("--output: %s: %s", o->output, sxs_output_error(err));
    }
    if (strcmp(o->format, "json") == 0)
        sxs_heap_write_changes_json(out.to, sides, &c);
    else if (strcmp(o->format, "html") == 0)
        sxs_heap_write_changes_html(out.to, sides, &c);
    else
        sxs_heap_write_changes(out.to, sides, &c, lines(o), o->top != 0);
    sxs_heap_changes_free(&c);
    return finish(&out, status);
}

static int diff(const struct heap_options *o, const struct chosen *c)
{
    struct chosen          other;
    struct sxs_heap_counts before = {0}, now = {0};
    struct sxs_heap_sides  sides;
    const char            *dir;
    char                  *text = strdup(o->diff);
    uint32_t               number;
    if (!text)
        return SXS_EXIT_FAILED;
    parse_other(text, c->dir, &dir, &number);
    bool same = dir == c->dir;
    int  status = choose(&other, dir, same ? c->place.process->folder : NULL, 0, number);
    if (status == SXS_EXIT_OK) {
        int first = count(&other, &before), second = count(c, &now);
        name_side(&other, sides.before, sizeof(sides.before));
        name_side(c, sides.now, sizeof(sides.now));
        read_missing(&other, &sides.missing[0]);
        read_missing(c, &sides.missing[1]);
        status = write_changes(o, &sides, &before, &now, first > second ? first : second);
        sxs_missing_free(&sides.missing[0]);
        sxs_missing_free(&sides.missing[1]);
    }
    sxs_heap_counts_free(&before);
    sxs_heap_counts_free(&now);
    close_chosen(&other);
    free(text);
    return status;
}

bool sxs_heap_only(const struct sxs_opened *v)
{
    return sxs_opened_has_file(v, SXS_HEAP_FILE "1") && !sxs_opened_has_file(v, SXS_SAMPLES_FILE) &&
           !sxs_opened_has_file(v, SXS_CALLS_FILE);
}

int sxs_heap_diff(const char *before, const char *now, const char *format, const char *output)
{
    struct heap_options o = {.format = format, .output = output, .diff = before};
    struct chosen       c;
    int                 status = choose(&c, now, NULL, 0, 0);
    if (status == SXS_EXIT_OK)
        status = diff(&o, &c);
    close_chosen(&c);
    return status;
}

/* ---- the verb ---- */

/* Returns whether the argument is the number of a process and not a folder. */
static bool is_pid(const char *text)
{
    return *text && !text[strspn(text, "0123456789")] && strlen(text) < 10 &&
           access(text, F_OK) != 0;
}

static int write_wanted(const struct heap_options *o, const struct chosen *c)
{
    struct sxs_missing missing;
    struct sxs_output  out;
    int                err = sxs_output_open(&out, o->output);
    if (err)
        return sxs_wrong_input("--output: %s: %s", o->output, sxs_output_error(err));
    read_missing(c, &missing);
    complain_of_missing(&missing);
    sxs_missing_free(&missing);
    return finish(&out, sxs_heap_write_wanted(out.to, &o->wanted, c->folder_fd, c->place.number,
                                              o->runtime, strcmp(o->format, "json") == 0));
}

/* What the child that reads the snapshot gets. */
struct job {
    struct heap_options *options;
    uint32_t            *number; /* receives the number of the snapshot; shared with the parent */
};

/* Reads the snapshot and writes its report. @arg: struct job. Returns an exit status. */
static int write_chosen(void *arg)
{
    struct job          *job = arg;
    struct heap_options *o = job->options;
    struct chosen        c = {.folder_fd = -1};
    char                *page = NULL;
    int                  status = choose(&c, o->source, o->process, o->runtime, o->number);
    *job->number = status == SXS_EXIT_OK ? c.place.number : 0;
    if (status == SXS_EXIT_OK && o->open && !o->output) {
        page = page_beside(sxs_shown(c.dir), c.place.number);
        o->output = page;
        status = page ? SXS_EXIT_OK : SXS_EXIT_PROBLEM;
    }
    if (status == SXS_EXIT_OK)
        status = o->wanted.n ? write_wanted(o, &c) : o->diff ? diff(o, &c) : report(o, &c);
    close_chosen(&c);
    free(page);
    return status;
}

/* Writes the report in a child with limits, and opens it if that was asked for. */
static int write_confined(struct heap_options *o)
{
    uint32_t *number =
        mmap(NULL, sizeof(*number), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (number == MAP_FAILED)
        return SXS_EXIT_FAILED;
    bool  beside = o->open && !o->output;
    char *page = beside ? page_beside(sxs_shown(o->source), 0) : NULL; /* only its folder matters */
    const struct sxs_confined_verb needs = {
        .reads = {&o->source, &o->diff}, .output = o->output, .writes = {page}};
    struct job job = {.options = o, .number = number};
    int        status = sxs_confined_verb(&needs, write_chosen, &job);
    free(page);
    page = beside && *number ? page_beside(sxs_shown(o->source), *number) : NULL;
    if (o->open && !o->wanted.n && (page || o->output))
        status = sxs_open_written_page(page ? page : o->output, status);
    free(page);
    munmap(number, sizeof(*number));
    return status;
}

int sxs_heap_report(int argc, char **argv)
{
    struct heap_options   o = {.timeout = DEFAULT_TIMEOUT};
    struct sxs_heap_asked asked = {.session.fd = -1};
    int                   status = SXS_EXIT_OK;
    sxs_options_parse(&sxs_argp_heap, argc, argv, 0, &o);
    if (is_pid(o.source)) {
        char *request = sxs_heap_wanted_request(&o.wanted, o.runtime);
        status = sxs_heap_ask((pid_t)strtol(o.source, NULL, 10), o.timeout, request, &asked);
        free(request);
        o.source = asked.session.open;
        o.process = asked.session.folder;
        if (asked.session.open)
            sxs_show_as(asked.session.open, asked.session.dir);
        o.number = asked.number;
    }
    if (status == SXS_EXIT_OK)
        status = write_confined(&o);
    sxs_heap_asked_free(&asked);
    return status;
}

int sxs_cmd_heap(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return sxs_cmd_record(argc, argv);
    return sxs_heap_report(argc, argv);
}
