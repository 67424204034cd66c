/* SPDX-License-Identifier: MIT */
/*
 * Tells which profiler a runtime would load. The rules are those of .NET 8 to 10, from the
 * runtime's source (src/coreclr/vm/profilinghelper.cpp, src/coreclr/inc/clrconfignames.h,
 * utilcode/clrconfig.cpp):
 *  - When EnableDiagnostics or EnableDiagnostics_Profiler is 0, the runtime loads no profiler and
 *    reads no other variable. Each is read as DOTNET_<name>, or as COMPlus_<name> when
 *    DOTNET_<name> is unset or empty.
 *  - The CORECLR_ variables have no such prefix; COR_ variables are not read.
 *  - Numbers are hexadecimal. A value that is not a number counts as unset, and so does an empty
 *    value.
 *  - The path is read from the variable with suffix _ARM64 or _ARM32 on those processors, else
 *    with _64 in a 64-bit process (_32 in a 32-bit process), else without suffix. The runtime
 *    tries only the first variable that is set.
 *  - The class must be a GUID in braces. Besides one main profiler there can be notification
 *    profilers: a list of "path={class}", in variables with the same suffixes, read when
 *    CORECLR_ENABLE_NOTIFICATION_PROFILERS is set and not 0. Since .NET 9 an element without a ';'
 *    after it is ignored (measured: 8.0.29 loads it, 9.0.18 and 10.0.11 do not).
 */
#include "base/env.h"
#include "clrie/config/config.h"
#include "cmd/doctor.h"
#include "cmd/symbols/elf_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const char *get(const char *name)
{
    const char *v = sxs_env_named(name);
    return v && *v ? v : NULL;
}

/* Returns the number in variable @name as a runtime reads it, or @otherwise when the variable is
 * unset or not a number; the latter is reported as a problem. */
static unsigned long read_number(struct sxs_findings *f, const char *name, unsigned long otherwise)
{
    const char *value = get(name);
    char       *end = NULL;
    if (!value)
        return otherwise;
    errno = 0;
    unsigned long n = strtoul(value, &end, 16);
    if (end != value && errno == 0)
        return n;
    sxs_found_problem(f, "%s=%s: not a hexadecimal number, so runtimes take it as %lu", name, value,
                      otherwise);
    sxs_found_advice("set it to 1 or 0");
    return otherwise;
}

/* Returns the name of the variable that a runtime reads for a prefixed name, or NULL when neither
 * prefix is set. @buf: receives the name. */
static const char *prefixed(const char *name, char *buf, size_t size)
{
    static const char *const order[] = {"DOTNET_", "COMPlus_"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(buf, size, "%s%s", order[i], name);
        if (get(buf))
            return buf;
    }
    return NULL;
}

static void examine_switches(struct sxs_findings *f)
{
    static const char *const off[] = {"EnableDiagnostics", "EnableDiagnostics_Profiler"};
    char        buf[96];
    const char *name;
    for (size_t i = 0; i < 2; i++) {
        name = prefixed(off[i], buf, sizeof(buf));
        if (!name || read_number(f, name, 1) != 0)
            continue;
        sxs_found_problem(
            f, "%s=%s: no runtime loads any profiler, also when sxsprof starts the program", name,
            sxs_env_named(name));
        sxs_found_advice("unset it, or set it to 1");
    }
    name = prefixed("ProfAPI_ProfilerCompatibilitySetting", buf, sizeof(buf));
    const char *setting = name ? sxs_env_named(name) : NULL;
    if (setting && strcasecmp(setting, "PreventLoad") == 0) {
        sxs_found_problem(f, "%s=%s: no runtime loads a profiler when it starts", name, setting);
        sxs_found_advice("unset it");
    } else if (name) {
        sxs_found_note("%s=%s: matters to profilers of .NET 2.0's kind only", name,
                       sxs_env_named(name));
    }
}

static bool is_guid(const char *s)
{
    static const char pattern[] = "{xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}";
    if (strlen(s) != sizeof(pattern) - 1)
        return false;
    for (size_t i = 0; pattern[i]; i++)
        if (pattern[i] == 'x' ? !strchr("0123456789abcdefABCDEF", s[i]) : s[i] != pattern[i])
            return false;
    return true;
}

/* Suffixes that are read on this processor, highest precedence first, and suffixes that are not
 * read. */
static const char *const suffix_order[] = {
#if defined(__aarch64__)
    "_ARM64",
#endif
    "_64", ""};
static const char *const suffix_others[] = {
#if !defined(__aarch64__)
    "_ARM64",
#endif
    "_32", "_ARM32"};

/* Returns the value of the variable that takes precedence among those that begin with @stem, NULL
 * when none is set. @name: receives the variable's name. Reports why the others are not read. */
static const char *winner(const char *stem, char *name, size_t size)
{
    const char *value = NULL;
    char        other[64];
    for (size_t i = 0; i < sizeof(suffix_order) / sizeof(suffix_order[0]); i++) {
        snprintf(other, sizeof(other), "%s%s", stem, suffix_order[i]);
        if (!get(other))
            continue;
        if (value) {
            sxs_found_note("%s: not read, since %s is set and comes first", other, name);
        } else {
            value = get(other);
            snprintf(name, size, "%s", other);
        }
    }
    for (size_t i = 0; i < sizeof(suffix_others) / sizeof(suffix_others[0]); i++) {
        snprintf(other, sizeof(other), "%s%s", stem, suffix_others[i]);
        if (get(other))
            sxs_found_note("%s: not read, it is for another kind of process", other);
    }
    return value;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Returns true when a runtime can load @path as a profiler; otherwise reports why not. */
static bool is_loadable(struct sxs_findings *f, const char *name, const char *path)
{
    struct stat st;
    if (!strchr(path, '/')) {
        sxs_found_note("%s=%s: looked for by the loader where libraries are", name, path);
        return true;
    }
    if (stat(path, &st) != 0) {
        sxs_found_problem(f, "%s=%s: %s; the runtime goes on without a profiler", name, path,
                          strerror(errno));
        sxs_found_advice("correct or unset it; there is no second try with another variable");
        return false;
    }
    if (sxs_doctor_elf(f, name, path) != 0)
        return false;
    if (sxs_elf_exports(path, "DllGetClassObject"))
        return true;
    sxs_found_problem(f, "%s=%s: no profiler, it has no DllGetClassObject", name, path);
    sxs_found_advice("name the profiler's own library");
    return false;
}

static void examine_class_and_path(struct sxs_findings *f, const struct sxs_library *lib,
                                   const char *clsid, const char *name, const char *path)
{
    bool engine_class = strcasecmp(clsid, CLRIE_CLSID) == 0;
    bool our_class = strcasecmp(clsid, SXSPROF_CLSID) == 0;
    bool our_path = same_file(path, lib->profiler);
    bool good = is_loadable(f, name, path);
    if (our_class && our_path && good) {
        sxs_found_ok("every runtime loads %s, by %s", path, name);
    } else if (engine_class && good && (our_path || sxs_library_is_own(path))) {
        sxs_found_ok("every runtime loads %s, by %s, as the CLR Instrumentation Engine", path, name);
    } else if (!our_class && our_path) {
        sxs_found_problem(f, "CORECLR_PROFILER=%s: not this profiler's class: it refuses", clsid);
        sxs_found_advice("set it to " SXSPROF_CLSID
                         ", or start the program with sxsprof, which does");
    } else if (our_class && good) {
        sxs_found_problem(f, "%s=%s: another file than this command's %s", name, path,
                          lib->profiler);
        sxs_found_advice(
            "start the program with sxsprof, or use the command that belongs to that library");
    } else if (!our_class) {
        sxs_found_problem(f, "another profiler is set: class %s, library %s (by %s)", clsid, path,
                          name);
        sxs_found_advice("a runtime has room for one; sxsprof record --adopt runs it as a guest "
                         "beside this one; without --adopt, sxsprof replaces it for the program "
                         "that it starts; else unset "
                         "CORECLR_PROFILER and %s",
                         name);
    }
}

static void examine_main(struct sxs_findings *f, const struct sxs_library *lib)
{
    char        name[64] = "";
    const char *clsid = get("CORECLR_PROFILER");
    bool        any = clsid || get("CORECLR_PROFILER_PATH") || get("CORECLR_PROFILER_PATH_64");
    if (read_number(f, "CORECLR_ENABLE_PROFILING", 0) == 0) {
        if (any)
            sxs_found_note("CORECLR_ENABLE_PROFILING is %s: the other variables are not read",
                           get("CORECLR_ENABLE_PROFILING") ? "off" : "not set");
        sxs_found_ok(
            "a runtime started from here loads no profiler; started by sxsprof it loads %s",
            lib->profiler);
        return;
    }
    const char *path = winner("CORECLR_PROFILER_PATH", name, sizeof(name));
    if (!clsid || !is_guid(clsid)) {
        sxs_found_problem(f, "CORECLR_PROFILER%s%s: %s; the runtime goes on without a profiler",
                          clsid ? "=" : "", clsid ? clsid : "",
                          clsid ? "not a class ID in braces" : "not set");
        sxs_found_advice("set it to " SXSPROF_CLSID
                         ", or start the program with sxsprof, which does");
    }
    if (!path) {
        sxs_found_problem(f, "CORECLR_PROFILER_PATH is not set; the runtime goes on without a "
                             "profiler");
        sxs_found_advice("set it to %s, or start the program with sxsprof, which does",
                         lib->profiler);
    }
    if (clsid && is_guid(clsid) && path)
        examine_class_and_path(f, lib, clsid, name, path);
}

static void examine_notification(struct sxs_findings *f)
{
    char        name[64] = "";
    const char *list = winner("CORECLR_NOTIFICATION_PROFILERS", name, sizeof(name));
    if (!list)
        return;
    if (read_number(f, "CORECLR_ENABLE_NOTIFICATION_PROFILERS", 0) == 0) {
        sxs_found_note("%s: not used, CORECLR_ENABLE_NOTIFICATION_PROFILERS is %s", name,
                       get("CORECLR_ENABLE_NOTIFICATION_PROFILERS") ? "off" : "not set");
        return;
    }
    sxs_found_note("%s=%s: loaded beside the main profiler, also when sxsprof starts the program; "
                   "sxsprof record --adopt runs them as guests",
                   name, list);
    if (list[strlen(list) - 1] != ';') {
        sxs_found_problem(f, "%s: no ';' at its end: .NET 9 and later leave out the last", name);
        sxs_found_advice("put a ';' behind each");
    }
}

static void examine_framework_names(void)
{
    static const char *const names[] = {"COR_ENABLE_PROFILING", "COR_PROFILER", "COR_PROFILER_PATH",
                                        "COR_PROFILER_PATH_32", "COR_PROFILER_PATH_64"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (get(names[i]))
            sxs_found_note("%s: read by .NET Framework alone; these runtimes read CORECLR_ names",
                           names[i]);
}

void sxs_doctor_profiler(struct sxs_findings *f, const struct sxs_library *lib)
{
    sxs_found_title("What a runtime does with them:");
    examine_switches(f);
    examine_main(f, lib);
    examine_notification(f);
    examine_framework_names();
}
