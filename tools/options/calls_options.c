/* SPDX-License-Identifier: MIT */
#include "tools/options/calls_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/wildcard.h"
#include "tools/options/list_options.h"

#define MAX_TRACE_MB 2048u

static int read_number(const char **at, unsigned *out)
{
    char         *end;
    unsigned long n;
    if (!isdigit((unsigned char)**at))
        return -1;
    n = strtoul(*at, &end, 10);
    *at = end;
    *out = (unsigned)n;
    return n > 0 && n <= 1000000000 ? 0 : -1;
}

static int read_backoff(const char *text, struct sxs_calls_options *out)
{
    if (strcmp(text, "off") == 0) {
        out->backoff_hz = 0;
        return 0;
    }
    if (read_number(&text, &out->backoff_hz) || *text++ != '/' ||
        read_number(&text, &out->backoff_ns))
        return -1;
    return *text ? -1 : 0;
}

/* Parses the text behind "trace": "" or "=MB". The call trace implies mode "tree". */
static int read_trace(const char *text, struct sxs_calls_options *out)
{
    out->mode = SXS_CALLS_TREE;
    out->trace_mb = SXS_CALLS_TRACE_MB;
    if (!*text)
        return 0;
    return *text++ == '=' && !read_number(&text, &out->trace_mb) && !*text &&
                   out->trace_mb <= MAX_TRACE_MB ? 0 : -1;
}

static int read_item(const char *item, void *options)
{
    struct sxs_calls_options *out = options;
    static const struct {
        const char         *word;
        enum sxs_calls_mode mode;
    } modes[] = {{"count", SXS_CALLS_COUNT}, {"time", SXS_CALLS_TIME}, {"tree", SXS_CALLS_TREE}};
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(item, modes[i].word) == 0) {
            out->mode = modes[i].mode;
            out->trace_mb = 0;
            return 0;
        }
    }
    if (strcmp(item, "inline=on") == 0 || strcmp(item, "inline=off") == 0) {
        out->inlining = item[8] == 'n';
        return 0;
    }
    if (strcmp(item, "await=logical") == 0 || strcmp(item, "await=physical") == 0) {
        out->logical = item[6] == 'l';
        return 0;
    }
    if (strncmp(item, "trace", 5) == 0)
        return read_trace(item + 5, out);
    return strncmp(item, "backoff=", 8) == 0 ? read_backoff(item + 8, out) : -1;
}

int sxs_calls_parse(const char *text, struct sxs_calls_options *out, char *bad, size_t size)
{
    *out = (struct sxs_calls_options){
        .mode = SXS_CALLS_TREE, .backoff_hz = 1000000, .backoff_ns = 200};
    return sxs_list_parse(text, read_item, out, bad, size);
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
 * begin with a '<' directly behind a name. */
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
    if (n && !sxs_wild_fits(p->version, version) &&
        !(strncmp(p->version, version, n) == 0 && version[n] == '.'))
        return 0;
    return sxs_wild_fits(p->assembly, assembly);
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
    return sxs_wild_fits(p->name, plain);
}
