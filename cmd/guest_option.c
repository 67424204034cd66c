/* SPDX-License-Identifier: MIT */
#include "cmd/guest_option.h"

#include "base/code_path.h"
#include "base/named_profilers.h"
#include "cmd/command.h"
#include "cmd/symbols/elf_file.h"
#include "cmd/library.h"
#include "cmd/pick_value.h"
#include "cmd/unresolved.h"
#include "guests/config/list.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>


/* ---- one guest ------------------------------------------------------------------------------- */

int sxs_profiler_library_check(const char *path, const char *of, char *why, size_t size)
{
    struct sxs_elf_file elf = {.is_elf = false};
    struct stat         st;
    int                 err = stat(path, &st) != 0 ? errno : sxs_elf_read(path, &elf);
    const char         *wrong = NULL;
    char                symbol[PATH_MAX], in[PATH_MAX];
    if (err)
        wrong = strerror(err);
    else if (!S_ISREG(st.st_mode))
        wrong = "not a file";
    else if (!elf.is_elf || !elf.is_shared)
        wrong = "not an ELF library";
    else if (!elf.is_native)
        wrong = elf.is_64 ? "made for another processor" : "a 32-bit library";
    else if (!sxs_elf_exports(path, "DllGetClassObject"))
        wrong = "it exports no DllGetClassObject";
    if (wrong)
        snprintf(why, size, "%s: %s; expected the library of %s, which exports DllGetClassObject",
                 path, wrong, of);
    if (wrong || !sxs_library_unresolved(path, symbol, in, sizeof(symbol)))
        return wrong ? -1 : 0;
    snprintf(why, size,
             "%s: it cannot be loaded: undefined symbol %s in %s; expected the library of %s, whose "
             "data is defined",
             path, symbol, in, of);
    return -1;
}

static int check_pick(const struct guest_declaration *d, char *why, size_t size)
{
    char        value[PATH_MAX + 8], detail[PATH_MAX + 64];
    const char *wrong;
    if (d->pick != GUEST_PICK_ONE)
        return 0;
    snprintf(value, sizeof(value), "one:%s", d->pick_what);
    wrong = sxs_pick_check(value, detail, sizeof(detail));
    if (wrong)
        snprintf(why, size, "pick: %s; expected " SXS_PICK_EXPECTED, wrong);
    return wrong ? -1 : 0;
}

int sxs_guest_check(const struct guest_declaration *d, char *why, size_t size)
{
    if (strcasecmp(d->clsid_text, SXSPROF_CLSID) == 0) {
        snprintf(why, size, "%s is this profiler itself; expected the class ID of another",
                 d->clsid_text);
        return -1;
    }
    /* A name without a slash is looked for by the loader, where libraries are. */
    if (strchr(d->path, '/') && sxs_profiler_library_check(d->path, "a profiler", why, size) != 0)
        return -1;
    if (sxs_code_path_refused(d->path, why, size))
        return -1;
    if (strchr(d->path, '/') && sxs_library_is_own(d->path)) {
        snprintf(why, size, "%s is this profiler itself; expected another", d->path);
        return -1;
    }
    return check_pick(d, why, size);
}

/* ---- a value of SXSPROF_GUESTS ----------------------------------------------------------------- */

void sxs_first_problem_keep(void *arg, const char *line)
{
    struct sxs_first_problem *first = arg;
    if (!first->any)
        snprintf(first->why, first->size, "%s", line);
    first->any = true;
}

const char *sxs_guests_check(const char *value, char *why, size_t size)
{
    struct guest_list        list = {.n = 0};
    struct sxs_first_problem first = {why, size, false};
    guest_list_read(&list, value, sxs_first_problem_keep, &first);
    for (unsigned i = 0; i < list.n && !first.any; i++)
        first.any = sxs_guest_check(&list.items[i], why, size) != 0;
    guest_list_free(&list);
    return first.any ? why : NULL;
}

static void ignore_problem(void *arg, const char *line)
{
    (void)arg, (void)line;
}

bool sxs_guests_adopts(const char *value)
{
    struct guest_list list = {.n = 0};
    bool              adopts;
    if (!value)
        return false;
    guest_list_read(&list, value, ignore_problem, NULL);
    adopts = list.adopt;
    guest_list_free(&list);
    return adopts;
}

/* ---- --guest ---------------------------------------------------------------------------------- */

/* Replaces an owned path by an absolute one. Symbolic links are kept, because managed code may load
 * the library by the same name. Returns 0, or -1 after writing to @why. */
static int make_absolute(char **path, char *why, size_t size)
{
    char *folder, *absolute = NULL;
    if (**path == '/')
        return 0;
    folder = get_current_dir_name();
    if (!folder || asprintf(&absolute, "%s/%s", folder, *path) < 0) {
        snprintf(why, size, "%s: %s", *path, strerror(errno));
        free(folder);
        return -1;
    }
    free(folder);
    free(*path);
    *path = absolute;
    return 0;
}

static char *declaration_item(const char *argument, char *why, size_t size)
{
    struct guest_declaration d;
    char                    *item = NULL;
    int                      used = guest_declaration_parse(argument, &d, why, size);
    if (used < 0)
        return NULL;
    if (argument[used])
        snprintf(why, size,
                 "'%s': ';' separates guests: expected --guest once for each, or a "
                 "backslash before the ';'",
                 argument);
    else if (make_absolute(&d.path, why, size) == 0 &&
             (d.pick != GUEST_PICK_ONE || !strchr(d.pick_what, '/') ||
              make_absolute(&d.pick_what, why, size) == 0) &&
             sxs_guest_check(&d, why, size) == 0) {
        item = guest_declaration_text(&d);
        if (!item)
            snprintf(why, size, "out of memory");
    }
    guest_declaration_free(&d);
    return item;
}

/* Returns the path with a backslash before each ';' and backslash; owned. */
static char *escaped(const char *path)
{
    char *out = malloc(2 * strlen(path) + 1), *to = out;
    for (; out && *path; path++) {
        if (strchr(";\\", *path))
            *to++ = '\\';
        *to++ = *path;
    }
    if (out)
        *to = '\0';
    return out;
}

static char *file_item(const char *argument, char *why, size_t size)
{
    char *path = strdup(argument), *item = NULL;
    if (access(argument, F_OK) != 0)
        snprintf(why, size,
                 "%s: %s; expected CLSID=PATH[,OPTION]... with the class ID in braces, or "
                 "an XML file",
                 argument, strerror(errno));
    else if (path && make_absolute(&path, why, size) == 0)
        item = escaped(path);
    free(path);
    if (item && sxs_guests_check(item, why, size)) {
        free(item);
        item = NULL;
    }
    return item;
}

char *sxs_guest_item(const char *argument, char *why, size_t size)
{
    snprintf(why, size, "out of memory");
    return *argument == '{' ? declaration_item(argument, why, size)
                            : file_item(argument, why, size);
}

/* ---- --adopt ---------------------------------------------------------------------------------- */

/* Returns true when the value of SXSPROF_GUESTS has a guest with this class and library. */
static bool is_listed(const char *value, const struct guest_declaration *d)
{
    struct guest_list list = {.n = 0};
    bool              found = false;
    guest_list_read(&list, value, ignore_problem, NULL);
    for (unsigned i = 0; i < list.n; i++)
        found |= strcmp(list.items[i].clsid_text, d->clsid_text) == 0 &&
                 strcmp(list.items[i].path, d->path) == 0;
    guest_list_free(&list);
    return found;
}

/* Makes a declaration of a profiler. Returns 0, or -1 without memory. */
static int declare(const struct sxs_named_profiler *p, struct guest_declaration *d)
{
    char  why[256], clsid[SXS_CLSID_LENGTH + 1] = "";
    char *path = strndup(p->path, p->path_len);
    int   err;
    memset(d, 0, sizeof(*d));
    memcpy(clsid, p->clsid, SXS_CLSID_LENGTH);
    err = !path || guest_declaration_set(d, "clsid", clsid, why, sizeof(why)) != 0 ||
          guest_declaration_set(d, "path", path, why, sizeof(why)) != 0;
    free(path);
    return err ? -1 : 0;
}

/* Adds a profiler to @value, an owned list, which may move. */
static void adopt_one(char **value, const struct sxs_named_profiler *p)
{
    struct guest_declaration d;
    char                     why[PATH_MAX + 256], *text = NULL, *longer = NULL;
    if (declare(p, &d) == 0 && strcasecmp(d.clsid_text, SXSPROF_CLSID) != 0 &&
        !sxs_library_is_own(d.path) && !is_listed(*value, &d)) {
        if (sxs_guest_check(&d, why, sizeof(why)) != 0)
            sxs_complain("--adopt: %s; runtimes go on without it", why);
        else
            text = guest_declaration_text(&d);
    }
    if (text && asprintf(&longer, "%s%s%s", *value, **value ? ";" : "", text) >= 0) {
        free(*value);
        *value = longer;
    }
    free(text);
    guest_declaration_free(&d);
}

char *sxs_guests_adopt(const char *value)
{
    struct sxs_named_profiler p;
    const char               *more = sxs_notification_profilers();
    char                     *out = strdup(value ? value : ""), *all = NULL;
    if (!out || sxs_guests_adopts(out))
        all = out;
    else if (asprintf(&all, "%s%sadopt", out, *out ? ";" : "") < 0)
        all = NULL;
    if (all != out)
        free(out);
    if (all && sxs_main_profiler(SXSPROF_CLSID, &p))
        adopt_one(&all, &p);
    while (all && more && sxs_next_profiler(&more, &p))
        adopt_one(&all, &p);
    return all;
}
