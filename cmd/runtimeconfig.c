/* SPDX-License-Identifier: MIT */
#include "cmd/runtimeconfig.h"
#include "base/env.h"
#include "runtime_facts/version.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BASE_FRAMEWORK "Microsoft.NETCore.App"

static const char *string_of(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

static void take_framework(struct sxs_runtimeconfig *out, const json_t *framework)
{
    const char *name = string_of(framework, "name");
    if (!out->framework[0])
        snprintf(out->framework, sizeof(out->framework), "%s", name);
    if (strcmp(name, BASE_FRAMEWORK) == 0)
        snprintf(out->version, sizeof(out->version), "%s", string_of(framework, "version"));
}

int sxs_runtimeconfig_read(const char *path, struct sxs_runtimeconfig *out, char *why, size_t size)
{
    json_error_t error;
    memset(out, 0, sizeof(*out));
    json_t *top = json_load_file(path, 0, &error);
    json_t *options = json_object_get(top, "runtimeOptions");
    if (!options) {
        snprintf(why, size, "%s: %s", path,
                 top ? "it has no runtimeOptions" : error.text);
        json_decref(top);
        return -1;
    }
    const char   *asked = sxs_env_named("DOTNET_ROLL_FORWARD");
    const char   *written = string_of(options, "rollForward");
    const json_t *framework;
    size_t        i;
    take_framework(out, json_object_get(options, "framework"));
    json_array_foreach(json_object_get(options, "frameworks"), i, framework)
        take_framework(out, framework);
    out->self_contained = json_object_get(options, "includedFrameworks") != NULL;
    snprintf(out->roll_forward, sizeof(out->roll_forward), "%s",
             asked && *asked ? asked : *written ? written : "Minor");
    json_decref(top);
    return 0;
}

/* Returns true when @v is acceptable in place of @want. The .NET host never chooses a lower
 * version, and never a pre-release when a release is wanted. */
static bool version_fits(const struct sxs_release *v, const struct sxs_release *want,
                         const char *policy)
{
    bool same_major = v->major == want->major, same_minor = same_major && v->minor == want->minor;
    if (v->is_preview && !want->is_preview)
        return false;
    if (strcasecmp(policy, "Disable") == 0)
        return same_minor && v->patch == want->patch;
    if (same_minor)
        return v->patch >= want->patch;
    if (strcasecmp(policy, "LatestPatch") == 0)
        return false;
    if (same_major)
        return v->minor > want->minor;
    return strcasestr(policy, "Major") && v->major > want->major;
}

/* Returns true when @a is a better choice than @b; both fit. The policies "Latest..." choose the
 * highest version, the others the nearest minor version, and its highest patch. */
static bool is_better(const struct sxs_release *a, const struct sxs_release *b, const char *policy)
{
    bool latest = strcasecmp(policy, "LatestMinor") == 0 || strcasecmp(policy, "LatestMajor") == 0;
    if (a->major != b->major)
        return latest == (a->major > b->major);
    if (a->minor != b->minor)
        return latest == (a->minor > b->minor);
    return a->patch > b->patch;
}

const struct sxs_installed *sxs_runtimeconfig_choose(const struct sxs_runtimeconfig *config,
                                                     const struct sxs_installed_list *list)
{
    const struct sxs_installed *best = NULL;
    struct sxs_release          want, best_version = {0};
    sxs_release_parse(config->version, &want);
    for (size_t i = 0; i < list->n; i++) {
        struct sxs_release v;
        sxs_release_parse(list->items[i].version, &v);
        if (strcmp(list->items[i].kind, "dotnet") != 0 ||
            !version_fits(&v, &want, config->roll_forward))
            continue;
        if (!best || is_better(&v, &best_version, config->roll_forward)) {
            best = &list->items[i];
            best_version = v;
        }
    }
    return best;
}
