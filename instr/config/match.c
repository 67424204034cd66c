/* SPDX-License-Identifier: MIT */
/* instr/config/match.c - find the rules that apply to a method. */
#include <string.h>

#include "base/text/wildcard.h"
#include "instr/config/config_internal.h"

/* ---- patterns -------------------------------------------------------------------------------- */

int sxs_config_fits(const struct sxs_pattern *pattern, const char *text)
{
    if (!pattern->text || !text)
        return 1;
    return pattern->has_wildcards ? sxs_wildcard_matches(pattern->text, text)
                                  : !strcmp(pattern->text, text);
}

int config_compare_versions(const struct sxs_version *a, const struct sxs_version *b)
{
    for (int i = 0; i < 4; i++)
        if (a->part[i] != b->part[i])
            return a->part[i] < b->part[i] ? -1 : 1;
    return 0;
}

/* Does one of the versions in @wanted match? "8" matches 8.0.29; "10.0" does not match 10.01. */
static int fits_runtime(const char *wanted, const char *version)
{
    if (!wanted || !version)
        return 1;
    while (*(wanted += strspn(wanted, " \t\r\n"))) {
        size_t len = strcspn(wanted, " \t\r\n");
        if (!strncmp(wanted, version, len) && (!version[len] || strchr(".-+", version[len])))
            return 1;
        wanted += len;
    }
    return 0;
}

/* ---- one match ------------------------------------------------------------------------------- */

static int fits_place(const struct sxs_match *match, const char *runtime, const char *assembly,
                      const struct sxs_version *version)
{
    if (!fits_runtime(match->runtime, runtime) || !sxs_config_fits(&match->assembly, assembly))
        return 0;
    if (!version)
        return 1;
    return !(match->has_min && config_compare_versions(version, &match->min_version) < 0) &&
           !(match->has_max && config_compare_versions(version, &match->max_version) >= 0);
}

static int fits_parameters(const struct sxs_match *match, const struct sxs_config_method *method)
{
    if (match->n_parameters < 0 || (!method->parameters && method->n_parameters))
        return 1;
    if ((uint32_t)match->n_parameters != method->n_parameters)
        return 0;
    for (uint32_t i = 0; i < method->n_parameters; i++)
        if (!sxs_config_fits(&match->parameters[i], method->parameters[i]))
            return 0;
    return 1;
}

static int fits_attributes(const struct sxs_match *match, const struct sxs_config_method *method)
{
    if (!match->attribute.text || (!method->attributes && method->n_attributes))
        return 1;
    for (uint32_t i = 0; i < method->n_attributes; i++)
        if (sxs_config_fits(&match->attribute, method->attributes[i]))
            return 1;
    return 0;
}

static int match_fits(const struct sxs_match *match, const struct sxs_config_method *method)
{
    const struct sxs_config_method *named = method;
    if (match->async == SXS_ASYNC_OUTER && method->outer)
        return 0;
    if (match->async == SXS_ASYNC_STATE_MACHINE) {
        named = method->outer;
        if (!named)
            return 0;
    }
    return fits_place(match, method->runtime, method->assembly, method->version) &&
           sxs_config_fits(&match->type, named->type) && sxs_config_fits(&match->method, named->method) &&
           fits_parameters(match, named) && fits_attributes(match, named);
}

/* ---- rules ----------------------------------------------------------------------------------- */

int sxs_config_matches(const struct sxs_rule *rule, const struct sxs_config_method *method)
{
    uint32_t i;
    for (i = 0; i < rule->n_matches; i++)
        if (match_fits(&rule->matches[i], method))
            break;
    if (i == rule->n_matches)
        return 0;
    for (i = 0; i < rule->n_exclusions; i++)
        if (match_fits(&rule->exclusions[i], method))
            return 0;
    return 1;
}

static enum sxs_config_reach reach_of(const struct sxs_match         *match,
                                      const struct sxs_config_method *method)
{
    const struct sxs_config_method *named = method;
    if (!fits_place(match, method->runtime, method->assembly, method->version))
        return SXS_REACH_NOTHING;
    if (match->async == SXS_ASYNC_STATE_MACHINE && method->outer)
        named = method->outer;
    if (!named->type || !sxs_config_fits(&match->type, named->type))
        return SXS_REACH_ASSEMBLY;
    if (!named->method || !sxs_config_fits(&match->method, named->method))
        return SXS_REACH_TYPE;
    if (!fits_parameters(match, named))
        return SXS_REACH_METHOD;
    return match_fits(match, method) ? SXS_REACH_EXCLUDED : SXS_REACH_PARAMETERS;
}

enum sxs_config_reach sxs_config_reach(const struct sxs_rule          *rule,
                                       const struct sxs_config_method *method)
{
    enum sxs_config_reach far = SXS_REACH_NOTHING;
    for (uint32_t i = 0; i < rule->n_matches; i++) {
        enum sxs_config_reach one = reach_of(&rule->matches[i], method);
        far = one > far ? one : far;
    }
    return far == SXS_REACH_EXCLUDED && sxs_config_matches(rule, method) ? SXS_REACH_ALL : far;
}

int sxs_config_may_match(const struct sxs_rule *rule, const char *runtime, const char *assembly,
                         const struct sxs_version *version, const char *type)
{
    for (uint32_t i = 0; i < rule->n_matches; i++)
        if (fits_place(&rule->matches[i], runtime, assembly, version) &&
            sxs_config_fits(&rule->matches[i].type, type))
            return 1;
    return 0;
}

int sxs_config_wants_attributes(const struct sxs_rule *rule)
{
    for (uint32_t i = 0; i < rule->n_matches; i++)
        if (rule->matches[i].attribute.text)
            return 1;
    for (uint32_t i = 0; i < rule->n_exclusions; i++)
        if (rule->exclusions[i].attribute.text)
            return 1;
    return 0;
}

/* Returns the one New Relic rule that New Relic's agent would use: the first that has a parameter
 * list, or the first without one. NULL: none applies. */
static const struct sxs_rule *new_relic_rule(const struct sxs_config        *config,
                                             const struct sxs_config_method *method)
{
    const struct sxs_rule *found = NULL;
    for (uint32_t i = 0; i < config->n_rules; i++) {
        const struct sxs_rule *rule = config->rules[i];
        if (!rule->new_relic || (found && rule->matches[0].n_parameters < 0))
            continue;
        if (!sxs_config_matches(rule, method))
            continue;
        if (rule->matches[0].n_parameters >= 0)
            return rule;
        found = rule;
    }
    return found;
}

size_t sxs_config_rules(const struct sxs_config *config, const struct sxs_config_method *method,
                        const struct sxs_rule **rules, size_t room)
{
    const struct sxs_rule *new_relic = new_relic_rule(config, method);
    size_t                 n = 0;
    for (uint32_t i = 0; i < config->n_rules; i++) {
        const struct sxs_rule *rule = config->rules[i];
        if (rule->new_relic ? rule != new_relic : !sxs_config_matches(rule, method))
            continue;
        if (n < room)
            rules[n] = rule;
        n++;
    }
    return n;
}
