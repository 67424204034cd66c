/* SPDX-License-Identifier: MIT */
/* Examines the plug-ins of the CLR Instrumentation Engine (CLRIE) that the environment names. */
#include "base/env.h"
#include "cmd/doctor.h"
#include "cmd/method_option.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put_problem(void *arg, const char *line)
{
    sxs_found_problem(arg, "%s", line);
    sxs_found_advice("the rest of this file is not read; plug-ins before this place are loaded");
}

/* Reports the files of one variable "NAME=VALUE" that do not exist: the library skips them without a
 * message, as CLRIE does. */
static void examine_files(struct sxs_findings *f, const char *entry)
{
    int   name = (int)strcspn(entry, "=");
    char *list = entry[name] ? strdup(entry + name + 1) : NULL, *rest = list, *path;
    while ((path = strsep(&rest, ":")) != NULL) {
        if (!*path || access(path, F_OK) == 0)
            continue;
        sxs_found_problem(f, "%.*s: %s: %s: skipped without a message", name, entry, path,
                          strerror(errno));
        sxs_found_advice("correct the path; ':' separates paths, and '~' is not expanded");
    }
    free(list);
}

static bool begins_with(const char *entry, enum sxs_clrie_prefix prefix)
{
    const char *name = sxs_env_clrie_prefixes[prefix].name;
    return strncmp(entry, name, strlen(name)) == 0;
}

static void examine_plugin(struct sxs_findings *f, const struct clrie_plugin_declaration *d)
{
    char why[PATH_MAX + 512];
    if (sxs_method_check(d, why, sizeof(why)) != 0) {
        sxs_found_problem(f, "%s", why);
        sxs_found_advice("runtimes go on without this plug-in");
    } else if (d->is_duplicate) {
        sxs_found_note("%s:%u: %s: an earlier plug-in has the same ClassGuid: skipped", d->config,
                       d->line, d->name);
    } else {
        sxs_found_ok("%s: %s (%s)", d->name, d->path, d->config);
    }
}

void sxs_doctor_methods(struct sxs_findings *f)
{
    struct clrie_plugin_list list = {NULL, 0};
    const char              *entry;
    if (!clrie_config_is_named())
        return;
    sxs_found_title("Plug-ins of the CLR Instrumentation Engine:");
    for (size_t i = 0; (entry = sxs_env_entry(i)) != NULL; i++)
        if (begins_with(entry, SXS_CLRIE_PREFIX_CONFIG_64) ||
            begins_with(entry, SXS_CLRIE_PREFIX_CONFIG))
            examine_files(f, entry);
    if (clrie_config_read(&list, put_problem, f) < 0)
        sxs_found_problem(f, "out of memory");
    for (size_t i = 0; i < list.n; i++)
        examine_plugin(f, &list.items[i]);
    clrie_config_free(&list);
}
