/* SPDX-License-Identifier: MIT */
/* sxsprof diff: draw as a flame graph what grew and what shrank between two sessions. */
#include "cmd/command.h"
#include "cmd/heap_diff.h"
#include "cmd/output/shown.h"
#include "cmd/pack/pack.h"
#include "cmd/report/profile.h"
#include "cmd/symbols/symbol_path.h"

#include <argp.h>
#include <stddef.h>
#include <string.h>

enum { KEY_SYMBOLS = 256 };

struct options {
    struct sxs_report_options samples;
    const char               *dir[2];
    unsigned                  n;
    bool                      heap; /* heap snapshots are compared */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'o': o->samples.output = arg; return 0;
    case 'd':
        o->heap = strcmp(arg, "heap") == 0;
        o->samples.data = o->heap ? 0 : sxs_data_option(state, arg);
        return 0;
    case KEY_SYMBOLS: sxs_symbols_option(state, arg, &o->samples.symbols); return 0;
    case ARGP_KEY_ARG:
        if (o->n == 2)
            argp_error(state, "two folders are expected, '%s' is one more", arg);
        o->dir[o->n++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (o->n < 2)
            argp_error(state, "A and B are expected: two folders made by sxsprof run --tool sample "
                              "or --tool calls with -o DIR");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_list[] = {
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {"data", 'd', "samples|calls|heap", 0,
     "Which, of sessions that have several (the first that both have). heap: a table of types", 0},
    {"symbols", KEY_SYMBOLS, "DIR", 0,
     "Search DIR and all folders in it for debug files (by build-id) and Portable PDBs (by ID); "
     "can "
     "be repeated",
     0},
    {0},
};
const struct argp sxs_argp_diff = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "A B",
    .doc =
        "Draw session B's flame graph, coloured by what grew and shrank since session A: one HTML "
        "page. Of heap snapshots, a table of what each type has more.",
};

int sxs_cmd_diff(int argc, char **argv)
{
    struct options o = {.n = 0};
    char           why[512];
    sxs_options_parse(&sxs_argp_diff, argc, argv, 0, &o);
    for (int i = 0; i < 2; i++)
        if (sxs_pack_open(o.dir[i], &o.dir[i], why, sizeof(why)) != 0)
            return sxs_wrong_input("%s: %s; expected a file made by sxsprof pack", o.dir[i], why);
    if (o.heap || (!o.samples.data && sxs_heap_only(o.dir[0]) && sxs_heap_only(o.dir[1])))
        return sxs_heap_diff(o.dir[0], o.dir[1], o.samples.output);
    enum sxs_profile_result result = sxs_profile_diff(o.dir[0], o.dir[1], &o.samples);
    sxs_symbol_path_free(o.samples.symbols);
    switch (result) {
    case SXS_PROFILE_OK: return SXS_EXIT_OK;
    case SXS_PROFILE_NOTHING:
        return sxs_wrong_input(
            "nothing to compare in %s or %s; expected folders made by sxsprof run "
            "--tool sample or --tool calls with -o DIR",
            sxs_shown(o.dir[0]), sxs_shown(o.dir[1]));
    default: return SXS_EXIT_PROBLEM;
    }
}
