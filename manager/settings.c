/* SPDX-License-Identifier: MIT */
#include "manager/settings.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/log.h"

static const struct sxs_settings_changes *changes; /* NULL: none */

void sxs_settings_change_by(const struct sxs_settings_changes *by)
{
    changes = by;
}

int sxs_settings_parse_pick(struct sxs_settings *s, const char *text)
{
    s->pick = SXS_PICK_ALL;
    if (!text || strcmp(text, "all") == 0)
        return 0;
    if (strcmp(text, "first") == 0) {
        s->pick = SXS_PICK_FIRST;
    } else if (strncmp(text, "one:", 4) == 0 && text[4] && strlen(text + 4) < sizeof(s->pick_what)) {
        s->pick = SXS_PICK_ONE;
        snprintf(s->pick_what, sizeof(s->pick_what), "%s", text + 4);
    } else {
        return -1;
    }
    return 0;
}

static void read_pick(struct sxs_settings *s)
{
    const char *text = sxs_env_get(SXS_ENV_PICK);
    if (sxs_settings_parse_pick(s, text) != 0)
        sxs_error("SXSPROF_PICK=%.100s: expected all, first, or one:VERSION or one:PATH; going on "
                  "with all", text);
}

static void read_unpicked(struct sxs_settings *s)
{
    const char *text = sxs_env_get(SXS_ENV_UNPICKED);
    if (!text || strcmp(text, "guard") == 0)
        return;
    if (strcmp(text, "cancel") == 0)
        s->cancel = 1;
    else
        sxs_error("SXSPROF_UNPICKED=%.100s: expected guard or cancel; going on with guard", text);
}

static const struct sxs_tool *find_tool(const struct sxs_tool *const *known, size_t n,
                                        const char *name, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(known[i]->name, name, len) == 0 && known[i]->name[len] == '\0')
            return known[i];
    return NULL;
}

static int is_enabled(const struct sxs_settings *s, const struct sxs_tool *tool)
{
    for (size_t i = 0; i < s->n_tools; i++)
        if (s->tools[i].tool == tool)
            return 1;
    return 0;
}

static void enable_tool(struct sxs_settings *s, const struct sxs_tool *tool, const char *options)
{
    for (size_t i = 0; i < s->n_tools; i++) {
        if (s->tools[i].tool == tool) { /* enabled already: the last options count */
            s->tools[i].options = options;
            return;
        }
    }
    if (s->n_tools < SXS_MAX_TOOLS)
        s->tools[s->n_tools++] = (struct sxs_enabled_tool){tool, options, !tool->always};
    else
        sxs_error("tool %s is off: there can be %d tools", tool->name, SXS_MAX_TOOLS);
}

/* Enable a tool, after the tool that it needs. */
static void enable_with_needed(struct sxs_settings *s, const struct sxs_tool *const *known,
                               size_t n_known, const struct sxs_tool *tool, const char *options)
{
    const struct sxs_tool *needed =
        tool->needs ? find_tool(known, n_known, tool->needs, strlen(tool->needs)) : NULL;
    if (needed && !is_enabled(s, needed))
        enable_tool(s, needed, "");
    enable_tool(s, tool, options);
}

/* Enable the tools of NAME[:OPTIONS][;NAME[:OPTIONS]]... @by_settings: nonzero: also those whose own
 * settings in the environment enable them. Calls @unknown for each name that no tool
 * has. */
static void enable_listed(struct sxs_settings *s, const struct sxs_tool *const *known,
                          size_t n_known, char *text, int by_settings,
                          void (*unknown)(const char *name, size_t len, void *arg), void *arg)
{
    char *save = NULL;
    for (size_t i = 0; i < n_known; i++)
        if (known[i]->always || (by_settings && known[i]->is_wanted && known[i]->is_wanted()))
            enable_with_needed(s, known, n_known, known[i], "");
    for (char *item = text ? strtok_r(text, ";", &save) : NULL; item;
         item = strtok_r(NULL, ";", &save)) {
        size_t                 len = strcspn(item, ":");
        const struct sxs_tool *tool = find_tool(known, n_known, item, len);
        if (tool)
            enable_with_needed(s, known, n_known, tool, item[len] ? item + len + 1 : "");
        else
            unknown(item, len, arg);
    }
}

static void say_unknown(const char *name, size_t len, void *arg)
{
    (void)arg;
    sxs_error("SXSPROF_TOOLS: there is no tool \"%.*s\"; going on without it", (int)len, name);
}

static void read_tools(struct sxs_settings *s, const struct sxs_tool *const *known, size_t n_known)
{
    const char *env = sxs_env_get(SXS_ENV_TOOLS);
    if (changes)
        env = changes->tools(env);
    s->tools_text = env ? strdup(env) : NULL;
    enable_listed(s, known, n_known, s->tools_text, 1, say_unknown, NULL);
}

struct unknown_name {
    char text[64]; /* "": none */
};

static void keep_unknown(const char *name, size_t len, void *arg)
{
    struct unknown_name *unknown = arg;
    snprintf(unknown->text, sizeof(unknown->text), "\"%.*s\"", (int)len, name);
}

int sxs_settings_parse_tools(struct sxs_settings *s, const struct sxs_tool *const *known,
                             size_t n_known, char *text, char *why, size_t size)
{
    struct unknown_name unknown = {""};
    bool                any = text && text[strspn(text, ";")]; /* strtok_r() changes the text */
    s->n_tools = 0;
    s->tools_text = text;
    enable_listed(s, known, n_known, text, 0, keep_unknown, &unknown);
    if (unknown.text[0]) {
        snprintf(why, size, "this library has no tool %s", unknown.text);
        return -1;
    }
    if (any) /* maybe one that is always on: then the session has its counts */
        return 0;
    snprintf(why, size, "no tool is named");
    return -1;
}

void sxs_settings_read(struct sxs_settings *s, const struct sxs_tool *const *known, size_t n_known)
{
    memset(s, 0, sizeof(*s));
    read_pick(s);
    read_unpicked(s);
    read_tools(s, known, n_known);
    s->out = sxs_env_get(SXS_ENV_OUT);
    if (changes)
        s->out = changes->out(s->out);
    if (s->out)
        s->out = strdup(s->out); /* the host may change its environment */
}

int sxs_settings_names(const char *what, const char *version, const char *path)
{
    size_t len = strlen(what);
    if (strchr(what, '/')) {
        char a[PATH_MAX], b[PATH_MAX];
        return strcmp(what, path) == 0 ||
               (realpath(what, a) && realpath(path, b) && strcmp(a, b) == 0);
    }
    return strncmp(version, what, len) == 0 && (version[len] == '.' || version[len] == '\0');
}
