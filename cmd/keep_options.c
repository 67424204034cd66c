/* SPDX-License-Identifier: MIT */
#include "cmd/keep_options.h"

#include "base/env.h"
#include "cmd/output/print.h"
#include "cmd/settings.h"
#include "control/keep/keep_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *checked(struct argp_state *state, const char *variable, const char *value)
{
    char                      why[1024];
    const struct sxs_setting *row = sxs_setting_find(variable);
    if (sxs_setting_check(row, row->option, value, why, sizeof(why)) != 0)
        sxs_option_error(state, "%s", why);
    return value;
}

static void add_condition(struct argp_state *state, struct sxs_keep_options *o, const char *arg)
{
    char *longer = NULL;
    checked(state, "SXSPROF_ON", arg);
    if (asprintf(&longer, "%s%s%s", o->on ? o->on : "", o->on ? ";" : "", arg) < 0)
        sxs_option_error(state, "--on: out of memory");
    free(o->on);
    o->on = longer;
}

error_t sxs_keep_option(int key, const char *arg, struct argp_state *state,
                        struct sxs_keep_options *o)
{
    switch (key) {
    case SXS_KEEP_KEEP: o->keep = checked(state, "SXSPROF_KEEP", arg); return 0;
    case SXS_KEEP_EVERY: o->every = checked(state, "SXSPROF_EVERY", arg); return 0;
    case SXS_KEEP_BUDGET: o->budget = checked(state, "SXSPROF_BUDGET", arg); return 0;
    case SXS_KEEP_ON: add_condition(state, o, arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static struct sxs_keep_texts texts_of(const struct sxs_keep_options *o, bool inherited)
{
    return (struct sxs_keep_texts){
        .keep = o->keep || !inherited ? o->keep : sxs_env_named("SXSPROF_KEEP"),
        .every = o->every || !inherited ? o->every : sxs_env_named("SXSPROF_EVERY"),
        .on = o->on || !inherited ? o->on : sxs_env_named("SXSPROF_ON"),
        .budget = o->budget || !inherited ? o->budget : sxs_env_named("SXSPROF_BUDGET"),
    };
}

/* Ends the process with @why, which begins with the name of a setting ("keep"). The message names
 * the option, or the variable if the value is from there. */
static void refuse(struct argp_state *state, const struct sxs_keep_options *o, const char *why)
{
    const struct {
        const char *name, *option, *variable, *given;
    } rows[] = {{"keep", "--keep", "SXSPROF_KEEP", o->keep},
                {"every", "--every", "SXSPROF_EVERY", o->every},
                {"on", "--on", "SXSPROF_ON", o->on},
                {"budget", "--budget", "SXSPROF_BUDGET", o->budget}};
    size_t len = strcspn(why, ":");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strlen(rows[i].name) == len && strncmp(rows[i].name, why, len) == 0)
            sxs_option_error(state, "%s%s%s", rows[i].given ? rows[i].option : rows[i].variable,
                             why + len, rows[i].given ? "" : " (the variable is set)");
    sxs_option_error(state, "%s", why);
}

void sxs_keep_complete(struct argp_state *state, const struct sxs_keep_options *o,
                       const char *tools, bool inherited)
{
    const struct sxs_keep_texts texts = texts_of(o, inherited);
    struct sxs_keep_settings    settings;
    char                        why[SXS_KEEP_WHY];
    if (sxs_keep_parse(&texts, &settings, why, sizeof(why)) != 0)
        refuse(state, o, why);
    if (settings.is_on && sxs_keep_tools_check(tools, why, sizeof(why)) != 0) {
        char line[SXS_KEEP_WHY + 8];
        snprintf(line, sizeof(line), "%s: %s",
                 texts.keep && *texts.keep     ? "keep"
                 : texts.every && *texts.every ? "every"
                                               : "on",
                 why);
        refuse(state, o, line);
    }
}

bool sxs_keep_is_on(const struct sxs_keep_options *o, bool inherited)
{
    const struct sxs_keep_texts texts = texts_of(o, inherited);
    struct sxs_keep_settings    settings;
    char                        why[SXS_KEEP_WHY];
    return sxs_keep_parse(&texts, &settings, why, sizeof(why)) == 0 && settings.is_on;
}

void sxs_keep_options_free(struct sxs_keep_options *o)
{
    free(o->on);
    o->on = NULL;
}
