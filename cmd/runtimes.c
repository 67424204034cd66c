/* SPDX-License-Identifier: MIT */
/* sxsprof runtimes: list the .NET runtimes installed on this machine. */
#include "cmd/argument.h"
#include "cmd/command.h"
#include "cmd/installed.h"
#include "cmd/library.h"
#include "cmd/output/json_document.h"
#include "cmd/output/json_values.h"
#include "cmd/output/print.h"
#include "cmd/output/text.h"

#include <argp.h>
#include <jansson.h>
#include <string.h>

static const struct argp_option option_list[] = {
    {"format", 'f', "text|json", 0, "A table for people (text, the default) or JSON", 0},
    {0},
};
const struct argp sxs_argp_runtimes = {
    .options = option_list,
    .parser = sxs_format_parser,
    .doc = "List the .NET runtimes installed on this machine, lowest version first.\v"
           "Looks into the folder runtimes beside this command (kind \"build\"), and for "
           "shared/Microsoft.NETCore.App below DOTNET_ROOT, beside the dotnet on PATH, in "
           "/usr/share/dotnet, /usr/lib/dotnet and ~/.dotnet (kind \"dotnet\").",
};

static void print_text(const struct sxs_installed_list *list)
{
    int width = (int)strlen("version");
    for (size_t i = 0; i < list->n; i++)
        if ((int)strlen(list->items[i].version) > width)
            width = (int)strlen(list->items[i].version);
    sxs_print("%-*s  %-6s  %s\n", width, "version", "kind", "path");
    for (size_t i = 0; i < list->n; i++) {
        const struct sxs_installed *it = &list->items[i];
        char                        path[3 * PATH_MAX];
        sxs_text_clean(it->path, path, sizeof(path));
        sxs_print("%-*s  %-6s  %s\n", width, it->version, it->kind, path);
    }
}

static int print_json(const struct sxs_installed_list *list)
{
    json_t *top = sxs_json_document_new(SXS_JSON_RUNTIMES), *rows = json_array();
    int     err = json_object_set_new(top, "runtimes", rows);
    for (size_t i = 0; i < list->n && !err; i++) {
        const struct sxs_installed *it = &list->items[i];
        char                        path[3 * PATH_MAX], version[3 * sizeof(it->version)];
        sxs_text_clean(it->path, path, sizeof(path));
        sxs_text_clean(it->version, version, sizeof(version));
        err = json_array_append_new(
            rows, json_pack("{s:s, s:s, s:s}", "version", version, "kind", it->kind, "path", path));
    }
    return sxs_json_print(top, err);
}

int sxs_cmd_runtimes(int argc, char **argv)
{
    enum sxs_format           format = SXS_FORMAT_TEXT;
    struct sxs_library        lib;
    struct sxs_installed_list list;
    sxs_options_parse(&sxs_argp_runtimes, argc, argv, 0, &format);

    int err = sxs_library_find(&lib);
    if (err)
        lib.bin_dir[0] = '\0';
    err = sxs_installed_find(lib.bin_dir, &list);
    if (!err && format == SXS_FORMAT_JSON)
        err = print_json(&list);
    else if (!err && list.n)
        print_text(&list);
    else if (!err)
        sxs_complain("no .NET runtime was found");
    sxs_installed_free(&list);
    if (err)
        sxs_complain("out of memory");
    return sxs_finish_output() || err ? SXS_EXIT_PROBLEM : SXS_EXIT_OK;
}
