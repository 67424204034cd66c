/* SPDX-License-Identifier: MIT */
#include "tools/options/heap_options.h"

#include <signal.h>
#include <string.h>

#define MAX_SECONDS 86400u
#define FIRST_FREE  2u /* SIGRTMIN suspends threads of runtimes; the one after it is left free */

int sxs_heap_signal(const char *name)
{
    unsigned n = 0, most;
    if (!name)
        return -1;
    if (strcmp(name, "off") == 0)
        return 0;
    if (strncmp(name, "SIG", 3) == 0)
        name += 3;
    if (strcmp(name, "USR1") == 0)
        return SIGUSR1;
    if (strcmp(name, "USR2") == 0)
        return SIGUSR2;
    most = (unsigned)(SIGRTMAX - SIGRTMIN) - FIRST_FREE;
    if (strcmp(name, "RTMAX") == 0)
        return SIGRTMAX;
    if (strncmp(name, "RTMAX-", 6) == 0 && sxs_tool_number(name + 6, 1, most, &n) == 0)
        return SIGRTMAX - (int)n;
    if (strncmp(name, "RTMIN+", 6) == 0 &&
        sxs_tool_number(name + 6, FIRST_FREE, most + FIRST_FREE, &n) == 0)
        return SIGRTMIN + (int)n;
    return -1;
}

static int read_every(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_heap_options *out = options;
    (void)row;
    return sxs_tool_number(value, 1, MAX_SECONDS, &out->every_s);
}

static int read_signal(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_heap_options *out = options;
    int                      number = sxs_heap_signal(value);
    (void)row;
    if (number < 0)
        return -1;
    out->signal = number;
    return 0;
}

static int read_at_exit(const struct sxs_tool_option *row, const char *value, void *options)
{
    (void)row;
    ((struct sxs_heap_options *)options)->at_exit = 1;
    return value ? -1 : 0;
}

static int read_now(const struct sxs_tool_option *row, const char *value, void *options)
{
    (void)row;
    ((struct sxs_heap_options *)options)->now = 1;
    return value ? -1 : 0;
}

static int read_collect(const struct sxs_tool_option *row, const char *value, void *options)
{
    int choice = sxs_choice(row->argument, value);
    ((struct sxs_heap_options *)options)->collect = choice == 0;
    return choice < 0 ? -1 : 0;
}

static int read_frames(const struct sxs_tool_option *row, const char *value, void *options)
{
    int choice = sxs_choice(row->argument, value);
    ((struct sxs_heap_options *)options)->frames = choice == 0;
    return choice < 0 ? -1 : 0;
}

static const struct sxs_tool_option rows[] = {
    {"repeat=SECONDS", "repeat", "SECONDS", "a number of seconds from 1 to 86400",
     "Take a snapshot at this interval", read_every},
    {"signal=NAME", "signal", "NAME", "USR1, USR2, RTMIN+2 to RTMAX, or off",
     "Take a snapshot when the process gets this signal (RTMAX-5)", read_signal},
    {"at-exit", "at-exit", NULL, "no value", "Take a snapshot when the program ends", read_at_exit},
    {"now", "now", NULL, "no value", "Take a snapshot when the program begins", read_now},
    {"collect=on|off", "collect", "on|off", "on or off",
     "Collect garbage first (on). off: garbage is included, roots are not; needs .NET 9",
     read_collect},
    {"frames=on|off", "frames", "on|off", "on or off",
     "Name the functions whose variables keep objects (off). on: without concurrent collections",
     read_frames},
};
const struct sxs_tool_table sxs_heap_table = {"heap", rows, sizeof(rows) / sizeof(rows[0])};

int sxs_heap_options_parse(const char *text, struct sxs_heap_options *out, char *why, size_t size)
{
    *out = (struct sxs_heap_options){.signal = sxs_heap_signal(SXS_HEAP_SIGNAL_NAME), .collect = 1};
    return sxs_tool_parse(&sxs_heap_table, text, out, why, size);
}
