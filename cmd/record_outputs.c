/* SPDX-License-Identifier: MIT */
#include "cmd/record_outputs.h"

#include "cmd/command.h"
#include "cmd/output/formats.h"
#include "cmd/output/print.h"
#include "cmd/output/shown.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int sxs_record_outputs_add(struct sxs_record_outputs *o, const char *name, char *why, size_t size)
{
    if (!*name)
        snprintf(why, size, "-o: the folder's name is empty: expected a folder or a file");
    else if (o->n_names == SXS_RECORD_MAX_FILES)
        snprintf(why, size, "-o: expected at most %u of them", SXS_RECORD_MAX_FILES);
    else
        o->names[o->n_names++] = name;
    return *name && o->n_names && o->names[o->n_names - 1] == name ? 0 : -1;
}

static bool is_folder(const char *name)
{
    struct stat st;
    return name[strlen(name) - 1] == '/' || (stat(name, &st) == 0 && S_ISDIR(st.st_mode));
}

/* Sorts one name. Returns 0 or -1. */
static int sort(struct sxs_record_outputs *o, const char *name, const char *wanted, bool may,
                char *why, size_t size)
{
    bool        is_stdout = strcmp(name, "-") == 0;
    const char *format = is_stdout && !wanted ? "text" : sxs_format_of_file(name), *lacking;
    if (wanted)
        format = wanted;
    if (!is_stdout && is_folder(name))
        format = NULL;
    if (!format && (lacking = sxs_format_lacking(name)) != NULL && access(name, F_OK) != 0) {
        snprintf(why, size,
                 "-o %s: sxsprof writes no %s files; expected the name of a folder, of a file with "
                 "the ending of a "
                 "format, such as .html, .svg, .json, .pb.gz, .collapsed or .speedscope.json, or "
                 "--format",
                 name, lacking);
        return -1;
    }
    if (format && !may) {
        snprintf(why, size,
                 "-o %s: expected a folder: no file is written here when the recording ends", name);
        return -1;
    }
    if (!format && o->folder) {
        snprintf(why, size, "-o %s: expected one folder, and %s is one already", name, o->folder);
        return -1;
    }
    if (format) {
        o->files[o->n].path = name;
        o->files[o->n++].format = format;
    } else {
        o->folder = name;
    }
    return 0;
}

int sxs_record_outputs_complete(struct sxs_record_outputs *o, const char *format, bool may,
                                char *why, size_t size)
{
    if (format && !o->n_names)
        o->names[o->n_names++] = "-";
    for (size_t i = 0; i < o->n_names; i++)
        if (sort(o, o->names[i], format, may, why, size) != 0)
            return -1;
    return 0;
}

bool sxs_record_outputs_only(const struct sxs_record_outputs *o)
{
    return o->n && !o->folder;
}

/* Returns 0, or an errno value when no file can be made or replaced at @path. */
static int check_place(const char *path)
{
    char        folder[PATH_MAX];
    struct stat st;
    char       *slash;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? EISDIR : access(path, W_OK) != 0 ? errno : 0;
    if ((size_t)snprintf(folder, sizeof(folder), "%s", path) >= sizeof(folder))
        return ENAMETOOLONG;
    slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    return access(slash ? folder : ".", W_OK | X_OK) != 0 ? errno : 0;
}

int sxs_record_outputs_check(const struct sxs_record_outputs *o)
{
    for (size_t i = 0; i < o->n; i++) {
        int err = strcmp(o->files[i].path, "-") == 0 ? 0 : check_place(o->files[i].path);
        if (err)
            return sxs_wrong_input("-o %s: %s; expected a file that can be written",
                                   o->files[i].path, strerror(err));
    }
    return SXS_EXIT_OK;
}

/* Writes one file as a verb does. */
static int write_by(int (*verb)(int argc, char **argv), const char *name, const char *format,
                    const char *path, const char *dir)
{
    char argv0[32], of_format[32], of_output[PATH_MAX + 16], of_dir[PATH_MAX];
    snprintf(argv0, sizeof(argv0), "sxsprof %s", name);
    snprintf(of_format, sizeof(of_format), "--format=%s", format ? format : "");
    snprintf(of_output, sizeof(of_output), "--output=%s", path);
    snprintf(of_dir, sizeof(of_dir), "%s", dir);
    char *with[] = {argv0, of_output, of_dir, of_format, NULL};
    int   argc = format ? 4 : 3;
    with[argc] = NULL;
    return verb(argc, with);
}

int sxs_record_outputs_write(const struct sxs_record_outputs *o, const char *dir, bool heap,
                             bool quiet)
{
    int worst = SXS_EXIT_OK;
    for (size_t i = 0; i < o->n; i++) {
        const char *format = o->files[i].format, *path = o->files[i].path;
        bool        is_heap = heap || strcmp(format, "heapsnapshot") == 0;
        int status = strcmp(format, "pack") == 0 ? write_by(sxs_cmd_pack, "pack", NULL, path, dir)
                     : is_heap                   ? write_by(sxs_heap_report, "heap", format, path, dir)
                               : write_by(sxs_cmd_report, "report", format, path, dir);
        if (status > worst)
            worst = status;
        if (status == SXS_EXIT_OK && !quiet && strcmp(path, "-") != 0)
            sxs_print_to(stderr, "%s is written: %s\n", sxs_shown(path), format);
    }
    return worst;
}
