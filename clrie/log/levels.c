/* SPDX-License-Identifier: MIT */
/* levels.c - levels of the log: where they come from, and which part of the log uses which. */
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/env.h"
#include "base/fork.h"
#include "base/log.h"
#include "clrie/log/file.h"
#include "clrie/log/log_internal.h"

static struct {
    unsigned users;
    uint32_t flags;      /* LogLevel, or what SetLoggingFlags() set */
    uint32_t file_flags; /* FileLog; 0: `flags` counts for the file, too */
    char     file_path[PATH_MAX];
    int                    file_is_open, file_is_refused; /* refused: one line said why */
    unsigned plugins[3];         /* number of plug-ins that use each level */
    uint32_t to_file, to_host;   /* levels that go there, of the engine or of plug-ins */
    struct clrie_log_host *host; /* one reference, or NULL */
} state;                         /* guarded by lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);

/* Levels that the engine itself may use: those of GetLoggingFlags(). */
static _Atomic uint32_t effective;

/* ---- texts ------------------------------------------------------------------------------------- */

uint32_t clrie_log_parse(const char *text)
{
    if (strstr(text, "All"))
        return CLRIE_LOG_ALL;
    return (strstr(text, "Errors") ? CLRIE_LOG_ERRORS : 0u) |
           (strstr(text, "Messages") ? CLRIE_LOG_TRACE : 0u) |
           (strstr(text, "Dumps") ? CLRIE_LOG_RESULTS : 0u);
}

static uint32_t read_level(enum sxs_clrie_env variable)
{
    const char *text = sxs_env_clrie_get(variable);
    return text ? clrie_log_parse(text) : 0;
}

/* Returns the value of LogLevel_GUID, with the GUID @id in any case, or NULL. */
static const char *plugin_level(const char *id)
{
    const char *prefix = sxs_env_clrie_prefix(SXS_CLRIE_PREFIX_PLUGIN_LOG_LEVEL), *entry;
    size_t      len = strlen(prefix), id_len = strlen(id);
    for (size_t i = 0; (entry = sxs_env_entry(i)) != NULL; i++)
        if (strncmp(entry, prefix, len) == 0 && strncasecmp(entry + len, id, id_len) == 0 &&
            entry[len + id_len] == '=' && entry[len + id_len + 1])
            return entry + len + id_len + 1;
    return NULL;
}

/* ---- which part uses which level --------------------------------------------------------------- */

static uint32_t plugin_flags_locked(void)
{
    uint32_t flags = 0;
    for (unsigned i = 0; i < 3; i++)
        if (state.plugins[i])
            flags |= 1u << i;
    return flags;
}

static void open_file_locked(void)
{
    char why[200];
    state.file_is_open = clrie_log_file_open(state.file_path, why, sizeof(why));
    if (!state.file_is_open && !state.file_is_refused)
        sxs_warn("%s=%s: %s; nothing is logged there", sxs_env_clrie_name(SXS_CLRIE_FILE_LOG_PATH),
                 state.file_path, why);
    state.file_is_refused = !state.file_is_open;
}

/* Called after each change. Opens the file when a level needs it. */
static void apply_locked(void)
{
    uint32_t plugins = plugin_flags_locked();
    uint32_t file_own = state.file_flags ? state.file_flags : state.flags;
    uint32_t file_plugins = state.file_flags ? state.file_flags : plugins;
    if (!state.file_is_open && (file_own | file_plugins) && *state.file_path)
        open_file_locked();
    if (!state.file_is_open)
        file_own = file_plugins = 0;
    state.to_file = file_own | file_plugins;
    state.to_host = state.host ? state.flags | plugins : 0;
    atomic_store(&effective, file_own | (state.host ? state.flags : 0));
}

/* ---- life -------------------------------------------------------------------------------------- */

static void read_environment_locked(void)
{
    const char *path = sxs_env_clrie_get(SXS_CLRIE_FILE_LOG_PATH);
    state.flags = read_level(SXS_CLRIE_LOG_LEVEL);
    state.file_flags = read_level(SXS_CLRIE_FILE_LOG);
    snprintf(state.file_path, sizeof(state.file_path), "%s",
             path && strlen(path) < sizeof(state.file_path) ? path : "");
}

static void close_file_locked(void)
{
    if (state.file_is_open)
        clrie_log_file_close();
    state.file_is_open = 0;
}

/* Removes the host. Returns it with its reference; NULL: there is none. */
static struct clrie_log_host *take_host_locked(void)
{
    struct clrie_log_host *host = state.host;
    state.host = NULL;
    return host;
}

void clrie_log_open(void)
{
    pthread_mutex_lock(&lock);
    if (state.users++ == 0) {
        read_environment_locked();
        apply_locked();
    }
    pthread_mutex_unlock(&lock);
}

void clrie_log_close(void)
{
    struct clrie_log_host *host = NULL;
    pthread_mutex_lock(&lock);
    if (state.users && --state.users == 0) {
        host = take_host_locked();
        close_file_locked();
        memset(&state, 0, sizeof(state));
        atomic_store(&effective, 0);
    }
    pthread_mutex_unlock(&lock);
    clrie_log_host_unref(host);
}

/* ---- plug-ins ---------------------------------------------------------------------------------- */

static void count_plugin_locked(uint32_t flags, int by)
{
    for (unsigned i = 0; i < 3; i++)
        if (flags & 1u << i && (by > 0 || state.plugins[i]))
            state.plugins[i] += (unsigned)by;
}

void clrie_log_plugin_start(struct clrie_log_plugin *plugin, const GUID *clsid)
{
    char        id[40];
    const char *level;
    snprintf(id, sizeof(id), "%08X-%04X-%04X-%02X%02X-%02X%02X%02X%02X%02X%02X",
             (unsigned)clsid->Data1, clsid->Data2, clsid->Data3, clsid->Data4[0], clsid->Data4[1],
             clsid->Data4[2], clsid->Data4[3], clsid->Data4[4], clsid->Data4[5], clsid->Data4[6],
             clsid->Data4[7]);
    memset(plugin, 0, sizeof(*plugin));
    if (!sxs_env_clrie_get(SXS_CLRIE_NO_LOG_PREFIX))
        snprintf(plugin->prefix, sizeof(plugin->prefix), "[IM:%s]", id);
    level = plugin_level(id);
    plugin->flags = level ? clrie_log_parse(level) : clrie_log_flags();
    pthread_mutex_lock(&lock);
    count_plugin_locked(plugin->flags, 1);
    apply_locked();
    pthread_mutex_unlock(&lock);
}

void clrie_log_plugin_end(struct clrie_log_plugin *plugin)
{
    pthread_mutex_lock(&lock);
    count_plugin_locked(plugin->flags, -1);
    plugin->flags = 0;
    if (state.users)
        apply_locked();
    pthread_mutex_unlock(&lock);
}

/* ---- settings ---------------------------------------------------------------------------------- */

uint32_t clrie_log_flags(void)
{
    return atomic_load_explicit(&effective, memory_order_relaxed);
}

void clrie_log_set_flags(uint32_t flags)
{
    pthread_mutex_lock(&lock);
    state.flags = flags;
    apply_locked();
    pthread_mutex_unlock(&lock);
}

void clrie_log_set_file_flags(uint32_t flags)
{
    pthread_mutex_lock(&lock);
    close_file_locked();
    state.file_flags = flags;
    apply_locked();
    pthread_mutex_unlock(&lock);
}

void clrie_log_set_file_path(const char *path)
{
    pthread_mutex_lock(&lock);
    close_file_locked();
    snprintf(state.file_path, sizeof(state.file_path), "%s",
             strlen(path) < sizeof(state.file_path) ? path : "");
    apply_locked();
    pthread_mutex_unlock(&lock);
}

static struct clrie_log_host *new_host(const void *owner, IProfilerManagerLoggingHost *object)
{
    struct clrie_log_host *host = calloc(1, sizeof(*host));
    if (!host)
        return NULL;
    object->vtbl->AddRef(object);
    host->object = object;
    host->owner = owner;
    atomic_init(&host->refs, 1);
    return host;
}

void clrie_log_host_unref(struct clrie_log_host *host)
{
    if (!host || atomic_fetch_sub(&host->refs, 1) != 1)
        return;
    host->object->vtbl->Release(host->object);
    free(host);
}

void clrie_log_set_host(const void *owner, IProfilerManagerLoggingHost *object)
{
    struct clrie_log_host *host = object ? new_host(owner, object) : NULL, *before;
    pthread_mutex_lock(&lock);
    before = take_host_locked();
    state.host = host;
    apply_locked();
    pthread_mutex_unlock(&lock);
    clrie_log_host_unref(before);
}

void clrie_log_drop_host(const void *owner)
{
    struct clrie_log_host *before = NULL;
    pthread_mutex_lock(&lock);
    if (state.host && state.host->owner == owner) {
        before = take_host_locked();
        apply_locked();
    }
    pthread_mutex_unlock(&lock);
    clrie_log_host_unref(before);
}

/* ---- for write.c ------------------------------------------------------------------------------- */

int clrie_log_begin(uint32_t level, struct clrie_log_host **host)
{
    pthread_mutex_lock(&lock);
    *host = state.to_host & level ? state.host : NULL;
    if (*host)
        atomic_fetch_add(&(*host)->refs, 1);
    return (state.to_file & level) != 0;
}

void clrie_log_end(void)
{
    pthread_mutex_unlock(&lock);
}
