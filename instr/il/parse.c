/* SPDX-License-Identifier: MIT */
/* instr/il/parse.c - parse types by recursive descent into a tree of signature nodes, and the
 * methods and fields that contain them. */
#include "instr/il/parse.h"

#include <stdio.h>
#include <string.h>

#include "instr/metadata/signature_write.h"

#define NESTING_MAX 32

static const struct {
    const char *name;
    uint8_t     element;
} simple[] = {
    {"void", SXS_ELEMENT_VOID},     {"bool", SXS_ELEMENT_BOOLEAN}, {"char", SXS_ELEMENT_CHAR},
    {"int8", SXS_ELEMENT_I1},       {"uint8", SXS_ELEMENT_U1},     {"int16", SXS_ELEMENT_I2},
    {"uint16", SXS_ELEMENT_U2},     {"int32", SXS_ELEMENT_I4},     {"uint32", SXS_ELEMENT_U4},
    {"int64", SXS_ELEMENT_I8},      {"uint64", SXS_ELEMENT_U8},    {"float32", SXS_ELEMENT_R4},
    {"float64", SXS_ELEMENT_R8},    {"string", SXS_ELEMENT_STRING}, {"object", SXS_ELEMENT_OBJECT},
    {"typedref", SXS_ELEMENT_TYPEDBYREF},
};

static uint32_t add_node(struct sxs_parser *p, uint8_t element, uint32_t value, uint32_t child)
{
    uint32_t node = sxs_sig_add(&p->sig, element, value, child);
    if (node == SXS_SIG_NONE)
        sxs_lex_fail(&p->lex, "a type too large");
    return node;
}

/* ---- names of types -------------------------------------------------------------------------- */

static int take_scope(struct sxs_parser *p, char *assembly, size_t size)
{
    *assembly = '\0';
    if (!sxs_lex_take(&p->lex, "["))
        return p->lex.status;
    sxs_lex_take(&p->lex, ".module");
    if (p->lex.kind != SXS_WORD_NAME)
        return sxs_lex_fail(&p->lex, "expected the name of an assembly");
    snprintf(assembly, size, "%s", p->lex.name);
    sxs_lex_next(&p->lex);
    return sxs_lex_expect(&p->lex, "]");
}

/* Parses the name of a type, `[assembly]Namespace.Outer/Inner`, and looks up its token. */
static int take_class(struct sxs_parser *p, uint32_t *token)
{
    char        assembly[SXS_WORD_MAX], name[2 * SXS_WORD_MAX];
    const char *begin = p->lex.word;
    size_t      len = 0;
    *token = 0;
    if (take_scope(p, assembly, sizeof(assembly)) != 0)
        return p->lex.status;
    do {
        if (p->lex.kind != SXS_WORD_NAME)
            return sxs_lex_fail(&p->lex, "expected the name of a type");
        len += (size_t)snprintf(name + len, sizeof(name) - len, len ? "/%s" : "%s", p->lex.name);
        if (len >= sizeof(name))
            return sxs_lex_fail(&p->lex, "a name too long");
        sxs_lex_next(&p->lex);
    } while (sxs_lex_take(&p->lex, "/"));
    if (p->tokens->type(p->tokens->context, *assembly ? assembly : NULL, name, token) != 0)
        return sxs_lex_fail_at(&p->lex, begin, "no type %s%s%s%s", *assembly ? "[" : "", assembly,
                               *assembly ? "]" : "", name);
    return p->lex.status;
}

/* ---- types ----------------------------------------------------------------------------------- */

static uint32_t parse_type(struct sxs_parser *p, unsigned depth);

/* Parses types separated by commas, up to and including @close. Returns the first node, and in *n
 * the number of types, without a sentinel. */
static uint32_t parse_list(struct sxs_parser *p, unsigned depth, const char *close, uint32_t *n)
{
    uint32_t first = SXS_SIG_NONE;
    *n = 0;
    if (sxs_lex_take(&p->lex, close))
        return first;
    do {
        uint32_t node = sxs_lex_take(&p->lex, "...")
                            ? add_node(p, SXS_ELEMENT_SENTINEL, 0, SXS_SIG_NONE)
                            : parse_type(p, depth + 1);
        if (node == SXS_SIG_NONE)
            return SXS_SIG_NONE;
        first = sxs_sig_append(&p->sig, first, node);
        *n += p->nodes[node].element != SXS_ELEMENT_SENTINEL;
        if (p->lex.kind == SXS_WORD_NAME) /* the name of a parameter */
            sxs_lex_next(&p->lex);
    } while (sxs_lex_take(&p->lex, ","));
    sxs_lex_expect(&p->lex, close);
    return first;
}

static uint32_t take_convention(struct sxs_parser *p)
{
    uint32_t c = 0;
    if (sxs_lex_take(&p->lex, "instance"))
        c |= 0x20;
    if (sxs_lex_take(&p->lex, "explicit"))
        c |= 0x40;
    sxs_lex_take(&p->lex, "default");
    if (sxs_lex_take(&p->lex, "vararg"))
        return c | 5;
    if (!sxs_lex_take(&p->lex, "unmanaged"))
        return c;
    return c | (sxs_lex_take(&p->lex, "cdecl")      ? 1u
                : sxs_lex_take(&p->lex, "stdcall")  ? 2u
                : sxs_lex_take(&p->lex, "thiscall") ? 3u
                : sxs_lex_take(&p->lex, "fastcall") ? 4u
                                                    : 9u);
}

/* Parses `CONVENTION TYPE *(TYPES)` after `method`. A star before a bracket belongs to the function
 * pointer; the star of a pointer type is never followed by a bracket. */
static uint32_t parse_function(struct sxs_parser *p, unsigned depth)
{
    uint32_t convention = take_convention(p), n, list;
    uint32_t result = parse_type(p, depth + 1);
    if (result == SXS_SIG_NONE || sxs_lex_expect(&p->lex, "*") || sxs_lex_expect(&p->lex, "("))
        return SXS_SIG_NONE;
    list = parse_list(p, depth, ")", &n);
    p->nodes[result].next = list;
    return p->lex.status ? SXS_SIG_NONE : add_node(p, SXS_ELEMENT_FNPTR, convention, result);
}

static uint32_t parse_named(struct sxs_parser *p, uint8_t element)
{
    uint32_t token;
    return take_class(p, &token) ? SXS_SIG_NONE : add_node(p, element, token, SXS_SIG_NONE);
}

/* Parses a type parameter, `!0` or `!!0`, after the first `!`. */
static uint32_t parse_variable(struct sxs_parser *p)
{
    uint8_t element = sxs_lex_take(&p->lex, "!") ? SXS_ELEMENT_MVAR : SXS_ELEMENT_VAR;
    int64_t number;
    if (sxs_lex_integer(&p->lex, &number) != 0)
        return SXS_SIG_NONE;
    if (number < 0 || number > UINT16_MAX) {
        sxs_lex_fail(&p->lex, "no such type parameter");
        return SXS_SIG_NONE;
    }
    return add_node(p, element, (uint32_t)number, SXS_SIG_NONE);
}

static uint32_t parse_plain(struct sxs_parser *p, unsigned depth)
{
    if (sxs_lex_take(&p->lex, "class"))
        return parse_named(p, SXS_ELEMENT_CLASS);
    if (sxs_lex_take(&p->lex, "valuetype"))
        return parse_named(p, SXS_ELEMENT_VALUETYPE);
    if (sxs_lex_take(&p->lex, "method"))
        return parse_function(p, depth);
    if (sxs_lex_take(&p->lex, "!"))
        return parse_variable(p);
    if (sxs_lex_take(&p->lex, "native")) {
        int is_unsigned = sxs_lex_take(&p->lex, "uint");
        if (!is_unsigned && sxs_lex_expect(&p->lex, "int") != 0)
            return SXS_SIG_NONE;
        return add_node(p, is_unsigned ? SXS_ELEMENT_U : SXS_ELEMENT_I, 0, SXS_SIG_NONE);
    }
    for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++)
        if (sxs_lex_take(&p->lex, simple[i].name))
            return add_node(p, simple[i].element, 0, SXS_SIG_NONE);
    sxs_lex_fail(&p->lex, "expected a type (class and valuetype go before names)");
    return SXS_SIG_NONE;
}

/* Parses one dimension of an array: nothing, `...`, `LOW...`, `LOW...HIGH`, or SIZE. */
static int parse_dimension(struct sxs_parser *p, uint32_t *sizes, uint32_t *bounds)
{
    int64_t low = 0, high;
    int     sized = 0, bound = 0;
    if (p->lex.kind == SXS_WORD_NUMBER) {
        if (sxs_lex_integer(&p->lex, &low) != 0)
            return p->lex.status;
        bound = sxs_lex_take(&p->lex, "...");
        if (bound && p->lex.kind == SXS_WORD_NUMBER) {
            if (sxs_lex_integer(&p->lex, &high) != 0)
                return p->lex.status;
            sized = 1;
            high = high - low + 1;
        } else if (!bound) {
            sized = 1; /* SIZE means 0...SIZE - 1 */
            high = low;
            low = 0;
        }
        if (sized)
            *sizes = sxs_sig_append(&p->sig, *sizes,
                                    add_node(p, SXS_ELEMENT_SIZE, (uint32_t)high, SXS_SIG_NONE));
        *bounds = sxs_sig_append(&p->sig, *bounds,
                                 add_node(p, SXS_ELEMENT_BOUND, (uint32_t)low, SXS_SIG_NONE));
    } else {
        sxs_lex_take(&p->lex, "...");
    }
    return p->lex.status;
}

/* Parses the dimensions of an array of @type, after the `[`. */
static uint32_t parse_array(struct sxs_parser *p, uint32_t type)
{
    uint32_t sizes = SXS_SIG_NONE, bounds = SXS_SIG_NONE, rank = 0, node;
    if (sxs_lex_take(&p->lex, "]"))
        return add_node(p, SXS_ELEMENT_SZARRAY, 0, type);
    do {
        if (parse_dimension(p, &sizes, &bounds) != 0)
            return SXS_SIG_NONE;
        rank++;
    } while (sxs_lex_take(&p->lex, ","));
    if (sxs_lex_expect(&p->lex, "]") != 0)
        return SXS_SIG_NONE;
    if (sizes != SXS_SIG_NONE)
        sxs_sig_append(&p->sig, type, sizes);
    if (bounds != SXS_SIG_NONE)
        sxs_sig_append(&p->sig, type, bounds);
    node = add_node(p, SXS_ELEMENT_ARRAY, rank, type);
    return node;
}

static uint32_t parse_modifier(struct sxs_parser *p, uint8_t element, uint32_t type)
{
    uint32_t token;
    if (sxs_lex_expect(&p->lex, "(") || take_class(p, &token) || sxs_lex_expect(&p->lex, ")"))
        return SXS_SIG_NONE;
    return add_node(p, element, token, type);
}

static uint32_t parse_instantiation(struct sxs_parser *p, uint32_t type, unsigned depth)
{
    uint32_t n, list = parse_list(p, depth, ">", &n);
    if (p->lex.status)
        return SXS_SIG_NONE;
    p->nodes[type].next = list;
    return add_node(p, SXS_ELEMENT_GENERICINST, 0, type);
}

/* Does the `[` here begin the dimensions of an array, and not the assembly of the name that
 * follows? */
static int is_array(const struct sxs_lexer *l)
{
    const char *at = l->at + strspn(l->at, " \t");
    return sxs_lex_is(l, "[") && (*at == ']' || *at == ',' || *at == '-' || (*at >= '0' && *at <= '9') ||
                                  !strncmp(at, "...", 3));
}

/* Parses a type with all that makes another type of it, such as `*`, `[]` or `<...>`. A star before
 * a bracket belongs to a function pointer and ends the type. */
static uint32_t parse_type(struct sxs_parser *p, unsigned depth)
{
    uint32_t type;
    if (depth > NESTING_MAX) {
        sxs_lex_fail(&p->lex, "types nested too deep");
        return SXS_SIG_NONE;
    }
    type = parse_plain(p, depth);
    while (type != SXS_SIG_NONE && !p->lex.status) {
        if (sxs_lex_is(&p->lex, "*") && *p->lex.at == '(')
            break;
        if (sxs_lex_take(&p->lex, "<"))
            type = parse_instantiation(p, type, depth);
        else if (sxs_lex_take(&p->lex, "*"))
            type = add_node(p, SXS_ELEMENT_PTR, 0, type);
        else if (sxs_lex_take(&p->lex, "&"))
            type = add_node(p, SXS_ELEMENT_BYREF, 0, type);
        else if (is_array(&p->lex) && sxs_lex_take(&p->lex, "["))
            type = parse_array(p, type);
        else if (sxs_lex_take(&p->lex, "pinned"))
            type = add_node(p, SXS_ELEMENT_PINNED, 0, type);
        else if (sxs_lex_take(&p->lex, "modreq"))
            type = parse_modifier(p, SXS_ELEMENT_CMOD_REQD, type);
        else if (sxs_lex_take(&p->lex, "modopt"))
            type = parse_modifier(p, SXS_ELEMENT_CMOD_OPT, type);
        else
            break;
    }
    return p->lex.status ? SXS_SIG_NONE : type;
}

uint32_t sxs_parse_type(struct sxs_parser *p)
{
    return parse_type(p, 0);
}

/* ---- operands -------------------------------------------------------------------------------- */

static void forget_types(struct sxs_parser *p)
{
    p->sig = (struct sxs_sig){.nodes = p->nodes,
                              .cap = SXS_PARSE_NODES,
                              .result = SXS_SIG_NONE,
                              .params = SXS_SIG_NONE};
}

static int write_signature(struct sxs_parser *p, enum sxs_sig_kind kind, size_t *size)
{
    *size = sxs_sig_write(kind, &p->sig, p->bytes, sizeof(p->bytes));
    if (!*size || *size > sizeof(p->bytes))
        return sxs_lex_fail(&p->lex, "a signature that cannot be written");
    return SXS_IL_OK;
}

/* Does the name of a class begin here, and not a type in the syntax of signatures? */
static int is_bare_class(const struct sxs_lexer *l)
{
    static const char *const words[] = {"class", "valuetype", "method", "native", "!"};
    if (l->quoted || sxs_lex_is(l, "["))
        return 1;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (sxs_lex_is(l, words[i]))
            return 0;
    for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++)
        if (sxs_lex_is(l, simple[i].name))
            return 0;
    return 1;
}

int sxs_parse_type_token(struct sxs_parser *p, uint32_t *token)
{
    size_t size;
    if (is_bare_class(&p->lex))
        return take_class(p, token);
    forget_types(p);
    p->sig.result = parse_type(p, 0);
    if (p->sig.result == SXS_SIG_NONE || write_signature(p, SXS_SIG_TYPE, &size) != 0)
        return p->lex.status;
    if (p->tokens->type_spec(p->tokens->context, p->bytes, size, token) != 0)
        return sxs_lex_fail(&p->lex, "no such type");
    return SXS_IL_OK;
}

/* Parses `OWNER::NAME`, or NAME of a global method or field. The nodes of the owner's type come
 * after the nodes of the member's signature, which is not complete yet. They are written as a
 * TypeSpec at once and not used again. */
static int take_owner(struct sxs_parser *p, uint32_t *owner, char *name, size_t size)
{
    struct sxs_sig kept = p->sig;
    size_t         len;
    *owner = 0;
    snprintf(name, size, "%s", p->lex.name);
    if (p->lex.kind == SXS_WORD_NAME && (*p->lex.at == '(' || *p->lex.at == '<' ||
                                         *p->lex.at == '\n' || !*p->lex.at)) {
        sxs_lex_next(&p->lex);
        return p->lex.status;
    }
    if (is_bare_class(&p->lex)) {
        if (take_class(p, owner) != 0)
            return p->lex.status;
    } else {
        p->sig.result = parse_type(p, 0);
        if (p->sig.result == SXS_SIG_NONE || write_signature(p, SXS_SIG_TYPE, &len) != 0)
            return p->lex.status;
        if (p->tokens->type_spec(p->tokens->context, p->bytes, len, owner) != 0)
            return sxs_lex_fail(&p->lex, "no such type");
        kept.n_nodes = p->sig.n_nodes;
    }
    p->sig = kept;
    if (sxs_lex_expect(&p->lex, "::") != 0)
        return p->lex.status;
    if (p->lex.kind != SXS_WORD_NAME)
        return sxs_lex_fail(&p->lex, "expected the name of a member");
    snprintf(name, size, "%s", p->lex.name);
    sxs_lex_next(&p->lex);
    return p->lex.status;
}

/* Parses `<TYPES>` after the name of a method, and writes it as the bytes of an instantiation. */
static int take_instantiation(struct sxs_parser *p, uint8_t *bytes, size_t size, size_t *used,
                              uint32_t *n)
{
    struct sxs_sig list = p->sig;
    *n = 0;
    *used = 0;
    if (!sxs_lex_take(&p->lex, "<"))
        return p->lex.status;
    list.params = parse_list(p, 0, ">", n);
    list.n_nodes = p->sig.n_nodes;
    list.n_params = *n;
    if (p->lex.status)
        return p->lex.status;
    list.convention = 0x0a;
    *used = sxs_sig_write(SXS_SIG_LOCALS, &list, bytes, size);
    if (!*used || *used > size)
        return sxs_lex_fail(&p->lex, "a signature that cannot be written");
    return SXS_IL_OK;
}

int sxs_parse_method(struct sxs_parser *p, uint32_t *token)
{
    const char *begin = p->lex.word;
    char        name[SXS_WORD_MAX];
    uint8_t     instantiation[1024];
    uint32_t    owner, n_generic;
    size_t      size, spec;
    forget_types(p);
    p->sig.convention = (uint8_t)take_convention(p);
    p->sig.result = parse_type(p, 0);
    if (p->sig.result == SXS_SIG_NONE || take_owner(p, &owner, name, sizeof(name)) ||
        take_instantiation(p, instantiation, sizeof(instantiation), &spec, &n_generic) ||
        sxs_lex_expect(&p->lex, "("))
        return p->lex.status;
    p->sig.params = parse_list(p, 0, ")", &p->sig.n_params);
    p->sig.n_generic = n_generic;
    p->sig.convention |= n_generic ? 0x10 : 0;
    if (p->lex.status || write_signature(p, SXS_SIG_METHOD, &size) != 0)
        return p->lex.status;
    if (p->tokens->member(p->tokens->context, owner, name, p->bytes, size, token) != 0)
        return sxs_lex_fail_at(&p->lex, begin, "no such method: %s", name);
    if (n_generic &&
        p->tokens->method_spec(p->tokens->context, *token, instantiation, spec, token) != 0)
        return sxs_lex_fail(&p->lex, "no such instantiation of %s", name);
    return SXS_IL_OK;
}

int sxs_parse_field(struct sxs_parser *p, uint32_t *token)
{
    const char *begin = p->lex.word;
    char        name[SXS_WORD_MAX];
    uint32_t    owner;
    size_t      size;
    forget_types(p);
    p->sig.convention = 0x06;
    p->sig.result = parse_type(p, 0);
    if (p->sig.result == SXS_SIG_NONE || take_owner(p, &owner, name, sizeof(name)) ||
        write_signature(p, SXS_SIG_FIELD, &size) != 0)
        return p->lex.status;
    if (p->tokens->member(p->tokens->context, owner, name, p->bytes, size, token) != 0)
        return sxs_lex_fail_at(&p->lex, begin, "no such field: %s", name);
    return SXS_IL_OK;
}

int sxs_parse_call_site(struct sxs_parser *p, uint32_t *token)
{
    size_t size;
    forget_types(p);
    p->sig.convention = (uint8_t)take_convention(p);
    p->sig.result = parse_type(p, 0);
    if (p->sig.result == SXS_SIG_NONE || sxs_lex_expect(&p->lex, "("))
        return p->lex.status;
    p->sig.params = parse_list(p, 0, ")", &p->sig.n_params);
    if (p->lex.status || write_signature(p, SXS_SIG_METHOD, &size) != 0)
        return p->lex.status;
    if (p->tokens->signature(p->tokens->context, p->bytes, size, token) != 0)
        return sxs_lex_fail(&p->lex, "no such signature");
    return SXS_IL_OK;
}
