/* SPDX-License-Identifier: MIT */
/* instr/config/names.c - read the names of assemblies, types, methods and parameters, and refuse
 * text that cannot be such a name. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "instr/config/reader.h"
#include "base/base.h"
#include "base/c_locale.h"

#define PARAMETERS_MAX 256

/* ---- names that are refused ------------------------------------------------------------------ */

static int ends_in(const char *s, const char *end)
{
    size_t len = strlen(s), n = strlen(end);
    return len >= n && !strcmp(s + len - n, end);
}

/* Is it a generic type as C# writes it, such as List<T>? Names that the compiler makes also have
 * `<`, but only at the start or after `+` or a dot. */
static int is_csharp_generic(const char *s)
{
    for (const char *at = strchr(s, '<'); at; at = strchr(at + 1, '<'))
        if (at > s && isalnum((unsigned char)at[-1]))
            return 1;
    return 0;
}

/* Is there a backquote that neither a digit nor a wildcard follows? */
static int has_bad_arity(const char *s)
{
    for (const char *at = strchr(s, '`'); at; at = strchr(at + 1, '`'))
        if (!isdigit((unsigned char)at[1]) && at[1] != '*' && at[1] != '?')
            return 1;
    return 0;
}

static const char *wrong_assembly(const char *s)
{
    if (strchr(s, '/') || ends_in(s, ".dll") || ends_in(s, ".exe"))
        return "the simple name of an assembly, without a folder and .dll";
    if (strchr(s, ',') || strchr(s, '='))
        return "the simple name of an assembly; versions go into minVersion= and maxVersion=";
    return NULL;
}

static const char *wrong_type(const char *s)
{
    if (strchr(s, '/'))
        return "+ between an outer type and the one nested in it";
    if (s[0] == '[')
        return "the name of a type; its assembly goes into assembly=";
    if (strstr(s, "::") || strchr(s, '('))
        return "the name of a type; its method goes into method=";
    if (is_csharp_generic(s))
        return "a generic type by name and number of its parameters, such as List`1";
    if (has_bad_arity(s))
        return "the number of type parameters behind `, such as List`1";
    if (s[0] == '.' || ends_in(s, ".") || strstr(s, "..") || s[0] == '+' || ends_in(s, "+"))
        return "the name of a type, such as Namespace.Outer+Inner";
    return NULL;
}

static const char *wrong_method(const char *s)
{
    if (strchr(s, '('))
        return "the name of a method; types of parameters go into parameters=";
    if (strstr(s, "::") || strchr(s, '/'))
        return "the name of a method; its type goes into type=";
    if (ends_in(s, "."))
        return "the name of a method";
    return NULL;
}

struct sxs_pattern config_pattern(struct config_reader *r, const struct _xmlNode *node,
                                  const char *attribute, enum config_name kind)
{
    struct sxs_pattern p = {config_get(r, node, attribute), 0};
    const char        *expected;
    if (!p.text)
        return p;
    p.has_wildcards = strpbrk(p.text, "*?") != NULL;
    expected = kind == CONFIG_ASSEMBLY ? wrong_assembly(p.text)
               : kind == CONFIG_METHOD ? wrong_method(p.text)
                                       : wrong_type(p.text);
    if (expected)
        config_wrong(r, node, attribute, expected, "%s=\"%s\"", attribute, p.text);
    return p;
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* Returns the type name for a C# keyword, which is not a type name itself; NULL: not a keyword. */
static const char *full_name(const char *word)
{
    static const char *const words[][2] = {
        {"bool", "System.Boolean"},  {"byte", "System.Byte"},       {"sbyte", "System.SByte"},
        {"char", "System.Char"},     {"short", "System.Int16"},     {"ushort", "System.UInt16"},
        {"int", "System.Int32"},     {"uint", "System.UInt32"},     {"long", "System.Int64"},
        {"ulong", "System.UInt64"},  {"float", "System.Single"},    {"double", "System.Double"},
        {"string", "System.String"}, {"object", "System.Object"},   {"nint", "System.IntPtr"},
        {"nuint", "System.UIntPtr"}, {"decimal", "System.Decimal"},
    };
    size_t len = strcspn(word, "[&*");
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strlen(words[i][0]) == len && !strncmp(word, words[i][0], len))
            return words[i][1];
    return NULL;
}

static const char *wrong_parameter(const char *s)
{
    int depth = 0;
    if (!*s)
        return "types separated by commas; void when there are none";
    if (full_name(s))
        return full_name(s);
    for (const char *c = s; *c && depth >= 0; c++)
        depth += *c == '[' ? 1 : *c == ']' ? -1 : 0;
    if (depth)
        return "as many [ as ]";
    if (strchr(s, '/'))
        return "+ between an outer type and the one nested in it";
    if (is_csharp_generic(s))
        return "generic types as System.Collections.Generic.List`1[System.String]";
    return NULL;
}

/* Returns the length of the text before the next comma outside of brackets. */
static size_t item_length(const char *s)
{
    size_t len = 0;
    for (int depth = 0; s[len] && (depth > 0 || s[len] != ','); len++)
        depth += s[len] == '[' || s[len] == '<' || s[len] == '('   ? 1
                 : s[len] == ']' || s[len] == '>' || s[len] == ')' ? -1
                                                                   : 0;
    return len;
}

/* Copies @text without blanks, as New Relic's agent does. */
static char *without_blanks(struct config_reader *r, const char *text)
{
    char *copy = config_strdup(&r->file->arena, text), *to = copy;
    for (const char *s = copy; copy && *s; s++)
        if (!isspace((unsigned char)*s))
            *to++ = *s;
    if (copy)
        *to = 0;
    return copy;
}

void config_parameters(struct config_reader *r, const struct _xmlNode *node, const char *attribute,
                       int has_wildcards, struct sxs_match *match)
{
    const char         *given = config_get(r, node, attribute);
    char               *text = given ? without_blanks(r, given) : NULL;
    struct sxs_pattern *list;
    size_t              commas = 0;
    match->n_parameters = -1;
    if (!text)
        return;
    match->n_parameters = 0;
    if (!*text || sxs_same_text(text, "void"))
        return;
    for (const char *c = text; *c; c++)
        commas += *c == ',';
    list = config_alloc(&r->file->arena, (commas + 1) * sizeof(*list));
    match->parameters = list;
    for (char *s = text; list; s++) {
        size_t      len = item_length(s);
        int         last = !s[len];
        const char *expected;
        if (match->n_parameters == PARAMETERS_MAX) {
            config_wrong(r, node, attribute, NULL, "more than %d parameters", PARAMETERS_MAX);
            return;
        }
        s[len] = 0;
        expected = wrong_parameter(s);
        if (expected)
            config_wrong(r, node, attribute, expected, "%s=\"%s\": \"%s\"", attribute, given, s);
        list[match->n_parameters++] =
            (struct sxs_pattern){s, has_wildcards && strpbrk(s, "*?") != NULL};
        s += len;
        if (last)
            return;
    }
}

/* ---- versions -------------------------------------------------------------------------------- */

/* Reads a version such as "1.2.3.4". Returns 0, or -1 when it is not a version. */
static int read_version(const char *text, struct sxs_version *version)
{
    memset(version, 0, sizeof(*version));
    for (int i = 0; i < 4; i++) {
        char         *end;
        unsigned long part = strtoul(text, &end, 10);
        if (!isdigit((unsigned char)*text) || part > UINT16_MAX)
            return -1;
        version->part[i] = (uint16_t)part;
        if (!*end)
            return 0;
        if (*end != '.')
            return -1;
        text = end + 1;
    }
    return -1;
}

static uint8_t read_bound(struct config_reader *r, const struct _xmlNode *node,
                          const char *attribute, struct sxs_version *version)
{
    const char *text = config_get(r, node, attribute);
    if (!text)
        return 0;
    if (read_version(text, version))
        config_wrong(r, node, attribute,
                     "one to four numbers up to 65535 separated by dots, such as 1.2", "%s=\"%s\"",
                     attribute, text);
    return 1;
}

void config_bounds(struct config_reader *r, const struct _xmlNode *node, struct sxs_match *match)
{
    uint32_t before = r->n_errors;
    match->has_min = read_bound(r, node, "minVersion", &match->min_version);
    match->has_max = read_bound(r, node, "maxVersion", &match->max_version);
    if (r->n_errors == before && match->has_min && match->has_max &&
        config_compare_versions(&match->min_version, &match->max_version) >= 0)
        config_wrong(r, node, "maxVersion", "a version above minVersion, for it is itself excluded",
                     "no version lies between minVersion and maxVersion");
}
