/* SPDX-License-Identifier: MIT */
#include "symbols/tier_settings.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/knob.h"
#include "base/proc.h"
#include "base/session_state.h"

static struct {
    enum sxs_tiering tiering;
    long             pgo; /* -1: not set */
} settings = {SXS_TIERING_USUAL, -1};
SXS_SESSION_RESETS(settings);

/* Returns the value of a runtime's setting in the environment, which is hexadecimal; -1: not
 * set. */
static long read_knob(enum sxs_knob knob)
{
    for (unsigned kind = 0; kind < SXS_KNOB_KINDS; kind++) {
        char        variable[SXS_KNOB_SIZE];
        const char *value = sxs_knob_variable(kind, knob, variable);
        if (value && *value)
            return (long)(strtoul(value, NULL, 16) & INT_MAX);
    }
    return -1;
}

/* Whether a setting is present that may change the tier of a method's first or next compilation. */
static int has_unusual_knob(void)
{
    static const enum sxs_knob knobs[] = {
        SXS_KNOB_QUICK_JIT,          SXS_KNOB_QUICK_JIT_FOR_LOOPS, SXS_KNOB_ON_STACK_REPLACEMENT,
        SXS_KNOB_AGGRESSIVE_TIERING, SXS_KNOB_CALL_COUNTING,       SXS_KNOB_INSTRUMENT_ONLY_HOT,
        SXS_KNOB_JIT_MIN_OPTS};
    for (size_t i = 0; i < ARRAY_LEN(knobs); i++)
        if (read_knob(knobs[i]) >= 0)
            return 1;
    return 0;
}

static int has_tiered(char *line, void *unused)
{
    (void)unused;
    return strstr(line, "\"System.Runtime.Tiered") != NULL;
}

/* Whether the file @stem.runtimeconfig.json mentions tiered compilation. */
static int is_mentioned_by(const char *stem, size_t len)
{
    char path[PATH_MAX];
    return (size_t)snprintf(path, sizeof(path), "%.*s.runtimeconfig.json", (int)len, stem) <
               sizeof(path) &&
           sxs_proc_lines(path, has_tiered, NULL) > 0;
}

/* Whether the program's runtimeconfig.json mentions tiered compilation. The program is NAME
 * (with NAME.dll beside it), or NAME.dll if it was started as `dotnet NAME.dll`. */
static int is_mentioned(void)
{
    char    text[4096];
    size_t  left = 4;
    ssize_t len = readlink("/proc/self/exe", text, sizeof(text) - 1);
    if (len > 0 && is_mentioned_by(text, (size_t)len))
        return 1;
    len = sxs_proc_read("/proc/self/cmdline", text, sizeof(text) - 1);
    text[len > 0 ? len : 0] = '\0';
    for (const char *arg = text; arg < text + len && left > 0; arg += strlen(arg) + 1, left--) {
        size_t size = strlen(arg);
        if (size > 4 && strcmp(arg + size - 4, ".dll") == 0 && is_mentioned_by(arg, size - 4))
            return 1;
    }
    return 0;
}

void sxs_tier_settings_read(void)
{
    settings.pgo = read_knob(SXS_KNOB_TIERED_PGO);
    if (read_knob(SXS_KNOB_TIERED_COMPILATION) == 0)
        settings.tiering = SXS_TIERING_OFF;
    else if (has_unusual_knob() || is_mentioned())
        settings.tiering = SXS_TIERING_UNKNOWN;
    else
        settings.tiering = SXS_TIERING_USUAL;
}

enum sxs_tiering sxs_tier_settings_tiering(void)
{
    return settings.tiering;
}

int sxs_tier_settings_profiles(const struct sxs_runtime *rt)
{
    return settings.pgo >= 0 ? settings.pgo != 0 : sxs_runtime_facts(rt)->profiles_by_default;
}
