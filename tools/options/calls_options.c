/* SPDX-License-Identifier: MIT */
#include "tools/options/calls_options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text/wildcard.h"

#define MAX_TRACE_MB 2048u

/* Sets the mode. A call trace includes a call tree. */
static int set_mode(struct sxs_calls_options *out, int trace, enum sxs_calls_mode mode)
{
    out->mode = mode;
    if (!trace)
        out->trace_mb = 0;
    else if (!out->trace_mb)
        out->trace_mb = SXS_CALLS_TRACE_MB;
    return 0;
}

static int read_mode(const struct sxs_tool_option *row, const char *value, void *options)
{
    static const enum sxs_calls_mode modes[] = {SXS_CALLS_COUNT, SXS_CALLS_TIME, SXS_CALLS_TREE,
                                                SXS_CALLS_TREE};
    int                              choice = sxs_choice(row->argument, value);
    return choice < 0 ? -1 : set_mode(options, choice == 3, modes[choice]);
}

/* Reads "count", "time" and "tree". */
static int read_word(const struct sxs_tool_option *row, const char *value, void *options)
{
    return value ? -1
                 : set_mode(options, 0,
                            row->syntax[0] == 'c'   ? SXS_CALLS_COUNT
                            : row->syntax[1] == 'i' ? SXS_CALLS_TIME
                                                    : SXS_CALLS_TREE);
}

static int read_trace(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_calls_options *out = options;
    (void)row;
    set_mode(out, 1, SXS_CALLS_TREE);
    return value ? sxs_tool_number(value, 1, MAX_TRACE_MB, &out->trace_mb) : 0;
}

static int read_inline(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_calls_options *out = options;
    int                       choice = sxs_choice(row->argument, value);
    out->inlining = choice == 0;
    return choice < 0 ? -1 : 0;
}

static int read_await(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_calls_options *out = options;
    int                       choice = sxs_choice(row->argument, value);
    out->logical = choice == 1;
    return choice < 0 ? -1 : 0;
}

static int read_backoff(const struct sxs_tool_option *row, const char *value, void *options)
{
    struct sxs_calls_options *out = options;
    char                      hz[16] = "";
    size_t                    len = value ? strcspn(value, "/") : 0;
    (void)row;
    if (!value || strcmp(value, "off") == 0) {
        out->backoff_hz = 0;
        return value ? 0 : -1;
    }
    if (!value[len] || len >= sizeof(hz))
        return -1;
    memcpy(hz, value, len);
    return sxs_tool_number(hz, 1, 1000000000, &out->backoff_hz) ||
                   sxs_tool_number(value + len + 1, 1, 1000000000, &out->backoff_ns)
               ? -1
               : 0;
}

#define WORD(name)                                    \
    {                                                 \
        name, NULL, NULL, "no value", NULL, read_word \
    }

static const struct sxs_tool_option rows[] = {
    WORD("count"),
    WORD("time"),
    WORD("tree"),
    {"trace[=MB]", "trace-size", "MB", "a size from 1 to 2048 MiB",
     "Record a call trace of at most this size, in MiB (64); implies --mode trace", read_trace},
    {"mode=count|time|tree|trace", "mode", "count|time|tree|trace", "count, time, tree or trace",
     "Record of each function the number of calls (count) and their time (time), also for each "
     "call "
     "path (tree, the default), and also each call (trace)",
     read_mode},
    {"inline=on|off", "inline", "on|off", "on or off",
     "Let the JIT inline functions, whose calls are not counted then (off)", read_inline},
    {"backoff=N/NS|off", "backoff", "N/NS|off",
     "CALLS-PER-SECOND/NANOSECONDS, two numbers from 1 to 1000000000, or off",
     "Stop timing a function called more than N times a second if a call takes less than NS "
     "nanoseconds (1000000/200)",
     read_backoff},
    {"await=physical|logical", "await", "physical|logical", "physical or logical",
     "Show async methods that were resumed below the code that resumed them (physical, the "
     "default) or below the methods that await them (logical)",
     read_await},
};
const struct sxs_tool_table sxs_calls_table = {"calls", rows, sizeof(rows) / sizeof(rows[0])};

int sxs_calls_parse(const char *text, struct sxs_calls_options *out, char *why, size_t size)
{
    *out = (struct sxs_calls_options){
        .mode = SXS_CALLS_TREE, .backoff_hz = 1000000, .backoff_ns = 200};
    if (sxs_tool_parse(&sxs_calls_table, text, out, why, size) != 0)
        return -1;
    if (!out->logical || out->mode == SXS_CALLS_TREE)
        return 0;
    snprintf(why, size, "await=logical: expected with tree or trace; %s records no call paths",
             out->mode == SXS_CALLS_COUNT ? "count" : "time");
    return -1;
}

/* ---- patterns --------------------------------------------------------------------------------- */

static int copy_part(char *out, size_t size, const char *from, size_t len)
{
    if (!len || len >= size)
        return -1;
    memcpy(out, from, len);
    out[len] = '\0';
    return 0;
}

int sxs_calls_pattern(const char *text, size_t len, struct sxs_calls_pattern *out)
{
    const char *colon = memchr(text, ':', len), *slash;
    memset(out, 0, sizeof(*out));
    if (!colon)
        return -1;
    slash = memchr(text, '/', (size_t)(colon - text));
    if (slash) {
        if (copy_part(out->version, sizeof(out->version), text, (size_t)(slash - text)))
            return -1;
        len -= (size_t)(slash + 1 - text);
        text = slash + 1;
    }
    if (copy_part(out->assembly, sizeof(out->assembly), text, (size_t)(colon - text)))
        return -1;
    return copy_part(out->name, sizeof(out->name), colon + 1, len - (size_t)(colon + 1 - text));
}

/* Returns the next character of the name that is to be compared: skips generic arguments, which
 * begin with a '<' directly after a name. */
static const char *skip_generic(const char *name, const char *begin)
{
    int depth = 0;
    if (*name != '<' || name == begin || !(isalnum((unsigned char)name[-1]) || name[-1] == '_'))
        return name;
    for (const char *at = name; *at; at++) {
        depth += (*at == '<') - (*at == '>');
        if (!depth)
            return at + 1;
    }
    return name;
}

int sxs_calls_pattern_assembly(const struct sxs_calls_pattern *p, const char *version,
                               const char *assembly)
{
    size_t n = strlen(p->version);
    if (n && !sxs_wildcard_matches(p->version, version) &&
        !(strncmp(p->version, version, n) == 0 && version[n] == '.'))
        return 0;
    return sxs_wildcard_matches(p->assembly, assembly);
}

int sxs_calls_pattern_name(const struct sxs_calls_pattern *p, const char *name)
{
    char   plain[1024];
    size_t n = 0;
    for (const char *at = name; *at && *at != '(' && n + 1 < sizeof(plain);) {
        const char *next = skip_generic(at, name);
        if (next != at)
            at = next;
        else
            plain[n++] = *at++;
    }
    plain[n] = '\0';
    return sxs_wildcard_matches(p->name, plain);
}
