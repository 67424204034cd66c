/* SPDX-License-Identifier: MIT */
/* dump.c - methods as XML in the log. The elements and their order are CLRIE's, because its users
 * compare such logs. Lines that begin with [TestIgnore] are not compared. */
#include "clrie/dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/buffer.h"
#include "clrie/object/strings.h"

#define PUT(...) clrie_log_print(CLRIE_LOG_RESULTS, __VA_ARGS__)

/* ---- instructions ------------------------------------------------------------------------------ */

static DWORD offset_of(IInstruction *i)
{
    DWORD offset = 0;
    if (i)
        i->vtbl->GetOffset(i, &offset);
    return offset;
}

static void put_operand(struct sxs_text *t, IInstruction *i, IOperandInstruction *operand)
{
    union {
        uint8_t  b;
        uint16_t s;
        uint32_t i;
        uint64_t l;
        float    f;
        double   d;
        uint8_t  bytes[8];
    } v = {.l = 0};
    ILOperandType type = ILOperandType_None;
    DWORD         size = 0;
    operand->vtbl->GetOperandType(operand, &type);
    if (FAILED(i->vtbl->GetOperandLength(i, &size)) || !size || size > sizeof(v) ||
        FAILED(operand->vtbl->GetOperandValue(operand, size, v.bytes)))
        return;
    switch (type) {
    case ILOperandType_Byte: sxs_text_putf(t, " 0x%x", v.b); break;
    case ILOperandType_UShort: sxs_text_putf(t, " 0x%x", v.s); break;
    case ILOperandType_Int: sxs_text_putf(t, " 0x%x", v.i); break;
    case ILOperandType_Long: sxs_text_putf(t, " 0x%llx", (unsigned long long)v.l); break;
    case ILOperandType_Single: sxs_text_putf(t, " 0x%f", (double)v.f); break;
    case ILOperandType_Double: sxs_text_putf(t, " 0x%f", v.d); break;
    case ILOperandType_Token: sxs_text_putf(t, " 0x%08x", v.i); break;
    default: sxs_text_putf(t, " (Invalid operand type)"); break;
    }
}

static void put_targets(struct sxs_text *t, ISwitchInstruction *s)
{
    DWORD n = 0;
    s->vtbl->GetBranchCount(s, &n);
    sxs_text_putf(t, " (");
    for (DWORD i = 0; i < n; i++) {
        IInstruction *target = NULL;
        s->vtbl->GetBranchTarget(s, i, &target);
        sxs_text_putf(t, "%sIL_%04x", i ? "," : "", offset_of(target));
        clrie_release(target);
    }
    sxs_text_putf(t, ")");
}

static void put_instruction(IInstruction *i, const char *prefix)
{
    char            room[CLRIE_LOG_TEXT_MAX + 1];
    struct sxs_text t = sxs_text_in(room, sizeof(room));
    BSTR            name = NULL;
    char           *utf8;
    void           *face = NULL;
    i->vtbl->GetOpCodeName(i, &name);
    utf8 = clrie_string_utf8(name);
    sxs_text_putf(&t, "%sIL_%04x %s", prefix, offset_of(i), utf8 ? utf8 : "");
    free(utf8);
    clrie_string_free(name);
    if (SUCCEEDED(i->vtbl->QueryInterface(i, &IID_IOperandInstruction, &face))) {
        put_operand(&t, i, face);
    } else if (SUCCEEDED(i->vtbl->QueryInterface(i, &IID_IBranchInstruction, &face))) {
        IBranchInstruction *branch = face;
        IInstruction       *target = NULL;
        branch->vtbl->GetBranchTarget(branch, &target);
        sxs_text_putf(&t, " IL_%04x", offset_of(target));
        clrie_release(target);
    } else if (SUCCEEDED(i->vtbl->QueryInterface(i, &IID_ISwitchInstruction, &face))) {
        put_targets(&t, face);
    }
    clrie_release(face);
    PUT("%s", room);
}

static void put_graph(IInstructionGraph *graph)
{
    IInstruction *i = NULL, *next;
    PUT("[TestIgnore]<OriginalInstructions><![CDATA[");
    if (FAILED(graph->vtbl->GetOriginalFirstInstruction(graph, &i)))
        i = NULL;
    for (; i; i = next) {
        put_instruction(i, "[TestIgnore] ");
        if (FAILED(i->vtbl->GetOriginalNextInstruction(i, &next)))
            next = NULL;
        clrie_release(i);
    }
    PUT("[TestIgnore]]]></OriginalInstructions>");
    PUT("    <Instructions><![CDATA[");
    if (FAILED(graph->vtbl->GetFirstInstruction(graph, &i)))
        i = NULL;
    for (; i; i = next) {
        put_instruction(i, "");
        if (FAILED(i->vtbl->GetNextInstruction(i, &next)))
            next = NULL;
        clrie_release(i);
    }
    PUT("    ]]></Instructions>");
}

/* ---- clauses, map ------------------------------------------------------------------------------ */

static void put_end(IExceptionClause *c, HRESULT (*get)(IExceptionClause *, IInstruction **),
                    const char       *name)
{
    IInstruction *i = NULL;
    get(c, &i);
    PUT("            <%s>0x%08x</%s>", name, offset_of(i), name);
    clrie_release(i);
}

static void put_clause(IExceptionClause *c)
{
    DWORD   flags = 0;
    mdToken token = 0;
    c->vtbl->GetFlags(c, &flags);
    c->vtbl->GetExceptionHandlerType(c, &token);
    PUT("        <ExceptionClause>");
    PUT("            <Flags>0x%08x</Flags>", flags);
    put_end(c, c->vtbl->GetTryFirstInstruction, "FirstTryOffset");
    put_end(c, c->vtbl->GetTryLastInstruction, "LastTryOffset");
    put_end(c, c->vtbl->GetHandlerFirstInstruction, "FirstHandlerOffset");
    put_end(c, c->vtbl->GetHandlerLastInstruction, "LastHandlerOffset");
    put_end(c, c->vtbl->GetFilterFirstInstruction, "FilterOffset");
    PUT("            <ExceptionToken>0x%08x</ExceptionToken>", token);
    PUT("        </ExceptionClause>");
}

static void put_clauses(IExceptionSection *section)
{
    IEnumExceptionClauses *list = NULL;
    IExceptionClause      *clause;
    ULONG                  n;
    PUT("    <ExceptionClauses>");
    if (section && SUCCEEDED(section->vtbl->GetExceptionClauses(section, &list)))
        while (list->vtbl->Next(list, 1, &clause, &n) == S_OK) {
            put_clause(clause);
            clrie_release(clause);
        }
    clrie_release(list);
    PUT("    </ExceptionClauses>");
}

static void put_map(const struct clrie_work *work)
{
    PUT("    <CorIlMap>");
    for (uint32_t i = 0; i < work->n_map; i++) {
        const COR_IL_MAP *row = &work->map[i];
        PUT("        <CorIlMapEntry>");
        PUT("            <fAccurate>%d</fAccurate>", row->fAccurate);
        PUT("            <oldOffset>0x%08x</oldOffset>", row->oldOffset);
        PUT("            <newOffset>0x%08x</newOffset>", row->newOffset);
        PUT("        </CorIlMapEntry>");
    }
    PUT("    </CorIlMap>");
}

/* ---- the method -------------------------------------------------------------------------------- */

static const char *element_name(CorElementType element)
{
    static const char *const names[] = {
        [0x01] = "VOID",        [0x02] = "BOOLEAN",    [0x03] = "CHAR",    [0x04] = "I1",
        [0x05] = "U1",          [0x06] = "I2",         [0x07] = "U2",      [0x08] = "I4",
        [0x09] = "U4",          [0x0a] = "I8",         [0x0b] = "U8",      [0x0c] = "R4",
        [0x0d] = "R8",          [0x0e] = "STRING",     [0x0f] = "PTR",     [0x10] = "BYREF",
        [0x11] = "VALUETYPE",   [0x12] = "CLASS",      [0x13] = "VAR",     [0x14] = "ARRAY",
        [0x15] = "GENERICINST", [0x16] = "TYPEDBYREF", [0x18] = "I",       [0x19] = "U",
        [0x1b] = "FNPTR",       [0x1c] = "OBJECT",     [0x1d] = "SZARRAY", [0x1e] = "MVAR"};
    return (unsigned)element < ARRAY_LEN(names) ? names[element] : NULL;
}

/* Reads a type, and releases it. */
static mdToken token_of(IType *type, CorElementType *element)
{
    ITokenType *face = NULL;
    mdToken     token = 0;
    *element = (CorElementType)0;
    if (!type)
        return 0;
    type->vtbl->GetCorElementType(type, element);
    if (SUCCEEDED(type->vtbl->QueryInterface(type, &IID_ITokenType, (void **)&face)))
        face->vtbl->GetToken(face, &token);
    clrie_release(face);
    clrie_release(type);
    return token;
}

static void put_text(const char *name, BSTR text)
{
    char *utf8 = clrie_string_utf8(text);
    PUT("    <%s>%s</%s>", name, utf8 ? utf8 : "", name);
    free(utf8);
    clrie_string_free(text);
}

static void put_flag(struct clrie_method *m, HRESULT (*get)(struct clrie_method *, BOOL *),
                     const char          *name)
{
    BOOL value = 0;
    get(m, &value);
    PUT("    <%s>%d</%s>", name, value, name);
}

static void put_bytes(const char *name, const uint8_t *bytes, uint32_t n)
{
    char            room[CLRIE_LOG_TEXT_MAX + 1];
    struct sxs_text t = sxs_text_in(room, sizeof(room));
    sxs_text_putf(&t, "    <%s>", name);
    for (uint32_t i = 0; i < n; i++)
        sxs_text_putf(&t, "0x%02x ", bytes[i]);
    sxs_text_putf(&t, "</%s>", name);
    PUT("%s", room);
}

static void put_identity(struct clrie_method *m)
{
    BSTR       text = NULL;
    ClassID    class_id = 0;
    FunctionID function = 0;
    DWORD      generics = 0;
    clrie_method_GetName(m, &text);
    put_text("Name", text);
    text = NULL;
    clrie_method_GetFullName(m, &text);
    put_text("FullName", text);
    clrie_method_GetClassId(m, &class_id);
    clrie_method_GetFunctionId(m, &function);
    clrie_method_GetGenericParameterCount(m, &generics);
    PUT("    <ClassID Volatile=\"True\">0x%08x</ClassID>", (uint32_t)class_id);
    PUT("    <FunctionID Volatile=\"True\">0x%08x</FunctionID>", (uint32_t)function);
    PUT("    <MethodToken>0x%08x</MethodToken>", clrie_method_token(m));
    PUT("    <GenericParameterCount>0x%08x</GenericParameterCount>", generics);
}

static void put_kind(struct clrie_method *m)
{
    BOOL is_constructor = 0, is_static = 0;
    put_flag(m, clrie_method_GetIsStatic, "IsStatic");
    put_flag(m, clrie_method_GetIsPublic, "IsPublic");
    put_flag(m, clrie_method_GetIsPrivate, "IsPrivate");
    put_flag(m, clrie_method_GetIsPropertyGetter, "IsPropGetter");
    put_flag(m, clrie_method_GetIsPropertySetter, "IsPropSetter");
    put_flag(m, clrie_method_GetIsFinalizer, "IsFinalizer");
    put_flag(m, clrie_method_GetIsConstructor, "IsConstructor");
    clrie_method_GetIsConstructor(m, &is_constructor);
    clrie_method_GetIsStatic(m, &is_static);
    PUT("    <IsStaticConstructor>%d</IsStaticConstructor>", is_constructor & is_static);
}

static void put_types(struct clrie_method *m)
{
    CorElementType element;
    IType         *type = NULL;
    mdToken        token;
    uint8_t        sig[1024];
    DWORD          size = 0;
    if (FAILED(clrie_method_GetDeclaringType(m, &type)))
        type = NULL;
    PUT("    <DeclaringTypeToken>0x%08x</DeclaringTypeToken>", token_of(type, &element));
    type = NULL;
    if (FAILED(clrie_method_GetReturnType(m, &type)))
        type = NULL;
    token = token_of(type, &element);
    if (element_name(element))
        PUT("    <RetValueCorElementType>ELEMENT_TYPE_%s</RetValueCorElementType>",
            element_name(element));
    else
        PUT("    <RetValueCorElementType>Unknown CorElementType</RetValueCorElementType>");
    PUT("    <RetTypeToken>0x%08x</RetTypeToken>", token);
    if (FAILED(clrie_method_GetCorSignature(m, sizeof(sig), sig, &size)))
        size = 0;
    put_bytes("CorSignature", sig, size);
}

static void put_locals(struct clrie_method *m)
{
    ILocalVariableCollection *locals = NULL;
    ISignatureBuilder        *builder = NULL;
    const BYTE               *bytes = NULL;
    DWORD                     size = 0;
    if (SUCCEEDED(clrie_method_GetLocalVariables(m, &locals)) &&
        SUCCEEDED(locals->vtbl->GetCorSignature(locals, &builder))) {
        builder->vtbl->GetCorSignaturePtr(builder, &bytes);
        builder->vtbl->GetSize(builder, &size);
    }
    put_bytes("LocalSignature", bytes, bytes ? size : 0);
    clrie_release(builder);
    clrie_release(locals);
}

static void put_code(struct clrie_method *m, const struct clrie_work *work)
{
    IInstructionGraph *graph = NULL;
    IExceptionSection *section = NULL;
    DWORD              value = 0;
    UINT               impl = 0;
    clrie_method_GetAttributes(m, &value);
    PUT("    <CorMethodAttr>0x%08x</CorMethodAttr>", value);
    value = 0;
    clrie_method_GetCodeRva(m, &value);
    PUT("    <CodeRVA>0x%08x</CodeRVA>", value);
    clrie_method_MethodImplFlags(m, &impl);
    PUT("    <MethodImpl>0x%08x</MethodImpl>", impl);
    put_locals(m);
    value = 0;
    clrie_method_GetMaxStack(m, &value);
    PUT("    <MaxStack>0x%08x</MaxStack>", value);
    if (SUCCEEDED(clrie_method_GetInstructions(m, &graph))) {
        put_graph(graph);
        if (FAILED(clrie_method_GetExceptionSection(m, &section)))
            section = NULL;
        put_clauses(section);
        put_map(work);
    }
    clrie_release(section);
    clrie_release(graph);
}

void clrie_dump_method(struct clrie_method *method, const struct clrie_work *work)
{
    if (!(clrie_log_flags() & CLRIE_LOG_RESULTS))
        return;
    PUT("<?xml version=\"1.0\"?>");
    PUT("[TestIgnore]<Pid>%5d</Pid>", (int)getpid());
    PUT("<InstrumentedMethod>");
    put_identity(method);
    put_kind(method);
    put_types(method);
    put_code(method, work);
    PUT("</InstrumentedMethod>");
}
