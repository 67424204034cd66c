/* SPDX-License-Identifier: MIT */
#include "guests/config/declaration.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manager/guid.h"

/* Copies the value at @text up to an unescaped ',' or ';' or the end; a backslash makes the
 * character after it plain. Returns an owned string, or NULL without memory. @used: receives the
 * number of characters of @text. */
static char *take_value(const char *text, size_t *used)
{
    char  *out = malloc(strlen(text) + 1);
    size_t n = 0, at = 0;
    for (; out && text[at] && text[at] != ',' && text[at] != ';'; at++) {
        if (text[at] == '\\' && text[at + 1])
            at++;
        out[n++] = text[at];
    }
    if (out)
        out[n] = '\0';
    *used = at;
    return out;
}

static int read_clsid(const char *value, struct guest_declaration *d, char *why, size_t size)
{
    char text[40] = "";
    if (strlen(value) < sizeof(text))
        for (size_t i = 0; value[i]; i++)
            text[i] = (char)toupper((unsigned char)value[i]);
    if (!sxs_guid_parse(text, &d->clsid)) {
        snprintf(
            why, size,
            "'%.60s' is no class ID: expected one as in {324F817A-7420-4E6D-B3C1-143FBED6D855}",
            value);
        return -1;
    }
    snprintf(d->clsid_text, sizeof(d->clsid_text), "%s", text);
    return 0;
}

static int read_pick(char *value, struct guest_declaration *d)
{
    free(d->pick_what);
    d->pick_what = NULL;
    if (strcmp(value, "all") == 0) {
        d->pick = GUEST_PICK_ALL;
    } else if (strcmp(value, "first") == 0) {
        d->pick = GUEST_PICK_FIRST;
    } else if (strncmp(value, "one:", 4) == 0 && value[4]) {
        d->pick = GUEST_PICK_ONE;
        d->pick_what = strdup(value + 4);
    } else {
        return -1;
    }
    return 0;
}

static int read_priority(const char *value, struct guest_declaration *d)
{
    char *end;
    long  n;
    errno = 0;
    n = strtol(value, &end, 10);
    if (errno || end == value || *end || n < -1000000 || n > 1000000)
        return -1;
    d->priority = (int)n;
    return 0;
}

static int read_env(char *value, struct guest_declaration *d)
{
    char **env;
    if (value[0] == '=' || !strchr(value, '='))
        return -1;
    env = realloc(d->env, (d->n_env + 2) * sizeof(*env));
    if (!env)
        return -1;
    d->env = env;
    env[d->n_env] = strdup(value);
    if (!env[d->n_env])
        return -1;
    env[++d->n_env] = NULL;
    return 0;
}

static int read_path(const char *value, struct guest_declaration *d)
{
    free(d->path);
    d->path = *value ? strdup(value) : NULL;
    return d->path ? 0 : -1;
}

int guest_declaration_set(struct guest_declaration *d, const char *key, const char *value,
                          char *why, size_t size)
{
    char *copy;
    int   err = -1;
    if (strcmp(key, "clsid") == 0)
        return read_clsid(value, d, why, size);
    copy = strdup(value);
    if (copy && strcmp(key, "path") == 0)
        err = read_path(copy, d);
    else if (copy && strcmp(key, "pick") == 0)
        err = read_pick(copy, d);
    else if (copy && strcmp(key, "priority") == 0)
        err = read_priority(copy, d);
    else if (copy && strcmp(key, "env") == 0)
        err = read_env(copy, d);
    free(copy);
    if (err)
        snprintf(why, size,
                 "'%.60s=%.100s': expected pick=all, pick=first or pick=one:WHAT, "
                 "priority=N from -1000000 to 1000000, or env=NAME=VALUE",
                 key, value);
    return err;
}

/* Reads "KEY=VALUE". */
static int read_option(char *option, struct guest_declaration *d, char *why, size_t size)
{
    char *value = strchr(option, '=');
    if (value)
        *value++ = '\0';
    if (value && strcmp(option, "clsid") != 0 && strcmp(option, "path") != 0)
        return guest_declaration_set(d, option, value, why, size);
    snprintf(why, size, "'%.100s': expected pick=, priority= or env=", option);
    return -1;
}

/* Reads "CLSID=PATH". */
static int read_library(char *value, struct guest_declaration *d, char *why, size_t size)
{
    char *path = strchr(value, '=');
    if (path)
        *path++ = '\0';
    if (read_clsid(value, d, why, size) != 0)
        return -1;
    if (path && read_path(path, d) == 0)
        return 0;
    snprintf(why, size, "'%s' has no path: expected CLSID=PATH", value);
    return -1;
}

int guest_declaration_parse(const char *text, struct guest_declaration *out, char *why, size_t size)
{
    size_t at = 0, used;
    int    err = 0;
    memset(out, 0, sizeof(*out));
    for (int first = 1; !err; first = 0) {
        char *value = take_value(text + at, &used);
        if (!value) {
            snprintf(why, size, "out of memory");
            err = -1;
            break;
        }
        err = first ? read_library(value, out, why, size) : read_option(value, out, why, size);
        free(value);
        at += used;
        if (text[at] != ',')
            break;
        at++;
    }
    if (err)
        guest_declaration_free(out);
    return err ? -1 : (int)at;
}

/* Writes @value with a backslash before each character that would end it. */
static void put_value(FILE *to, const char *value)
{
    for (; *value; value++) {
        if (strchr(",;\\", *value))
            fputc('\\', to);
        fputc(*value, to);
    }
}

char *guest_declaration_text(const struct guest_declaration *d)
{
    static const char *const picks[] = {"all", "first", "one:"};
    char                    *text = NULL;
    size_t                   size;
    FILE                    *to = open_memstream(&text, &size);
    if (!to)
        return NULL;
    fprintf(to, "%s=", d->clsid_text);
    put_value(to, d->path);
    if (d->pick != GUEST_PICK_ALL)
        fprintf(to, ",pick=%s", picks[d->pick]);
    if (d->pick == GUEST_PICK_ONE)
        put_value(to, d->pick_what);
    if (d->priority)
        fprintf(to, ",priority=%d", d->priority);
    for (size_t i = 0; i < d->n_env; i++) {
        fputs(",env=", to);
        put_value(to, d->env[i]);
    }
    if (fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}

void guest_declaration_free(struct guest_declaration *d)
{
    free(d->path);
    free(d->pick_what);
    for (size_t i = 0; i < d->n_env; i++)
        free(d->env[i]);
    free(d->env);
    memset(d, 0, sizeof(*d));
}
