/* SPDX-License-Identifier: MIT */
/*
 * instr/config/new_relic.c - read extension files of New Relic's agent as the agent reads them.
 *
 * The agent ignores the case of the names of elements and attributes, ignores elements and
 * attributes that it does not know, and makes one instrumentation point of each method matcher.
 * Here each method matcher becomes a rule with a trace action, and elements and attributes that are
 * ignored get a warning.
 */
#include <string.h>

#include "instr/config/libxml.h"
#include "instr/config/reader.h"
#include "base/c_locale.h"

static int is_element(const xmlNode *node, const char *name)
{
    return sxs_same_text((const char *)node->name, name);
}

/* Returns the name of the attribute as the file spells it; NULL: there is no such attribute. */
static const char *attribute_name(const xmlNode *node, const char *name)
{
    for (const xmlAttr *a = node->properties; a; a = a->next)
        if (sxs_same_text((const char *)a->name, name))
            return (const char *)a->name;
    return NULL;
}

static const char *get(struct config_reader *r, const xmlNode *node, const char *name)
{
    const char *spelled = attribute_name(node, name);
    return spelled ? config_get(r, node, spelled) : NULL;
}

static const char *required(struct config_reader *r, const xmlNode *node, const char *name,
                            const char *expected)
{
    const char *value = get(r, node, name);
    if (!value || !*value)
        config_wrong(r, node, value ? name : NULL, expected,
                     "<%s> without %s=", (const char *)node->name, name);
    return value;
}

/* Warns of attributes whose names are not in @known, in which a blank follows each name. */
static void warn_unknown(struct config_reader *r, const xmlNode *node, const char *known)
{
    for (const xmlAttr *a = node->properties; a; a = a->next) {
        const char *name = (const char *)a->name;
        size_t      len = strlen(name);
        const char *at = known;
        while (*at && (strncasecmp(at, name, len) != 0 || at[len] != ' '))
            at += strcspn(at, " ") + 1;
        if (!*at && !a->ns)
            config_warn(r, node, name, NULL, "%s= of <%s> is ignored, as the agent does", name,
                        (const char *)node->name);
    }
}

static void warn_element(struct config_reader *r, const xmlNode *node)
{
    config_warn(r, node, NULL, NULL, "<%s> is ignored, as the agent does",
                (const char *)node->name);
}

/* ---- one method matcher ---------------------------------------------------------------------- */

static uint32_t count_classes(const char *names)
{
    uint32_t n = 1;
    int      depth = 0;
    for (; *names; names++) {
        depth += *names == '[' || *names == '<' ? 1 : *names == ']' || *names == '>' ? -1 : 0;
        n += *names == ',' && !depth;
    }
    return n;
}

/* Returns the next of the class names, which commas separate. *names: moved past that name. */
static const char *next_class(struct config_reader *r, const char **names)
{
    const char *begin = *names + strspn(*names, " \t\r\n,"), *end = begin;
    for (int depth = 0; *end && (depth || *end != ','); end++)
        depth += *end == '[' || *end == '<' ? 1 : *end == ']' || *end == '>' ? -1 : 0;
    *names = end;
    while (end > begin && strchr(" \t\r\n", end[-1]))
        end--;
    return config_strndup(&r->file->arena, begin, (size_t)(end - begin));
}

/* Reads the conditions that all classes of the matcher share. */
static void read_match(struct config_reader *r, const xmlNode *match, const xmlNode *matcher,
                       struct sxs_match *one)
{
    const char *parameters = attribute_name(matcher, "parameters");
    config_place(&r->source, config_offset(r, matcher), &one->line, &one->column);
    one->assembly.text = required(r, match, "assemblyName", "the name of an assembly");
    one->method.text = required(r, matcher, "methodName", "the name of a method");
    one->n_parameters = -1;
    config_bounds(r, match, one);
    if (parameters)
        config_parameters(r, matcher, parameters, 0, one);
}

static void read_matcher(struct config_reader *r, const xmlNode *factory, const xmlNode *match,
                         const xmlNode *matcher)
{
    struct config_arena *arena = &r->file->arena;
    const char          *names = required(r, match, "className", "the full name of a class");
    const char          *label = get(r, factory, "metricName");
    struct sxs_rule     *rule = names ? config_file_add(r->file) : NULL;
    struct sxs_match    *matches;
    struct sxs_action   *action;
    if (!rule)
        return;
    rule->n_matches = count_classes(names);
    rule->matches = matches = config_alloc(arena, rule->n_matches * sizeof(*matches));
    rule->actions = action = config_alloc(arena, sizeof(*action));
    if (arena->failed)
        return;
    read_match(r, match, matcher, &matches[0]);
    for (uint32_t i = 0; i < rule->n_matches; i++) {
        matches[i] = matches[0];
        matches[i].type.text = next_class(r, &names);
    }
    rule->file = r->file->path;
    rule->new_relic = 1;
    rule->name = config_printf(arena, "%s.%s", matches[0].type.text, matches[0].method.text);
    rule->line = matches[0].line;
    rule->column = matches[0].column;
    action->kind = SXS_ACTION_TRACE;
    action->label = label && *label && !sxs_same_text(label, "instance") ? label : NULL;
    action->with_result = action->with_exception = 1;
    action->offset = SXS_NO_OFFSET;
    action->line = rule->line;
    action->column = rule->column;
    rule->n_actions = 1;
    config_rule_finish(arena, rule);
}

/* ---- elements around method matchers --------------------------------------------------------- */

static void read_one_match(struct config_reader *r, const xmlNode *factory, const xmlNode *match)
{
    warn_unknown(r, match, "assemblyName className minVersion maxVersion ");
    for (const xmlNode *c = config_child(match); c; c = config_sibling(c)) {
        if (!is_element(c, "exactMethodMatcher")) {
            warn_element(r, c);
            continue;
        }
        if (r->file->n_rules == SXS_CONFIG_RULES_MAX) {
            config_wrong(r, c, NULL, NULL, "more than %u method matchers", SXS_CONFIG_RULES_MAX);
            return;
        }
        warn_unknown(r, c, "methodName parameters ");
        read_matcher(r, factory, match, c);
    }
}

static int is_off(struct config_reader *r, const xmlNode *node)
{
    const char *enabled = get(r, node, "enabled");
    return enabled && (sxs_same_text(enabled, "false") || !strcmp(enabled, "0"));
}

static void read_factory(struct config_reader *r, const xmlNode *factory)
{
    if (is_off(r, factory))
        return;
    warn_unknown(r, factory,
                 "name metricName enabled level suppressRecursiveCalls metric "
                 "transactionTraceSegment transactionNamingPriority ");
    for (const xmlNode *c = config_child(factory); c; c = config_sibling(c)) {
        if (is_element(c, "match"))
            read_one_match(r, factory, c);
        else
            warn_element(r, c);
    }
}

void config_read_extension(struct config_reader *r, const xmlNode *root)
{
    if (is_off(r, root))
        return;
    for (const xmlNode *c = config_child(root); c; c = config_sibling(c)) {
        if (!is_element(c, "instrumentation")) {
            warn_element(r, c);
            continue;
        }
        for (const xmlNode *f = config_child(c); f; f = config_sibling(f)) {
            if (is_element(f, "tracerFactory"))
                read_factory(r, f);
            else
                warn_element(r, f);
        }
    }
}
