/* SPDX-License-Identifier: MIT */
#include "cmd/fleet/select.h"

#include "cmd/clickhouse/encode.h"
#include "cmd/clickhouse/sql.h"
#include "cmd/fleet/when.h"
#include "cmd/output/must.h"

#include <string.h>

enum sxs_fleet_place sxs_fleet_place(const char *key)
{
    static const char *const of_source[] = {"service",   "version", "machine",
                                            "container", "process", "command"};
    static const char *const of_stack[] = {"runtime", "class", "thread"};
    for (size_t i = 0; i < sizeof(of_source) / sizeof(of_source[0]); i++)
        if (strcmp(key, of_source[i]) == 0)
            return SXS_FLEET_OF_SOURCE;
    for (size_t i = 0; i < sizeof(of_stack) / sizeof(of_stack[0]); i++)
        if (strcmp(key, of_stack[i]) == 0)
            return SXS_FLEET_OF_STACK;
    if (strcmp(key, "trace_id") == 0)
        return SXS_FLEET_TRACE;
    return strcmp(key, "function") == 0 ? SXS_FLEET_FUNCTION : SXS_FLEET_LABEL;
}

/* ---- making ---------------------------------------------------------------------------------- */

void sxs_fleet_select_one(struct sxs_fleet_selection *s, const char *key, const char *pattern,
                          bool negated)
{
    SXS_GROW(s->conditions, s->n, s->cap);
    s->conditions[s->n++] = (struct sxs_fleet_condition){.place = sxs_fleet_place(key),
                                                         .key = sxs_must(strdup(key)),
                                                         .pattern = sxs_must(strdup(pattern)),
                                                         .negated = negated};
}

void sxs_fleet_select_copy(struct sxs_fleet_selection *to, const struct sxs_fleet_selection *from)
{
    for (size_t i = 0; i < from->n; i++)
        sxs_fleet_select_one(to, from->conditions[i].key, from->conditions[i].pattern,
                             from->conditions[i].negated);
    if (from->from)
        to->from = from->from;
    if (from->to)
        to->to = from->to;
}

void sxs_fleet_selection_free(struct sxs_fleet_selection *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->conditions[i].key);
        free(s->conditions[i].pattern);
    }
    free(s->conditions);
    memset(s, 0, sizeof(*s));
}

/* Takes one condition, which is changed. */
static int take(struct sxs_fleet_selection *s, char *text, time_t now, char *why, size_t size)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text || (equals == text + 1 && text[0] == '!')) {
        snprintf(why, size, "'%s': expected KEY=PATTERN or KEY!=PATTERN", text);
        return -1;
    }
    bool negated = equals[-1] == '!';
    equals[negated ? -1 : 0] = '\0';
    const char *pattern = equals + 1;
    bool        from = strcmp(text, "from") == 0, to = strcmp(text, "to") == 0;
    if (!from && !to) {
        sxs_fleet_select_one(s, text, pattern, negated);
    } else if (negated || sxs_fleet_when(pattern, now, from ? &s->from : &s->to) != 0) {
        snprintf(why, size, "%s: '%s': expected " SXS_FLEET_WHEN, text, pattern);
        return -1;
    }
    return 0;
}

int sxs_fleet_select(struct sxs_fleet_selection *s, const char *text, time_t now, char *why,
                     size_t size)
{
    char *copy = sxs_must(strdup(text)), *to = copy, *begin = copy;
    int   err = 0;
    for (const char *at = text; !err; at++) {
        if (at[0] == '\\' && at[1] == ',') {
            *to++ = *++at;
        } else if (at[0] == '\\' && at[1]) { /* the pattern's own */
            *to++ = *at++;
            *to++ = *at;
        } else if (*at == ',' || !*at) {
            *to++ = '\0';
            err = take(s, begin, now, why, size);
            begin = to;
            if (!*at)
                break;
        } else {
            *to++ = *at;
        }
    }
    free(copy);
    return err;
}

/* ---- SQL ------------------------------------------------------------------------------------- */

static bool is_about_sources(enum sxs_fleet_place place)
{
    return place == SXS_FLEET_OF_SOURCE || place == SXS_FLEET_LABEL;
}

static void put_source_condition(FILE *to, const struct sxs_fleet_condition *c)
{
    if (c->place == SXS_FLEET_LABEL) {
        fputs("labels.value[indexOf(labels.key, ", to); /* "" when there is no such label */
        sxs_sql_text(to, c->key);
        fputs(")]", to);
    } else {
        fputs(c->key, to); /* one of the names above */
    }
    sxs_sql_match(to, c->pattern, c->negated);
}

static void put_sources(FILE *to, const struct sxs_fleet_selection *s, const char *column)
{
    const char *join = " WHERE ";
    fprintf(to, "(SELECT %s FROM sources", column);
    for (size_t i = 0; i < s->n; i++) {
        const struct sxs_fleet_condition *c = &s->conditions[i];
        if (!is_about_sources(c->place))
            continue;
        fputs(join, to);
        put_source_condition(to, c);
        join = " AND ";
    }
    putc(')', to);
}

static void put_stack_condition(FILE *to, const struct sxs_fleet_condition *c)
{
    if (c->place == SXS_FLEET_TRACE) {
        fputs(SXS_FLEET_TRACE_SQL, to);
        sxs_sql_match(to, c->pattern, c->negated);
        return;
    }
    if (c->place == SXS_FLEET_FUNCTION) {
        fprintf(
            to,
            "stack %s (SELECT stack FROM stacks ARRAY JOIN frames AS f WHERE f IN (SELECT frame "
            "FROM frames WHERE name",
            c->negated ? "NOT IN" : "IN");
        sxs_sql_match(to, c->pattern, false);
        fputs("))", to);
    } else {
        fprintf(to, "stack IN (SELECT stack FROM stacks WHERE %s", c->key);
        sxs_sql_match(to, c->pattern, c->negated);
        putc(')', to);
    }
}

static void put_kind(FILE *to, const struct sxs_fleet_selection *s, bool with_batches)
{
    const char *name = sxs_clickhouse_kind_name(s->kind);
    if (with_batches)
        fprintf(to, "kind IN ('batch', '%s')", name);
    else
        fprintf(to, "kind = '%s'", name);
}

/* Writes the conditions of kind, period and source. */
static void put_common(FILE *to, const struct sxs_fleet_selection *s, bool with_batches)
{
    bool sources = false;
    put_kind(to, s, with_batches);
    if (s->from)
        fprintf(to, " AND time >= toDateTime(%lld)", (long long)s->from);
    if (s->to)
        fprintf(to, " AND time < toDateTime(%lld)", (long long)s->to);
    for (size_t i = 0; i < s->n; i++)
        sources |= is_about_sources(s->conditions[i].place);
    if (sources) { /* the first is the beginning of the table's order: it finds the rows */
        fputs(" AND service IN ", to);
        put_sources(to, s, "service_id");
        fputs(" AND source IN ", to);
        put_sources(to, s, "source");
    }
}

static void put_last(FILE *to, const struct sxs_fleet_selection *s)
{
    fputs("(source, time) IN (SELECT source, max(time) FROM samples WHERE ", to);
    put_common(to, s, false);
    fputs(" GROUP BY source", to);
    if (s->step)
        fprintf(to, ", intDiv(toUInt32(time), %lld)", (long long)s->step);
    putc(')', to);
}

void sxs_fleet_where(FILE *to, const struct sxs_fleet_selection *s, bool with_batches)
{
    const char *begin = with_batches ? " AND (kind = 'batch' OR " : " AND ";
    const char *end = with_batches ? ")" : "";
    put_common(to, s, with_batches);
    if (sxs_clickhouse_kind_is_state(s->kind)) {
        fputs(begin, to);
        put_last(to, s);
        fputs(end, to);
    }
    for (size_t i = 0; i < s->n; i++) {
        if (is_about_sources(s->conditions[i].place))
            continue;
        fputs(begin, to);
        put_stack_condition(to, &s->conditions[i]);
        fputs(end, to);
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

static void put_time(FILE *to, int64_t seconds)
{
    time_t    t = (time_t)seconds;
    struct tm utc;
    gmtime_r(&t, &utc);
    fprintf(to, "%04d-%02d-%02d %02d:%02d:%02d", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
            utc.tm_hour, utc.tm_min, utc.tm_sec);
}

void sxs_fleet_says(FILE *to, const struct sxs_fleet_selection *s)
{
    for (size_t i = 0; i < s->n; i++)
        fprintf(to, "%s%s=%s, ", s->conditions[i].key, s->conditions[i].negated ? "!" : "",
                s->conditions[i].pattern);
    fputs(sxs_clickhouse_kind_name(s->kind), to);
    if (s->from) {
        fputs(", from ", to);
        put_time(to, s->from);
    }
    if (s->to) {
        fputs(s->from ? " to " : ", to ", to);
        put_time(to, s->to);
    }
    if (s->from || s->to)
        fputs(" UTC", to);
}
