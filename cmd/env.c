/* SPDX-License-Identifier: MIT */
/* sxsprof env: print the environment that profiles a program that is started by other means. */
#include "base/displayed.h"
#include "cmd/command.h"
#include "cmd/output/print.h"
#include "cmd/record_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A way to print the settings. */
struct form {
    const char *option; /* "shell" */
    void (*put_begin)(void);
    void (*put_variable)(const char *name, const char *value);
    void (*put_preload)(const char *paths); /* separated by ':' */
    void (*put_removed)(const char *const *names); /* ends with NULL */
    void (*put_files)(const struct sxs_library *lib, const char *out); /* @out: NULL: no folder */
};

/* ---- shell ----------------------------------------------------------------------------------- */

static bool is_plain(const char *value)
{
    return *value && strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "_-./:,=+@%") == strlen(value);
}

/* Returns how many bytes the first character of @text has, which is not empty. *shown: a terminal
 * shows it as it is. */
static int read_character(const char *text, bool *shown)
{
    uint32_t c = 0;
    size_t   len = sxs_utf8_next(text, strlen(text), &c);
    *shown = len && sxs_is_displayed(c);
    return len ? (int)len : 1;
}

static void put_bytes(const char *format, const char *bytes, int n)
{
    for (int i = 0; i < n; i++)
        printf(format, (unsigned)(unsigned char)bytes[i]);
}

/* Prints a word for the shell, in quotes when that is necessary. printf makes what a terminal does
 * not show, except for line feeds, which "$(...)" would lose. */
static void put_word(const char *word)
{
    if (is_plain(word)) {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (int len = 0; *word; word += len) {
        bool shown;
        len = read_character(word, &shown);
        if (*word == '\'') {
            fputs("'\\''", stdout);
        } else if (shown || *word == '\n') {
            printf("%.*s", len, word);
        } else {
            fputs("'\"$(printf '", stdout);
            put_bytes("\\%03o", word, len);
            fputs("')\"'", stdout);
        }
    }
    putchar('\'');
}

static void put_nothing(void)
{
}

static void put_no_files(const struct sxs_library *lib, const char *out)
{
    (void)lib, (void)out;
}

static void shell_variable(const char *name, const char *value)
{
    printf("export %s=", name);
    put_word(value);
    putchar('\n');
}

static void shell_preload(const char *path)
{
    fputs("export LD_PRELOAD=", stdout);
    put_word(path);
    puts("\"${LD_PRELOAD:+:$LD_PRELOAD}\"");
}

static void shell_removed(const char *const *names)
{
    fputs("unset", stdout);
    for (const char *const *name = names; *name; name++)
        printf(" %s", *name);
    putchar('\n');
}

/* ---- systemd --------------------------------------------------------------------------------- */

static void systemd_begin(void)
{
    puts("[Service]");
}

/* '%' begins a specifier; a backslash, a quote, and what a terminal does not show are escaped as in
 * C. */
static void systemd_variable(const char *name, const char *value)
{
    printf("Environment=\"%s=", name);
    for (int len = 0; *value; value += len) {
        bool shown;
        len = read_character(value, &shown);
        if (strchr("\"\\", *value))
            putchar('\\');
        if (*value == '%')
            putchar('%');
        if (shown)
            printf("%.*s", len, value);
        else
            put_bytes("\\x%02x", value, len);
    }
    puts("\"");
}

static void systemd_preload(const char *path)
{
    systemd_variable("LD_PRELOAD", path);
}

static void systemd_removed(const char *const *names)
{
    fputs("UnsetEnvironment=", stdout);
    for (const char *const *name = names; *name; name++)
        printf("%s%s", name == names ? "" : " ", *name);
    putchar('\n');
}

/* ---- docker ---------------------------------------------------------------------------------- */

static void docker_option(const char *option, const char *text)
{
    printf("--%s=", option);
    put_word(text);
    putchar('\n');
}

static void docker_variable(const char *name, const char *value)
{
    char *text = NULL;
    if (asprintf(&text, "%s=%s", name, value) >= 0)
        docker_option("env", text);
    free(text);
}

static void docker_preload(const char *path)
{
    docker_variable("LD_PRELOAD", path);
}

/* A variable of the image cannot be removed; runtimes take an empty one as not set. */
static void docker_removed(const char *const *names)
{
    for (const char *const *name = names; *name; name++)
        docker_variable(*name, "");
}

static void docker_mount(const char *path, const char *mode)
{
    char *text = NULL;
    if (asprintf(&text, "%s:%s%s", path, path, mode) >= 0)
        docker_option("volume", text);
    free(text);
}

static void docker_files(const struct sxs_library *lib, const char *out)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof(folder), "%s", lib->profiler);
    *strrchr(folder, '/') = '\0';
    docker_mount(folder, ":ro");
    if (!out)
        return;
    /* A missing folder would be made by Docker, for root; the library makes it for its user. */
    snprintf(folder, sizeof(folder), "%s", out);
    if (access(out, F_OK) != 0 && strrchr(folder, '/') != folder)
        *strrchr(folder, '/') = '\0';
    docker_mount(folder, "");
}

static const struct form forms[] = {
    {"shell", put_nothing, shell_variable, shell_preload, shell_removed, put_no_files},
    {"systemd", systemd_begin, systemd_variable, systemd_preload, systemd_removed, put_no_files},
    {"docker", put_nothing, docker_variable, docker_preload, docker_removed, docker_files},
};

#define N_FORMS (sizeof(forms) / sizeof(forms[0]))
enum { KEY_FORM = 4000 }; /* the first form; the others follow in the same order */

/* ---- the verb -------------------------------------------------------------------------------- */

struct env_options {
    struct sxs_record_options record;
    const struct form     *form; /* NULL: shell */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct env_options *o = state->input;
    (void)arg;
    if (key == ARGP_KEY_END)
        sxs_record_complete(state, &o->record);
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = &o->record;
        return 0;
    }
    if (key < KEY_FORM || key >= KEY_FORM + (int)N_FORMS)
        return ARGP_ERR_UNKNOWN;
    if (o->form && o->form != &forms[key - KEY_FORM])
        sxs_option_error(state, "--%s and --%s exclude each other", o->form->option,
                         forms[key - KEY_FORM].option);
    o->form = &forms[key - KEY_FORM];
    return 0;
}

static const struct argp_option option_list[] = {
    {"shell", KEY_FORM, NULL, 0, "Lines for a shell (the default): eval \"$(sxsprof env)\"", 1},
    {"systemd", KEY_FORM + 1, NULL, 0,
     "A drop-in for a unit, such as /etc/systemd/system/NAME.service.d/sxsprof.conf", 1},
    {"docker", KEY_FORM + 2, NULL, 0,
     "Options of docker run, a line each: eval docker run $(sxsprof env --docker) IMAGE", 1},
    {0},
};

const struct argp *sxs_env_argp(const char *verb)
{
    (void)verb;
    static struct argp_child shared[2];
    static struct argp       argp = {
              .options = option_list,
              .parser = parse,
              .children = shared,
              .doc =
                  "Print the settings with which a program is profiled that sxsprof does not start.\v"
                        "The program records into the folder of -o, which has to belong to the program's user. "
                        "The "
                        "library makes the folder when it is missing and that user may write into the folder "
                        "above it.",
    };
    shared[0] = (struct argp_child){sxs_record_argp(SXS_WITH_ENV, NULL), 0,
                                    "Options of all recordings:", 2};
    return &argp;
}

/* Makes the name of the session folder absolute. Returns an owned string, NULL after a message. */
static char *absolute_folder(const char *dir)
{
    char real[PATH_MAX], *here = NULL, *path = NULL;
    if (realpath(dir, real))
        return strdup(real);
    here = *dir == '/' ? NULL : get_current_dir_name();
    if (asprintf(&path, "%s%s%s", here ? here : "", here ? "/" : "", dir) < 0)
        path = NULL;
    free(here);
    if (path)
        sxs_complain("%s: %s: the program makes it, if its user may write into the folder above; "
                     "otherwise make it before: install -d -m 700 -o USER %s",
                     path, strerror(errno), path);
    return path;
}

static void put(const struct form *form, const struct sxs_child_settings *settings)
{
    struct sxs_child_variable variables[SXS_CHILD_VARIABLES];
    char                      preload[2 * PATH_MAX];
    sxs_child_variables(settings, variables);
    sxs_child_preload(settings, preload, sizeof(preload));
    form->put_begin();
    form->put_removed(sxs_child_removed(settings->adopt));
    for (size_t i = 0; i < SXS_CHILD_VARIABLES; i++)
        if (variables[i].name && variables[i].value)
            form->put_variable(variables[i].name, variables[i].value);
    if (*preload)
        form->put_preload(preload);
    form->put_files(settings->library, settings->values[SXS_SET_OUT]);
}

/* Returns the first library that the settings need and that is missing; NULL: none is. */
static const char *missing_library(const struct sxs_record_options *o,
                                   const struct sxs_library        *lib)
{
    if (!lib->has_profiler)
        return lib->profiler;
    if (!o->set[SXS_SET_NO_PRELOAD] && !lib->has_preload)
        return lib->preload;
    return sxs_record_has_tool(o, "native") && !lib->has_allocator ? lib->allocator : NULL;
}

int sxs_cmd_env(int argc, char **argv)
{
    struct env_options o = {.record = {.with = SXS_WITH_ENV}};
    struct sxs_library lib;
    char              *out = NULL;
    sxs_options_parse(sxs_env_argp("env"), argc, argv, 0, &o);
    int err = sxs_library_find(&lib);
    const char *missing = err ? "/proc/self/exe" : missing_library(&o.record, &lib);
    if (missing) {
        sxs_complain("%s: %s", missing, strerror(err ? err : ENOENT));
        return SXS_EXIT_FAILED;
    }
    if (o.record.outputs.folder)
        out = absolute_folder(o.record.outputs.folder);
    else if (sxs_record_records(&o.record))
        sxs_complain("without -o DIR the program records nothing");
    const struct sxs_child_settings settings = sxs_record_environment(&o.record, &lib, out);
    put(o.form ? o.form : &forms[0], &settings);
    free(out);
    sxs_record_options_free(&o.record);
    return sxs_finish_output();
}
