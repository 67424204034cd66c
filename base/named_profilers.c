/* SPDX-License-Identifier: MIT */
#include "base/named_profilers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/env.h"

#if defined(__aarch64__)
#define ARM(name) name "_ARM64",
#else
#define ARM(name)
#endif

const char *const sxs_profiler_paths[] = {ARM("CORECLR_PROFILER_PATH") "CORECLR_PROFILER_PATH_64",
                                          "CORECLR_PROFILER_PATH", NULL};
const char *const sxs_notification_lists[] = {
    ARM("CORECLR_NOTIFICATION_PROFILERS") "CORECLR_NOTIFICATION_PROFILERS_64",
    "CORECLR_NOTIFICATION_PROFILERS", NULL};

static const char *get(const char *name)
{
    const char *value = sxs_env_named(name);
    return value && *value ? value : NULL;
}

static const char *first_set(const char *const *names)
{
    const char *value = NULL;
    for (; !value && *names; names++)
        value = get(*names);
    return value;
}

/* Runtimes read hexadecimal numbers; other texts count as unset. */
static int is_on(const char *name)
{
    const char   *value = get(name);
    char         *end = NULL;
    unsigned long n;
    if (!value)
        return 0;
    errno = 0;
    n = strtoul(value, &end, 16);
    return end != value && errno == 0 && n != 0;
}

static int is_clsid(const char *text, size_t len)
{
    static const char form[] = "{xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}";
    if (len != SXS_CLSID_LENGTH)
        return 0;
    for (size_t i = 0; i < len; i++)
        if (form[i] == 'x' ? !text[i] || !strchr("0123456789abcdefABCDEF", text[i])
                           : text[i] != form[i])
            return 0;
    return 1;
}

int sxs_main_profiler_is_other(const char *ours)
{
    const char *clsid = get("CORECLR_PROFILER");
    return is_on("CORECLR_ENABLE_PROFILING") && clsid && strcasecmp(clsid, ours) != 0;
}

int sxs_main_profiler(const char *ours, struct sxs_named_profiler *out)
{
    const char *path = first_set(sxs_profiler_paths);
    if (!path || !sxs_main_profiler_is_other(ours))
        return 0;
    out->clsid = get("CORECLR_PROFILER");
    out->path = path;
    out->path_len = strlen(path);
    return is_clsid(out->clsid, strlen(out->clsid));
}

const char *sxs_notification_profilers(void)
{
    return is_on("CORECLR_ENABLE_NOTIFICATION_PROFILERS") ? first_set(sxs_notification_lists)
                                                          : NULL;
}

int sxs_next_profiler(const char **at, struct sxs_named_profiler *out)
{
    while (**at) {
        const char *item = *at, *equals;
        size_t      len = strcspn(item, ";");
        *at += len + (item[len] == ';');
        equals = memrchr(item, '=', len);
        if (!equals || equals == item || !is_clsid(equals + 1, len - (size_t)(equals + 1 - item)))
            continue;
        *out = (struct sxs_named_profiler){equals + 1, item, (size_t)(equals - item)};
        return 1;
    }
    return 0;
}
