/* SPDX-License-Identifier: MIT */
/* sxsprof ps: list the running processes that have .NET runtimes. */
#include "cmd/argument.h"
#include "cmd/command.h"
#include "cmd/output/json_document.h"
#include "cmd/output/json_values.h"
#include "cmd/output/print.h"
#include "cmd/output/text.h"
#include "cmd/processes/process.h"

#include <argp.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct argp_option option_list[] = {
    {"format", 'f', "text|json", 0, "A table for people (text, the default) or JSON", 0},
    {0},
};
const struct argp sxs_argp_ps = {
    .options = option_list,
    .parser = sxs_format_parser,
    .doc =
        "List the running processes that have .NET runtimes: each runtime with its version, since "
        "when the process runs, which profiler is loaded, the container, the user.\v"
        "Reads /proc only; no process is touched. What another user's processes load can be read "
        "by root.",
};

static const char *kind_name(enum sxs_runtime_kind kind)
{
    static const char *const names[] = {"coreclr", "single-file", "native-aot"};
    return names[kind];
}

/* Writes "8.0.29, 9.0.18, 10.0.11 (single file)". */
static void join_runtimes(const struct sxs_process *p, char *out, size_t size)
{
    static const char *const notes[] = {"", " (single file)", "NativeAOT"};
    size_t                   len = 0;
    snprintf(out, size, "%s", p->problem ? "not permitted" : "-");
    for (size_t i = 0; i < p->n_runtimes && len < size; i++) {
        const struct sxs_process_runtime *r = &p->runtimes[i];
        bool                              aot = r->kind == SXS_RUNTIME_NATIVE_AOT;
        len += (size_t)snprintf(out + len, size - len, "%s%s%s", len ? ", " : "",
                                aot           ? ""
                                : *r->version ? r->version
                                              : "?",
                                notes[r->kind]);
    }
}

/* Writes the names of the profilers' files: "sxsprof", or those of others. */
static void join_profilers(const struct sxs_process *p, char *out, size_t size)
{
    size_t len = 0;
    snprintf(out, size, "%s", p->problem || p->partly ? "?" : "-");
    for (size_t i = 0; i < p->n_profilers && len < size; i++) {
        const struct sxs_process_profiler *it = &p->profilers[i];
        len += (size_t)snprintf(out + len, size - len, "%s%s", len ? ", " : "",
                                it->ours ? "sxsprof" : strrchr(it->path, '/') + 1);
    }
}

static void describe_container(const struct sxs_process *p, char *out, size_t size)
{
    if (*p->container)
        snprintf(out, size, "%s", p->container);
    else
        snprintf(out, size, "%s",
                 p->other.mnt || p->other.pid ? "namespaces"
                 : p->other.root              ? "chroot"
                                              : "-");
}

/* Writes the start of a process: the time of today, or the day. */
static void describe_start(uint64_t ns, const char *format, char *out, size_t size)
{
    time_t    began = (time_t)(ns / 1000000000u), now = time(NULL);
    struct tm tm;
    if (!format)
        format = now - began < 20 * 3600 ? "%H:%M:%S" : "%Y-%m-%d";
    out[0] = '\0';
    if (localtime_r(&began, &tm))
        strftime(out, size, format, &tm);
}

enum { PID, USER, STARTED, RUNTIMES, PROFILER, CONTAINER, COMMAND, N_COLUMNS };

static void fill_row(const struct sxs_process *p, char row[N_COLUMNS][1024])
{
    char raw[1024];
    snprintf(row[PID], 1024, "%d", (int)p->pid);
    sxs_text_clean(p->user, row[USER], 64);
    describe_start(p->started_ns, NULL, row[STARTED], 64);
    join_runtimes(p, raw, sizeof(raw));
    sxs_text_clean(raw, row[RUNTIMES], 512);
    join_profilers(p, raw, sizeof(raw));
    sxs_text_clean(raw, row[PROFILER], 512);
    describe_container(p, raw, sizeof(raw));
    sxs_text_clean(raw, row[CONTAINER], 512);
    sxs_text_clean(*p->command ? p->command : p->name, row[COMMAND], 1024);
}

static void print_row(char row[N_COLUMNS][1024], const size_t width[N_COLUMNS], size_t columns)
{
    size_t used = 0;
    for (int c = 0; c < COMMAND; c++) {
        sxs_print(c == PID ? "%*s  " : "%-*s  ", (int)width[c], row[c]);
        used += width[c] + 2;
    }
    if (columns > used + 8)
        sxs_text_cut(row[COMMAND], columns - used);
    sxs_print("%s\n", row[COMMAND]);
}

static void print_text(const struct sxs_process_list *list)
{
    static char row[N_COLUMNS][1024] = {"PID",      "USER",      "SINCE",  "RUNTIMES",
                                        "PROFILER", "CONTAINER", "COMMAND"};
    static char head[N_COLUMNS][1024];
    size_t      width[N_COLUMNS], columns = isatty(1) ? sxs_text_columns(stdout) : 0;
    memcpy(head, row, sizeof(head));
    for (int c = 0; c < N_COLUMNS; c++)
        width[c] = strlen(head[c]);
    for (size_t i = 0; i < list->n; i++) {
        fill_row(&list->items[i], row);
        for (int c = 0; c < N_COLUMNS; c++)
            if (strlen(row[c]) > width[c])
                width[c] = strlen(row[c]);
    }
    print_row(head, width, columns);
    for (size_t i = 0; i < list->n; i++) {
        fill_row(&list->items[i], row);
        print_row(row, width, columns);
    }
}

static json_t *runtimes_json(const struct sxs_process *p)
{
    json_t *rows = json_array();
    int     err = 0;
    for (size_t i = 0; i < p->n_runtimes && !err; i++) {
        const struct sxs_process_runtime *r = &p->runtimes[i];
        json_t                           *row = json_object();
        err = sxs_json_set_text(row, "version", r->version) |
              sxs_json_set_text(row, "kind", kind_name(r->kind)) |
              sxs_json_set_text(row, "path", r->path) |
              json_object_set_new(row, "deleted", json_boolean(r->deleted)) |
              json_array_append_new(rows, row);
    }
    return sxs_json_whole(rows, err);
}

static json_t *profilers_json(const struct sxs_process *p)
{
    json_t *rows = json_array();
    int     err = 0;
    for (size_t i = 0; i < p->n_profilers && !err; i++) {
        const struct sxs_process_profiler *it = &p->profilers[i];
        json_t                            *row = json_object();
        err = sxs_json_set_text(row, "path", it->path) |
              json_object_set_new(row, "sxsprof", json_boolean(it->ours)) |
              json_object_set_new(row, "deleted", json_boolean(it->deleted)) |
              json_array_append_new(rows, row);
    }
    return sxs_json_whole(rows, err);
}

static json_t *process_json(const struct sxs_process *p)
{
    json_t *o = json_object();
    char    since[64], state[2] = {p->state, '\0'};
    describe_start(p->started_ns, "%Y-%m-%dT%H:%M:%S%z", since, sizeof(since));
    int err = sxs_json_set_number(o, "pid", (uint64_t)p->pid) |
              sxs_json_set_number(o, "pid_inside", (uint64_t)p->ns_pid) |
              sxs_json_set_text(o, "name", p->name) | sxs_json_set_text(o, "command", p->command) |
              sxs_json_set_number(o, "uid", p->uid) | sxs_json_set_text(o, "user", p->user) |
              sxs_json_set_text(o, "state", state) | sxs_json_set_text(o, "since", since) |
              sxs_json_set_number(o, "started_ns", p->started_ns) |
              sxs_json_set_text(o, "container", p->container) |
              json_object_set_new(o, "own_root", json_boolean(sxs_process_is_apart(p))) |
              json_object_set_new(o, "permitted", json_boolean(!p->problem)) |
              json_object_set_new(o, "complete", json_boolean(!p->problem && !p->partly)) |
              json_object_set_new(o, "runtimes", runtimes_json(p)) |
              json_object_set_new(o, "profilers", profilers_json(p));
    return sxs_json_whole(o, err);
}

static int print_json(const struct sxs_process_list *list)
{
    json_t *top = sxs_json_document_new(SXS_JSON_PS), *rows = json_array();
    int     err = json_object_set_new(top, "processes", rows);
    for (size_t i = 0; i < list->n && !err; i++)
        err = json_array_append_new(rows, process_json(&list->items[i]));
    return sxs_json_print(top, err);
}

/* Says which processes the list does not tell all of. */
static void note_gaps(const struct sxs_process_list *list)
{
    if (list->n_partly)
        sxs_complain(
            "%zu processes were examined in part: their files are too many, took too long to "
            "read, or were replaced",
            list->n_partly);
    if (list->n_left_out)
        sxs_complain("%zu processes with .NET runtimes are left out: the list is too long",
                     list->n_left_out);
}

int sxs_cmd_ps(int argc, char **argv)
{
    enum sxs_format         format = SXS_FORMAT_TEXT;
    struct sxs_process_list list;
    sxs_options_parse(&sxs_argp_ps, argc, argv, 0, &format);
    int err = sxs_process_list_read(&list, NULL, NULL);
    if (err) {
        sxs_complain("/proc: %s", strerror(err));
    } else if (format == SXS_FORMAT_JSON) {
        err = print_json(&list);
        if (err)
            sxs_complain("out of memory");
    } else if (list.n) {
        print_text(&list);
    } else {
        sxs_complain("no process with a .NET runtime was found%s",
                     list.n_unreadable ? " among those that this user may read" : "");
    }
    note_gaps(&list);
    sxs_process_list_free(&list);
    return sxs_finish_output() || err ? SXS_EXIT_PROBLEM : SXS_EXIT_OK;
}
