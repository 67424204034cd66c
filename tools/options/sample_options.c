/* SPDX-License-Identifier: MIT */
#include "tools/options/sample_options.h"

#define MAX_HZ 10000

static int read_rate(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_sampler_options *out = options;
    (void)row;
    return sxs_tool_number(value, 1, MAX_HZ, &out->hz);
}

/* Reads "cpu" and "wall". The rate after '=' may be left out. */
static int read_mode(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_sampler_options *out = options;
    out->mode = row->syntax[0] == 'w' ? SXS_MODE_WALL : SXS_MODE_CPU;
    return value ? read_rate(row, value, out) : 0;
}

static int read_walker(const struct sxs_tool_option *row, const char *value, void *options)
{
    static const enum sxs_sample_walker walkers[] = {SXS_WALKER_FAST, SXS_WALKER_UNWIND,
                                                     SXS_WALKER_SNAPSHOT};
    struct sxs_sampler_options         *out = options;
    int                                 choice = sxs_choice(row->argument, value);
    if (choice < 0)
        return -1;
    out->walker = walkers[choice];
    return 0;
}

static int read_tiers(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_sampler_options *out = options;
    int                         choice = sxs_choice(row->argument, value);
    out->tiers = choice == 0;
    return choice < 0 ? -1 : 0;
}

static int read_trace(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_sampler_options *out = options;
    int                         choice = sxs_choice(row->argument, value);
    out->trace = choice == 0;
    return choice < 0 ? -1 : 0;
}

#define RATE_EXPECTED "a rate from 1 to 10000 Hz"

static const struct sxs_tool_option rows[] = {
    {"cpu[=HZ]", NULL, NULL, RATE_EXPECTED, NULL, read_mode},
    {"rate=HZ", "rate", "HZ", RATE_EXPECTED, "Samples a second of each thread (199)", read_rate},
    {"wall[=HZ]", "wall", NULL, RATE_EXPECTED,
     "Sample threads also while they wait; without this option, only while they use a processor",
     read_mode},
    {"walker=fast|unwind|snapshot", "walker", "fast|unwind|snapshot", "fast, unwind or snapshot",
     "How stacks are walked: fast (the default) in the signal handler, by frame pointers and "
     "unwind "
     "tables; unwind by libunwind; snapshot compares fast with the runtimes' own walks",
     read_walker},
    {"tiers=on|off", "tiers", "on|off", "on or off",
     "Ask the runtimes for the tiers of compiled methods (on)", read_tiers},
    {"activity=on|off", "activity", "on|off", "on or off",
     "Record the current Activity of each sample's thread: its trace, span and endpoint (off)",
     read_trace},
};
const struct sxs_tool_table sxs_sampler_table = {"sample", rows, sizeof(rows) / sizeof(rows[0])};

int sxs_sampler_parse(const char *text, struct sxs_sampler_options *out, char *why, size_t size)
{
    *out = (struct sxs_sampler_options){SXS_MODE_CPU, SXS_WALKER_FAST, 199, 1, 0};
    return sxs_tool_parse(&sxs_sampler_table, text, out, why, size);
}
