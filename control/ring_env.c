/* SPDX-License-Identifier: MIT */
/* ring_env.c - the ring that the environment asks for: its first segment is made before the first
 * session begins. */
#include "control/ring.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "base/fork.h"
#include "base/log.h"
#include "control/duration_env.h"
#include "control/ring/conditions.h"
#include "control/ring_internal.h"
#include "manager/settings.h"

/* Logs "SXSPROF_KEEP: ..." for "keep: ...". */
static void refuse(const char *why)
{
    char   name[16] = "";
    size_t len = strcspn(why, ":");
    for (size_t i = 0; i < len && i + 1 < sizeof(name); i++)
        name[i] = (char)toupper((unsigned char)why[i]);
    sxs_error("SXSPROF_%s%s; nothing is recorded, the program runs on", name, why + len);
    sxs_ring.is_refused = 1;
}

static void read_settings(void)
{
    const struct sxs_keep_texts texts = {
        .keep = sxs_env_get(SXS_ENV_KEEP),
        .segment = sxs_env_get(SXS_ENV_SEGMENT),
        .on = sxs_env_get(SXS_ENV_ON),
        .budget = sxs_env_get(SXS_ENV_BUDGET),
    };
    char why[SXS_KEEP_WHY];
    if (sxs_keep_parse(&texts, &sxs_ring.settings, why, sizeof(why)) != 0)
        refuse(why);
}

/* Notes the tools of the environment. The tool instrument is enabled by a variable of its own. */
static void note_tools(const char *text)
{
    const char *rules = sxs_env_get(SXS_ENV_INSTRUMENT);
    char        why[SXS_KEEP_WHY - 16], line[SXS_KEEP_WHY];
    if ((size_t)snprintf(sxs_ring.tools, sizeof(sxs_ring.tools), "%s%s%s", text ? text : "",
                         text && rules ? ";" : "",
                         rules ? "instrument" : "") >= sizeof(sxs_ring.tools) ||
        sxs_keep_tools(sxs_ring.tools, &sxs_ring.settings, 1, sxs_ring.now.tools) != 0) {
        snprintf(line, sizeof(line), "tools: expected at most %d bytes", SXS_KEEP_TOOLS);
        refuse(line);
    } else if (sxs_keep_tools_check(sxs_ring.tools, why, sizeof(why)) != 0) {
        snprintf(line, sizeof(line), "tools: %s", why);
        refuse(line);
    } else if (!sxs_env_get(SXS_ENV_OUT)) {
        refuse("out: expected the folder of the segments");
    }
}

static const char *change_tools(const char *text)
{
    read_settings();
    sxs_duration_prepare();
    if (sxs_ring.is_refused || sxs_duration_is_over())
        return NULL;
    if (!sxs_ring.settings.is_on)
        return text;
    note_tools(text);
    return sxs_ring.is_refused ? NULL : sxs_ring.now.tools;
}

/* Makes the first segment. A folder that cannot be used is left to the first session, which says
 * why. */
static const char *change_out(const char *text)
{
    static char path[PATH_MAX + SXS_SEGMENT_NAME];
    char        why[SXS_SESSION_WHY];
    int         err;
    if (sxs_ring.is_refused || sxs_duration_is_over())
        return NULL;
    if (!sxs_ring.settings.is_on)
        return text;
    sxs_ring.generation = sxs_fork_generation();
    if ((size_t)snprintf(sxs_ring.path, sizeof(sxs_ring.path), "%s", text) >=
            sizeof(sxs_ring.path) ||
        sxs_ring_open(why, sizeof(why)) != 0)
        return text;
    err = sxs_ring_make_segment(&sxs_ring.now);
    if (err) {
        snprintf(why, sizeof(why), "out: %.200s: %s", sxs_ring.path, strerror(-err));
        sxs_ring_close();
        refuse(why);
        return NULL;
    }
    sxs_conditions_start(&sxs_ring.settings);
    snprintf(path, sizeof(path), "%s/%s", sxs_ring.path, sxs_ring.now.name);
    sxs_ring.may_load_code = 1;
    sxs_ring.is_ready = 1;
    return path;
}

void sxs_ring_prepare(void)
{
    static const struct sxs_settings_changes changes = {change_tools, change_out};
    sxs_settings_change_by(&changes);
}
