/* SPDX-License-Identifier: MIT */
#include "cmd/settings.h"

#include "base/mask.h"
#include "cmd/guest_option.h"
#include "cmd/method_option.h"
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
#include "tools/options/wait_options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The tools that --tool accepts, and their options. */
static const struct {
    const char                  *name;
    const struct sxs_tool_table *options; /* NULL: none */
} tools[] = {
    {"census", NULL},
    {"sample", &sxs_sampler_table},
    {"calls", &sxs_calls_table},
    {"exceptions", NULL},
    {"events", &sxs_event_table},
    {"instrument", &sxs_instrument_table},
    {"alloc", &sxs_alloc_table},
    {"native", &sxs_native_table},
    {"gc", NULL},
    {"locks", &sxs_locks_table},
    {"heap", &sxs_heap_table},
    {"wait", &sxs_wait_table},
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
    const char *wrong = list ? NULL : "out of memory";
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

static const char *check_every(const char *value, char *why, size_t size)
{
    return check_kept(value, &(struct sxs_keep_texts){.every = value}, SXS_EVERY_EXPECTED, why,
                      size);
}

static const char *check_on(const char *value, char *why, size_t size)
{
    return check_kept(value, &(struct sxs_keep_texts){.on = value}, SXS_ON_EXPECTED, why, size);
}

static const char *check_budget(const char *value, char *why, size_t size)
{
    return check_kept(value, &(struct sxs_keep_texts){.every = "60s", .budget = value},
                      SXS_BUDGET_EXPECTED, why, size);
}

static const char *check_mask(const char *value, char *why, size_t size)
{
    (void)why, (void)size;
    return sxs_mask_parse(value) < 0 ? "" : NULL;
}

const struct sxs_setting sxs_settings[] = {
    {"SXSPROF_PICK", "--pick", SXS_PICK_EXPECTED, sxs_pick_check},
    {"SXSPROF_UNPICKED", "--unpicked", "guard or cancel", check_unpicked},
    {"SXSPROF_TOOLS", "--tool", NULL, check_tools},
    {"SXSPROF_CALLS", "--calls", SXS_CALLS_PATTERN_EXPECTED, check_patterns},
    {"SXSPROF_CALLS_NOT", "--calls-not", SXS_CALLS_PATTERN_EXPECTED, check_patterns},
    {"SXSPROF_VALUES", "--values", SXS_CALLS_PATTERN_EXPECTED, check_patterns},
    {"SXSPROF_MASK", "--mask", SXS_MASK_EXPECTED, check_mask},
    {"SXSPROF_INSTRUMENT", "--instrument", NULL, check_instrument},
    {"SXSPROF_GUESTS", "--guest", NULL, sxs_guests_check},
    {"SXSPROF_METHODS", "--method", NULL, sxs_methods_check},
    {"SXSPROF_KEEP", "--keep", NULL, check_keep},
    {"SXSPROF_EVERY", "--every", NULL, check_every},
    {"SXSPROF_ON", "--on", NULL, check_on},
    {"SXSPROF_BUDGET", "--budget", NULL, check_budget},
    {"SXSPROF_SIGNALS", "--signals", "on or off", check_switch},
    {"SXSPROF_CONTROL", NULL, "on, off or code", check_control},
    {"SXSPROF_LOG", NULL, "error, warn, info or debug", check_log},
    {"SXSPROF_OUT", "-o", "an existing folder that can be written to", check_out},
};
const size_t sxs_n_settings = sizeof(sxs_settings) / sizeof(sxs_settings[0]);

const struct sxs_setting *sxs_setting_find(const char *variable)
{
    for (size_t i = 0; i < sxs_n_settings; i++)
        if (strcmp(sxs_settings[i].variable, variable) == 0)
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
