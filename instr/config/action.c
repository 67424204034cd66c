/* SPDX-License-Identifier: MIT */
/* instr/config/action.c - read the actions of files with this project's schema. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "instr/config/libxml.h"
#include "instr/config/reader.h"

#define ARGUMENTS_MAX 64

/* ---- arguments ------------------------------------------------------------------------------- */

static int is_name(const char *s, size_t len)
{
    if (isdigit((unsigned char)s[0]))
        return 0;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)s[i]) && s[i] != '_' && (unsigned char)s[i] < 0x80)
            return 0;
    return len > 0;
}

/* Reads one argument of @len bytes. Returns 0, or -1 when it is not an argument. */
static int read_argument(struct config_reader *r, const char *s, size_t len,
                         struct sxs_argument *argument)
{
    const char *digits = "0123456789";
    memset(argument, 0, sizeof(*argument));
    if (len == 1 && *s == '*')
        argument->kind = SXS_ARGUMENT_ALL;
    else if (len == 4 && !strncmp(s, "this", 4))
        argument->kind = SXS_ARGUMENT_THIS;
    else if (strspn(s, digits) >= len && len <= 5) {
        argument->kind = SXS_ARGUMENT_INDEX;
        argument->index = (uint32_t)strtoul(s, NULL, 10);
    } else {
        size_t at = *s == '@'; /* @class: C# escapes keywords so */
        argument->kind = SXS_ARGUMENT_NAME;
        argument->name = config_strndup(&r->file->arena, s + at, len - at);
        return is_name(s + at, len - at) ? 0 : -1;
    }
    return 0;
}

static int same_argument(const struct sxs_argument *a, const struct sxs_argument *b)
{
    return a->kind == b->kind && a->index == b->index &&
           (!a->name || !b->name || !strcmp(a->name, b->name));
}

static void read_arguments(struct config_reader *r, const xmlNode *node, struct sxs_action *action)
{
    static const char    separators[] = " \t\r\n,";
    const char          *s = config_get(r, node, "arguments");
    size_t               len = s ? strlen(s) / 2 + 1 : 0; /* upper limit of their number */
    struct sxs_argument *list;
    uint32_t             n = 0;
    if (len > ARGUMENTS_MAX)
        len = ARGUMENTS_MAX;
    if (!s || !(list = config_alloc(&r->file->arena, len * sizeof(*list))))
        return;
    for (s += strspn(s, separators); *s; s += len, s += strspn(s, separators)) {
        len = strcspn(s, separators);
        if (n == ARGUMENTS_MAX) {
            config_wrong(r, node, "arguments", NULL, "more than %d arguments", ARGUMENTS_MAX);
            break;
        }
        if (read_argument(r, s, len, &list[n]))
            config_wrong(r, node, "arguments", "this, *, names, or numbers from 0",
                         "argument \"%.*s\"", (int)len, s);
        for (uint32_t i = 0; i < n; i++)
            if (same_argument(&list[i], &list[n]))
                config_wrong(r, node, "arguments", "each once", "argument \"%.*s\" again", (int)len,
                             s);
        n++;
    }
    action->arguments = list;
    action->n_arguments = n;
}

/* ---- targets --------------------------------------------------------------------------------- */

static const char *absolute(struct config_reader *r, const char *path)
{
    if (*path == '/' || !*r->folder)
        return path;
    return config_printf(&r->file->arena, "%s/%s", r->folder, path);
}

static int ends_in_dll(const char *path)
{
    size_t len = strlen(path);
    return len > 4 && !strcmp(path + len - 4, ".dll");
}

/* Reads the name of an export, or of a managed method without its type. */
static const char *function(struct config_reader *r, const xmlNode *node, const char *attribute,
                            int managed)
{
    const char *name = config_get(r, node, attribute);
    size_t      len = name ? strlen(name) : 0;
    if (!name) {
        config_wrong(r, node, NULL,
                     managed ? "the name of a static method" : "the name of an export",
                     "<%s> without %s=", (const char *)node->name, attribute);
        return NULL;
    }
    if (managed
            ? strpbrk(name, " *?(/:<") != NULL || *name == '.'
            : !is_name(name, len) && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTU"
                                                  "VWXYZ0123456789_.$@") != len)
        config_wrong(r, node, attribute,
                     managed ? "the name of one static method, without its type and parameters"
                             : "the name of an export, such as on_enter",
                     "%s=\"%s\"", attribute, name);
    return name;
}

static void read_native(struct config_reader *r, const xmlNode *node, const char *attribute,
                        struct sxs_call_target *target)
{
    const char *path = config_get(r, node, "library");
    target->kind = SXS_TARGET_NATIVE;
    target->path = path && strchr(path, '/') ? absolute(r, path) : path;
    target->method = function(r, node, attribute, 0);
    target->plain = !config_get_boolean(r, node, "transition", 1);
}

static void read_managed(struct config_reader *r, const xmlNode *node, const char *attribute,
                         struct sxs_call_target *target)
{
    const char *path = config_get(r, node, "assembly");
    target->kind = SXS_TARGET_MANAGED;
    target->path = ends_in_dll(path) ? absolute(r, path) : path;
    if (strchr(path, '/') && !ends_in_dll(path))
        config_wrong(r, node, "assembly",
                     "a file ending in .dll, or the name of an assembly that the runtime finds",
                     "assembly=\"%s\"", path);
    target->type = config_pattern(r, node, "type", CONFIG_TYPE).text;
    if (!target->type)
        config_wrong(r, node, NULL, "the type that has the method",
                     "<%s> without type=", (const char *)node->name);
    else if (strpbrk(target->type, "*?`"))
        config_wrong(r, node, "type", "one type, not generic and without wildcards", "type=\"%s\"",
                     target->type);
    target->method = function(r, node, attribute, 1);
}

static void refuse_attribute(struct config_reader *r, const xmlNode *node, const char *attribute,
                             const char *beside)
{
    if (xmlHasProp((xmlNode *)(uintptr_t)node, (const xmlChar *)attribute))
        config_wrong(r, node, attribute, NULL, "%s= beside %s=", attribute, beside);
}

/* Reads the target of a call. @native, @managed: the attributes that have the function's name. */
static void read_target(struct config_reader *r, const xmlNode *node, const char *native,
                        const char *managed, struct sxs_call_target *target)
{
    const char *library = config_get(r, node, "library");
    if (!library == !config_get(r, node, "assembly")) {
        config_wrong(r, node, library ? "assembly" : NULL,
                     "library= for native code, or assembly= and type= for managed code",
                     library ? "library= beside assembly=" : "<%s> calls nothing",
                     (const char *)node->name);
        return;
    }
    if (!library) {
        read_managed(r, node, managed, target);
        refuse_attribute(r, node, "symbol", "assembly");
        refuse_attribute(r, node, "transition", "assembly");
        return;
    }
    read_native(r, node, native, target);
    refuse_attribute(r, node, "type", "library");
    refuse_attribute(r, node, "method", "library");
}

/* ---- actions --------------------------------------------------------------------------------- */

static void read_call(struct config_reader *r, const xmlNode *node, struct sxs_action *action)
{
    const char *on = config_get(r, node, "on"), *when = config_get(r, node, "when");
    action->kind = when && !strcmp(when, "before") ? SXS_ACTION_BEFORE : SXS_ACTION_AFTER;
    action->on = !on                        ? SXS_ON_END
                 : !strcmp(on, "result")    ? SXS_ON_RESULT
                 : !strcmp(on, "exception") ? SXS_ON_EXCEPTION
                                            : SXS_ON_END;
    if (action->kind == SXS_ACTION_BEFORE) {
        static const char *const later[] = {"on", "result", "exception"};
        for (int i = 0; i < 3; i++)
            if (xmlHasProp((xmlNode *)(uintptr_t)node, (const xmlChar *)later[i]))
                config_wrong(r, node, later[i], "when=\"after\"", "%s= of a call before the method",
                             later[i]);
    }
    read_target(r, node, "symbol", "method", &action->call);
}

static void read_wrap(struct config_reader *r, const xmlNode *node, struct sxs_action *action)
{
    uint32_t before = r->n_errors;
    action->kind = SXS_ACTION_WRAP;
    read_target(r, node, "before", "before", &action->call);
    if (r->n_errors != before)
        return; /* `after` would have the same error */
    read_target(r, node, "after", "after", &action->finish);
}

static void read_replace(struct config_reader *r, const xmlNode *node, struct sxs_action *action)
{
    static const char *const others[] = {"library", "symbol",    "assembly",  "type",
                                         "method",  "arguments", "transition"};
    action->kind = SXS_ACTION_REPLACE;
    action->value = config_get(r, node, "value");
    if (action->value)
        for (int i = 0; i < 7; i++)
            refuse_attribute(r, node, others[i], "value");
    else if (node->properties)
        read_target(r, node, "symbol", "method", &action->call);
}

static void read_counting(struct config_reader *r, const xmlNode *node, struct sxs_action *action)
{
    action->kind = config_is(node, "count")  ? SXS_ACTION_COUNT
                   : config_is(node, "time") ? SXS_ACTION_TIME
                                             : SXS_ACTION_TRACE;
    action->label = config_get(r, node, "label");
}

void config_read_action(struct config_reader *r, const xmlNode *node, struct sxs_action *action)
{
    config_place(&r->source, config_offset(r, node), &action->line, &action->column);
    action->offset = SXS_NO_OFFSET;
    if (config_is(node, "call"))
        read_call(r, node, action);
    else if (config_is(node, "wrap"))
        read_wrap(r, node, action);
    else if (config_is(node, "replace"))
        read_replace(r, node, action);
    else if (config_is(node, "inject"))
        config_read_il(r, node, action);
    else
        read_counting(r, node, action);
    read_arguments(r, node, action);
    if (action->kind == SXS_ACTION_TRACE || action->kind == SXS_ACTION_AFTER ||
        action->kind == SXS_ACTION_WRAP) {
        action->with_result =
            (uint8_t)(action->on != SXS_ON_EXCEPTION && config_get_boolean(r, node, "result", 1));
        action->with_exception =
            (uint8_t)(action->on != SXS_ON_RESULT && config_get_boolean(r, node, "exception", 1));
    }
}
