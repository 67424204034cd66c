/* SPDX-License-Identifier: MIT */
/* instr/config/rule.c - read the rules of files with this project's schema. The file has been
 * validated: its elements and attributes are as the schema demands. */
#include <stdlib.h>
#include <string.h>

#include "instr/config/libxml.h"
#include "instr/config/reader.h"

static int is_action(const xmlNode *node)
{
    return !config_is(node, "match") && !config_is(node, "exclude");
}

/* Counts the matches, exclusions and actions of a rule. */
static void count_children(const xmlNode *node, struct sxs_rule *rule)
{
    for (const xmlNode *c = config_child(node); c; c = config_sibling(c)) {
        rule->n_matches += config_is(c, "match");
        rule->n_exclusions += config_is(c, "exclude");
        rule->n_actions += is_action(c);
    }
}

/* Returns the versions in runtime=, each separated from the next by one blank. */
static const char *runtimes(struct config_reader *r, const xmlNode *node)
{
    char *text = (char *)(uintptr_t)config_get(r, node, "runtime"), *to = text;
    for (const char *s = text; text && *s; s++)
        if (*s > ' ' || to[-1] != ' ') /* the first byte is not a blank */
            *to++ = *s > ' ' ? *s : ' ';
    if (text)
        *to = 0;
    return text;
}

static void read_match(struct config_reader *r, const xmlNode *node, struct sxs_match *match)
{
    const char *async = config_get(r, node, "async");
    config_place(&r->source, config_offset(r, node), &match->line, &match->column);
    match->runtime = runtimes(r, node);
    match->assembly = config_pattern(r, node, "assembly", CONFIG_ASSEMBLY);
    config_bounds(r, node, match);
    match->type = config_pattern(r, node, "type", CONFIG_TYPE);
    match->method = config_pattern(r, node, "method", CONFIG_METHOD);
    config_parameters(r, node, "parameters", 1, match);
    match->attribute = config_pattern(r, node, "attribute", CONFIG_ATTRIBUTE);
    match->async = !async                           ? SXS_ASYNC_BY_NAME
                   : !strcmp(async, "statemachine") ? SXS_ASYNC_STATE_MACHINE
                                                    : SXS_ASYNC_OUTER;
    if (config_is(node, "match") && !match->type.text && !match->method.text &&
        !match->attribute.text)
        config_wrong(r, node, NULL, "type=, method= or attribute=",
                     "<match> would take every method of an assembly");
}

static void read_rule(struct config_reader *r, const xmlNode *node, struct sxs_rule *rule)
{
    struct config_arena *arena = &r->file->arena;
    const char          *priority = config_get(r, node, "priority");
    struct sxs_match    *matches, *exclusions;
    struct sxs_action   *actions;
    config_place(&r->source, config_offset(r, node), &rule->line, &rule->column);
    rule->file = r->file->path;
    rule->name = config_get(r, node, "name");
    rule->priority = priority ? (int32_t)strtol(priority, NULL, 10) : 0;
    count_children(node, rule);
    rule->matches = matches = config_alloc(arena, (rule->n_matches + 1) * sizeof(*matches));
    rule->exclusions = exclusions =
        config_alloc(arena, (rule->n_exclusions + 1) * sizeof(*exclusions));
    rule->actions = actions = config_alloc(arena, (rule->n_actions + 1) * sizeof(*actions));
    if (arena->failed)
        return;
    for (const xmlNode *c = config_child(node); c; c = config_sibling(c)) {
        if (is_action(c))
            config_read_action(r, c, actions++);
        else
            read_match(r, c, config_is(c, "match") ? matches++ : exclusions++);
    }
    config_rule_finish(arena, rule);
}

/* Reports an error for each <replace> after the first, because a method has only one result. */
static void check_replaced(struct config_reader *r, const xmlNode *node)
{
    int n = 0;
    for (const xmlNode *c = config_child(node); c; c = config_sibling(c))
        if (config_is(c, "replace") && n++)
            config_wrong(r, c, NULL, "one <replace> in a rule", "another result");
}

void config_read_rules(struct config_reader *r, const xmlNode *root)
{
    for (const xmlNode *node = config_child(root); node; node = config_sibling(node)) {
        struct sxs_rule *rule;
        if (r->file->n_rules == SXS_CONFIG_RULES_MAX) {
            config_wrong(r, node, NULL, NULL, "more than %u rules", SXS_CONFIG_RULES_MAX);
            return;
        }
        rule = config_file_add(r->file);
        if (!rule)
            return;
        read_rule(r, node, rule);
        check_replaced(r, node);
        if (!config_get_boolean(r, node, "enabled",
                                1)) /* the rule was read only to report its errors */
            r->file->n_rules--;
    }
}
