/* SPDX-License-Identifier: MIT */
#include "cmd/attach/rules.h"

#include "cmd/processes/inside.h"
#include "instr/config/config.h"
#include "tools/options/instrument_options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME "instrument:"

/* Takes the path out of the options of one tool. Returns 0 when it is in @path, 1 when there is none. */
static int find_path(const char *tool, size_t len, char path[PATH_MAX])
{
    struct sxs_instrument_options o;
    char                          options[PATH_MAX + 256], detail[SXS_TOOL_WHY];
    if (len < strlen(NAME) || strncmp(tool, NAME, strlen(NAME)) != 0 || len >= sizeof(options))
        return 1;
    snprintf(options, sizeof(options), "%.*s", (int)(len - strlen(NAME)), tool + strlen(NAME));
    if (sxs_instrument_options_parse(options, &o, detail, sizeof(detail)) != 0 || !o.config ||
        o.config_len >= PATH_MAX)
        return 1;
    memcpy(path, o.config, o.config_len);
    path[o.config_len] = '\0';
    return 0;
}

/* Returns 0, or -1 with the first problem of the rules in @why. */
static int check_content(const char *path, char *why, size_t size)
{
    struct sxs_config *config = sxs_config_load(path, NULL);
    int                result = !config || config->n_errors ? -1 : 0;
    if (!config)
        snprintf(why, size, "out of memory");
    for (uint32_t i = 0; config && config->n_errors; i++)
        if (!config->problems[i].warning) {
            sxs_config_put_problem(&config->problems[i], why, size);
            break;
        }
    sxs_config_free(config);
    return result;
}

int sxs_rules_check(const struct sxs_process *p, const char *tools, char *why, size_t size)
{
    char path[PATH_MAX];
    for (const char *at = tools; at && *at;) {
        size_t len = strcspn(at, ";");
        if (find_path(at, len, path) == 0) {
            int err = sxs_inside_can(p, path, R_OK);
            if (err) {
                snprintf(
                    why, size,
                    "tool instrument: %s cannot be read by the process (user %s): %s; expected "
                    "a file as the process sees it",
                    path, p->user, strerror(err));
                return -1;
            }
            if (!sxs_process_is_apart(p) && check_content(path, why, size) != 0)
                return -1;
        }
        at += len + (at[len] == ';');
    }
    return 0;
}
