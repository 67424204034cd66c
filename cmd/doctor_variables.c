/* SPDX-License-Identifier: MIT */
/* Lists the environment variables that matter, examines LD_PRELOAD, and checks the values of
 * SXSPROF_ variables. */
#include "base/env.h"
#include "cmd/doctor.h"
#include "cmd/settings.h"
#include "session/format/folder_open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const prefixes[] = {
    "CORECLR_ENABLE_PROFILING=",
    "CORECLR_PROFILER", /* also with _PATH, _PATH_32, _PATH_64, _PATH_ARM32, _PATH_ARM64 */
    "CORECLR_ENABLE_NOTIFICATION_PROFILERS=",
    "CORECLR_NOTIFICATION_PROFILERS",
    "COR_ENABLE_PROFILING=",
    "COR_PROFILER",
    "DOTNET_ProfA", /* ProfAPI_ and ProfApi_ both occur */
    "COMPlus_ProfA",
    "DOTNET_EnableDiagnostics",
    "COMPlus_EnableDiagnostics",
    "DOTNET_ROOT",
    "DOTNET_ROLL_FORWARD",
    "LD_PRELOAD=",
    "LD_LIBRARY_PATH=",
    "SXSPROF_",
};

static bool is_relevant(const char *entry)
{
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void sxs_doctor_variables(void)
{
    size_t n = 0, n_env = 0;
    while (environ[n_env])
        n_env++;
    char **set = calloc(n_env + 1, sizeof(*set));
    for (size_t i = 0; set && i < n_env; i++)
        if (is_relevant(environ[i]))
            set[n++] = environ[i];
    sxs_found_title("Variables that are set and matter:");
    if (n)
        qsort(set, n, sizeof(*set), by_text);
    for (size_t i = 0; i < n; i++)
        sxs_found_note("%s", set[i]);
    if (n == 0)
        sxs_found_ok("none");
    free(set);
}

static bool same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Examines one element of LD_PRELOAD. Returns true when it is this command's signal library. */
static bool examine_preload(struct sxs_findings *f, const struct sxs_library *lib, const char *path)
{
    if (!strchr(path, '/')) {
        sxs_found_note("%s: looked for by the loader where libraries are", path);
        return false;
    }
    if (access(path, R_OK) != 0) {
        sxs_found_problem(f, "%s: missing, or not readable: the loader goes on without it", path);
        sxs_found_advice("take it out of LD_PRELOAD, or put it back");
        return false;
    }
    if (sxs_doctor_elf(f, "LD_PRELOAD", path) != 0)
        return false;
    bool ours = same_file(path, lib->preload);
    if (ours)
        sxs_found_ok("%s: the signal library of this command", path);
    else if (same_file(path, lib->allocator))
        sxs_found_ok("%s: the allocator of this command, for the tool native", path);
    else
        sxs_found_note("%s: stays, after the signal library of sxsprof", path);
    return ours;
}

void sxs_doctor_preload(struct sxs_findings *f, const struct sxs_library *lib)
{
    const char *value = sxs_env_named("LD_PRELOAD");
    char       *list = value && *value ? strdup(value) : NULL, *save = NULL;
    bool        ours = false;
    sxs_found_title("Preloaded libraries:");
    if (!list)
        sxs_found_ok("none; sxsprof preloads the signal library");
    for (char *p = list ? strtok_r(list, ": ", &save) : NULL; p; p = strtok_r(NULL, ": ", &save))
        ours |= examine_preload(f, lib, p);
    if (list && !ours)
        sxs_found_note(
            "the signal library is not among them: runtimes that start at the same "
            "instant, and NativeAOT libraries, are covered only when sxsprof starts the program");
    free(list);
}

/* Returns true when the library, as this user, can record into the folder. */
static bool examine_folder(struct sxs_findings *f, const char *folder)
{
    char real[PATH_MAX], why[512];
    int  fd = sxs_session_folder_open(folder, 0, SXS_NAMES_PROCESSES | SXS_NAMES_SEGMENTS, real,
                                      NULL, why, sizeof(why));
    if (fd < 0 && (fd == -ENOTEMPTY || strcmp(why, strerror(-fd)) != 0)) {
        sxs_found_problem(f, "SXSPROF_OUT: %s: %s: nothing would be recorded", folder, why);
        sxs_found_advice("the folder must belong to the user that runs the program, and to nobody "
                         "else; examine as that user: sudo -u USER sxsprof doctor");
        return false;
    }
    bool can_write = fd >= 0 && faccessat(fd, ".", W_OK | X_OK, 0) == 0;
    if (fd >= 0)
        close(fd);
    if (!can_write) {
        sxs_found_problem(f, "SXSPROF_OUT: %s cannot be written to: nothing would be recorded",
                          folder);
        sxs_found_advice("unset it, or make the folder writable");
        return false;
    }
    return true;
}

static void examine_setting(struct sxs_findings *f, const struct sxs_setting *s)
{
    char        why[1024];
    const char *value = s->variable ? sxs_env_named(s->variable) : NULL;
    if (!value || !*value)
        return;
    if (strcmp(s->variable, "SXSPROF_GUESTS") == 0 || strcmp(s->variable, "SXSPROF_METHODS") == 0)
        return; /* have sections of their own */
    if (sxs_setting_check(s, s->variable, value, why, sizeof(why)) != 0) {
        sxs_found_problem(f, "%s", why);
        sxs_found_advice("unset it, or set what is expected%s%s",
                         s->option ? "; the recording verbs have " : "",
                         s->option ? s->option : "");
        return;
    }
    if (strcmp(s->variable, "SXSPROF_OUT") == 0 && !examine_folder(f, value))
        return;
    sxs_found_ok("%s=%s", s->variable, value);
}

static void examine_temporary(struct sxs_findings *f)
{
    const char *tmp = sxs_env_named("TMPDIR");
    if (!tmp || !*tmp)
        tmp = "/tmp";
    if (access(tmp, W_OK | X_OK) == 0) {
        sxs_found_ok("%s: sxsprof makes its temporary folders there", tmp);
        return;
    }
    sxs_found_problem(f, "%s: no folder can be made there, as sxsprof does", tmp);
    sxs_found_advice("set TMPDIR to a folder that can be written to, or use -o DIR");
}

void sxs_doctor_settings(struct sxs_findings *f)
{
    sxs_found_title("Settings of the profiler library:");
    for (size_t i = 0; i < SXS_N_SETTINGS; i++)
        examine_setting(f, &sxs_settings[i]);
    for (size_t i = 0; environ[i]; i++) {
        char   name[64];
        size_t len = strcspn(environ[i], "=");
        if (strncmp(environ[i], "SXSPROF_", 8) != 0 || len >= sizeof(name))
            continue;
        memcpy(name, environ[i], len);
        name[len] = '\0';
        if (!sxs_env_is_known(name))
            sxs_found_note("%s: not a setting that this command knows", name);
    }
    examine_temporary(f);
}
