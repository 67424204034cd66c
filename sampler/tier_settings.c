/* SPDX-License-Identifier: MIT */
#include "sampler/tier_settings.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "manager/base/knob.h"
#include "manager/base/proc.h"

#define PGO_SINCE 8 /* TieredPGO is on by default from .NET 8 on */

static struct {
    enum sxs_tiering tiering;
    long             pgo; /* -1: not set */
} settings = {SXS_TIERING_USUAL, -1};

/* The number that the environment sets a runtime's knob to, in hexadecimal as the runtime reads it; -1: none. */
static long read_knob(const char *name)
{
    for (unsigned kind = 0; kind < SXS_KNOB_KINDS; kind++) {
        char        variable[SXS_KNOB_SIZE];
        const char *value = sxs_knob_variable(kind, name, variable);
        if (value && *value)
            return (long)(strtoul(value, NULL, 16) & INT_MAX);
    }
    return -1;
}

/* Settings under which a method's first compilation may be at another tier than 0, or its next another. */
static int has_unusual_knob(void)
{
    static const char *const knobs[] = {"TC_QuickJit",
                                        "TC_QuickJitForLoops",
                                        "TC_OnStackReplacement",
                                        "TC_AggressiveTiering",
                                        "TC_CallCounting",
                                        "TieredPGO_InstrumentOnlyHotCode",
                                        "JITMinOpts"};
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

/* Does the file @stem.runtimeconfig.json mention tiered compilation? */
static int is_mentioned_by(const char *stem, size_t len)
{
    char path[PATH_MAX];
    return (size_t)snprintf(path, sizeof(path), "%.*s.runtimeconfig.json", (int)len, stem) <
               sizeof(path) &&
           sxs_proc_lines(path, has_tiered, NULL) > 0;
}

/* The program is NAME (with NAME.dll beside it), or what `dotnet NAME.dll` runs. */
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
    settings.pgo = read_knob("TieredPGO");
    if (read_knob("TieredCompilation") == 0)
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
    return settings.pgo >= 0 ? settings.pgo != 0 : atoi(sxs_runtime_version(rt)) >= PGO_SINCE;
}
