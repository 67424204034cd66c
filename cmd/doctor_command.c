/* SPDX-License-Identifier: MIT */
/* Examines what kind of program a command is, and whether its runtimes can be profiled. */
#include "cmd/child.h"
#include "cmd/doctor.h"
#include "cmd/symbols/elf_file.h"
#include "cmd/runtimeconfig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Reads the first line of a script, without "#!" and the blanks after it. Returns false when @path
 * is not a script. */
static bool script_line(const char *path, char *line, size_t size)
{
    FILE *f = fopen(path, "re");
    bool  is = f && fgets(line, (int)size, f) && strncmp(line, "#!", 2) == 0;
    if (f)
        fclose(f);
    if (is) {
        line[strcspn(line, "\n")] = '\0';
        size_t skip = 2 + strspn(line + 2, " \t");
        memmove(line, line + skip, strlen(line + skip) + 1);
    }
    return is;
}

/* Reports programs with set-user-ID, set-group-ID or file capabilities. The kernel starts them in
 * secure mode, where the loader ignores paths in LD_PRELOAD. */
static void examine_privileges(struct sxs_findings *f, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return;
    bool set_uid = (st.st_mode & S_ISUID) && st.st_uid != geteuid();
    bool set_gid = (st.st_mode & S_ISGID) && st.st_gid != getegid();
    bool caps = getxattr(path, "security.capability", NULL, 0) > 0 && geteuid() != 0;
    if (!set_uid && !set_gid && !caps)
        return;
    sxs_found_problem(f, "%s: runs with other rights (%s): LD_PRELOAD is ignored", path,
                      set_uid   ? "set-user-ID"
                      : set_gid ? "set-group-ID"
                                : "file capabilities");
    sxs_found_advice("run it as the user that it becomes, or a copy without these rights");
}

/* Reports which runtime the app with the file @config_path would get. */
static void examine_config(struct sxs_findings *f, const char *config_path,
                           const struct sxs_installed_list *installed)
{
    struct sxs_runtimeconfig config;
    char                     why[PATH_MAX + 256];
    if (sxs_runtimeconfig_read(config_path, &config, why, sizeof(why)) != 0) {
        sxs_found_problem(f, "%s", why);
        sxs_found_advice("the host cannot start the app like this: build it again");
        return;
    }
    if (config.self_contained) {
        sxs_found_ok("%s: self-contained, it brings its own runtime", config_path);
        return;
    }
    if (!config.version[0]) {
        sxs_found_note("%s: asks for %s, which brings its own choice of a runtime", config_path,
                       config.framework[0] ? config.framework : "no framework");
        return;
    }
    const struct sxs_installed *it = sxs_runtimeconfig_choose(&config, installed);
    if (it) {
        sxs_found_ok("%s: asks for %s (%s), gets %s: %s", config_path, config.version,
                     config.roll_forward, it->version, it->path);
        return;
    }
    sxs_found_problem(f, "%s: asks for %s (%s), and none of dotnet's runtimes fits", config_path,
                      config.version, config.roll_forward);
    sxs_found_advice("install that runtime, or set DOTNET_ROLL_FORWARD=Major (sxsprof runtimes "
                     "lists what is there)");
}

/* Converts "<app>.dll" or "<app>" to "<app>.runtimeconfig.json"; returns false when that file does
 * not exist. */
static bool config_of(const char *app, char *out, size_t size)
{
    size_t len = strlen(app);
    if (len > 4 && strcmp(app + len - 4, ".dll") == 0)
        len -= 4;
    int n = snprintf(out, size, "%.*s.runtimeconfig.json", (int)len, app);
    return n > 0 && (size_t)n < size && access(out, R_OK) == 0;
}

/* Examines "dotnet app.dll", "dotnet exec [options] app.dll", or a command of the SDK. */
static void examine_dotnet(struct sxs_findings *f, char **argv,
                           const struct sxs_installed_list *installed)
{
    char config[PATH_MAX];
    for (size_t i = 1; argv[i]; i++) {
        size_t len = strlen(argv[i]);
        if (len <= 4 || strcmp(argv[i] + len - 4, ".dll") != 0)
            continue;
        if (access(argv[i], R_OK) != 0) {
            sxs_found_problem(f, "%s: %s", argv[i], strerror(errno));
            sxs_found_advice("name the app's dll");
        } else if (config_of(argv[i], config, sizeof(config))) {
            examine_config(f, config, installed);
        } else {
            sxs_found_note("%s: no runtimeconfig.json beside it: the newest runtime is taken",
                           argv[i]);
        }
        return;
    }
    sxs_found_note("dotnet without a dll: a command of the SDK; the processes that it starts "
                   "are profiled too");
}

/* Examines a program that is neither dotnet nor an app with a runtimeconfig.json. */
static void examine_native(struct sxs_findings *f, const char *path)
{
    static const char *const hosts[] = {"libcoreclr.so", "coreclr_initialize", "hostfxr_",
                                        "libhostfxr.so", "nethost", NULL};
    static const char *const compiled[] = {"System.Private.CoreLib", "__managedcode", NULL};
    if (sxs_elf_mentions(path, hosts) || sxs_elf_needed_mention(path, hosts)) {
        sxs_found_note("%s: no runtimeconfig.json beside it: runtimes that it hosts itself are "
                       "profiled, single-file apps too",
                       path);
    } else if (sxs_elf_mentions(path, compiled)) {
        sxs_found_problem(f, "%s: compiled by NativeAOT: it has no runtime that loads a profiler",
                          path);
        sxs_found_advice("publish it without PublishAot to profile it");
    } else {
        sxs_found_problem(f, "%s: no .NET program: neither it nor a library that it needs loads a "
                             ".NET runtime, and there is no runtimeconfig.json beside it",
                          path);
        sxs_found_advice("name the program that runs .NET; if this one starts it, or loads a runtime "
                         "by a plug-in, that runtime is profiled nevertheless");
    }
}

static void examine_program(struct sxs_findings *f, const char *path, char **argv,
                            const struct sxs_installed_list *installed)
{
    char        real[PATH_MAX], config[PATH_MAX];
    const char *at = realpath(path, real) ? real : path;
    const char *base = strrchr(at, '/') ? strrchr(at, '/') + 1 : at;
    if (strcmp(base, "dotnet") == 0)
        examine_dotnet(f, argv, installed);
    else if (config_of(at, config, sizeof(config)))
        examine_config(f, config, installed);
    else
        examine_native(f, at);
}

static void examine_file(struct sxs_findings *f, const char *path, char **argv,
                         const struct sxs_installed_list *installed)
{
    struct sxs_elf_file elf;
    char                line[256];
    int                 err = sxs_elf_read(path, &elf);
    if (err) {
        sxs_found_problem(f, "%s: %s", path, strerror(err));
        sxs_found_advice("make it readable");
        return;
    }
    if (script_line(path, line, sizeof(line))) {
        sxs_found_note("%s: a script, run by %s; what it starts is profiled as long as it keeps "
                       "the variables",
                       path, line);
        return;
    }
    if (!elf.is_elf) {
        sxs_found_problem(f, "%s: neither a program nor a script with #!", path);
        sxs_found_advice("it is handed to /bin/sh; name the program that should run it");
        return;
    }
    if (!elf.is_native) {
        sxs_found_problem(f, "%s: %s; the profiler library cannot be loaded into it", path,
                          elf.is_64 ? "made for another processor" : "a 32-bit program");
        sxs_found_advice("use the program's version for this machine");
        return;
    }
    if (!elf.has_loader) {
        sxs_found_problem(f, "%s: a static program: LD_PRELOAD is ignored, and it cannot load "
                             "libcoreclr.so",
                          path);
        sxs_found_advice("if it starts other programs, they are profiled nevertheless");
        return;
    }
    examine_program(f, path, argv, installed);
}

void sxs_doctor_command(struct sxs_findings *f, char **argv,
                        const struct sxs_installed_list *installed)
{
    char path[PATH_MAX];
    int  err = sxs_child_find(argv[0], path, sizeof(path));
    sxs_found_title("The command:");
    if (err) {
        sxs_found_problem(f, "%s: %s", argv[0],
                          err == EACCES ? "cannot be executed" : "not found");
        sxs_found_advice("name a program, by its path or so that PATH leads to it");
        return;
    }
    sxs_found_ok("%s is %s", argv[0], path);
    examine_privileges(f, path);
    examine_file(f, path, argv, installed);
}
