/* SPDX-License-Identifier: MIT */
#include "tools/instrument/code_rules.h"

#include <stdio.h>

#include "base/code_path.h"

/* Returns the first action of the rule that runs code which it names or contains, or NULL. */
static const struct sxs_action *find_code_of(const struct sxs_rule *rule)
{
    for (uint32_t k = 0; k < rule->n_actions; k++) {
        const struct sxs_action *a = &rule->actions[k];
        if (a->kind == SXS_ACTION_INJECT || a->call.kind != SXS_TARGET_NONE ||
            a->finish.kind != SXS_TARGET_NONE)
            return a;
    }
    return NULL;
}

/* Returns the first action of all rules that does, or NULL. */
static const struct sxs_action *find_code(const struct sxs_config *config,
                                          const struct sxs_rule  **rule)
{
    const struct sxs_action *a = NULL;
    for (uint32_t i = 0; i < config->n_rules && !a; i++) {
        *rule = config->rules[i];
        a = find_code_of(*rule);
    }
    return a;
}

int sxs_rules_lie_open(const struct sxs_config *config, char *why, size_t size)
{
    const char *last = NULL;
    for (uint32_t i = 0; i < config->n_rules; i++) {
        const struct sxs_rule *rule = config->rules[i];
        if (rule->file == last || !find_code_of(rule))
            continue;
        last = rule->file;
        if (sxs_code_path_refused(last, why, size))
            return 1;
    }
    return 0;
}

int sxs_rules_have_code(const struct sxs_config *config, char *why, size_t size)
{
    const struct sxs_rule   *rule;
    const struct sxs_action *a = find_code(config, &rule);
    if (a)
        snprintf(why, size, "%.160s:%u: %s", rule->file, (unsigned)a->line,
                 a->kind == SXS_ACTION_INJECT ? "<inject> inserts code"
                                              : "it calls a library or an assembly");
    return a != NULL;
}
