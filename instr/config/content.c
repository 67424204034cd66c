/* SPDX-License-Identifier: MIT */
/* instr/config/content.c - write the canonical text of a rule, by which two loads are compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "instr/config/config_internal.h"

/* Writes a text with its length before it, so that different rules never have the same canonical
 * text. Writes nothing for NULL. */
static void put_text(FILE *to, const char *what, const char *text)
{
    if (text)
        fprintf(to, "%s=%zu:%s ", what, strlen(text), text);
}

static void put_pattern(FILE *to, const char *what, const struct sxs_pattern *p)
{
    if (p->text && p->has_wildcards)
        fprintf(to, "~");
    put_text(to, what, p->text);
}

static void put_version(FILE *to, const char *what, int there, const struct sxs_version *v)
{
    if (there)
        fprintf(to, "%s=%u.%u.%u.%u ", what, v->part[0], v->part[1], v->part[2], v->part[3]);
}

static void put_match(FILE *to, const char *what, const struct sxs_match *m)
{
    fprintf(to, "\n%s ", what);
    put_text(to, "runtime", m->runtime);
    put_pattern(to, "assembly", &m->assembly);
    put_version(to, "min", m->has_min, &m->min_version);
    put_version(to, "max", m->has_max, &m->max_version);
    put_pattern(to, "type", &m->type);
    put_pattern(to, "method", &m->method);
    if (m->n_parameters >= 0)
        fprintf(to, "parameters=%d ", m->n_parameters);
    for (int i = 0; i < m->n_parameters; i++)
        put_pattern(to, "", &m->parameters[i]);
    put_pattern(to, "attribute", &m->attribute);
    if (m->async)
        fprintf(to, "async=%u ", m->async);
}

static void put_target(FILE *to, const struct sxs_call_target *t)
{
    if (t->kind == SXS_TARGET_NONE)
        return;
    fprintf(to, "target=%d ", t->kind);
    put_text(to, "path", t->path);
    put_text(to, "type", t->type);
    put_text(to, "method", t->method);
    if (t->plain)
        fprintf(to, "plain ");
}

static void put_action(FILE *to, const struct sxs_action *a)
{
    fprintf(to, "\naction %d result=%u exception=%u on=%d place=%d offset=%u ", a->kind,
            a->with_result, a->with_exception, a->on, a->place, a->offset);
    put_text(to, "label", a->label);
    for (uint32_t i = 0; i < a->n_arguments; i++) {
        fprintf(to, "argument=%d.%u ", a->arguments[i].kind, a->arguments[i].index);
        put_text(to, "name", a->arguments[i].name);
    }
    put_target(to, &a->call);
    put_target(to, &a->finish);
    put_text(to, "value", a->value);
    put_pattern(to, "instruction", &a->instruction);
    put_text(to, "il", a->il);
}

static uint64_t hash_text(const char *text)
{
    uint64_t h = sxs_hash_text(SXS_HASH_START, text);
    return h ? h : 1;
}

void config_rule_finish(struct config_arena *arena, struct sxs_rule *rule)
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *to = open_memstream(&text, &size);
    if (!to) {
        arena->failed = 1;
        return;
    }
    fprintf(to, "rule priority=%d new_relic=%u ", rule->priority, rule->new_relic);
    put_text(to, "name", rule->name);
    for (uint32_t i = 0; i < rule->n_matches; i++)
        put_match(to, "match", &rule->matches[i]);
    for (uint32_t i = 0; i < rule->n_exclusions; i++)
        put_match(to, "exclude", &rule->exclusions[i]);
    for (uint32_t i = 0; i < rule->n_actions; i++)
        put_action(to, &rule->actions[i]);
    if (fclose(to))
        arena->failed = 1;
    rule->content = text ? config_strdup(arena, text) : NULL;
    free(text);
    if (!rule->content)
        return;
    rule->identity = hash_text(rule->content);
    if (!rule->name)
        rule->name = config_printf(arena, "%s:%u", rule->file, rule->line);
}
