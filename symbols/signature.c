/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "instr/metadata/compressed.h"
#include "symbols/signature_internal.h"

#define NESTING_MAX 32 /* nested types; a deeper signature is treated as invalid */
#define COUNT_MAX 1024 /* maximum number of parameters, type arguments, or dimensions */
/* Used only inside the runtime: a byte for modreq or modopt, then a type handle. */
#define ELEMENT_TYPE_CMOD_INTERNAL 0x22

enum { CALLCONV_GENERIC = 0x10, CALLCONV_KIND = 0x0F, CALLCONV_FIELD = 0x06 };

/* Reads a signature. After the first error, `bad` stays set and all reads return 0. */
struct cursor {
    const uint8_t               *at, *end;
    int                          bad;
    unsigned                     depth;
    const struct sxs_type_names *names;
    void                        *ctx;
};

static void put_type(struct cursor *c, struct sxs_text *out);

static uint8_t u8(struct cursor *c)
{
    if (c->bad || c->at >= c->end) {
        c->bad = 1;
        return 0;
    }
    return *c->at++;
}

static uint8_t peek_byte(const struct cursor *c)
{
    return c->bad || c->at >= c->end ? 0 : *c->at;
}

static uint32_t read_compressed(struct cursor *c)
{
    uint32_t value = 0;
    unsigned size = c->bad ? 0 : sxs_compressed_read(c->at, c->end, &value);
    if (!size)
        c->bad = 1;
    c->at += size;
    return value;
}

static uint32_t read_count(struct cursor *c)
{
    uint32_t n = read_compressed(c);
    if (n > COUNT_MAX)
        c->bad = 1;
    return c->bad ? 0 : n;
}

static mdToken type_token(struct cursor *c)
{
    mdToken token = sxs_coded_type(read_compressed(c));
    if (!token)
        c->bad = 1;
    return c->bad ? 0 : token;
}

static ClassID type_handle(struct cursor *c)
{
    ClassID id = 0;
    if (c->bad || (size_t)(c->end - c->at) < sizeof(id)) {
        c->bad = 1;
        return 0;
    }
    memcpy(&id, c->at, sizeof(id));
    c->at += sizeof(id);
    return id;
}

const char *sxs_signature_primitive(uint32_t element_type)
{
    static const char *const names[] = {
        [ELEMENT_TYPE_VOID] = "System.Void",
        [ELEMENT_TYPE_BOOLEAN] = "System.Boolean",
        [ELEMENT_TYPE_CHAR] = "System.Char",
        [ELEMENT_TYPE_I1] = "System.SByte",
        [ELEMENT_TYPE_U1] = "System.Byte",
        [ELEMENT_TYPE_I2] = "System.Int16",
        [ELEMENT_TYPE_U2] = "System.UInt16",
        [ELEMENT_TYPE_I4] = "System.Int32",
        [ELEMENT_TYPE_U4] = "System.UInt32",
        [ELEMENT_TYPE_I8] = "System.Int64",
        [ELEMENT_TYPE_U8] = "System.UInt64",
        [ELEMENT_TYPE_R4] = "System.Single",
        [ELEMENT_TYPE_R8] = "System.Double",
        [ELEMENT_TYPE_STRING] = "System.String",
        [ELEMENT_TYPE_TYPEDBYREF] = "System.TypedReference",
        [ELEMENT_TYPE_I] = "System.IntPtr",
        [ELEMENT_TYPE_U] = "System.UIntPtr",
        [ELEMENT_TYPE_OBJECT] = "System.Object",
    };
    return element_type < sizeof(names) / sizeof(names[0]) ? names[element_type] : NULL;
}

static void put_array(struct cursor *c, struct sxs_text *out)
{
    put_type(c, out);
    uint32_t rank = read_count(c);
    for (uint32_t n = read_count(c); n && !c->bad; n--)
        read_compressed(c); /* sizes */
    for (uint32_t n = read_count(c); n && !c->bad; n--)
        read_compressed(c); /* lower bounds: signed, but of the same length */
    sxs_text_put(out, "[");
    for (uint32_t i = 1; i < rank; i++)
        sxs_text_put(out, ",");
    sxs_text_put(out, "]");
}

static void put_class_id(struct cursor *c, struct sxs_text *out, int bare)
{
    ClassID id = type_handle(c);
    if (!c->bad)
        c->names->class_id(c->ctx, out, id, bare);
}

static void put_token(struct cursor *c, struct sxs_text *out)
{
    mdToken type = type_token(c);
    if (!c->bad)
        c->names->token(c->ctx, out, type);
}

static void put_generic(struct cursor *c, struct sxs_text *out)
{
    if (u8(c) == ELEMENT_TYPE_INTERNAL)
        put_class_id(c, out, 1);
    else /* CLASS or VALUETYPE */
        put_token(c, out);
    uint32_t n = read_count(c);
    sxs_text_put(out, "<");
    for (uint32_t i = 0; i < n && !c->bad; i++) {
        if (i)
            sxs_text_put(out, ", ");
        put_type(c, out);
    }
    sxs_text_put(out, ">");
}

/** Appends the parameters that follow the return type, without parentheses. */
static void put_params(struct cursor *c, struct sxs_text *out, uint32_t n)
{
    for (uint32_t i = 0; i < n && !c->bad; i++) {
        if (i)
            sxs_text_put(out, ", ");
        if (peek_byte(c) == ELEMENT_TYPE_SENTINEL) {
            u8(c);
            sxs_text_put(out, "..., ");
        }
        put_type(c, out);
    }
}

/**
 * Appends a function pointer as in C#, the return type last: delegate*<System.Int32,
 * System.Void>. */
static void put_function_pointer(struct cursor *c, struct sxs_text *out)
{
    char            room[512];
    struct sxs_text result = sxs_text_in(room, sizeof(room));

    if (u8(c) & CALLCONV_GENERIC)
        read_count(c);
    uint32_t n = read_count(c);
    put_type(c, &result);
    sxs_text_put(out, "delegate*<");
    put_params(c, out, n);
    sxs_text_put(out, n ? ", " : "");
    sxs_text_put(out, room);
    sxs_text_put(out, ">");
}

static void put_variable(struct cursor *c, struct sxs_text *out, int of_method)
{
    uint32_t index = read_compressed(c);
    if (!c->bad)
        c->names->variable(c->ctx, out, index, of_method);
}

static void put_suffixed(struct cursor *c, struct sxs_text *out, const char *suffix)
{
    put_type(c, out);
    sxs_text_put(out, suffix);
}

/**
 * Skips custom modifiers and "pinned", which a name does not need, and returns the element type
 * after them. */
static uint8_t element_after_modifiers(struct cursor *c)
{
    for (;;) {
        uint8_t element = u8(c);
        switch (c->bad ? ELEMENT_TYPE_END : element) {
        case ELEMENT_TYPE_CMOD_REQD:
        case ELEMENT_TYPE_CMOD_OPT:
            type_token(c);
            break;
        case ELEMENT_TYPE_CMOD_INTERNAL:
            u8(c);
            type_handle(c);
            break;
        case ELEMENT_TYPE_PINNED:
            break;
        default:
            return element;
        }
    }
}

static void put_type(struct cursor *c, struct sxs_text *out)
{
    uint8_t     element = element_after_modifiers(c);
    const char *word = c->bad ? NULL : sxs_signature_primitive(element);

    if (word) {
        sxs_text_put(out, word);
        return;
    }
    if (++c->depth > NESTING_MAX)
        c->bad = 1;
    switch (c->bad ? ELEMENT_TYPE_END : element) {
    case ELEMENT_TYPE_CLASS:
    case ELEMENT_TYPE_VALUETYPE:
        put_token(c, out);
        break;
    case ELEMENT_TYPE_INTERNAL:
        put_class_id(c, out, 0);
        break;
    case ELEMENT_TYPE_VAR:
    case ELEMENT_TYPE_MVAR:
        put_variable(c, out, element == ELEMENT_TYPE_MVAR);
        break;
    case ELEMENT_TYPE_GENERICINST:
        put_generic(c, out);
        break;
    case ELEMENT_TYPE_SZARRAY:
        put_suffixed(c, out, "[]");
        break;
    case ELEMENT_TYPE_ARRAY:
        put_array(c, out);
        break;
    case ELEMENT_TYPE_PTR:
        put_suffixed(c, out, "*");
        break;
    case ELEMENT_TYPE_BYREF:
        sxs_text_put(out, "ref ");
        put_type(c, out);
        break;
    case ELEMENT_TYPE_FNPTR:
        put_function_pointer(c, out);
        break;
    default:
        c->bad = 1;
    }
    c->depth--;
}

static struct cursor cursor_over(const uint8_t *sig, size_t size,
                                 const struct sxs_type_names *names, void *ctx)
{
    if (!sig)
        size = 0;
    return (struct cursor){
        .at = sig, .end = sig + size, .bad = !sig, .names = names, .ctx = ctx,
    };
}

void sxs_signature_params(struct sxs_text *out, const uint8_t *sig, size_t size,
                          const struct sxs_type_names *names, void *ctx)
{
    struct cursor   c = cursor_over(sig, size, names, ctx);
    char            room[512];
    /* the return type, which is not shown */
    struct sxs_text result = sxs_text_in(room, sizeof(room));

    uint8_t convention = u8(&c);
    if ((convention & CALLCONV_KIND) >= CALLCONV_FIELD)
        c.bad = 1;
    if (convention & CALLCONV_GENERIC)
        read_count(&c);
    uint32_t n = read_count(&c);
    put_type(&c, &result);
    sxs_text_put(out, "(");
    put_params(&c, out, n);
    sxs_text_put(out, c.bad ? "?)" : ")");
}

void sxs_signature_type(struct sxs_text *out, const uint8_t *sig, size_t size,
                        const struct sxs_type_names *names, void *ctx)
{
    struct cursor c = cursor_over(sig, size, names, ctx);
    put_type(&c, out);
    if (c.bad)
        sxs_text_put(out, "?");
}
