/* SPDX-License-Identifier: MIT */
#include "cmd/settings.h"

#include "base/mask.h"
#include "base/text/duration.h"
#include "cmd/guest_option.h"
#include "cmd/method_option.h"
#include "cmd/output/formats.h"
#include "cmd/pick_value.h"
#include "control/keep/keep_settings.h"

#include "instr/config/config.h"
#include "tools/options/alloc_options.h"
#include "tools/options/calls_options.h"
#include "tools/options/events_options.h"
#include "tools/options/heap_options.h"
#include "tools/options/instrument_options.h"
#include "tools/options/locks_options.h"
#include "tools/options/native_options.h"
#include "tools/options/sample_options.h"
#include "tools/options/tool_list.h"
#include "tools/options/wait_options.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The tools that --tool accepts, and their options. */
static const struct {
    const char                  *name;
    const struct sxs_tool_table *options; /* NULL: none */
} tools[] = {
#define OWN(name)
#define NAMED(name, table) {#name, table},
    SXS_TOOLS(OWN, NAMED)
#undef OWN
#undef NAMED
};
#define N_TOOLS (sizeof(tools) / sizeof(tools[0]))

/* Receives the options of any tool while they are checked. */
union tool_values {
    struct sxs_sampler_options    sampler;
    struct sxs_calls_options      calls;
    struct sxs_event_options      events;
    struct sxs_instrument_options instrument;
    struct sxs_alloc_options      alloc;
    struct sxs_native_options     native;
    struct sxs_locks_options      locks;
    struct sxs_heap_options       heap;
    struct sxs_wait_options       wait;
};

static const char *check_options(const struct sxs_tool_table *table, const char *options, char *why,
                                 size_t size)
{
    union tool_values values = {0};
    char              detail[SXS_TOOL_WHY];
    int               err =
        table == &sxs_instrument_table
                          ? sxs_instrument_options_parse(options, &values.instrument, detail, sizeof(detail))
                          : sxs_tool_parse(table, options, &values, detail, sizeof(detail));
    if (err == 0)
        return NULL;
    snprintf(why, size, "%s: %s", table->tool, detail);
    return why;
}

const char *sxs_tool_option_check(const struct sxs_tool_option *row, const char *value)
{
    union tool_values values = {0};
    return row->read(row, value, &values) == 0 ? NULL : row->expected;
}

const char *sxs_tool_names(const char *separator)
{
    static char list[256];
    size_t      len = 0;
    for (size_t i = 0; i < N_TOOLS && len < sizeof(list); i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? separator : "",
                                tools[i].name);
    return list;
}

bool sxs_tool_exists(const char *name, size_t len)
{
    for (size_t i = 0; i < N_TOOLS; i++)
        if (strlen(tools[i].name) == len && strncmp(name, tools[i].name, len) == 0)
            return true;
    return false;
}

const char *sxs_tool_check(const char *tool, char *why, size_t size)
{
    size_t len = strcspn(tool, ":");
    if (strchr(tool, ';')) {
        snprintf(why, size, "'%s': ';' separates tools and cannot be part of one", tool);
        return why;
    }
    for (size_t i = 0; i < N_TOOLS; i++) {
        if (strlen(tools[i].name) != len || strncmp(tool, tools[i].name, len) != 0)
            continue;
        if (tool[len] != ':')
            return NULL;
        if (tools[i].options)
            return check_options(tools[i].options, tool + len + 1, why, size);
        snprintf(why, size, "'%s': the tool %s takes no options", tool, tools[i].name);
        return why;
    }
    if (len)
        snprintf(why, size, "'%s': there is no tool '%.*s' (known: %s)", tool, (int)len, tool,
                 sxs_tool_names(", "));
    else
        snprintf(why, size, "'%s': the tool has no name; expected NAME[:OPTIONS]", tool);
    return why;
}

/* @choices: ends with NULL. Returns NULL when @value is one of them, else @wrong. */
static const char *one_of(const char *value, const char *const *choices, const char *wrong)
{
    for (; *choices; choices++)
        if (strcmp(value, *choices) == 0)
            return NULL;
    return wrong;
}

static const char *check_unpicked(const char *value, char *why, size_t size)
{
    static const char *const choices[] = {"guard", "cancel", NULL};
    (void)why, (void)size;
    return one_of(value, choices, "not a known choice");
}

static const char *check_switch(const char *value, char *why, size_t size)
{
    static const char *const choices[] = {"on", "off", NULL};
    (void)why, (void)size;
    return one_of(value, choices, "not a known choice");
}

static const char *check_control(const char *value, char *why, size_t size)
{
    static const char *const choices[] = {"on", "off", "code", NULL};
    (void)why, (void)size;
    return one_of(value, choices, "not a known choice");
}

static const char *check_tools(const char *value, char *why, size_t size)
{
    char       *list = strdup(value), *save = NULL;
    const char *wrong = !list ? "out of memory" : *value ? NULL : sxs_tool_check(value, why, size);
    for (char *t = list ? strtok_r(list, ";", &save) : NULL; t && !wrong;
         t = strtok_r(NULL, ";", &save))
        wrong = sxs_tool_check(t, why, size);
    free(list);
    return wrong;
}

static const char *check_patterns(const char *value, char *why, size_t size)
{
    struct sxs_calls_pattern parsed;
    if (!*value)
        return "an empty pattern";
    while (*value) {
        size_t len = strcspn(value, ";");
        if (len && sxs_calls_pattern(value, len, &parsed) != 0) {
            snprintf(why, size, "'%.*s' is no pattern", (int)len, value);
            return why;
        }
        value += len + (value[len] == ';');
    }
    return NULL;
}

static const char *check_log(const char *value, char *why, size_t size)
{
    static const char *const levels[] = {"error", "warn", "info", "debug", NULL};
    (void)why, (void)size;
    return one_of(value, levels, "not a known level");
}

static const char *check_instrument(const char *value, char *why, size_t size)
{
    struct sxs_config *config = sxs_config_load(value, NULL);
    const char        *wrong = !config ? "out of memory" : config->n_errors ? why : NULL;
    size_t             len = 0;
    if (config && config->n_errors) {
        uint32_t i = 0;
        while (config->problems[i].warning)
            i++;
        len = sxs_config_put_problem(&config->problems[i], why, size);
        if (config->n_errors > 1 && len < size)
            snprintf(why + len, size - len, " (and %u more: sxsprof check %s)",
                     config->n_errors - 1, value);
    }
    sxs_config_free(config);
    return wrong;
}

static const char *check_out(const char *value, char *why, size_t size)
{
    struct stat st;
    if (stat(value, &st) != 0) {
        snprintf(why, size, "there is no folder %s", value);
        return why;
    }
    if (!S_ISDIR(st.st_mode))
        return "not a folder";
    return NULL;
}

/* Checks @value of a setting of continuous mode, as if @texts with it were all. */
static const char *check_kept(const char *value, const struct sxs_keep_texts *texts,
                              const char *expected, char *why, size_t size)
{
    struct sxs_keep_settings settings;
    char                     text[SXS_KEEP_WHY];
    if (!*value) /* in a variable: not set */
        snprintf(why, size, "'': expected %s", expected);
    else if (sxs_keep_parse(texts, &settings, text, sizeof(text)) != 0)
        snprintf(why, size, "%s", text + strcspn(text, ":") + strlen(": "));
    else
        return NULL;
    return why;
}

static const char *check_keep(const char *value, char *why, size_t size)
{
    return check_kept(value, &(struct sxs_keep_texts){.keep = value}, SXS_KEEP_EXPECTED, why, size);
}

static const char *check_segment(const char *value, char *why, size_t size)
{
    return check_kept(value, &(struct sxs_keep_texts){.segment = value}, SXS_SEGMENT_EXPECTED, why,
                      size);
}

static const char *check_on(const char *value, char *why, size_t size)
{
    return check_kept(value, &(struct sxs_keep_texts){.on = value}, SXS_ON_EXPECTED, why, size);
}

static const char *check_budget(const char *value, char *why, size_t size)
{
    return check_kept(value, &(struct sxs_keep_texts){.segment = "60s", .budget = value},
                      SXS_BUDGET_EXPECTED, why, size);
}

static const char *check_format(const char *value, char *why, size_t size)
{
    if (sxs_format_is_known(value))
        return NULL;
    snprintf(why, size, "'%s': expected %s", value, sxs_format_names());
    return why;
}

static const char *check_mask(const char *value, char *why, size_t size)
{
    (void)why, (void)size;
    return sxs_mask_parse(value) < 0 ? "" : NULL;
}

/* ---- arguments that become something else ---------------------------------------------------- */

/* Makes the path of "one:PATH" absolute, because the command may change its current folder before the
 * library uses the path. */
static char *take_pick(const char *pick, char *why, size_t size)
{
    char path[PATH_MAX], *out = NULL;
    bool relative = strncmp(pick, "one:", 4) == 0 && pick[4] != '/' && strchr(pick, '/');
    if (relative && !realpath(pick + 4, path))
        snprintf(why, size, "%s: %s", pick + 4, strerror(errno));
    else if (asprintf(&out, "%s%s", relative ? "one:" : pick, relative ? path : "") < 0)
        out = NULL;
    return out;
}

/* Makes the path absolute, because the command may change its current folder. Symbolic links are
 * kept: the library resolves them again whenever the files change. */
static char *take_rules(const char *path, char *why, size_t size)
{
    char *folder = *path == '/' ? NULL : get_current_dir_name(), *out = NULL;
    if (access(path, F_OK) != 0 || (*path != '/' && !folder))
        snprintf(why, size, "%s: %s", path, strerror(errno));
    else if (asprintf(&out, "%s%s%s", folder ? folder : "", folder ? "/" : "", path) < 0)
        out = NULL;
    free(folder);
    return out;
}

static const char *check_duration(const char *value, char *why, size_t size)
{
    uint64_t ns = 0;
    size_t   len = strcspn(value, ","); /* then, in the variable, the time from which it counts */
    if (value[len] && !value[len + 1 + strspn(value + len + 1, "0123456789")] && value[len + 1])
        value = strndupa(value, len);
    if (sxs_duration_read(value, strlen(value), UINT64_C(1000000000), &ns) == 0 && ns)
        return NULL;
    snprintf(why, size, "'%s': expected " SXS_DURATION_EXPECTED, value);
    return why;
}

static const char *check_name(const char *value, char *why, size_t size)
{
    if (*value)
        return NULL;
    snprintf(why, size, "the name is empty: expected a PID or a name");
    return why;
}

#define COMMAND    SXS_WITH_COMMAND
#define PROCESS    SXS_WITH_PROCESS
#define BACKGROUND SXS_WITH_BACKGROUND
#define ENV        SXS_WITH_ENV
#define RUNNING    (PROCESS | BACKGROUND)
#define ANYWHERE   (COMMAND | RUNNING | ENV)

const struct sxs_setting sxs_settings[SXS_N_SETTINGS] = {
    [SXS_SET_PROCESS] =
        {"--process", 'p', "PID|NAME",
         "Record in this process, which runs already: its ID, or the name of the process, "
         "of its program or its assembly (sxsprof ps lists them)",
         RUNNING, .check = check_name},
    [SXS_SET_DURATION] =
        {"--duration", 'd', "TIME",
         "End the recording after this time, such as 500ms, 30s or 5m; a command runs on", ANYWHERE,
         "SXSPROF_DURATION", .check = check_duration},
    [SXS_SET_OUT] =
        {"--output", 'o', "OUT",
         "Where the recording goes; may be given several times. A name that ends in .html, .svg, "
         ".json, .pb.gz, .collapsed, .speedscope.json or as another format of sxsprof report: a "
         "file, and the session is not kept. -: standard output. Every other name: the folder of "
         "the session, new or empty. Default: the folder ./sxsprof-PID",
         ANYWHERE, "SXSPROF_OUT", .expected = "an existing folder that can be written to",
         .check = check_out},
    [SXS_SET_FORMAT] = {"--format", 'f', "FORMAT",
                        "The format of what -o names, whatever its ending; see sxsprof report",
                        COMMAND | PROCESS, .check = check_format},
    [SXS_SET_TOOLS] = {"--tool", '\0', "NAME[:OPTIONS]", "Use a tool; may be given several times",
                       ANYWHERE, "SXSPROF_TOOLS", "tools", "tools", ';', .check = check_tools},
    [SXS_SET_PICK] =
        {"--pick", '\0', "all|first|one:WHAT",
         "Which runtimes are profiled: all of them (the default), the first, or one by a prefix "
         "of its version or its libcoreclr.so's path",
         ANYWHERE, "SXSPROF_PICK", "pick", .expected = SXS_PICK_EXPECTED, .check = sxs_pick_check,
         .take = take_pick},
    [SXS_SET_UNPICKED] =
        {"--unpicked", '\0', "guard|cancel",
         "What becomes of the others: guard their signals (the default), or turn them away",
         COMMAND | ENV, "SXSPROF_UNPICKED", .expected = "guard or cancel", .check = check_unpicked},
    [SXS_SET_CALLS] = {"--only", '\0', "PATTERN",
                       "Count calls only of functions that fit [VERSION/]ASSEMBLY:NAME, wildcards "
                       "* and ?; may be given "
                       "several times (default: all but framework code); brings the tool calls",
                       COMMAND | ENV, "SXSPROF_CALLS", NULL, "patterns", ';', "calls",
                       SXS_CALLS_PATTERN_EXPECTED, check_patterns},
    [SXS_SET_CALLS_NOT] = {"--not", '\0', "PATTERN", "But not of these; may be given several times",
                           COMMAND | ENV, "SXSPROF_CALLS_NOT", NULL, "patterns", ';', "calls",
                           SXS_CALLS_PATTERN_EXPECTED, check_patterns},
    [SXS_SET_VALUES] =
        {"--values", '\0', "PATTERN",
         "Record each call of these functions with arguments and result; may be given several "
         "times; calls of all others take longer too",
         COMMAND | ENV, "SXSPROF_VALUES", NULL, "patterns", ';', "calls",
         SXS_CALLS_PATTERN_EXPECTED, check_patterns},
    [SXS_SET_MASK] =
        {"--mask", '\0', "off|text|all",
         "Values that are not recorded: of texts only their length, or none at all (off is the "
         "default)",
         ANYWHERE, "SXSPROF_MASK", "mask", .expected = SXS_MASK_EXPECTED, .check = check_mask},
    [SXS_SET_INSTRUMENT] =
        {"--instrument", '\0', "PATH",
         "Instrument methods as this file says, or the *.xml of this folder; see sxsprof "
         "check",
         ANYWHERE, "SXSPROF_INSTRUMENT", .check = check_instrument, .take = take_rules},
    [SXS_SET_HEAP_AT_EXIT] =
        {"--heap-at-exit", '\0', NULL,
         "Record all objects of each runtime when its program ends; the tool heap with "
         "at-exit",
         COMMAND | ENV},
    [SXS_SET_GUESTS] =
        {"--guest", '\0', "FILE|CLSID=PATH",
         "Run another profiler as a guest: its class and its library, then optionally "
         ",pick=all|first|one:WHAT ,priority=N ,env=NAME=VALUE; or those of an XML file; may "
         "be given several times",
         COMMAND | ENV, "SXSPROF_GUESTS", NULL, "guests", ';', NULL, NULL, sxs_guests_check,
         sxs_guest_item},
    [SXS_SET_ADOPT] =
        {"--adopt", '\0', NULL,
         "Run the profilers that CORECLR_PROFILER and CORECLR_NOTIFICATION_PROFILERS name as "
         "guests, also when the command sets these variables itself",
         COMMAND | ENV},
    [SXS_SET_METHODS] =
        {"--method", '\0', "CONFIG.xml",
         "Load the plug-ins (instrumentation methods) of the CLR Instrumentation Engine that "
         "this configuration file declares; may be given several times",
         COMMAND | ENV, "SXSPROF_METHODS", NULL, "files", ':', NULL, NULL, sxs_methods_check,
         sxs_method_item},
    [SXS_SET_APPEND] = {"--append", '\0', NULL, "Add to the session that is in the folder of -o",
                        ANYWHERE},
    [SXS_SET_KEEP] =
        {"--keep", '\0', "TIME[,BYTES]",
         "Record segments, and keep the newest: of so much time, and of so many bytes on disk (1g)",
         ANYWHERE, "SXSPROF_KEEP", "keep", .check = check_keep},
    [SXS_SET_SEGMENT] = {"--segment", '\0', "TIME",
                         "Record segments that last so long (60s, or a fifth of --keep)", ANYWHERE,
                         "SXSPROF_SEGMENT", "segment", .check = check_segment},
    [SXS_SET_ON] =
        {"--on", '\0', "CONDITION",
         "Keep the minute around this for good: gc>TIME, cpu>NUMBER% (100% is one processor) or "
         "exception=TYPE; may be given several times",
         ANYWHERE, "SXSPROF_ON", "on", "conditions", ';', .check = check_on},
    [SXS_SET_BUDGET] =
        {"--budget", '\0', "NUMBER%",
         "Lower the rates of segments until the profiler uses at most this part of the CPU time",
         ANYWHERE, "SXSPROF_BUDGET", "budget", .check = check_budget},
    [SXS_SET_NO_PRELOAD] = {"--no-preload", '\0', NULL, "Do not preload the signal library",
                            COMMAND | ENV},
    [SXS_SET_SIGNALS] = {"--signals", '\0', "on|off",
                         "Route signals to their runtimes (on is the default)", COMMAND | ENV,
                         "SXSPROF_SIGNALS", .expected = "on or off", .check = check_switch},
    [SXS_SET_DELAY] = {"--delay", '\0', "TIME", "Wait so long before the recording begins", PROCESS,
                       .check = check_duration},
    [SXS_SET_ALL] = {"--all", '\0', NULL, "Record in all processes with the name of -p", PROCESS},
    [SXS_SET_BACKGROUND] =
        {"--background", '\0', NULL,
         "Return at once: the recording goes on until its time (-d) is over, or sxsprof "
         "stop; in a process that has the profiler's library",
         BACKGROUND},
    [SXS_SET_QUIET] = {"--quiet", '\0', NULL,
                       "Print no progress and nothing about the session at the end", ANYWHERE},
    [SXS_SET_CONTROL] = {.variable = "SXSPROF_CONTROL",
                         .expected = "on, off or code",
                         .check = check_control},
    [SXS_SET_LOG] = {.variable = "SXSPROF_LOG",
                     .expected = "error, warn, info or debug",
                     .check = check_log},
};

const struct sxs_setting *sxs_setting_find(const char *variable)
{
    for (size_t i = 0; i < SXS_N_SETTINGS; i++)
        if (sxs_settings[i].variable && strcmp(sxs_settings[i].variable, variable) == 0)
            return &sxs_settings[i];
    return NULL;
}

int sxs_setting_check(const struct sxs_setting *s, const char *source, const char *value, char *why,
                      size_t size)
{
    char        detail[900];
    const char *wrong = s->check(value, detail, sizeof(detail));
    if (!wrong)
        return 0;
    if (s->expected)
        snprintf(why, size, "%s: '%s': %s; expected %s", source, value, wrong, s->expected);
    else
        snprintf(why, size, "%s: %s", source, wrong);
    return -1;
}
