/* SPDX-License-Identifier: MIT */
/* properties.c - collects the properties for coreclr_initialize. */
#include "harness/properties.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/self.h"

static bool ends_with(const char *text, const char *end)
{
    size_t text_len = strlen(text), end_len = strlen(end);

    return text_len >= end_len && !strcmp(text + text_len - end_len, end);
}

/* Returns the paths of all dlls in the folder, separated by colons; owned, NULL on failure. */
static char *list_dlls(const char *dir)
{
    char          *text = NULL;
    size_t         size = 0;
    FILE          *out = open_memstream(&text, &size);
    DIR           *list = opendir(dir);
    struct dirent *entry;

    while (out && list && (entry = readdir(list)))
        if (ends_with(entry->d_name, ".dll"))
            fprintf(out, "%s%s/%s", ftell(out) ? ":" : "", dir, entry->d_name);
    bool whole = out && list;
    if (out && fclose(out))
        whole = false;
    if (list)
        closedir(list);
    if (whole)
        return text;
    free(text);
    return NULL;
}

/* Adds a property and takes ownership of @value. Returns -1 if @value is NULL (no memory). */
static int add_property(struct sxs_properties *out, const char *key, char *value)
{
    if (!value)
        return -1;
    out->keys[out->len] = key;
    out->values[out->len++] = value;
    return 0;
}

__attribute__((format(printf, 1, 2))) static char *format(const char *fmt, ...)
{
    va_list args;
    char   *text;

    va_start(args, fmt);
    int len = vasprintf(&text, fmt, args);
    va_end(args);
    return len < 0 ? NULL : text;
}

/* Value of System.Globalization.Invariant. runsxs does not read runtimeconfig.json, and a runtime
 * ends the process if it finds neither culture data (ICU) nor this setting. The environment
 * variable has precedence. */
static const char *invariant(void)
{
    const char *env = getenv("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT");

    return !env || !strcmp(env, "1") || !strcmp(env, "true") ? "true" : "false";
}

int sxs_properties_fill(struct sxs_properties *out, const char *runtime_dir, const char *app_dir)
{
    const char *app = app_dir ? app_dir : "";

    memset(out, 0, sizeof(*out));
    if (add_property(out, "TRUSTED_PLATFORM_ASSEMBLIES", list_dlls(runtime_dir)) ||
        add_property(out, "APP_PATHS", format("%s", app)) ||
        add_property(
            out, "NATIVE_DLL_SEARCH_DIRECTORIES",
            format("%s/:%s%s%s/", runtime_dir, app, app_dir ? "/:" : "", sxs_self_dir())) ||
        add_property(out, "System.Globalization.Invariant", format("%s", invariant())))
        return -1;
    return app_dir ? add_property(out, "APP_CONTEXT_BASE_DIRECTORY", format("%s/", app)) : 0;
}

void sxs_properties_free(struct sxs_properties *properties)
{
    for (int i = 0; i < properties->len; i++)
        free(properties->values[i]);
    memset(properties, 0, sizeof(*properties));
}
