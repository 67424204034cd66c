/* SPDX-License-Identifier: MIT */
#include "cmd/method_option.h"

#include "cmd/guest_option.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sxs_method_check(const struct clrie_plugin_declaration *d, char *why, size_t size)
{
    char wrong[1024];
    if (sxs_profiler_library_check(d->path, "a plug-in", wrong, sizeof(wrong)) == 0)
        return 0;
    snprintf(why, size, "%s:%u: <Module>: %s", d->config, d->line, wrong);
    return -1;
}

static const char *check_file(const char *path, char *why, size_t size)
{
    struct clrie_plugin_list list = {NULL, 0};
    struct sxs_first_problem first = {why, size, false};
    const char              *wrong = NULL;
    if (clrie_config_read_file(&list, path, sxs_first_problem_keep, &first) < 0)
        wrong = "out of memory";
    else if (first.any)
        wrong = why;
    for (size_t i = 0; i < list.n && !wrong; i++)
        wrong = sxs_method_check(&list.items[i], why, size) == 0 ? NULL : why;
    if (!wrong && !list.n) {
        snprintf(why, size, "%s: no plug-in; expected <InstrumentationMethod>", path);
        wrong = why;
    }
    clrie_config_free(&list);
    return wrong;
}

const char *sxs_methods_check(const char *value, char *why, size_t size)
{
    char       *list = strdup(value), *rest = list, *path;
    const char *wrong = list ? NULL : "out of memory";
    while (!wrong && (path = strsep(&rest, ":")) != NULL) {
        char *real = *path ? realpath(path, NULL) : NULL;
        if (real)
            wrong = check_file(real, why, size);
        if (!real && *path) {
            snprintf(why, size, "%s: %s; expected a configuration file of plug-ins", path,
                     strerror(errno));
            wrong = why;
        }
        free(real);
    }
    free(list);
    return wrong;
}

char *sxs_method_item(const char *argument, char *why, size_t size)
{
    char *real = realpath(argument, NULL);
    if (!real) {
        snprintf(why, size, "%s: %s; expected a configuration file of plug-ins", argument,
                 strerror(errno));
        return NULL;
    }
    if (strchr(real, ':'))
        snprintf(why, size,
                 "%s: ':' separates files in SXSPROF_METHODS; expected a path without it", real);
    else if (!sxs_methods_check(real, why, size))
        return real;
    free(real);
    return NULL;
}
