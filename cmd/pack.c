/* SPDX-License-Identifier: MIT */
/* sxsprof pack: write a session and the names that its reports need to one file. */
#include "cmd/pack/pack.h"
#include "cmd/carried.h"
#include "cmd/command.h"
#include "cmd/confined_verb.h"
#include "cmd/output/print.h"
#include "cmd/output/segments.h"
#include "cmd/output/text.h"
#include "cmd/report/profile.h"
#include "cmd/symbols/debuginfod.h"
#include "cmd/symbols/names_table.h"
#include "cmd/symbols/symbol_path.h"

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_SYMBOLS = 256 };

struct pack_options {
    const char             *dir, *output;
    struct sxs_symbol_path *symbols;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct pack_options *o = state->input;
    switch (key) {
    case 'o': o->output = arg; return 0;
    case KEY_SYMBOLS: sxs_symbols_option(state, arg, &o->symbols); return 0;
    case ARGP_KEY_ARG:
        if (o->dir)
            sxs_option_error(state, "one folder is expected, '%s' is one more", arg);
        o->dir = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->dir)
            sxs_option_error(state,
                             "DIR is missing: expected a folder made by sxsprof record -o DIR");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_list[] = {
    {"output", 'o', "FILE", 0,
     "Write to FILE instead of a file in the current folder with the name of DIR and the "
     "extension " SXS_PACK_EXTENSION,
     0},
    SXS_SYMBOLS_OPTION(KEY_SYMBOLS, 0),
    {0},
};
const struct argp sxs_argp_pack = {
    .options = option_list,
    .parser = parse,
    .args_doc = "DIR",
    .doc =
        "Write a recorded session to one file, with all names and lines that a report of it needs. "
        "sxsprof report FILE and sxsprof diff FILE FILE read it on any machine.\v"
        "DIR is a folder made by sxsprof record -o DIR. What cannot be read is named on standard "
        "error, and the exit status is 1; the file is written nevertheless.",
};

/* Returns the name of the folder with the extension, for the current folder; owned. */
static char *default_output(const char *dir)
{
    char *real = realpath(dir, NULL), *path = NULL;
    if (!real)
        return NULL;
    const char *slash = strrchr(real, '/');
    if (asprintf(&path, "%s" SXS_PACK_EXTENSION, slash && slash[1] ? slash + 1 : "session") < 0)
        path = NULL;
    free(real);
    return path;
}

/* Returns why no file can be made at @path: an errno value; 0 when it can be. */
static int find_obstacle(const char *path)
{
    struct stat st;
    const char *slash = strrchr(path, '/');
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? EISDIR : 0;
    char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int   err = !dir ? ENOMEM : access(dir, W_OK | X_OK) != 0 ? errno : 0;
    free(dir);
    return err;
}

/* Checks the file before names are looked up, which can take long. Returns an exit status. */
static int check_output(const char *path)
{
    bool to_stdout = strcmp(path, "-") == 0;
    int  err = to_stdout ? 0 : find_obstacle(path);
    if (to_stdout && isatty(STDOUT_FILENO))
        return sxs_wrong_input("-o -: standard output is a terminal; expected a file or a pipe");
    if (err)
        return sxs_wrong_input("-o %s: %s; expected a file that can be written", path,
                               strerror(err));
    return SXS_EXIT_OK;
}

/* Prints the problems of @m that @before, which is zeroed or loaded, does not have. */
static void tell_problems(const struct sxs_model *m, const struct sxs_model *before)
{
    for (size_t i = 0; i < m->n_problems; i++) {
        size_t same = 0;
        while (same < before->n_problems && strcmp(before->problems[same], m->problems[i]) != 0)
            same++;
        if (same == before->n_problems)
            sxs_complain("%s", m->problems[i]);
    }
}

/* Looks up all names, of samples and of all costs. Prints what is damaged and which files have no
 * names. Returns an exit status; 2: the session cannot be read. */
static int collect_names(const struct pack_options *o, const struct sxs_opened *v,
                         struct sxs_names *names)
{
    static const enum sxs_data data[] = {SXS_DATA_SAMPLES, SXS_DATA_ALLOC, SXS_DATA_NATIVE,
                                         SXS_DATA_LOCKS};
    struct sxs_model           before = {.n_problems = 0}, m;
    struct sxs_report_options  all = {.symbols = o->symbols, .record = names};
    int                        err = 0, status = SXS_EXIT_OK;
    for (size_t i = 0; i < sizeof(data) / sizeof(data[0]) && !err; i++) {
        if (i && !sxs_profile_has(v, data[i]))
            continue;
        err = sxs_model_load(v, &all, data[i], 0, &m);
        tell_problems(&m, &before);
        if (m.n_damage)
            status = SXS_EXIT_PROBLEM;
        sxs_model_free(&before);
        before = m;
    }
    if (err)
        status = sxs_wrong_input("%s: %s", o->dir, strerror(err));
    sxs_model_free(&before);
    return status;
}

/* Says what was written, and what its receiver can read. */
static void print_sums(const char *output, const struct sxs_opened *v,
                       const struct sxs_pack_sums *sums, size_t n_names)
{
    const struct sxs_session *s = &v->session;
    char carried[512];
    sxs_carried(v, SXS_CARRIED_BY_PACK, carried, sizeof(carried));
    if (strcmp(output, "-") == 0) {
        sxs_print_to(stderr, "%s\n", carried);
        return;
    }
    sxs_print("%s: processes: %zu, files: %zu, names and lines: %zu", output,
              s->n_processes + s->n_unread, sums->n_files, n_names);
    if (sums->bytes)
        sxs_print(", %s", SXS_BYTES(sums->bytes));
    sxs_print("\n%s\n", carried);
}

static int write_pack(const struct pack_options *o, const struct sxs_opened *v, const char *output)
{
    char                 why[512];
    size_t               size;
    struct sxs_pack_sums sums;
    struct sxs_names    *names = sxs_names_new();
    int                  status = collect_names(o, v, names);
    if (status == SXS_EXIT_USAGE) {
        sxs_names_free(names);
        return status;
    }
    uint8_t *bytes = sxs_names_encode(names, &size);
    if (size > SXS_MAX_NAMES) {
        sxs_complain("%s: its names take %zu bytes; expected at most %u", o->dir, size,
                     SXS_MAX_NAMES);
        status = SXS_EXIT_PROBLEM;
    } else if (sxs_pack_write(o->dir, &v->session, output, bytes, size, &sums, why, sizeof(why)) !=
               0) {
        sxs_complain("%s", why);
        status = SXS_EXIT_PROBLEM;
    } else {
        print_sums(output, v, &sums, sxs_names_count(names));
        if (sxs_finish_output() != SXS_EXIT_OK)
            status = SXS_EXIT_PROBLEM;
    }
    free(bytes);
    sxs_names_free(names);
    return status;
}

/* Reads the session and writes the file. @arg: struct pack_options. Returns an exit status. */
static int pack(void *arg)
{
    const struct pack_options *o = arg;
    struct stat                st;
    struct sxs_opened          v;
    int                        status;
    if (stat(o->dir, &st) == 0 && !S_ISDIR(st.st_mode))
        return sxs_wrong_input("%s: not a folder; expected a folder made by sxsprof record -o DIR",
                               o->dir);
    char *output = strdup(o->output);
    int   err = sxs_opened_open_one(o->dir, &v);
    char *segments =
        err || v.session.n_processes + v.session.n_unread ? NULL : sxs_segments_refuse(o->dir);
    if (err || !output)
        status = sxs_wrong_input("%s: %s; expected a folder made by sxsprof record -o DIR", o->dir,
                                 strerror(err ? err : errno));
    else if (segments)
        status = sxs_wrong_input("%s: %s", o->dir, segments);
    else if (v.session.n_processes + v.session.n_unread == 0)
        status =
            sxs_wrong_input("%s: no session: it has no folder <pid> with a file " SXS_CENSUS_FILE
                            "; expected a folder made by sxsprof record -o DIR",
                            o->dir);
    else
        status = check_output(output);
    if (!err && output && status == SXS_EXIT_OK)
        status = write_pack(o, &v, output);
    sxs_opened_close(&v);
    free(output);
    free(segments);
    return status;
}

int sxs_cmd_pack(int argc, char **argv)
{
    struct pack_options o = {.dir = NULL};
    sxs_options_parse(&sxs_argp_pack, argc, argv, 0, &o);
    char *output = o.output ? NULL : default_output(o.dir);
    if (output)
        o.output = output;
    const struct sxs_confined_verb needs = {.reads = {&o.dir},
                                            .output = o.output,
                                            .is_private = true,
                                            .network = sxs_debuginfod_enabled(),
                                            .names = true,
                                            .symbols = o.symbols};
    int                            status = o.output
                                                ? sxs_confined_verb(&needs, pack, &o)
                                                : sxs_wrong_input("%s: %s; expected a folder made by sxsprof record -o DIR",
                                                                  o.dir, strerror(errno));
    free(output);
    sxs_symbol_path_free(o.symbols);
    return status;
}
