/* SPDX-License-Identifier: MIT */
/* environment.c - the configuration files that the environment names. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "clrie/config/config.h"
#include "clrie/config/report.h"
#include "instr/config/config.h"

struct environment_reading {
    struct clrie_plugin_list *list;
    clrie_config_report      *report;
    void                     *arg;
    int                       n_files;
    int                       failed; /* no memory */
};

int clrie_report_problems(struct sxs_config *problems, clrie_config_report *report, void *arg)
{
    char line[1024];
    int  wrong;
    if (!problems)
        return -1;
    for (uint32_t i = 0; i < problems->n_problems; i++) {
        sxs_config_put_problem(&problems->problems[i], line, sizeof(line));
        for (char *at = line; *at; at++)
            if ((unsigned char)*at < ' ')
                *at = ' '; /* a text of the file may have several lines */
        report(arg, line);
    }
    wrong = problems->n_errors != 0;
    sxs_config_free(problems);
    return wrong;
}

/* Returns the value of an entry "NAME=VALUE" if its name begins with one of the prefixes of
 * configuration files, and the value is not empty; else NULL. */
static const char *config_value(const char *entry)
{
    static const enum sxs_clrie_prefix prefixes[] = {SXS_CLRIE_PREFIX_CONFIG_64,
                                                     SXS_CLRIE_PREFIX_CONFIG};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        const char *prefix = sxs_env_clrie_prefixes[prefixes[i]].name, *value;
        if (strncmp(entry, prefix, strlen(prefix)) != 0)
            continue;
        value = strchr(entry + strlen(prefix), '=');
        return value && value[1] ? value + 1 : NULL;
    }
    return NULL;
}

static atomic_int asked;

void clrie_config_ask(void)
{
    atomic_store(&asked, 1);
}

/* Tells whether CLRIE itself is declared as a guest. */
static int is_guest(void)
{
    const char *guests = sxs_env_get(SXS_ENV_GUESTS);
    return guests && strcasestr(guests, CLRIE_CLSID);
}

int clrie_config_is_named(void)
{
    const char *entry;
    if (atomic_load(&asked) || sxs_env_get(SXS_ENV_METHODS))
        return 1;
    if (is_guest())
        return 0;
    for (size_t i = 0; (entry = sxs_env_entry(i)) != NULL; i++)
        if (config_value(entry))
            return 1;
    return 0;
}

/* Reads one file. @must_exist: report a file that cannot be found. */
static void read_part(struct environment_reading *r, const char *path, int must_exist)
{
    char *real = realpath(path, NULL);
    char  line[1024];
    if (!real && errno == ENOMEM) {
        r->failed = 1;
    } else if (real) {
        r->n_files++;
        if (clrie_config_read_file(r->list, real, r->report, r->arg) < 0)
            r->failed = 1;
    } else if (must_exist) {
        snprintf(line, sizeof(line), "%s: %s; expected a configuration file of plug-ins", path,
                 strerror(errno));
        r->report(r->arg, line);
    }
    free(real);
}

/* Reads the files of a list that is separated by ':'. */
static void read_list(struct environment_reading *r, const char *value, int must_exist)
{
    char *list = strdup(value), *rest = list, *path;
    r->failed |= !list;
    while ((path = strsep(&rest, ":")) != NULL)
        if (*path)
            read_part(r, path, must_exist);
    free(list);
}

int clrie_config_read(struct clrie_plugin_list *list, clrie_config_report *report, void *arg)
{
    struct environment_reading r = {list, report, arg, 0, 0};
    const char                *value = sxs_env_get(SXS_ENV_METHODS), *entry;
    if (value)
        read_list(&r, value, 1);
    for (size_t i = 0; !is_guest() && (entry = sxs_env_entry(i)) != NULL; i++) {
        value = config_value(entry);
        if (value)
            read_list(&r, value, 0);
    }
    return r.failed ? -1 : r.n_files;
}
